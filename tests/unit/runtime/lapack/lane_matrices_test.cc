// Batches in lanes, of every instruction set that this machine has: factors whose product is the matrix, solutions that
// solve, the same bits wherever a matrix is in its batch.
#include "runtime/lapack/lane_matrices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/unit/runtime/lapack/lane_testing.h"

namespace hilo::lapack {
namespace {

template <typename E>
class LaneMatricesTest : public testing::Test {};
TYPED_TEST_SUITE(LaneMatricesTest, LaneTypes);

TYPED_TEST(LaneMatricesTest, DefiniteFactorsMultiplyToTheMatrix) {
  using E = TypeParam;
  for (const Named<E>& named : AllRoutines<E>()) {
    for (const int32_t n : {1, 2, 3, 4, 7, 16, 21, 32}) {
      for (const bool lower : {false, true}) {
        const int64_t batch = 19;
        const Batch<E> noise = Noise<E>(batch, n, n, 1);
        Batch<E> a(batch, n, n);
        for (int64_t b = 0; b < batch; ++b) {
          for (int32_t i = 0; i < n; ++i) {
            for (int32_t j = 0; j < n; ++j) {
              for (int32_t k = 0; k < n; ++k) a(b, i, j) += noise(b, i, k) * Conjugate(noise(b, j, k));
            }
            a(b, i, i) += RealOf<E>(n);
          }
        }
        Batch<E> indefinite = a;
        indefinite(5, n / 2, n / 2) = RealOf<E>(-1);
        Batch<E> factor = a;
        std::vector<int32_t> info(batch, -1);
        auto memory = WorkSpace<RealOf<E>>(n * n);
        named.routines.factor_definite(factor.components(), n, lower, batch, info.data(), Aligned(memory));
        for (int64_t b = 0; b < batch; ++b) {
          EXPECT_EQ(info[b], 0);
          for (int32_t i = 0; i < n; ++i) {
            for (int32_t j = 0; j < n; ++j) {
              if (lower ? j > i : j < i) {
                ASSERT_EQ(factor(b, i, j), a(b, i, j)) << named.name << ": the other half";
                continue;
              }
              E sum = 0;
              for (int32_t k = 0; k <= std::min(i, j); ++k) {
                sum +=
                    lower ? factor(b, i, k) * Conjugate(factor(b, j, k)) : Conjugate(factor(b, k, i)) * factor(b, k, j);
              }
              ASSERT_LE(std::abs(sum - a(b, i, j)), Tolerance<E>(n) * 4 * n) << named.name << " " << n << " " << lower;
            }
          }
        }
        named.routines.factor_definite(indefinite.components(), n, lower, batch, info.data(), Aligned(memory));
        for (int64_t b = 0; b < batch; ++b) EXPECT_EQ(info[b], b == 5 ? n / 2 + 1 : 0) << named.name;
      }
    }
  }
}

TYPED_TEST(LaneMatricesTest, FactorsWithPivotsMultiplyToTheMatrix) {
  using E = TypeParam;
  for (const Named<E>& named : AllRoutines<E>()) {
    for (const auto& [m, n] :
         std::vector<std::pair<int32_t, int32_t>>{{1, 1}, {2, 2}, {5, 3}, {3, 5}, {8, 8}, {17, 17}, {32, 32}}) {
      const int64_t batch = 21;
      const int32_t steps = std::min(m, n);
      Batch<E> a = Noise<E>(batch, m, n, 0);
      for (int32_t i = 0; i < m; ++i) a(7, i, steps / 2) = 0;
      Batch<E> factor = a;
      std::vector<int32_t> pivots(batch * steps, -1), info(batch, -1);
      auto memory = WorkSpace<RealOf<E>>(m * n);
      named.routines.factor(factor.components(), m, n, batch, pivots.data(), info.data(), Aligned(memory));
      for (int64_t b = 0; b < batch; ++b) {
        EXPECT_EQ(info[b], b == 7 ? steps / 2 + 1 : 0) << named.name;
        for (int32_t j = 0; j < steps; ++j) {
          const int32_t pivot = pivots[b * steps + j] - 1;
          ASSERT_TRUE(pivot >= j && pivot < m);
          for (int32_t k = 0; k < n; ++k) std::swap(a(b, j, k), a(b, pivot, k));
        }
        for (int32_t i = 0; i < m; ++i) {
          for (int32_t j = 0; j < n; ++j) {
            E sum = 0;
            for (int32_t k = 0; k <= std::min(i, j) && k < steps; ++k) {
              sum += (k == i ? E(1) : factor(b, i, k)) * factor(b, k, j);
              if (k < i) {
                EXPECT_LE(std::abs(factor(b, i, k)), 1.5);
              }
            }
            ASSERT_LE(std::abs(sum - a(b, i, j)), Tolerance<E>(m)) << named.name << " " << m << " x " << n;
          }
        }
      }
    }
  }
}

TYPED_TEST(LaneMatricesTest, TriangularSystemsAreSolved) {
  using E = TypeParam;
  for (const Named<E>& named : AllRoutines<E>()) {
    for (const auto& [size, count] :
         std::vector<std::pair<int32_t, int32_t>>{{1, 1}, {2, 5}, {5, 1}, {9, 9}, {16, 3}, {32, 1}}) {
      for (int flags = 0; flags < 24; ++flags) {
        const LaneTriangles triangles = {.size = size,
                                         .left = (flags & 1) != 0,
                                         .lower = (flags & 2) != 0,
                                         .unit_diagonal = (flags & 4) != 0,
                                         .transposed = flags >= 8,
                                         .conjugated = flags >= 16};
        const int32_t m = triangles.left ? size : count, n = triangles.left ? count : size;
        const int64_t batch = 18;
        Batch<E> t = Noise<E>(batch, size, size, RealOf<E>(size + 3));
        for (E& x : t.data) x *= RealOf<E>(0.25);
        const Batch<E> right = Noise<E>(batch, m, n, 0);
        Batch<E> x = right;
        auto memory = WorkSpace<RealOf<E>>(size * size + m * n);
        named.routines.solve(triangles, t.components(), m, n, batch, x.components(), Aligned(memory));
        // op(t)(i, j)
        const auto element = [&](int64_t b, int32_t i, int32_t j) -> E {
          if (triangles.transposed) std::swap(i, j);
          if (triangles.lower ? j > i : j < i) return 0;
          if (i == j && triangles.unit_diagonal) return 1;
          return triangles.conjugated ? Conjugate(t(b, i, j)) : t(b, i, j);
        };
        for (int64_t b = 0; b < batch; ++b) {
          for (int32_t i = 0; i < m; ++i) {
            for (int32_t j = 0; j < n; ++j) {
              E sum = 0;
              RealOf<E> scale = 1;
              for (int32_t k = 0; k < size; ++k) {
                const E term = triangles.left ? element(b, i, k) * x(b, k, j) : x(b, i, k) * element(b, k, j);
                sum += term;
                scale += std::abs(term);
              }
              ASSERT_LE(std::abs(sum - right(b, i, j)), Tolerance<E>(4) * scale)
                  << named.name << " " << size << " " << flags;
            }
          }
        }
      }
    }
  }
}

// All systems of a triangle of 1 to 61 rows, in matrices with longer columns, whose rest is not written.
TYPED_TEST(LaneMatricesTest, SystemsOfOneTriangleAreSolved) {
  using E = TypeParam;
  if constexpr (!kComplex<E>) {
    for (const Named<E>& named : AllRoutines<E>()) {
      for (const auto& [size, count] :
           std::vector<std::pair<int32_t, int32_t>>{{1, 1}, {3, 4}, {8, 33}, {13, 32}, {24, 5}, {61, 47}}) {
        for (int flags = 0; flags < 16; ++flags) {
          const LaneTriangles triangle = {.size = size,
                                          .left = (flags & 1) != 0,
                                          .lower = (flags & 2) != 0,
                                          .unit_diagonal = (flags & 4) != 0,
                                          .transposed = (flags & 8) != 0,
                                          .conjugated = false};
          const int32_t m = triangle.left ? size : count, n = triangle.left ? count : size;
          Batch<E> t = Noise<E>(1, size + 2, size, E(size + 3));
          for (E& x : t.data) x *= E(0.1);
          const Batch<E> right = Noise<E>(1, m + 3, n, 0);
          Batch<E> x = right;
          std::vector<E> memory(LaneSystemsWorkSize(size) + kLaneAlignment);
          named.kernels.solve_systems(triangle, t.components(), size + 2, count, x.components(), m + 3,
                                      Aligned(memory));
          const auto element = [&](int32_t i, int32_t j) -> E {
            if (triangle.transposed) std::swap(i, j);
            if (triangle.lower ? j > i : j < i) return 0;
            return i == j && triangle.unit_diagonal ? 1 : t(0, i, j);
          };
          for (int32_t j = 0; j < n; ++j) {
            for (int32_t i = 0; i < m; ++i) {
              E sum = 0, scale = 1;
              for (int32_t k = 0; k < size; ++k) {
                const E term = triangle.left ? element(i, k) * x(0, k, j) : x(0, i, k) * element(k, j);
                sum += term;
                scale += std::abs(term);
              }
              ASSERT_LE(std::abs(sum - right(0, i, j)), Tolerance<E>(4) * scale)
                  << named.name << " " << size << " " << count << " " << flags;
            }
            for (int32_t i = m; i < m + 3; ++i) ASSERT_EQ(x(0, i, j), right(0, i, j));
          }
        }
      }
    }
  }
}

TYPED_TEST(LaneMatricesTest, ResultsDoNotDependOnThePosition) {
  using E = TypeParam;
  const int32_t n = 6;
  const int64_t batch = 2 * kMaxLanes + 3, size = n * n;
  for (const Named<E>& named : AllRoutines<E>()) {
    const Batch<E> a = Noise<E>(batch, n, n, 0);
    Batch<E> all = a;
    std::vector<int32_t> pivots(batch * n), info(batch), one_pivots(n), one_info(1);
    auto memory = WorkSpace<RealOf<E>>(size);
    named.routines.factor(all.components(), n, n, batch, pivots.data(), info.data(), Aligned(memory));
    for (int64_t b = 0; b < batch; ++b) {
      Batch<E> one(1, n, n);
      std::copy_n(a.data.begin() + b * size, size, one.data.begin());
      named.routines.factor(one.components(), n, n, 1, one_pivots.data(), one_info.data(), Aligned(memory));
      EXPECT_EQ(std::memcmp(one.data.data(), all.data.data() + b * size, size * sizeof(E)), 0)
          << named.name << " " << b;
      EXPECT_TRUE(std::equal(one_pivots.begin(), one_pivots.end(), pivots.begin() + b * n));
    }
  }
}

}  // namespace
}  // namespace hilo::lapack
