// Sizes of launches that all kernels share.
#ifndef HILO_BACKENDS_GPU_MATCH_LAUNCH_SIZES_H_
#define HILO_BACKENDS_GPU_MATCH_LAUNCH_SIZES_H_

#include <algorithm>
#include <cstdint>

namespace hilo::gpu {

// Default number of threads per block: eight blocks fill a multiprocessor, and 256 threads of up to 255 registers each
// still fit into one.
inline constexpr int kBlockSize = 256;
inline constexpr int kWarp = 32;

// Returns the block size for kernels with one thread for each of `count` indices: whole warps.
inline int BlockFor(int64_t count) {
  return count >= kBlockSize ? kBlockSize : static_cast<int>((std::max<int64_t>(count, 1) + kWarp - 1) / kWarp * kWarp);
}

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_LAUNCH_SIZES_H_
