// Triangular systems by the library, in the forms in which it is fast.
#ifndef HILO_RUNTIME_LAPACK_TRIANGLE_SOLVE_H_
#define HILO_RUNTIME_LAPACK_TRIANGLE_SOLVE_H_

#include "absl/status/status.h"
#include "hilo/host.h"
#include "runtime/lapack/lapack_library.h"

namespace hilo::lapack {

// The letters of trsm: `side` L or R, `uplo` L or U, `trans` N, T or C, `diag` N or U.
struct TriangleLetters {
  char side, uplo, trans, diag;
};

// trsm with a factor of 1: replaces `b`, m x n, by the x for which op(a) x = b (side L) or x op(a) = b (side R).
// Matrices are column-major, with leading dimensions lda and ldb. Right-hand sides are shared by the threads of `pool`,
// if it is not null and they are worth it, in parts that do not depend on the number of threads.
// The library must have been loaded. Errors: ResourceExhausted.
template <typename T>
absl::Status SolveTriangle(const TriangleLetters& letters, Int m, Int n, const T* a, Int lda, T* b, Int ldb,
                           ThreadPool* pool);

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_TRIANGLE_SOLVE_H_
