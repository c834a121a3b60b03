// Private to the emulated device: a factor of tensor cores.
#ifndef HILO_BACKENDS_GPU_EMULATED_TF32_H_
#define HILO_BACKENDS_GPU_EMULATED_TF32_H_

#include <bit>
#include <cstdint>

namespace hilo::gpu {

// The number that tensor cores take the bits of an f32 for: they ignore the last 13.
struct Tf32 {
  uint32_t bits;
  explicit operator float() const { return std::bit_cast<float>(bits & ~0x1FFFU); }
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_TF32_H_
