// Custom calls that JAX makes in programs for CUDA.
#ifndef HILO_BACKENDS_GPU_MATCH_CUDA_CALLS_H_
#define HILO_BACKENDS_GPU_MATCH_CUDA_CALLS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/gpu/compile/program_emitter.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "cuda-calls": makes LAPACK's calls, which the backend sends to cuSOLVER or to the host, of cuSOLVER's and cuSPARSE's,
// so that a program is the same for all platforms from here on.
//
//   custom-call(a), custom_call_target="cusolver_potrf_ffi", backend_config={lower = true}
//     =>  custom-call(a), custom_call_target="lapack_spotrf_ffi", backend_config={uplo = 76 : ui8}
//
// potrf, getrf, geqrf, orgqr, ormqr, syevd, sytrd, gesvd, gesvdj, gesvdp, syrk, and gtsv2. Calls of other types than
// LAPACK's stay. Needed. Errors: InvalidArgument for calls that do not have the operands, results and attributes of
// their function.
std::unique_ptr<HloPass> MakeCudaCalls();

// Adds the thunks of a custom call that the device does: LAPACK's large enough for the library, and
// cu_lu_pivots_to_permutation. False if it is for the host.
absl::StatusOr<bool> EmitDeviceCall(ProgramEmitter& program, const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_CUDA_CALLS_H_
