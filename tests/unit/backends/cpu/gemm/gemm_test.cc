#include "backends/cpu/gemm/gemm.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "hilo/primitive_type.h"

namespace hilo::cpu::gemm {
namespace {

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

// Small whole numbers, whose products and sums are exact in every type, so that any order of adding up gives the same.
template <typename T>
std::vector<T> Numbers(int64_t count, uint32_t seed) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    seed = seed * 1664525 + 1013904223;
    const int number = static_cast<int>(seed >> 28) - 8;
    if constexpr (std::is_same_v<T, BFloat16Bits>) {
      value = static_cast<T>(std::bit_cast<uint16_t>(bfloat16(static_cast<float>(number))));
    } else if constexpr (kIsComplex<T>) {
      seed = seed * 1664525 + 1013904223;
      value = {static_cast<decltype(value.real)>(number), static_cast<decltype(value.real)>(seed >> 28)};
    } else {
      value = static_cast<T>(number);
    }
  }
  return values;
}

// A type with the operators of numbers, for sums that are exact.
template <typename T>
auto Exact(T value) {
  if constexpr (std::is_same_v<T, BFloat16Bits>) {
    return static_cast<float>(std::bit_cast<bfloat16>(static_cast<uint16_t>(value)));
  } else if constexpr (kIsComplex<T>) {
    return std::complex<double>(value.real, value.imag);
  } else {
    return value;
  }
}
template <typename Result, typename Sum>
auto Rounded(Sum sum) {
  if constexpr (std::is_same_v<Result, BFloat16Bits>)
    return static_cast<float>(static_cast<bfloat16>(sum));
  else
    return sum;
}

// Element types x sizes around the tiles, sections and blocks.
class GemmTest : public ::testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  template <typename T, typename Result = T>
  void Check(bool transpose_a, bool transpose_b, Instructions instructions) {
    using Sum = std::conditional_t<std::is_same_v<Result, uint32_t>, uint32_t, decltype(Exact(Result()))>;
    const auto [m, n, k] = GetParam();
    const std::vector<T> a = Numbers<T>(int64_t{m} * k, 1), b = Numbers<T>(int64_t{k} * n, 2);
    const Strides a_strides = transpose_a ? Strides{1, m} : Strides{k, 1},
                  b_strides = transpose_b ? Strides{1, k} : Strides{n, 1};
    const int64_t ldc = n + 3;
    const Result untouched = Numbers<Result>(1, 3)[0];
    std::vector<Result> c(static_cast<size_t>(m * ldc), untouched);
    ASSERT_TRUE(Multiply(m, n, k, a.data(), a_strides, b.data(), b_strides, c.data(), ldc, instructions).ok());
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        auto sum = j < n ? Sum() : Exact(untouched);  // what lies behind a row is not touched
        for (int64_t l = 0; j < n && l < k; ++l)
          sum += static_cast<Sum>(Exact(a[i * a_strides.row + l * a_strides.column])) *
                 static_cast<Sum>(Exact(b[l * b_strides.row + j * b_strides.column]));
        ASSERT_EQ(Exact(c[i * ldc + j]), Rounded<Result>(sum))
            << i << ", " << j << " of " << m << " x " << n << " x " << k << " transposed " << transpose_a << transpose_b
            << " by instructions " << static_cast<int>(instructions);
      }
    }
  }
};

TEST_P(GemmTest, EveryTypeOrderAndSetOfInstructions) {
  for (int set = 0; set <= static_cast<int>(HostInstructions()); ++set) {
    const auto instructions = static_cast<Instructions>(set);
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        Check<float>(transpose_a, transpose_b, instructions);
        Check<double>(transpose_a, transpose_b, instructions);
        Check<uint32_t>(transpose_a, transpose_b, instructions);
        Check<int16_t, uint32_t>(transpose_a, transpose_b, instructions);
        Check<int8_t, uint32_t>(transpose_a, transpose_b, instructions);
        Check<BFloat16Bits, float>(transpose_a, transpose_b, instructions);
        Check<BFloat16Bits, BFloat16Bits>(transpose_a, transpose_b, instructions);
        Check<Complex<float>>(transpose_a, transpose_b, instructions);
        Check<Complex<double>>(transpose_a, transpose_b, instructions);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GemmTest,
                         ::testing::Values(std::tuple(1, 1, 1), std::tuple(8, 24, 7), std::tuple(9, 49, 255),
                                           std::tuple(130, 50, 257), std::tuple(3, 1010, 40), std::tuple(257, 25, 600),
                                           std::tuple(64, 1056, 300), std::tuple(4, 530, 300), std::tuple(2, 77, 70),
                                           std::tuple(7, 64, 64), std::tuple(150, 10, 512), std::tuple(12, 20, 600),
                                           std::tuple(131, 1100, 9)));

// Numbers that end where no memory may be accessed.
template <typename T>
class GuardedNumbers {
 public:
  explicit GuardedNumbers(int64_t count) : page_(sysconf(_SC_PAGESIZE)) {
    size_ = (count * static_cast<int64_t>(sizeof(T)) + page_ - 1) / page_ * page_;
    memory_ = static_cast<char*>(
        mmap(nullptr, static_cast<size_t>(size_ + page_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (mprotect(memory_ + size_, static_cast<size_t>(page_), PROT_NONE) != 0) ADD_FAILURE() << "mprotect failed";
    data_ = {reinterpret_cast<T*>(memory_ + size_) - count, static_cast<size_t>(count)};
  }
  GuardedNumbers(const GuardedNumbers&) = delete;
  GuardedNumbers& operator=(const GuardedNumbers&) = delete;
  ~GuardedNumbers() { munmap(memory_, static_cast<size_t>(size_ + page_)); }

  std::span<T> numbers() const { return data_; }

 private:
  int64_t page_, size_ = 0;
  char* memory_;
  std::span<T> data_;
};

template <typename T>
void CheckAccesses(int64_t m, int64_t n, int64_t k, Instructions instructions) {
  const GuardedNumbers<T> a(m * k), b(k * n), c(m * n);
  std::ranges::copy(Numbers<T>(m * k, 1), a.numbers().begin());
  std::ranges::copy(Numbers<T>(k * n, 2), b.numbers().begin());
  for (const Strides b_strides : {Strides{n, 1}, Strides{1, k}}) {
    ASSERT_TRUE(Multiply(m, n, k, a.numbers().data(), {k, 1}, b.numbers().data(), b_strides, c.numbers().data(), n,
                         instructions)
                    .ok());
  }
}

TEST(GemmAccessTest, NothingBehindTheArrays) {
  for (int set = 0; set <= static_cast<int>(HostInstructions()); ++set) {
    const auto instructions = static_cast<Instructions>(set);
    for (int64_t n : {1, 3, 10, 20, 37, 50}) {
      for (int64_t m : {2, 12}) {
        CheckAccesses<float>(m, n, 300, instructions);
        CheckAccesses<double>(m, n, 300, instructions);
        CheckAccesses<uint32_t>(m, n, 300, instructions);
        CheckAccesses<Complex<float>>(m, n, 300, instructions);
        CheckAccesses<Complex<double>>(m, n, 300, instructions);
      }
    }
  }
}

}  // namespace
}  // namespace hilo::cpu::gemm
