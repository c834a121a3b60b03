// Arithmetic on sizes that come from input.
#ifndef HILO_BASE_MATH_H_
#define HILO_BASE_MATH_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace hilo {

// The sum, or nullopt when it does not fit.
constexpr std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// The product, or nullopt when it does not fit.
constexpr std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The product of sizes that is known to fit: of the dimensions of a shape.
constexpr int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

// a / b rounded up, for a >= 0 and b > 0. Does not overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// The least multiple of b that is at least a, for a >= 0 and b > 0, or nullopt when it does not fit.
constexpr std::optional<int64_t> RoundUp(int64_t a, int64_t b) { return CheckedMul(CeilDiv(a, b), b); }

}  // namespace hilo

#endif  // HILO_BASE_MATH_H_
