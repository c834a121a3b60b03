// Instructions as calls of libraries for transforms and linear algebra. Products and convolutions: gemm_match.h,
// convolution_match.h.
#ifndef HILO_BACKENDS_GPU_MATCH_LIBRARY_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_LIBRARY_MATCH_H_

#include <optional>

#include "backends/gpu/lib/fft.h"
#include "backends/gpu/lib/solver.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns nullopt for empty arrays and for transforms of no dimensions.
std::optional<FftDescriptor> FftOf(const HloInstruction& fft);

SolverArray ArrayLike(const Shape& shape);

// The matrices of a solver's call.
struct SolverMatch {
  SolverCall call;  // of a custom call: without its attributes
  int64_t rows = 0, batch = 0;
};
// Row-major matrices are the transposes of LAPACK's: l l^H = a is u^H u = a^T with u = l^T, so the other triangle is
// requested. Nullopt for empty arrays.
std::optional<SolverMatch> CholeskyCallOf(const HloInstruction& cholesky);
// op(a) x = b is x^T op(a)^T = b^T, and a^T and b^T are what row-major a and b are to LAPACK: the other side and
// triangle, and op(a)^T is op of a^T. Nullopt for empty arrays.
std::optional<SolverMatch> TriangularSolveCallOf(const HloInstruction& solve);
// Returns nullopt if `custom_call` is none of LAPACK's routines in solver.h, or has arrays that they do not support.
std::optional<SolverMatch> SolverCallOf(const HloInstruction& custom_call);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_LIBRARY_MATCH_H_
