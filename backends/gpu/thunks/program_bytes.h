// Programs as bytes.
#ifndef HILO_BACKENDS_GPU_THUNKS_PROGRAM_BYTES_H_
#define HILO_BACKENDS_GPU_THUNKS_PROGRAM_BYTES_H_

#include "absl/status/statusor.h"
#include "backends/gpu/thunks/program_image.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "runtime/artifact.h"

namespace hilo::gpu {

// Writes all but the counts of replicas and partitions, which the runtime writes.
void EncodeProgram(const ProgramImage& image, Artifact* artifact);

// Reads without loading code. Libraries whose version differs are asked for algorithms again; if one is missing, the
// thunks that call it fail when they run. Errors: InvalidArgument for what EncodeProgram cannot have written: whatever
// the bytes, thunks access only the memory and the kernels of the program. NotFound for a custom call that is not
// registered.
absl::StatusOr<ProgramImage> DecodeProgram(const Artifact& artifact, const LoadEnvironment& environment);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_PROGRAM_BYTES_H_
