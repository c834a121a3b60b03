// Cholesky factors and triangular systems of single row-major matrices, on the calling thread.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_TRIANGULAR_KERNELS_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_TRIANGULAR_KERNELS_H_

#include <cstdint>

#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::cpu {

// The implementation: a library for large matrices if there is one, or our own loops.
enum class TriangularCode { kLoops, kLibrary };

// Returns the faster implementation for matrices of `n` rows of T: float, double, std::complex<float>,
// std::complex<double>.
template <typename T>
TriangularCode CholeskyCode(int64_t n);
template <typename T>
TriangularCode TriangularSolveCode(int64_t n);

// Writes the factor of a[n][n] to result[n][n], which must not overlap `a`: zeros in the other triangle, NaN everywhere
// if there is no factor. `scratch` has n * n elements.
template <typename T>
void CholeskyFactor(TriangularCode code, int64_t n, bool lower, const T* a, T* result, T* scratch);

// A triangular system. x holds the right-hand sides, [n][count] with left_side, else [count][n], and is overwritten
// with the solution.
struct TriangularSystem {
  int64_t n;
  bool left_side, lower, unit_diagonal;
  TransposeKind transpose_a;
};
// Solves for right-hand sides [begin, end) of `count`. `triangle` is for kLoops: `a` transformed by
// PrepareTriangle. Errors: ResourceExhausted.
template <typename T>
absl::Status SolveTriangular(TriangularCode code, const TriangularSystem& system, const T* a, const T* triangle, T* x,
                             int64_t count, int64_t begin, int64_t end);
// Writes op(a), or its transpose where that suits the loops better, to triangle[n][n].
template <typename T>
void PrepareTriangle(const TriangularSystem& system, const T* a, int64_t count, T* triangle);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_TRIANGULAR_KERNELS_H_
