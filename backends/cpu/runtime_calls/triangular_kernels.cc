// LAPACK reads matrices column by column: a row-major matrix is its own transpose to it. The lower factor of a
// row-major matrix is then U of a = U^H U of the conjugated matrix, whose stored form is the result; and op(a) x = b is
// x^T op(a)^T = b^T, with the other side and the other triangle.
//
// Our own loops add multiples of contiguous rows to others, which compilers vectorize.
#include "backends/cpu/runtime_calls/triangular_kernels.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "runtime/lapack/lapack_library.h"
#include "runtime/lapack/triangle_solve.h"

namespace hilo::cpu {
namespace {

// Rows from which OpenBLAS is faster on one core of a Zen 4: f32 and f64 factors break even at 64 to
// 96 rows, complex ones at 48; systems with 4 to 32 right-hand sides at 16 rows, complex ones at 4 to
// 8.
constexpr int64_t kFactorRows = 64;
template <typename T>
constexpr int64_t kSystemRows = std::is_floating_point_v<T> ? 16 : 6;

float Conjugate(float x) { return x; }
double Conjugate(double x) { return x; }
template <typename P>
std::complex<P> Conjugate(std::complex<P> x) {
  return std::conj(x);
}

// y[0, n) -= f * x[0, n). The operator of std::complex handles infinities, and is many times
// slower.
template <typename T>
void SubtractMultiple(T f, const T* __restrict x, T* __restrict y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) y[j] -= f * x[j];
}
template <typename P>
void SubtractMultiple(std::complex<P> f, const std::complex<P>* x, std::complex<P>* y, int64_t n) {
  const P re = f.real(), im = f.imag();
  const P* __restrict from = reinterpret_cast<const P*>(x);
  P* __restrict to = reinterpret_cast<P*>(y);
  for (int64_t j = 0; j < n; ++j) {
    to[2 * j] -= re * from[2 * j] - im * from[2 * j + 1];
    to[2 * j + 1] -= re * from[2 * j + 1] + im * from[2 * j];
  }
}

// Replaces the upper triangle of u, a Hermitian matrix, by its factor. Returns false if the matrix is not positive
// definite.
template <typename T>
bool FactorUpper(int64_t n, T* u) {
  for (int64_t k = 0; k < n; ++k) {
    T* row = u + k * n;
    const auto pivot = std::real(row[k]);
    if (!(pivot > 0)) return false;
    const auto root = std::sqrt(pivot);
    row[k] = root;
    for (int64_t j = k + 1; j < n; ++j) row[j] /= root;
    for (int64_t i = k + 1; i < n; ++i) SubtractMultiple(Conjugate(row[i]), row + i, u + i * n + i, n - i);
  }
  return true;
}

template <typename T>
bool FactorByLibrary(int64_t n, bool lower, T* a) {
  const char uplo = lower ? 'U' : 'L';
  const lapack::Int size = static_cast<lapack::Int>(n);
  lapack::Int info = 0;
  lapack::CallRoutine(lapack::Library<T>()->potrf, &uplo, &size, a, &size, &info, size_t{1});
  return info == 0;
}

template <typename T>
TriangularCode CodeFrom(int64_t least, int64_t n) {
  const bool library = n >= least && n <= std::numeric_limits<lapack::Int>::max() && lapack::Library<T>() != nullptr;
  return library ? TriangularCode::kLibrary : TriangularCode::kLoops;
}

// Few right-hand sides on the left are solved as rows: then the loops run along the rows of the
// transposed triangle.
bool AsRows(const TriangularSystem& system, int64_t count) { return !system.left_side || count == 1; }

template <typename T>
void SolveByLoops(const TriangularSystem& system, const T* t, T* x, int64_t count, int64_t begin, int64_t end) {
  const int64_t n = system.n;
  const bool op_lower = system.lower == (system.transpose_a == TransposeKind::kNoTranspose);
  if (AsRows(system, count)) {
    // x t = b, by rows of x; t is op(a), or its transpose if a single column is treated as a row.
    const bool lower = op_lower != system.left_side;
    for (int64_t r = begin; r < end; ++r) {
      T* row = x + r * n;
      for (int64_t step = 0; step < n; ++step) {
        const int64_t i = lower ? n - 1 - step : step;
        if (!system.unit_diagonal) row[i] /= t[i * n + i];
        if (lower) {
          SubtractMultiple(row[i], t + i * n, row, i);
        } else {
          SubtractMultiple(row[i], t + i * n + i + 1, row + i + 1, n - i - 1);
        }
      }
    }
    return;
  }
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = op_lower ? step : n - 1 - step;
    T* row = x + i * count;
    for (int64_t j = op_lower ? 0 : i + 1; j < (op_lower ? i : n); ++j)
      SubtractMultiple(t[i * n + j], x + j * count + begin, row + begin, end - begin);
    if (system.unit_diagonal) continue;
    for (int64_t c = begin; c < end; ++c) row[c] /= t[i * n + i];
  }
}

