// Linear algebra by the platform's libraries: cuSOLVER and cuBLAS on CUDA; on the emulated device LAPACK on the host
// (runtime/lapack).
//
// A call is one of LAPACK's routines on a batch of arrays in device memory, in the layout of runtime/lapack: matrices
// are column-major, batches major to minor; result 0 is initialized to the operand that it replaces. Options are passed
// by name, as "uplo" = 'L'. Errors of the data (a matrix that is not positive definite) are reported in the result
// `info`.
//
//   potrf (a) -> (a, info)                 uplo L, U
//   trsm  (a, b) -> (b)                    side L, R; uplo L, U; trans_x N, T, C; diag N, U
//   getrf (a) -> (a, pivots, info)
//   geqrf (a) -> (a, taus)
//   orgqr (a, taus) -> (a)
//   ormqr (a, taus, c) -> (c)              left 0, 1; transpose 0, 1
//   syevd (a) -> (a, eigenvalues, info)    mode N, V; uplo L, U
//   gesvd (a) -> (a, s, u, vt, info)       mode A, S, N
#ifndef HILO_BACKENDS_GPU_LIB_SOLVER_H_
#define HILO_BACKENDS_GPU_LIB_SOLVER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/lib/library_device.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {

// Returns the routine that one of LAPACK's custom calls (lapack_sgetrf_ffi) requests; empty if it is none of the above.
std::string SolverRoutineOf(absl::string_view target);

struct SolverArray {
  PrimitiveType type = F32;
  std::vector<int64_t> dimensions;  // of the arrays in HLO: batch, rows, columns
  void* data = nullptr;
  int64_t bytes() const;
};

struct SolverCall {
  std::string routine;
  std::vector<SolverArray> operands, results;
  std::vector<std::pair<std::string, int64_t>> attributes;

  PrimitiveType type() const { return operands[0].type; }
  int64_t Attribute(absl::string_view name) const;  // Returns 0 if it is absent.
  std::string ToString() const;
};

// Returns OK if the routine can be called on elements of this type. Errors: Unavailable if the library cannot be
// loaded; Unimplemented for other routines and types.
absl::Status CheckSolver(const LibraryDevice& device, absl::string_view routine, PrimitiveType type);

// Checks all but the addresses and the contents of the attributes, for any numbers. Errors: Unimplemented for other
// routines and types; InvalidArgument for arrays that the routine does not accept.
absl::Status CheckSolverCall(const SolverCall& call);

// Queues the call. On CUDA it may wait for the device, so it must not be captured. Errors: as CheckSolver;
// InvalidArgument for arrays and attributes that the routine does not accept.
absl::Status RunSolver(GpuStream* stream, const SolverCall& call);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_SOLVER_H_
