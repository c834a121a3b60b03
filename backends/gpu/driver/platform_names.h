// The names of this backend's platforms.
#ifndef HILO_BACKENDS_GPU_DRIVER_PLATFORM_NAMES_H_
#define HILO_BACKENDS_GPU_DRIVER_PLATFORM_NAMES_H_

#include "absl/strings/string_view.h"

namespace hilo::gpu {

inline constexpr char kCudaPlatform[] = "cuda";
inline constexpr char kEmulatedPlatform[] = "cuda-emulated";
// Custom call functions on GPU memory are registered under this platform, for both platforms.
inline constexpr absl::string_view kStreamPlatform = "CUDA";

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_PLATFORM_NAMES_H_