template <typename T>
absl::Status SolveByLibrary(const TriangularSystem& system, const T* a, T* x, int64_t count, int64_t begin,
                            int64_t end) {
  const char trans = system.transpose_a == TransposeKind::kNoTranspose ? 'N'
                     : system.transpose_a == TransposeKind::kTranspose ? 'T'
                                                                       : 'C';
  const lapack::TriangleLetters letters = {.side = system.left_side ? 'R' : 'L',
                                           .uplo = system.lower ? 'U' : 'L',
                                           .trans = trans,
                                           .diag = system.unit_diagonal ? 'U' : 'N'};
  const lapack::Int n = static_cast<lapack::Int>(system.n), part = static_cast<lapack::Int>(end - begin),
                    row = static_cast<lapack::Int>(count);
  return lapack::SolveTriangle(letters, system.left_side ? part : n, system.left_side ? n : part, a, n,
                               system.left_side ? x + begin : x + begin * system.n, system.left_side ? row : n,
                               /*pool=*/nullptr);
}

}  // namespace

template <typename T>
TriangularCode CholeskyCode(int64_t n) {
  return CodeFrom<T>(kFactorRows, n);
}

template <typename T>
TriangularCode TriangularSolveCode(int64_t n) {
  return CodeFrom<T>(kSystemRows<T>, n);
}

template <typename T>
void CholeskyFactor(TriangularCode code, int64_t n, bool lower, const T* a, T* result, T* scratch) {
  bool definite;
  if (code == TriangularCode::kLibrary) {
    std::copy_n(a, n * n, result);
    definite = FactorByLibrary(n, lower, result);
  } else if (lower) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) scratch[j * n + i] = Conjugate(a[i * n + j]);
    }
    definite = FactorUpper(n, scratch);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) result[i * n + j] = Conjugate(scratch[j * n + i]);
    }
  } else {
    std::copy_n(a, n * n, result);
    definite = FactorUpper(n, result);
  }
  if (!definite) {
    using P = decltype(std::real(T()));
    std::fill_n(result, n * n, T(std::numeric_limits<P>::quiet_NaN()));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (lower) {
      std::fill(result + i * n + i + 1, result + (i + 1) * n, T(0));
    } else {
      std::fill_n(result + i * n, i, T(0));
    }
  }
}

template <typename T>
void PrepareTriangle(const TriangularSystem& system, const T* a, int64_t count, T* triangle) {
  const int64_t n = system.n;
  const bool transposed =
      (system.transpose_a != TransposeKind::kNoTranspose) != (AsRows(system, count) && system.left_side);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = system.lower ? 0 : i; j < (system.lower ? i + 1 : n); ++j) {
      const T value = system.transpose_a == TransposeKind::kAdjoint ? Conjugate(a[i * n + j]) : a[i * n + j];
      triangle[transposed ? j * n + i : i * n + j] = value;
    }
  }
}

template <typename T>
absl::Status SolveTriangular(TriangularCode code, const TriangularSystem& system, const T* a, const T* triangle, T* x,
                             int64_t count, int64_t begin, int64_t end) {
  if (code == TriangularCode::kLibrary) return SolveByLibrary(system, a, x, count, begin, end);
  SolveByLoops(system, triangle, x, count, begin, end);
  return absl::OkStatus();
}

#define HILO_INSTANTIATE(T)                                                                                       \
  template TriangularCode CholeskyCode<T>(int64_t n);                                                             \
  template TriangularCode TriangularSolveCode<T>(int64_t n);                                                      \
  template void CholeskyFactor<T>(TriangularCode code, int64_t n, bool lower, const T* a, T* result, T* scratch); \
  template void PrepareTriangle<T>(const TriangularSystem& system, const T* a, int64_t count, T* triangle);       \
  template absl::Status SolveTriangular<T>(TriangularCode code, const TriangularSystem& system, const T* a,       \
                                           const T* triangle, T* x, int64_t count, int64_t begin, int64_t end);
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo::cpu
