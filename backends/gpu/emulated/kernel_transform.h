// Transforms a module of NVPTX kernels to one for the host.
#ifndef HILO_BACKENDS_GPU_EMULATED_KERNEL_TRANSFORM_H_
#define HILO_BACKENDS_GPU_EMULATED_KERNEL_TRANSFORM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/emulated/kernel_code.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::gpu {

// Rewrites every kernel `k` of the module as a KernelFunction "k.emulated" and drops the original. `checked`: every
// memory access calls the checker first. Errors: Unimplemented, by name, for intrinsics and assembly that are not
// supported yet.
absl::StatusOr<std::vector<EmulatedKernelInfo>> TransformKernels(codegen::HostModule* module, bool checked);

inline constexpr char kEmulatedSuffix[] = ".emulated";

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_KERNEL_TRANSFORM_H_
