// Factorizations and triangular solves of batches of small matrices, as many at once as vector registers have lanes.
//
// Shared by their callers and the kernels (lane_kernels.inc, compiled once per instruction set). It names no vector
// type and includes nothing that could be compiled differently on the two sides.
#ifndef HILO_RUNTIME_LAPACK_LANE_MATRICES_H_
#define HILO_RUNTIME_LAPACK_LANE_MATRICES_H_

#include <cstdint>

namespace hilo::lapack {

// The maximum number of rows and columns of triangles and factors.
inline constexpr int32_t kLaneMatrix = 32;
// A multiple of the number of lanes on every machine.
inline constexpr int32_t kMaxLanes = 16;

// Returns true if a batch is computed faster in lanes than one by one, where `elements` are those of all matrices of
// one member of the batch. Measured on a Zen 5 with one thread, us a matrix of f32, in lanes and by OpenBLAS 0.3.21:
// getrf of 8 x 8 0.03 and 0.37, 16 x 16 0.14 and 1.4, 32 x 32 1.1 and 3.8; potrf 0.01 and 0.14, 0.04 and 0.33, 0.44
// and 1.1; trsm with as many right-hand sides 0.02 and 0.09, 0.10 and 0.18, 0.81 and 0.69. Lanes that are empty cost as
// much.
constexpr bool IsFasterInLanes(int64_t batch, int64_t elements) {
  constexpr int64_t kFewElements = 256, kMaxElements = (kLaneMatrix + 1) * kLaneMatrix;
  return elements <= kMaxElements && batch >= (elements <= kFewElements ? kMaxLanes / 2 : kMaxLanes);
}
// The same for reflections (QR factors) of m x n matrices. OpenBLAS over lanes, batches of 200 called from JAX on two
// threads of a Zen 4, f32 and complex f64: 8 x 8 5.2 and 3.2, 16 x 16 5.1 and 2.5, 32 x 32 5.0 and 1.8.
constexpr bool IsReflectedInLanes(int64_t batch, int64_t m, int64_t n) {
  constexpr int64_t kFewRows = 8;  // one lane of 16 is as fast as OpenBLAS
  const int64_t rows = m < n ? n : m;
  if (m == 0 || n == 0 || rows > kLaneMatrix) return false;
  return rows <= kFewRows || IsFasterInLanes(batch, m * n);
}
// The same for rotations (eigenvalues, singular values) of matrices whose components have so many bytes. OpenBLAS over
// lanes as above, eigenvalues of f32, f64, complex f32 and complex f64: 8 rows 6.4, 3.9, 5.7, 3.3; 16 rows 3.8, 2.2,
// 3.6, 2.0; 24 rows 2.7, 1.5, 2.5, 1.5; 32 rows 1.9, 0.9, 1.1, 0.8, as their matrices leave the first-level cache.
// Singular values gain a little more. The last group of a batch may leave most of its lanes empty.
constexpr bool IsRotatedInLanes(int64_t batch, int64_t m, int64_t n, int64_t component_bytes) {
  const int64_t rows = m < n ? n : m, max_rows = component_bytes == 4 ? 24 : 16;
  if (m == 0 || n == 0 || rows > max_rows) return false;
  return batch >= (rows <= 4 ? 1 : rows <= 8 ? 2 : rows <= 12 ? kMaxLanes / 2 : kMaxLanes);
}
// The alignment of work space, in bytes.
inline constexpr int64_t kLaneAlignment = 64;

// Triangles t of `size` rows, the systems t x = b with `left`, else x t = b.
struct LaneTriangles {
  int32_t size;
  bool left, lower, unit_diagonal;
  bool transposed, conjugated;  // what is stored; `lower` is what is stored, too
};

// Singular vectors: none, as many as there are values, or all.
enum class LaneVectors { kNone, kThin, kFull };

// Of one kind of numbers, real or complex, whose components are R. Matrices are column-major and dense, each of a batch
// after the other. `work` has WorkSize() elements, aligned to kLaneAlignment. The same matrix has the same result
// wherever it is in a batch.
template <typename R>
struct LaneRoutines {
  // potrf: the factor in the lower or upper half, the other unchanged; `info[b]`: the number of the first leading minor
  // that is not positive, or 0. The factor is then unspecified.
  void (*factor_definite)(R* a, int32_t n, bool lower, int64_t batch, int32_t* info, R* work);
  // getrf of m x n numbers: L and U in place, `pivots` (from 1) of min(m, n) rows each; `info[b]`: the number of the
  // first pivot that is 0, or 0.
  void (*factor)(R* a, int32_t m, int32_t n, int64_t batch, int32_t* pivots, int32_t* info, R* work);
  // trsm: replaces b[m][n] by the solutions.
  void (*solve)(const LaneTriangles& triangles, const R* a, int32_t m, int32_t n, int64_t batch, R* b, R* work);
  // geqrf of m x n numbers: R, and below it the vectors of min(m, n) reflections, whose factors are `taus`.
  void (*factor_orthogonal)(R* a, int32_t m, int32_t n, int64_t batch, R* taus, R* work);
  // orgqr: replaces the vectors of k reflections by the first n columns of their product, k <= n <= m.
  void (*generate_orthogonal)(R* a, int32_t m, int32_t n, int32_t k, int64_t batch, const R* taus, R* work);
  // syevd of the Hermitian matrix whose lower or upper half is given: `values` ascend; the eigenvectors replace `a`
  // if wanted. `info[b]`: 0, or 1 if the matrix is not finite or has not converged; the results are then unspecified.
  void (*eigen)(R* a, int32_t n, bool lower, bool wants_vectors, int64_t batch, R* values, int32_t* info, R* work);
  // gesdd of m x n numbers: `values` descend; u and vt are written if wanted, k columns and rows of them or all, where
  // k = min(m, n). `info` as above.
  void (*singular)(const R* a, int32_t m, int32_t n, LaneVectors wanted, int64_t batch, R* values, R* u, R* vt,
                   int32_t* info, R* work);
};

// Elements of R for the work space of a call on matrices of these numbers of elements.
constexpr int64_t LaneWorkSize(int64_t elements) { return 2 * kMaxLanes * (elements + 4 * kLaneMatrix); }
// The numbers of elements for `eigen` and `singular`.
constexpr int64_t LaneEigenElements(int64_t n) { return 2 * n * n; }
constexpr int64_t LaneSingularElements(int64_t m, int64_t n) {
  const int64_t large = m < n ? n : m, small = m < n ? m : n;
  return (large + small) * small + 2 * large * large;
}

// One triangle of real numbers, whose `count` systems are lanes: replaces the columns of b with `left`, else its rows,
// by the solutions. `a` and `b` are column-major, with leading dimensions lda and ldb. `work` has LaneSystemsWorkSize()
// elements, aligned to kLaneAlignment. A system has the same result whatever its number.
template <typename R>
using SolveSystems = void (*)(const LaneTriangles& triangle, const R* a, int64_t lda, int64_t count, R* b, int64_t ldb,
                              R* work);
constexpr int64_t LaneSystemsWorkSize(int64_t size) {
  return (size + kMaxLanes) * (size + kMaxLanes) + 2 * kMaxLanes * size;
}

// Calls part(job, i) for i in [0, parts), in any order and on any threads, and returns after the last; null: there are
// no threads.
struct PartRunner {
  void (*run)(void* context, int64_t parts, void (*part)(const void* job, int64_t i), const void* job) = nullptr;
  void* context = nullptr;
};

// getrf of one m x n matrix and potrf of one of n rows, both of real numbers (dense_kernels.inc), as those of
// LaneRoutines. `work` has DenseWorkSize() elements, aligned to kLaneAlignment. The results do not depend on `runner`.
template <typename R>
using FactorDense = void (*)(R* a, int32_t m, int32_t n, int32_t* pivots, int32_t* info, R* work,
                             const PartRunner& runner);
template <typename R>
using FactorDefiniteDense = void (*)(R* a, int32_t n, bool lower, int32_t* info, R* work, const PartRunner& runner);
// Elements from a column of the work space to the next: whole lines, and no multiple of 1 KB, whose columns would
// evict each other.
template <typename R>
constexpr int64_t DenseStep(int64_t rows) {
  constexpr int64_t kLine = kLaneAlignment / sizeof(R), kFewSets = 1024 / sizeof(R);
  const int64_t padded = (rows + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  return padded % kFewSets == 0 ? padded + kLine : padded;
}
template <typename R>
constexpr int64_t DenseWorkSize(int64_t rows, int64_t columns) {
  return DenseStep<R>(rows) * columns;
}

// geqrf and orgqr of one matrix of real numbers (dense_orthogonal.inc), as factor_orthogonal and generate_orthogonal.
// `work` has DenseOrthogonalWorkSize() elements, aligned to kLaneAlignment. The results do not depend on `runner`.
template <typename R>
using FactorOrthogonalDense = void (*)(R* a, int32_t m, int32_t n, R* taus, R* work, const PartRunner& runner);
template <typename R>
using GenerateOrthogonalDense = void (*)(R* a, int32_t m, int32_t n, int32_t k, const R* taus, R* work,
                                         const PartRunner& runner);
inline constexpr int64_t kReflections = 48;  // columns whose reflections are applied together
template <typename R>
constexpr int64_t DenseOrthogonalWorkSize(int64_t rows, int64_t columns) {
  return DenseStep<R>(rows) * (columns + 2 * kReflections) + 3 * kReflections * kReflections +
         2 * kReflections * columns;
}

// sytrd of one symmetric matrix of n rows of real numbers (dense_tridiagonal.inc), of which the lower or upper half is
// given: n numbers on the diagonal, n - 1 beside it and n - 1 taus. The reflections stay in `work`, which has
// SymmetricWorkSize() elements, aligned to kLaneAlignment. The numbers must be neither so large nor so small that their
// squares overflow or underflow.
template <typename R>
using ReduceSymmetric = void (*)(const R* a, int32_t n, bool lower, R* diagonal, R* beside, R* taus, R* work,
                                 const PartRunner& runner);
// Replaces z, n x n, by the product of those reflections with it.
template <typename R>
using ApplyReduction = void (*)(R* z, int32_t n, const R* taus, R* work, const PartRunner& runner);
template <typename R>
constexpr int64_t SymmetricWorkSize(int64_t n) {
  return DenseOrthogonalWorkSize<R>(n, n) + DenseStep<R>(n) * n;
}

template <typename R>
struct LaneKernels {
  LaneRoutines<R> real, complex;
  SolveSystems<R> solve_systems;
  FactorDense<R> factor_dense;
  FactorDefiniteDense<R> factor_definite_dense;
  FactorOrthogonalDense<R> factor_orthogonal_dense;
  GenerateOrthogonalDense<R> generate_orthogonal_dense;
  ReduceSymmetric<R> reduce_symmetric;
  ApplyReduction<R> apply_reduction;
};

// Returns the kernels for the best instruction set of this machine. R: float or double.
template <typename R>
const LaneKernels<R>& HostLaneKernels();

namespace baseline {
extern const LaneKernels<float> kFloat;
extern const LaneKernels<double> kDouble;
}  // namespace baseline
#if defined(__x86_64__)
namespace avx2 {
extern const LaneKernels<float> kFloat;
extern const LaneKernels<double> kDouble;
}  // namespace avx2
namespace avx512 {
extern const LaneKernels<float> kFloat;
extern const LaneKernels<double> kDouble;
}  // namespace avx512
#endif

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_LANE_MATRICES_H_
