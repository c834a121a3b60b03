// Factors of one matrix of real numbers (dense_kernels.inc), with the kernels of each instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/runtime/lapack/lane_testing.h"

namespace hilo::lapack {
namespace {

template <typename R>
class DenseKernelsTest : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseKernelsTest, RealTypes);

template <typename R>
std::vector<R> DenseWork(int32_t m, int32_t n) {
  // What is left of an earlier call must not matter.
  return std::vector<R>(DenseWorkSize<R>(m, n) + kLaneAlignment, std::numeric_limits<R>::quiet_NaN());
}

template <typename R>
struct Pivoted {
  Batch<R> factors;
  std::vector<int32_t> pivots;
  int32_t info = -1;
};

template <typename R>
Pivoted<R> FactorOf(const LaneKernels<R>& kernels, const Batch<R>& a, const PartRunner& runner = {}) {
  Pivoted<R> result{a, std::vector<int32_t>(std::min(a.rows, a.columns), -1)};
  auto memory = DenseWork<R>(a.rows, a.columns);
  kernels.factor_dense(result.factors.data.data(), a.rows, a.columns, result.pivots.data(), &result.info,
                       Aligned(memory), runner);
  return result;
}

// P a = L U, where no element of L is above 1.
template <typename R>
void ExpectFactors(Batch<R> a, const Pivoted<R>& result, const std::string& where) {
  const int32_t m = a.rows, n = a.columns, steps = std::min(m, n);
  for (int32_t j = 0; j < steps; ++j) {
    const int32_t pivot = result.pivots[j] - 1;
    ASSERT_TRUE(pivot >= j && pivot < m) << where;
    for (int32_t k = 0; k < n; ++k) std::swap(a(0, j, k), a(0, pivot, k));
  }
  for (int32_t i = 0; i < m; ++i) {
    for (int32_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int32_t k = 0; k <= std::min(i, j) && k < steps; ++k) {
        const double left = k == i ? 1 : result.factors(0, i, k);
        EXPECT_LE(std::abs(left), 1 + 4 * std::numeric_limits<R>::epsilon()) << where;
        sum += left * result.factors(0, k, j);
      }
      ASSERT_NEAR(sum, a(0, i, j), 50 * std::numeric_limits<R>::epsilon() * std::sqrt(m + 1)) << where;
    }
  }
}

TYPED_TEST(DenseKernelsTest, FactorsWithPivotsMultiplyToTheMatrix) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    for (const auto& [m, n] : {std::pair(1, 1),
                               {9, 9},
                               {1, 40},
                               {40, 1},
                               {16, 17},
                               {17, 16},
                               {31, 33},
                               {64, 64},
                               {100, 37},
                               {37, 100},
                               {20, 200},
                               {129, 131},
                               {128, 16}}) {
      const Batch<R> a = Noise<R>(1, m, n, 0);
      const Pivoted<R> result = FactorOf(named.kernels, a);
      EXPECT_EQ(result.info, 0);
      ExpectFactors(a, result, named.name + " " + std::to_string(m) + " x " + std::to_string(n));
    }
  }
}

TYPED_TEST(DenseKernelsTest, TheFirstPivotThatIsZeroIsReported) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    for (const int32_t column : {0, 5, 16, 39}) {
      Batch<R> a = Noise<R>(1, 40, 40, 0);
      for (int32_t i = 0; i < 40; ++i) a(0, i, column) = 0;
      const Pivoted<R> result = FactorOf(named.kernels, a);
      EXPECT_EQ(result.info, column + 1) << named.name;
      ExpectFactors(a, result, named.name);
    }
  }
}

TYPED_TEST(DenseKernelsTest, TheFirstOfEqualPivotsIsChosen) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    Batch<R> a(1, 50, 3);
    for (const int32_t row : {49, 7, 33, 18}) a(0, row, 0) = row % 2 == 0 ? -2 : 2;
    EXPECT_EQ(FactorOf(named.kernels, a).pivots[0], 8) << named.name;
  }
}

