#include "backends/cpu/gemm/gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <tuple>
#include <type_traits>
#include <vector>

#include "hilo/primitive_type.h"

namespace hilo::cpu::gemm {
namespace {

// Small whole numbers, whose products and sums are exact in every type, so that any order of adding up gives the same.
template <typename T>
std::vector<T> Numbers(int64_t count, uint32_t seed) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    seed = seed * 1664525 + 1013904223;
    const int number = static_cast<int>(seed >> 28) - 8;
    if constexpr (std::is_same_v<T, BFloat16Bits>) {
      value = static_cast<T>(std::bit_cast<uint16_t>(bfloat16(static_cast<float>(number))));
    } else {
      value = static_cast<T>(number);
    }
  }
  return values;
}

template <typename Sum, typename T>
Sum Widened(T value) {
  if constexpr (std::is_same_v<T, BFloat16Bits>) {
    return static_cast<Sum>(std::bit_cast<bfloat16>(static_cast<uint16_t>(value)));
  } else {
    return Sum(value);
  }
}

// Element types x sizes around the tiles, sections and blocks.
class GemmTest : public ::testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  template <typename T, typename Sum = T>
  void Check(bool transpose_a, bool transpose_b) {
    const auto [m, n, k] = GetParam();
    const std::vector<T> a = Numbers<T>(int64_t{m} * k, 1), b = Numbers<T>(int64_t{k} * n, 2);
    const Strides a_strides = transpose_a ? Strides{1, m} : Strides{k, 1},
                  b_strides = transpose_b ? Strides{1, k} : Strides{n, 1};
    const int64_t ldc = n + 3;
    std::vector<Sum> c(static_cast<size_t>(m * ldc), Sum(77));
    ASSERT_TRUE(Multiply(m, n, k, a.data(), a_strides, b.data(), b_strides, c.data(), ldc).ok());
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        Sum sum = j < n ? Sum(0) : Sum(77);  // what lies behind a row is not touched
        for (int64_t l = 0; j < n && l < k; ++l)
          sum += Widened<Sum>(a[i * a_strides.row + l * a_strides.column]) *
                 Widened<Sum>(b[l * b_strides.row + j * b_strides.column]);
        ASSERT_EQ(c[i * ldc + j], sum) << i << ", " << j << " of " << m << " x " << n << " x " << k << " transposed "
                                       << transpose_a << transpose_b;
      }
    }
  }
};

TEST_P(GemmTest, EveryTypeAndOrder) {
  for (bool transpose_a : {false, true}) {
    for (bool transpose_b : {false, true}) {
      Check<float>(transpose_a, transpose_b);
      Check<double>(transpose_a, transpose_b);
      Check<uint32_t>(transpose_a, transpose_b);
      Check<int16_t, uint32_t>(transpose_a, transpose_b);
      Check<int8_t, uint32_t>(transpose_a, transpose_b);
      Check<BFloat16Bits, float>(transpose_a, transpose_b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GemmTest,
                         ::testing::Values(std::tuple(1, 1, 1), std::tuple(8, 24, 7), std::tuple(9, 49, 255),
                                           std::tuple(130, 50, 257), std::tuple(3, 1010, 40), std::tuple(257, 25, 600),
                                           std::tuple(64, 1056, 300)));

}  // namespace
}  // namespace hilo::cpu::gemm
