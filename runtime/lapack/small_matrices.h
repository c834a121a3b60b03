// Factorizations and triangular solves of matrices so small that the overhead of a library exceeds the work.
// Column-major, as LAPACK's.
#ifndef HILO_RUNTIME_LAPACK_SMALL_MATRICES_H_
#define HILO_RUNTIME_LAPACK_SMALL_MATRICES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace hilo::lapack {

// The maximum number of rows and columns for these functions.
inline constexpr int32_t kSmallMatrix = 8;

// getrf of `a`, m x n of real numbers with leading dimension m: L and U in place, `pivots` (from 1) of min(m,
// n) rows; returns the number of the first pivot that is 0, or 0.
template <typename T>
int32_t FactorSmall(T* a, int32_t m, int32_t n, int32_t* pivots) {
  int32_t singular = 0;
  for (int32_t j = 0; j < std::min(m, n); ++j) {
    T* column = a + j * m;
    int32_t pivot = j;
    for (int32_t i = j + 1; i < m; ++i) {
      if (std::fabs(column[i]) > std::fabs(column[pivot])) pivot = i;
    }
    pivots[j] = pivot + 1;
    if (column[pivot] == 0) {
      if (singular == 0) singular = j + 1;
      continue;
    }
    if (pivot != j) {
      for (int32_t k = 0; k < n; ++k) std::swap(a[j + k * m], a[pivot + k * m]);
    }
    for (int32_t i = j + 1; i < m; ++i) column[i] /= column[j];
    for (int32_t k = j + 1; k < n; ++k) {
      const T factor = a[j + k * m];
      for (int32_t i = j + 1; i < m; ++i) a[i + k * m] -= column[i] * factor;
    }
  }
  return singular;
}

// potrf of `a`, n x n of real numbers: the factor in its lower or upper half, the other unchanged; returns
// the number of the first leading minor that is not positive, or 0.
template <typename T>
int32_t CholeskySmall(T* a, int32_t n, bool lower) {
  const int32_t row = lower ? 1 : n, column = lower ? n : 1;
  for (int32_t j = 0; j < n; ++j) {
    for (int32_t i = j; i < n; ++i) {
      T& element = a[i * row + j * column];
      for (int32_t k = 0; k < j; ++k) element -= a[i * row + k * column] * a[j * row + k * column];
      if (i > j) {
        element /= a[j * row + j * column];
      } else if (!(element > 0)) {
        return j + 1;
      } else {
        element = std::sqrt(element);
      }
    }
  }
  return 0;
}

// Solves t x = b in place for the triangle t(i, k) = a[i * row + k * column] of `size` rows, where b has elements
// `stride` apart.
template <typename T>
void SolveSmallTriangle(const T* a, int32_t row, int32_t column, int32_t size, bool lower, bool unit, T* b,
                        int32_t stride) {
  for (int32_t step = 0; step < size; ++step) {
    const int32_t i = lower ? step : size - 1 - step;
    T x = b[i * stride];
    for (int32_t k = lower ? 0 : i + 1; k < (lower ? i : size); ++k) x -= a[i * row + k * column] * b[k * stride];
    b[i * stride] = unit ? x : x / a[i * row + i * column];
  }
}

// trsm of `b`, m x n: from the left t x = b, from the right x t = b, where t is `triangle` read along its
// rows (flipped: along its columns), and then lower or upper. From the right, of rows of b, it is t' x' = b'.
template <typename T>
void SolveSmallTriangles(const T* triangle, int32_t m, int32_t n, bool left, bool flipped, bool lower, bool unit,
                         T* b) {
  const int32_t size = left ? m : n;
  for (int32_t k = 0; k < (left ? n : m); ++k) {
    SolveSmallTriangle(triangle, flipped ? size : 1, flipped ? 1 : size, size, lower, unit, b + (left ? k * m : k),
                       left ? 1 : m);
  }
}

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_SMALL_MATRICES_H_