// The reciprocal of such a pivot is infinite.
TYPED_TEST(DenseKernelsTest, SubnormalPivotsDivide) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    Batch<R> a(1, 40, 20);
    for (int32_t i = 0; i < 40; ++i) a(0, i, 0) = std::numeric_limits<R>::denorm_min() * (i + 1);
    for (int32_t j = 1; j < 20; ++j) a(0, j, j) = 1;
    const Pivoted<R> result = FactorOf(named.kernels, a);
    EXPECT_EQ(result.pivots[0], 40);
    for (int32_t i = 1; i < 39; ++i)
      EXPECT_NEAR(result.factors(0, i, 0), (i + 1) / 40.0, 1e-6) << named.name << " row " << i;
  }
}

TYPED_TEST(DenseKernelsTest, NanIsNoPivotUnlessAllAre) {
  using R = TypeParam;
  constexpr R kNan = std::numeric_limits<R>::quiet_NaN();
  for (const Named<R>& named : AllRoutines<R>()) {
    Batch<R> a = Noise<R>(1, 37, 37, 0);
    a(0, 4, 0) = kNan;
    const Pivoted<R> one = FactorOf(named.kernels, a);
    for (size_t j = 0; j < one.pivots.size(); ++j)
      EXPECT_TRUE(one.pivots[j] > static_cast<int32_t>(j) && one.pivots[j] <= 37) << named.name;
    EXPECT_NE(one.pivots[0], 5);
    EXPECT_TRUE(std::isnan(one.factors(0, 36, 36)));
    std::fill(a.data.begin(), a.data.end(), kNan);
    const Pivoted<R> all = FactorOf(named.kernels, a);
    for (size_t j = 0; j < all.pivots.size(); ++j) EXPECT_EQ(all.pivots[j], static_cast<int32_t>(j + 1)) << named.name;
    EXPECT_EQ(all.info, 0);
  }
}

TYPED_TEST(DenseKernelsTest, PartsHaveTheBitsOfTheWhole) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    for (const auto& [m, n] : {std::pair(600, 600), {300, 700}, {800, 320}}) {
      const Batch<R> a = Noise<R>(1, m, n, 0);
      const Pivoted<R> whole = FactorOf(named.kernels, a), parts = FactorOf(named.kernels, a, Backwards());
      EXPECT_EQ(whole.factors.data, parts.factors.data) << named.name;
      EXPECT_EQ(whole.pivots, parts.pivots) << named.name;
    }
  }
}

// A matrix whose other half, which is not read, is NaN.
template <typename R>
Batch<R> Definite(int32_t n, bool lower) {
  Batch<R> a = Noise<R>(1, n, n, 0);
  for (int32_t j = 0; j < n; ++j) {
    for (int32_t i = 0; i < j; ++i) a(0, i, j) = a(0, j, i);
    a(0, j, j) = static_cast<R>(2 * n);
  }
  for (int32_t j = 0; j < n; ++j) {
    for (int32_t i = 0; i < n; ++i) {
      if (lower ? i < j : i > j) a(0, i, j) = std::numeric_limits<R>::quiet_NaN();
    }
  }
  return a;
}

template <typename R>
int32_t FactorDefinite(const LaneKernels<R>& kernels, bool lower, Batch<R>* a, const PartRunner& runner = {}) {
  int32_t info = -1;
  auto memory = DenseWork<R>(a->rows, a->rows);
  kernels.factor_definite_dense(a->data.data(), a->rows, lower, &info, Aligned(memory), runner);
  return info;
}

TYPED_TEST(DenseKernelsTest, DefiniteFactorsMultiplyToTheMatrix) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    for (const int32_t n : {1, 9, 16, 17, 33, 64, 100, 131}) {
      for (const bool lower : {true, false}) {
        const Batch<R> a = Definite<R>(n, lower);
        Batch<R> factor = a;
        EXPECT_EQ(FactorDefinite(named.kernels, lower, &factor), 0);
        const auto at = [&](const Batch<R>& x, int32_t i, int32_t j) { return lower ? x(0, i, j) : x(0, j, i); };
        for (int32_t i = 0; i < n; ++i) {
          for (int32_t j = 0; j < n; ++j) {
            if (i < j) {
              ASSERT_TRUE(std::isnan(at(factor, i, j))) << named.name;
              continue;
            }
            double sum = 0;
            for (int32_t k = 0; k <= j; ++k) sum += double{at(factor, i, k)} * at(factor, j, k);
            ASSERT_NEAR(sum, at(a, i, j), 32 * n * std::numeric_limits<R>::epsilon()) << named.name << " " << n;
          }
        }
      }
    }
  }
}

