// LLVM bitcode back to a module.
#ifndef HILO_BACKENDS_GPU_EMULATED_GPU_MODULE_READER_H_
#define HILO_BACKENDS_GPU_EMULATED_GPU_MODULE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::gpu {

// Errors: InvalidArgument with LLVM's message.
absl::StatusOr<codegen::HostModule> ReadGpuModule(absl::string_view bitcode);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_GPU_MODULE_READER_H_
