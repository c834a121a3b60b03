// QR factors, eigenvalues and singular values of batches in lanes, of every instruction set that this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/lapack/lane_matrices.h"
#include "tests/unit/runtime/lapack/lane_testing.h"

namespace hilo::lapack {
namespace {

template <typename E>
class LaneOrthogonalTest : public testing::Test {};
TYPED_TEST_SUITE(LaneOrthogonalTest, LaneTypes);

constexpr int64_t kBatch = kMaxLanes + 3;  // two groups, one of which leaves lanes

template <typename E>
double Largest(const Batch<E>& a, int64_t b) {
  double largest = 0;
  for (int32_t j = 0; j < a.columns; ++j) {
    for (int32_t i = 0; i < a.rows; ++i) largest = std::max<double>(largest, std::abs(a(b, i, j)));
  }
  return largest;
}

// Expects the first `count` columns of a matrix to be orthonormal.
template <typename E>
void ExpectOrthonormal(const Batch<E>& a, int64_t b, int32_t count, const std::string& what) {
  for (int32_t p = 0; p < count; ++p) {
    for (int32_t q = 0; q < count; ++q) {
      E sum = 0;
      for (int32_t i = 0; i < a.rows; ++i) sum += Conjugate(a(b, i, p)) * a(b, i, q);
      ASSERT_LE(std::abs(sum - E(p == q)), Tolerance<E>(a.rows)) << what << " " << b << ": " << p << ", " << q;
    }
  }
}

template <typename E>
Batch<E> Transposed(const Batch<E>& a) {
  Batch<E> t(a.count, a.columns, a.rows);
  for (int64_t b = 0; b < a.count; ++b) {
    for (int32_t j = 0; j < a.columns; ++j) {
      for (int32_t i = 0; i < a.rows; ++i) t(b, j, i) = Conjugate(a(b, i, j));
    }
  }
  return t;
}

// Expects R in `factors` and Q, the first columns of their product, to multiply to the matrices `a`.
template <typename E>
void ExpectFactors(const Batch<E>& a, const Batch<E>& factors, const Batch<E>& q, const std::string& what) {
  for (int64_t b = 0; b < a.count; ++b) {
    ExpectOrthonormal(q, b, q.columns, what);
    for (int32_t j = 0; j < a.columns; ++j) {
      for (int32_t i = 0; i < a.rows; ++i) {
        E sum = 0;
        for (int32_t p = 0; p <= std::min(j, q.columns - 1); ++p) sum += q(b, i, p) * factors(b, p, j);
        ASSERT_LE(std::abs(sum - a(b, i, j)), Tolerance<E>(a.rows) * std::max(Largest(a, b), 1e-30))
            << what << " " << b << ": " << i << ", " << j;
      }
    }
  }
}

// Noise, but for matrices that reflections treat apart.
template <typename E>
Batch<E> MatricesToReflect(int64_t count, int32_t m, int32_t n) {
  Batch<E> a = Noise<E>(count, m, n, 0);
  for (int32_t i = 0; i < m; ++i) a(1, i, 0) = 0;          // nothing to reflect
  for (int32_t i = 1; i < m; ++i) a(2, i, 0) = 0;          // already reduced
  for (int32_t j = 0; j < n; ++j) a(3, m - 1, j) *= 1e15;  // squares overflow in f32
  return a;
}

TYPED_TEST(LaneOrthogonalTest, FactorsMultiplyToTheMatrix) {
  using E = TypeParam;
  for (const auto& [m, n] : {std::pair(1, 1), {2, 2}, {3, 3}, {5, 3}, {3, 5}, {17, 9}, {32, 32}}) {
    const int32_t k = std::min(m, n);
    for (const Named<E>& named : AllRoutines<E>()) {
      const Batch<E> a = MatricesToReflect<E>(kBatch, m, n);
      Batch<E> factors = a, taus(kBatch, k, 1);
      auto memory = WorkSpace<RealOf<E>>(m * n);
      named.routines.factor_orthogonal(factors.components(), m, n, kBatch, taus.components(), Aligned(memory));
      Batch<E> q(kBatch, m, k);
      for (int64_t b = 0; b < kBatch; ++b) std::copy_n(&factors(b, 0, 0), m * k, &q(b, 0, 0));
      named.routines.generate_orthogonal(q.components(), m, k, k, kBatch, taus.components(), Aligned(memory));
      ExpectFactors(a, factors, q, named.name + " " + std::to_string(m) + " x " + std::to_string(n));
    }
  }
}

template <typename E>
class DenseOrthogonalTest : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseOrthogonalTest, RealTypes);

template <typename R>
struct OrthogonalFactors {
  Batch<R> factors, taus, q;
};

// Q has `columns` columns.
template <typename R>
OrthogonalFactors<R> DenseFactors(const LaneKernels<R>& kernels, const Batch<R>& a, int32_t columns,
                                  const PartRunner& runner = {}) {
  const int32_t m = a.rows, n = a.columns, k = std::min(m, n);
  OrthogonalFactors<R> result{a, Batch<R>(a.count, k, 1), Batch<R>(a.count, m, columns)};
  // What is left of an earlier call must not matter.
  std::vector<R> memory(DenseOrthogonalWorkSize<R>(m, std::max(n, columns)) + kLaneAlignment,
                        std::numeric_limits<R>::quiet_NaN());
  for (int64_t b = 0; b < a.count; ++b) {
    R* const taus = &result.taus(b, 0, 0);
    kernels.factor_orthogonal_dense(&result.factors(b, 0, 0), m, n, taus, Aligned(memory), runner);
    std::copy_n(&result.factors(b, 0, 0), m * std::min(k, columns), &result.q(b, 0, 0));
    kernels.generate_orthogonal_dense(&result.q(b, 0, 0), m, columns, std::min(k, columns), taus, Aligned(memory),
                                      runner);
  }
  return result;
}

TYPED_TEST(DenseOrthogonalTest, FactorsMultiplyToTheMatrix) {
  using R = TypeParam;
  constexpr int64_t kMatrices = 5;
  for (const auto& [m, n] : {std::pair(1, 1),
                             {5, 3},
                             {3, 5},
                             {33, 33},
                             {64, 64},
                             {71, 40},
                             {40, 130},
                             {90, 85},
                             {150, 130},
                             {130, 150},
                             {145, 145},
                             {300, 97},
                             {97, 300}}) {
    for (const Named<R>& named : AllRoutines<R>()) {
      const Batch<R> a = MatricesToReflect<R>(kMatrices, m, n);
      const auto result = DenseFactors<R>(named.kernels, a, std::min(m, n));
      ExpectFactors(a, result.factors, result.q, named.name + " " + std::to_string(m) + " x " + std::to_string(n));
    }
  }
}

TYPED_TEST(DenseOrthogonalTest, MoreColumnsThanReflectionsAreOrthonormal) {
  using R = TypeParam;
  for (const auto& [m, n] : {std::pair(20, 7), {150, 20}, {200, 130}, {64, 64}}) {
    for (const Named<R>& named : AllRoutines<R>()) {
      const auto result = DenseFactors<R>(named.kernels, Noise<R>(1, m, n, 0), m);
      ExpectOrthonormal(result.q, 0, m, named.name);
    }
  }
}

// Squares of such columns overflow, underflow or lose digits.
TYPED_TEST(DenseOrthogonalTest, ColumnsOfAllSizesKeepTheirDigits) {
  using R = TypeParam;
  for (const int32_t n : {20, 150}) {
    for (const Named<R>& named : AllRoutines<R>()) {
      Batch<R> a = Noise<R>(1, n, n, 0);
      const R largest = std::numeric_limits<R>::max(), least = std::numeric_limits<R>::min();
      const std::vector<R> sizes = {largest / 1000, 1, least * 1000, std::sqrt(least), std::sqrt(largest)};
      for (int32_t j = 0; j < n; ++j) {
        for (int32_t i = 0; i < n; ++i) a(0, i, j) *= sizes[j % sizes.size()];
      }
      const auto result = DenseFactors<R>(named.kernels, a, n);
      ExpectOrthonormal(result.q, 0, n, named.name);
      for (int32_t j = 0; j < n; ++j) {
        const double size = sizes[j % sizes.size()];
        for (int32_t i = 0; i < n; ++i) {
          double sum = 0;
          for (int32_t p = 0; p <= j; ++p) sum += double{result.q(0, i, p)} * (result.factors(0, p, j) / size);
          ASSERT_NEAR(sum, a(0, i, j) / size, Tolerance<R>(n)) << named.name << " " << i << ", " << j;
        }
      }
    }
  }
}

TYPED_TEST(DenseOrthogonalTest, NanIsInTheFactors) {
  using R = TypeParam;
  for (const int32_t n : {20, 150}) {
    for (const Named<R>& named : AllRoutines<R>()) {
      Batch<R> a = Noise<R>(1, n, n, 0);
      a(0, n - 1, 3) = std::numeric_limits<R>::quiet_NaN();
      const auto result = DenseFactors<R>(named.kernels, a, n);
      for (int32_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isfinite(result.factors(0, j, j))) << named.name;
      for (int32_t j = 3; j < n; ++j) EXPECT_TRUE(std::isnan(result.factors(0, j, j))) << named.name << " " << j;
    }
  }
}

TYPED_TEST(DenseOrthogonalTest, PartsHaveTheBitsOfTheWhole) {
  using R = TypeParam;
  for (const Named<R>& named : AllRoutines<R>()) {
    const Batch<R> a = Noise<R>(1, 520, 500, 0);
    const auto whole = DenseFactors<R>(named.kernels, a, 500),
               parts = DenseFactors<R>(named.kernels, a, 500, Backwards());
    EXPECT_EQ(whole.factors.data, parts.factors.data) << named.name;
    EXPECT_EQ(whole.q.data, parts.q.data) << named.name;
  }
}

TYPED_TEST(LaneOrthogonalTest, EigenvectorsMultiplyToTheMatrix) {
  using E = TypeParam;
  using R = RealOf<E>;
  for (const int32_t n : {1, 2, 3, 5, 8, 13, 32}) {
    for (const bool lower : {true, false}) {
      for (const Named<E>& named : AllRoutines<E>()) {
        const std::string what = named.name + " " + std::to_string(n);
        Batch<E> a = Noise<E>(kBatch, n, n, 0);
        for (int64_t b = 0; b < kBatch; ++b) {
          for (int32_t j = 0; j < n; ++j) {
            a(b, j, j) = std::real(a(b, j, j));
            for (int32_t i = j + 1; i < n; ++i) a(b, j, i) = Conjugate(a(b, i, j));
            if (b == 1) a(b, j, j) = 2;  // all eigenvalues near each other
            for (int32_t i = 0; i < n; ++i) {
              if (b == 1 && i != j) a(b, i, j) *= 8 * std::numeric_limits<R>::epsilon();
              if (b == 2) a(b, i, j) = 0;
              if (b == 3) a(b, i, j) *= std::numeric_limits<R>::max() / 1024;
              if (b == 4) a(b, i, j) *= std::numeric_limits<R>::min() * 1024;
              if (b == 5) a(b, i, j) = 1;  // of rank one
            }
          }
        }
        Batch<E> vectors = a;
        for (int64_t b = 0; b < kBatch; ++b) {  // the other half is not read
          for (int32_t j = 0; j < n; ++j) {
            for (int32_t i = 0; i < n; ++i) {
              if (lower ? i < j : i > j) vectors(b, i, j) = std::numeric_limits<R>::quiet_NaN();
            }
          }
        }
        Batch<E> only = vectors;
        std::vector<R> values(kBatch * n), only_values(kBatch * n);
        std::vector<int32_t> info(kBatch, -1);
        auto memory = WorkSpace<R>(LaneEigenElements(n));
        named.routines.eigen(vectors.components(), n, lower, true, kBatch, values.data(), info.data(), Aligned(memory));
        for (int64_t b = 0; b < kBatch; ++b) {
          ASSERT_EQ(info[b], 0) << what << " " << b;
          ExpectOrthonormal(vectors, b, n, what);
          const R* w = values.data() + b * n;
          ASSERT_TRUE(std::is_sorted(w, w + n)) << what << " " << b;
          const double largest = std::max<double>(Largest(a, b), std::numeric_limits<R>::min());
          for (int32_t j = 0; j < n; ++j) {
            for (int32_t i = 0; i < n; ++i) {
              E sum = 0;
              for (int32_t p = 0; p < n; ++p)
                sum += vectors(b, i, p) * E(static_cast<R>(w[p] / largest)) * Conjugate(vectors(b, j, p));
              ASSERT_LE(std::abs(sum - a(b, i, j) / E(static_cast<R>(largest))), Tolerance<E>(n))
                  << what << " " << b << ": " << i << ", " << j;
            }
          }
        }
        named.routines.eigen(only.components(), n, lower, false, kBatch, only_values.data(), info.data(),
                             Aligned(memory));
        EXPECT_EQ(values, only_values) << what;
      }
    }
  }
}

TYPED_TEST(LaneOrthogonalTest, SingularVectorsMultiplyToTheMatrix) {
  using E = TypeParam;
  using R = RealOf<E>;
  for (const auto& [m, n] : {std::pair(1, 1), {2, 2}, {3, 3}, {7, 4}, {4, 7}, {1, 6}, {32, 5}, {32, 32}}) {
    const int32_t k = std::min(m, n);
    for (const LaneVectors wanted : {LaneVectors::kThin, LaneVectors::kFull}) {
      for (const Named<E>& named : AllRoutines<E>()) {
        const std::string what = named.name + " " + std::to_string(m) + " x " + std::to_string(n);
        const bool is_full = wanted == LaneVectors::kFull;
        Batch<E> a = Noise<E>(kBatch, m, n, 0);
        for (int32_t j = 0; j < n; ++j) {
          for (int32_t i = 0; i < m; ++i) {
            a(1, i, j) = 0;
            a(2, i, j) = 1;  // of rank one
            a(3, i, j) *= std::numeric_limits<R>::max() / 1024;
            a(4, i, j) *= std::numeric_limits<R>::min() * 1024;
            a(5, i, j) *= std::pow(R(0.01), R(j));  // singular values of many sizes
          }
        }
        Batch<E> u(kBatch, m, is_full ? m : k), vt(kBatch, is_full ? n : k, n);
        std::vector<R> values(kBatch * k), only_values(kBatch * k);
        std::vector<int32_t> info(kBatch, -1);
        auto memory = WorkSpace<R>(LaneSingularElements(m, n));
        named.routines.singular(a.components(), m, n, wanted, kBatch, values.data(), u.components(), vt.components(),
                                info.data(), Aligned(memory));
        const Batch<E> v = Transposed(vt);
        for (int64_t b = 0; b < kBatch; ++b) {
          ASSERT_EQ(info[b], 0) << what << " " << b;
          ExpectOrthonormal(u, b, u.columns, what);
          ExpectOrthonormal(v, b, v.columns, what);
          const R* w = values.data() + b * k;
          ASSERT_TRUE(std::is_sorted(w, w + k, std::greater<R>())) << what << " " << b;
          ASSERT_GE(w[k - 1], 0);
          const double largest = std::max<double>(Largest(a, b), std::numeric_limits<R>::min());
          for (int32_t j = 0; j < n; ++j) {
            for (int32_t i = 0; i < m; ++i) {
              E sum = 0;
              for (int32_t p = 0; p < k; ++p) sum += u(b, i, p) * E(static_cast<R>(w[p] / largest)) * vt(b, p, j);
              ASSERT_LE(std::abs(sum - a(b, i, j) / E(static_cast<R>(largest))), Tolerance<E>(std::max(m, n)))
                  << what << " " << b << ": " << i << ", " << j;
            }
          }
        }
        named.routines.singular(a.components(), m, n, LaneVectors::kNone, kBatch, only_values.data(), nullptr, nullptr,
                                info.data(), Aligned(memory));
        EXPECT_EQ(values, only_values) << what;
      }
    }
  }
}

TYPED_TEST(LaneOrthogonalTest, MatricesThatAreNotFiniteAreReported) {
  using E = TypeParam;
  using R = RealOf<E>;
  const int32_t n = 4;
  for (const R bad : {std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()}) {
    for (const Named<E>& named : AllRoutines<E>()) {
      Batch<E> a = Noise<E>(3, n, n, 0);
      a(1, 2, 1) = bad;
      std::vector<R> values(3 * n);
      std::vector<int32_t> info(3, -1);
      auto memory = WorkSpace<R>(LaneSingularElements(n, n));
      named.routines.singular(a.components(), n, n, LaneVectors::kNone, 3, values.data(), nullptr, nullptr, info.data(),
                              Aligned(memory));
      EXPECT_EQ(info, (std::vector<int32_t>{0, 1, 0})) << named.name;
      named.routines.eigen(a.components(), n, true, true, 3, values.data(), info.data(), Aligned(memory));
      EXPECT_EQ(info, (std::vector<int32_t>{0, 1, 0})) << named.name;
    }
  }
}

TYPED_TEST(LaneOrthogonalTest, ResultsDoNotDependOnThePosition) {
  using E = TypeParam;
  using R = RealOf<E>;
  const int32_t n = 6;
  const int64_t size = n * n;
  for (const Named<E>& named : AllRoutines<E>()) {
    Batch<E> a = Noise<E>(kBatch, n, n, 0);
    for (int32_t i = 0; i < n * n; ++i) a.data[size + i] = R(i % (n + 1) == 0);  // converges at once
    std::vector<R> values(kBatch * n), one_values(n);
    std::vector<int32_t> info(kBatch);
    auto memory = WorkSpace<R>(LaneSingularElements(n, n));
    Batch<E> u(kBatch, n, n), vt(kBatch, n, n), one_u(1, n, n), one_vt(1, n, n), vectors = a;
    named.routines.singular(a.components(), n, n, LaneVectors::kFull, kBatch, values.data(), u.components(),
                            vt.components(), info.data(), Aligned(memory));
    std::vector<R> eigenvalues(kBatch * n);
    named.routines.eigen(vectors.components(), n, true, true, kBatch, eigenvalues.data(), info.data(), Aligned(memory));
    for (int64_t b = 0; b < kBatch; ++b) {
      Batch<E> one(1, n, n);
      std::copy_n(a.data.begin() + b * size, size, one.data.begin());
      named.routines.singular(one.components(), n, n, LaneVectors::kFull, 1, one_values.data(), one_u.components(),
                              one_vt.components(), info.data(), Aligned(memory));
      EXPECT_EQ(std::memcmp(one_values.data(), values.data() + b * n, n * sizeof(R)), 0) << named.name << " " << b;
      EXPECT_EQ(std::memcmp(one_u.data.data(), u.data.data() + b * size, size * sizeof(E)), 0)
          << named.name << " " << b;
      EXPECT_EQ(std::memcmp(one_vt.data.data(), vt.data.data() + b * size, size * sizeof(E)), 0)
          << named.name << " " << b;
      named.routines.eigen(one.components(), n, true, true, 1, one_values.data(), info.data(), Aligned(memory));
      EXPECT_EQ(std::memcmp(one_values.data(), eigenvalues.data() + b * n, n * sizeof(R)), 0) << named.name << " " << b;
      EXPECT_EQ(std::memcmp(one.data.data(), vectors.data.data() + b * size, size * sizeof(E)), 0)
          << named.name << " " << b;
    }
  }
}

}  // namespace
}  // namespace hilo::lapack
