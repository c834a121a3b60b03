// Several right-hand sides of real numbers are lanes (lane_matrices.h): on a Zen 5 with two threads, 500 rows and 500
// right-hand sides of f32 take 0.64 ms, and 0.93 by the library; 1000 take 3.7 and 6.1.
//
// OpenBLAS 0.3.21, which solves the others, takes half the time for x op(a) = b of what it takes for op(a) x = b, so
// that systems on the left are solved as their transposes, x^T op(a)^T = b^T. Systems with one right-hand side are
// trsv.
#include "runtime/lapack/triangle_solve.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <mutex>

#include "hilo/status_macros.h"
#include "runtime/guarded.h"
#include "runtime/lapack/batch_call.h"
#include "runtime/lapack/lane_matrices.h"

namespace hilo::lapack {
namespace {

// to[j + i * to_step] = from[i + j * from_step] for i < rows, j < columns, by tiles that fit into the nearest cache.
template <typename T>
void Transpose(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      for (int64_t i = i0; i < std::min(rows, i0 + kTile); ++i) {
        for (int64_t j = j0; j < std::min(columns, j0 + kTile); ++j) to[j + i * to_step] = from[i + j * from_step];
      }
    }
  }
}

template <typename T>
void SolveByTrsm(const TriangleLetters& letters, Int m, Int n, const T* a, Int lda, T* b, Int ldb) {
  const T one = 1;
  CallRoutine(Library<T>()->trsm, &letters.side, &letters.uplo, &letters.trans, &letters.diag, &m, &n, &one, a, &lda, b,
              &ldb, size_t{1}, size_t{1}, size_t{1}, size_t{1});
}

// Right-hand sides that are solved faster as lanes, and rows of a triangle, of which each part makes a copy. On a Zen
// 5, by the library and as lanes, us: 4 of 200 rows of f32 9.3 and 15.7, 8 9.9 and 15.7, 15 16.8 and 16.0; 8 of 700
// rows 144 and 206; 8 of 200 rows of f64 18 and 23, 15 28 and 23.
constexpr Int kMinLaneSystems = 12, kMaxLaneRows = 1024;

template <typename R>
absl::Status SolveInLanes(const TriangleLetters& letters, Int m, Int n, const R* a, Int lda, R* b, Int ldb) {
  const bool left = letters.side == 'L';
  const LaneTriangles triangle = {.size = left ? m : n,
                                  .left = left,
                                  .lower = letters.uplo == 'L',
                                  .unit_diagonal = letters.diag == 'U',
                                  .transposed = letters.trans != 'N',
                                  .conjugated = false};
  HILO_ASSIGN_OR_RETURN(const auto work, AlignedWork<R>(LaneSystemsWorkSize(triangle.size)));
  HostLaneKernels<R>().solve_systems(triangle, a, lda, left ? n : m, b, ldb, work.get());
  return absl::OkStatus();
}

template <typename T>
absl::Status SolvePart(const TriangleLetters& letters, Int m, Int n, const T* a, Int lda, T* b, Int ldb) {
  if (letters.trans == 'C' && kIsComplex<T>) {  // has no transpose among the forms of the library
    SolveByTrsm(letters, m, n, a, lda, b, ldb);
    return absl::OkStatus();
  }
  const bool left = letters.side == 'L';
  const char opposite = letters.trans == 'N' ? 'T' : 'N';
  if ((left ? n : m) == 1) {
    const Int size = left ? m : n, step = left ? 1 : ldb;
    const char trans = left ? letters.trans : opposite;
    CallRoutine(Library<T>()->trsv, &letters.uplo, &trans, &letters.diag, &size, a, &lda, b, &step, size_t{1},
                size_t{1}, size_t{1});
    return absl::OkStatus();
  }
  if constexpr (!kIsComplex<T>) {
    if ((left ? n : m) >= kMinLaneSystems && (left ? m : n) <= kMaxLaneRows)
      return SolveInLanes(letters, m, n, a, lda, b, ldb);
  }
  if (!left) {
    SolveByTrsm(letters, m, n, a, lda, b, ldb);
    return absl::OkStatus();
  }
  HILO_ASSIGN_OR_RETURN(const auto transposed, Work<T>(int64_t{m} * n));
  Transpose(b, ldb, transposed.get(), n, m, n);
  SolveByTrsm({'R', letters.uplo, opposite, letters.diag}, n, m, a, lda, transposed.get(), n);
  Transpose(transposed.get(), n, b, ldb, n, m);
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status SolveTriangle(const TriangleLetters& letters, Int m, Int n, const T* a, Int lda, T* b, Int ldb,
                           ThreadPool* pool) {
  constexpr int64_t kMaxInPart = 128, kMultiple = 32;  // right-hand sides
  constexpr double kWorthSharing = 500'000;            // multiply-adds
  const bool left = letters.side == 'L';
  const int64_t count = left ? n : m, size = left ? m : n;
  const double work = 0.5 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(count);
  int64_t parts = work < kWorthSharing ? 1 : (count + kMaxInPart - 1) / kMaxInPart;
  const int64_t step =
      parts <= 1 ? std::max<int64_t>(count, 1) : ((count + parts - 1) / parts + kMultiple - 1) / kMultiple * kMultiple;
  parts = (count + step - 1) / step;
  const auto part = [&](int64_t i) {
    const int64_t begin = i * step, here = std::min(step, count - begin);
    T* from = b + (left ? begin * ldb : begin);
    return SolvePart(letters, left ? m : static_cast<Int>(here), left ? static_cast<Int>(here) : n, a, lda, from, ldb);
  };
  if (pool == nullptr || pool->num_threads() == 1 || parts == 1) {
    for (int64_t i = 0; i < parts; ++i) HILO_RETURN_IF_ERROR(part(i));
    return absl::OkStatus();
  }
  std::mutex mutex;
  absl::Status first;
  pool->ParallelFor(parts, [&](int64_t i) {
    const absl::Status status = Guarded([&] { return part(i); });
    if (status.ok()) return;
    std::lock_guard<std::mutex> lock(mutex);
    if (first.ok()) first = status;
  });
  return first;
}

#define HILO_INSTANTIATE(T) \
  template absl::Status SolveTriangle<T>(const TriangleLetters&, Int, Int, const T*, Int, T*, Int, ThreadPool*);
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo::lapack
