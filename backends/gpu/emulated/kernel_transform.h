// Transforms a module of NVPTX kernels to one for the host.
#ifndef HILO_BACKENDS_GPU_EMULATED_KERNEL_TRANSFORM_H_
#define HILO_BACKENDS_GPU_EMULATED_KERNEL_TRANSFORM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/emulated/thread_context.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::gpu {

struct EmulatedKernelInfo {
  std::string name;
  int64_t parameter_count = 0;
  int64_t max_threads = 1024;
  int64_t shared_bytes = 0;   // static
  int64_t stack_bytes = 0;    // of its variables
  bool has_barriers = false;  // or warp operations: threads must be able to block
  bool waits_for_blocks = false;
};

// Rewrites every kernel `k` of the module as a KernelFunction "k.emulated" and drops the original. `checked`: every
// memory access calls the checker first. Errors: Unimplemented, by name, for intrinsics and assembly that are not
// supported yet.
absl::StatusOr<std::vector<EmulatedKernelInfo>> TransformKernels(codegen::HostModule* module, bool checked);

inline constexpr char kEmulatedSuffix[] = ".emulated";

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_KERNEL_TRANSFORM_H_
