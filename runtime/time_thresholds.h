// Estimated times of one host thread from which a run, or a part of it, is worth what another thread costs.
#ifndef HILO_RUNTIME_TIME_THRESHOLDS_H_
#define HILO_RUNTIME_TIME_THRESHOLDS_H_

#include <cstdint>

namespace hilo {

// Programs with a lower estimate run on the calling thread. Measured: passing work to a sleeping thread and waiting for
// it takes 8 us, a sixth of this.
inline constexpr int64_t kInlineNanoseconds = 50'000;

// With more than two threads, only programs with a lower estimate run beside each other: longer ones gain from all
// threads, and the last of them would hold up those that wait for it.
inline constexpr int64_t kIndependentNanoseconds = 1'000'000;

// kInlineNanoseconds for the part of the calling thread in a run on several devices: there are more threads to wake,
// and those wait for each other.
inline constexpr int64_t kInlineNanosecondsOfSeveral = 4 * kInlineNanoseconds;

// What the thread of a device costs a run on several devices, whose start it is woken for; if there are fewer
// processors, in each collective, too. Measured on 8 devices, where 2 processors take 230 us for programs that compute
// for 1 us.
inline constexpr int64_t kDeviceThreadNanoseconds = 10'000;

// kInlineNanoseconds if the caller waits for the result at once, as the last ones did (WaitHabit): a longer run gains
// less than a hundredth.
inline constexpr int64_t kInlineNanosecondsIfAwaited = 20 * kInlineNanoseconds;

// A caller that begins to wait earlier has done nothing meanwhile that would be worth another thread.
inline constexpr int64_t kWaitsAtOnceNanoseconds = 20'000;

// Kernels with a higher estimate are spread over threads. These are awake while a program runs; measured: a sine of
// 16,384 elements 3.6 -> 2.4 us on two, an addition of 65,536 8.4 -> 7.5 us, shorter ones gain nothing.
inline constexpr int64_t kParallelNanoseconds = 5'000;

// The interval at which long kernels look whether their run is to end: a small part of the 10 ms within which runs end.
inline constexpr int64_t kPollNanoseconds = 200'000;

}  // namespace hilo

#endif  // HILO_RUNTIME_TIME_THRESHOLDS_H_
