// Lowers a module at kAliased to thunks and the kernels that they launch: walks its scopes in order, makes the thunks
// of control flow, and has the emitters make those of the other instructions.
#ifndef HILO_BACKENDS_GPU_COMPILE_MODULE_EMITTER_H_
#define HILO_BACKENDS_GPU_COMPILE_MODULE_EMITTER_H_

#include "absl/status/statusor.h"
#include "backends/gpu/emitters/program_emitter.h"

namespace hilo::gpu {

// Errors: Unimplemented naming the instruction; InvalidArgument for an unknown architecture.
absl::StatusOr<EmittedProgram> EmitModule(const HloModule& module, const BufferAssignment& assignment,
                                          const CompileOptions& options, const EmissionOptions& emission);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_MODULE_EMITTER_H_
