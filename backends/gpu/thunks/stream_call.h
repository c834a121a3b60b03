// Custom calls of functions that work on device memory and queue on the device's stream: those registered for platform
// CUDA.
#ifndef HILO_BACKENDS_GPU_THUNKS_STREAM_CALL_H_
#define HILO_BACKENDS_GPU_THUNKS_STREAM_CALL_H_

#include "absl/status/status.h"
#include "backends/gpu/compile/program_emitter.h"

namespace hilo::gpu {

// Adds the thunk of a custom call whose function is registered for kStreamPlatform. Errors: as ffi::CustomCall::Create.
absl::Status EmitStreamCall(ProgramEmitter& program, const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_STREAM_CALL_H_
