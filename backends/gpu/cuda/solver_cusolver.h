// backends/gpu/lib/solver.h by cuSOLVER and cuBLAS, which are loaded when the first call is wanted.
#ifndef HILO_BACKENDS_GPU_CUDA_SOLVER_CUSOLVER_H_
#define HILO_BACKENDS_GPU_CUDA_SOLVER_CUSOLVER_H_

#include "absl/status/status.h"
#include "backends/gpu/lib/solver.h"

namespace hilo::gpu {

// Whether both libraries are there. Errors: Unavailable.
absl::Status CheckCusolver();
// On a stream of the current device. Errors: as RunSolver.
absl::Status SolveByCusolver(void* stream, const SolverCall& call);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_SOLVER_CUSOLVER_H_
