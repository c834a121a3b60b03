// The counter-based generators of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), one block at
// a time, and the generator state that outlives runs.
#ifndef HILO_HLO_OPS_RANDOM_RANDOM_BITS_H_
#define HILO_HLO_OPS_RANDOM_RANDOM_BITS_H_

#include <array>
#include <cstdint>

namespace hilo {

// Threefry2x32 with 20 rounds.
std::array<uint32_t, 2> ThreeFry2x32(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key);
// Philox4x32 with 10 rounds.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The process's random state, a 128-bit number, low word first: adds `delta` to it and returns the old value. It starts
// at the same number in every process. Thread-safe.
std::array<uint64_t, 2> AdvanceRandomState(uint64_t delta);

}  // namespace hilo

#endif  // HILO_HLO_OPS_RANDOM_RANDOM_BITS_H_
