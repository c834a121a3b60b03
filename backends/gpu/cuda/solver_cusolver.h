// Implements backends/gpu/lib/solver.h with cuSOLVER and cuBLAS, which are loaded for the first call.
#ifndef HILO_BACKENDS_GPU_CUDA_SOLVER_CUSOLVER_H_
#define HILO_BACKENDS_GPU_CUDA_SOLVER_CUSOLVER_H_

#include "absl/status/status.h"
#include "backends/gpu/lib/solver.h"

namespace hilo::gpu {

// Returns OK if both libraries can be loaded. Errors: Unavailable.
absl::Status CheckCusolver();
// Queues on a stream of the current device. Errors: as RunSolver.
absl::Status SolveByCusolver(void* stream, const SolverCall& call);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_SOLVER_CUSOLVER_H_
