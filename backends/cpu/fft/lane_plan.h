// Plans of transforms in lanes: which passes they consist of, their tables, and what they cost.
#ifndef HILO_BACKENDS_CPU_FFT_LANE_PLAN_H_
#define HILO_BACKENDS_CPU_FFT_LANE_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/fft/lane_fft.h"

namespace hilo::cpu::fft {

// Longer transforms have no tables for lanes over whole rows or columns.
inline constexpr int64_t kMaxLaneLength = int64_t{1} << 16;
// Passes of larger radices may be slower than a convolution.
inline constexpr int kLargeRadix = 47;

// Nanoseconds per point of a vector of lanes and pass, on a Zen 5 with AVX-512.
inline constexpr double kPassCost = 1.3;

// Returns the radices of the passes for n points; nullopt if a prime factor is too large.
std::optional<std::vector<int>> RadicesOf(int64_t n);

// Time of the passes for one point of one lane vector, in units of a simple pass.
double PassCost(const std::vector<int>& radices);

// How much longer passes take whose buffers have so many bytes.
double CacheCost(int64_t bytes);

// A transform and the memory that its stages point to.
template <typename T>
struct LanePlan {
  LaneFft<T> fft;
  std::vector<std::unique_ptr<T[]>> tables;
  double pass_cost = 1;

  // Of complex numbers; `radices` are RadicesOf(length).
  static LanePlan Complex(int64_t length, const std::vector<int>& radices);
  // Of an odd number of real numbers, in the passes of RealLaneJob; nullopt if the length has other factors than these.
  static std::optional<LanePlan> Real(int64_t length);

  int64_t scratch() const { return 4 * fft.length * HostLaneKernels<T>().lanes; }  // numbers

 private:
  // Adds a pass whose twiddle factors are exp(-2 pi i p j / n) for p < rows and j from 1.
  void AddStage(int radix, int64_t stride, int64_t groups, int64_t rows, int64_t n);
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_LANE_PLAN_H_
