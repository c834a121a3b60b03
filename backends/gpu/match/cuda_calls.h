// Custom calls that JAX emits in programs for CUDA.
#ifndef HILO_BACKENDS_GPU_MATCH_CUDA_CALLS_H_
#define HILO_BACKENDS_GPU_MATCH_CUDA_CALLS_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "cuda-calls": converts cuSOLVER's and cuSPARSE's calls to LAPACK's, which the backend sends to cuSOLVER or to the
// host, so that programs are the same for all platforms from here on.
//
//   custom-call(a), custom_call_target="cusolver_potrf_ffi", backend_config={lower = true}
//     =>  custom-call(a), custom_call_target="lapack_spotrf_ffi", backend_config={uplo = 76 : ui8}
//
// potrf, getrf, geqrf, orgqr, ormqr, syevd, sytrd, gesvd, gesvdj, gesvdp, syrk, and gtsv2. Calls of types that LAPACK
// lacks are kept. Needed. Errors: InvalidArgument for calls whose operands, results and attributes do not match their
// function.
std::unique_ptr<HloPass> MakeCudaCalls();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_CUDA_CALLS_H_
