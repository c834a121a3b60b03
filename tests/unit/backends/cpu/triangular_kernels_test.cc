// The loops and the library, whatever the size: both solve the system, and both give the factor.
#include "backends/cpu/runtime_calls/triangular_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "runtime/lapack/lapack_library.h"

namespace hilo::cpu {
namespace {

template <typename T>
struct IsComplexNumber : std::false_type {};
template <typename P>
struct IsComplexNumber<std::complex<P>> : std::true_type {};

template <typename T>
T Conjugate(T x) {
  if constexpr (IsComplexNumber<T>::value) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <typename T>
std::vector<T> Noise(int64_t count, int seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (IsComplexNumber<T>::value) {
      using P = typename T::value_type;
      const P re = static_cast<P>(uniform(generator));
      value = T(re, static_cast<P>(uniform(generator)));
    } else {
      value = static_cast<T>(uniform(generator));
    }
  }
  return values;
}

template <typename T>
double Tolerance() {
  return sizeof(decltype(std::real(T()))) == 4 ? 1e-4 : 1e-12;
}

template <typename T>
std::vector<TriangularCode> Codes() {
  std::vector<TriangularCode> codes = {TriangularCode::kLoops};
  if (lapack::Library<T>() != nullptr) codes.push_back(TriangularCode::kLibrary);
  return codes;
}

template <typename T>
class TriangularKernelsTest : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TriangularKernelsTest, Types);

// op(a)(i, j), with zeros in the other triangle.
template <typename T>
T Entry(const TriangularSystem& s, const std::vector<T>& a, int64_t i, int64_t j) {
  if (s.transpose_a != TransposeKind::kNoTranspose) std::swap(i, j);
  if (i == j && s.unit_diagonal) return T(1);
  if (s.lower ? i < j : i > j) return T(0);
  const T value = a[i * s.n + j];
  return s.transpose_a == TransposeKind::kAdjoint ? Conjugate(value) : value;
}

template <typename T>
void ExpectSolved(const TriangularSystem& s, int64_t count) {
  std::vector<T> a = Noise<T>(s.n * s.n, static_cast<int>(s.n));
  for (T& value : a) value /= static_cast<T>(s.n);  // so that a unit diagonal is large enough too
  for (int64_t i = 0; i < s.n; ++i) a[i * s.n + i] = T(s.unit_diagonal ? NAN : 2);
  for (int64_t i = 0; i < s.n; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      if (s.lower ? i < j : i > j) a[i * s.n + j] = T(NAN);  // not to be read
    }
  }
  const std::vector<T> b = Noise<T>(s.n * count, 7);
  for (TriangularCode code : Codes<T>()) {
    std::vector<T> x = b, triangle(s.n * s.n, T(NAN));
    PrepareTriangle(s, a.data(), count, triangle.data());
    const int64_t middle = count / 2;
    ASSERT_TRUE(SolveTriangular(code, s, a.data(), triangle.data(), x.data(), count, 0, middle).ok());
    ASSERT_TRUE(SolveTriangular(code, s, a.data(), triangle.data(), x.data(), count, middle, count).ok());
    const auto at = [&](const std::vector<T>& v, int64_t i, int64_t c) {
      return s.left_side ? v[i * count + c] : v[c * s.n + i];
    };
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t i = 0; i < s.n; ++i) {
        T sum = 0;
        for (int64_t j = 0; j < s.n; ++j) {
          const T entry = s.left_side ? Entry(s, a, i, j) : Entry(s, a, j, i);
          if (entry != T(0)) sum += entry * at(x, j, c);
        }
        ASSERT_LT(std::abs(sum - at(b, i, c)), Tolerance<T>())
            << "n " << s.n << " count " << count << " left " << s.left_side << " lower " << s.lower << " unit "
            << s.unit_diagonal << " op " << static_cast<int>(s.transpose_a) << " code " << static_cast<int>(code);
      }
    }
  }
}

TYPED_TEST(TriangularKernelsTest, SystemsOfAllForms) {
  for (int64_t n : {1, 2, 5, 17, 40}) {
    for (int64_t count : {1, 3, 20}) {
      for (int form = 0; form < 8; ++form) {
        for (TransposeKind op : {TransposeKind::kNoTranspose, TransposeKind::kTranspose, TransposeKind::kAdjoint}) {
          ExpectSolved<TypeParam>({n, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0, op}, count);
        }
      }
    }
  }
}

TYPED_TEST(TriangularKernelsTest, FactorsOfBothForms) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 3, 9, 33, 70}) {
    const std::vector<T> m = Noise<T>(n * n, 3);
    for (bool lower : {true, false}) {
      std::vector<T> a(n * n), scratch(n * n);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t k = 0; k < n; ++k) a[i * n + j] += m[i * n + k] * Conjugate(m[j * n + k]);
          if (i == j) a[i * n + j] += T(1);
        }
      }
      std::vector<T> half = a;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          if (lower ? i < j : i > j) half[i * n + j] = T(NAN);
        }
      }
      for (TriangularCode code : Codes<T>()) {
        std::vector<T> f(n * n, T(NAN));
        CholeskyFactor(code, n, lower, half.data(), f.data(), scratch.data());
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            T sum = 0;
            for (int64_t k = 0; k < n; ++k) {
              sum += lower ? f[i * n + k] * Conjugate(f[j * n + k]) : Conjugate(f[k * n + i]) * f[k * n + j];
            }
            ASSERT_LT(std::abs(sum - a[i * n + j]), static_cast<double>(n) * Tolerance<T>());
          }
        }
        half[n * n - 1] = T(-1);  // not positive definite in the last step only
        CholeskyFactor(code, n, lower, half.data(), f.data(), scratch.data());
        for (const T& value : f) ASSERT_TRUE(std::isnan(std::real(value)));
        half[n * n - 1] = a[n * n - 1];
      }
    }
  }
}

}  // namespace
}  // namespace hilo::cpu