TYPED_TEST(DenseKernelsTest, TheFirstMinorThatIsNotPositiveIsReported) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    for (const int32_t minor : {0, 9, 40, 69}) {
      for (const R value : {R(-1), R(0), std::numeric_limits<R>::quiet_NaN()}) {
        Batch<R> a = Definite<R>(70, true);
        a(0, minor, minor) = value;
        EXPECT_EQ(FactorDefinite(named.kernels, true, &a), minor + 1) << named.name;
      }
    }
  }
}

TYPED_TEST(DenseKernelsTest, PartsOfDefiniteFactorsHaveTheBitsOfTheWhole) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    Batch<R> whole = Definite<R>(800, true), parts = whole;
    for (R& x : whole.data) x = std::isnan(x) ? 0 : x;  // so that they are equal
    parts = whole;
    FactorDefinite(named.kernels, true, &whole);
    FactorDefinite(named.kernels, true, &parts, Backwards());
    EXPECT_EQ(whole.data, parts.data) << named.name;
  }
}

template <typename R>
struct Reduced {
  std::vector<R> diagonal, beside, taus;
  Batch<R> q;
};

template <typename R>
Reduced<R> Reduce(const LaneKernels<R>& kernels, const Batch<R>& a, bool lower, const PartRunner& runner = {}) {
  const int32_t n = a.rows;
  Reduced<R> result{std::vector<R>(n), std::vector<R>(n - 1), std::vector<R>(n - 1), Batch<R>(1, n, n)};
  std::vector<R> memory(SymmetricWorkSize<R>(n) + kLaneAlignment, std::numeric_limits<R>::quiet_NaN());
  kernels.reduce_symmetric(a.data.data(), n, lower, result.diagonal.data(), result.beside.data(), result.taus.data(),
                           Aligned(memory), runner);
  for (int32_t i = 0; i < n; ++i) result.q(0, i, i) = 1;
  kernels.apply_reduction(result.q.data.data(), n, result.taus.data(), Aligned(memory), runner);
  return result;
}

// a = Q T Q^T, and Q^T Q = 1.
TYPED_TEST(DenseKernelsTest, TridiagonalFormsHaveTheMatrixBehindTheirReflections) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    for (const int32_t n : {1, 2, 3, 9, 16, 17, 33, 50, 64, 101, 130}) {
      for (const bool lower : {true, false}) {
        Batch<R> a = Definite<R>(n, lower);
        if (n > 40) {  // columns with nothing to reflect
          for (int32_t i = 0; i < n; ++i) {
            for (const int32_t j : {0, 5, 20}) {
              if (i != j) a(0, lower ? std::max(i, j) : std::min(i, j), lower ? std::min(i, j) : std::max(i, j)) = 0;
            }
          }
        }
        const Reduced<R> result = Reduce(named.kernels, a, lower);
        const double tolerance = 32 * n * std::numeric_limits<R>::epsilon();
        const auto q = [&](int32_t i, int32_t j) { return double{result.q(0, i, j)}; };
        for (int32_t i = 0; i < n; ++i) {
          for (int32_t j = 0; j <= i; ++j) {
            double sum = 0, product = 0;
            for (int32_t k = 0; k < n; ++k) {
              double row = result.diagonal[k] * q(j, k);
              if (k > 0) row += result.beside[k - 1] * q(j, k - 1);
              if (k + 1 < n) row += result.beside[k] * q(j, k + 1);
              sum += q(i, k) * row;
              product += q(i, k) * q(j, k);
            }
            ASSERT_NEAR(sum, lower ? a(0, i, j) : a(0, j, i), tolerance) << named.name << " " << n;
            ASSERT_NEAR(product, i == j ? 1 : 0, tolerance) << named.name << " " << n;
          }
        }
      }
    }
  }
}

TYPED_TEST(DenseKernelsTest, PartsOfTridiagonalFormsHaveTheBitsOfTheWhole) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    const Batch<R> a = Definite<R>(1060, true);
    const Reduced<R> whole = Reduce(named.kernels, a, true), parts = Reduce(named.kernels, a, true, Backwards());
    EXPECT_EQ(whole.diagonal, parts.diagonal) << named.name;
    EXPECT_EQ(whole.beside, parts.beside) << named.name;
    EXPECT_EQ(whole.q.data, parts.q.data) << named.name;
  }
}

}  // namespace
}  // namespace hilo::lapack
