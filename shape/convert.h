// HLO's convert of one element: the only definition of value conversion between types.
#ifndef HILO_SHAPE_CONVERT_H_
#define HILO_SHAPE_CONVERT_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hilo/primitive_type.h"

namespace hilo {

// Value bits of an integer without the sign, as in std::numeric_limits<T>::digits.
template <typename T>
constexpr int IntegerDigits() {
  if constexpr (is_small_int<T>) {
    return T::bits - (std::is_signed_v<typename T::Storage> ? 1 : 0);
  } else {
    return std::numeric_limits<T>::digits;
  }
}

template <typename T>
constexpr bool IsSignedInteger() {
  if constexpr (is_small_int<T>) {
    return std::is_signed_v<typename T::Storage>;
  } else {
    return std::is_signed_v<T>;
  }
}

// Lowest and highest value of an integer type.
template <typename T>
constexpr T LowestInteger() {
  if constexpr (!IsSignedInteger<T>()) return T(0);
  return T(static_cast<int64_t>(~uint64_t{0} << IntegerDigits<T>()));
}
template <typename T>
constexpr T HighestInteger() {
  if constexpr (IntegerDigits<T>() == 0) return T(0);  // S1 holds -1 and 0
  return T(~uint64_t{0} >> ((64 - IntegerDigits<T>()) % 64));
}

// Truncates toward zero and saturates; NaN gives 0.
template <typename To>
To FloatToInteger(double value) {
  const double limit = std::ldexp(1.0, IntegerDigits<To>());  // one above the highest value
  if (std::isnan(value)) return To(0);
  if (value >= limit) return HighestInteger<To>();
  if constexpr (IsSignedInteger<To>()) {
    if (value <= -limit) return LowestInteger<To>();
    return To(static_cast<int64_t>(value));
  } else {
    if (value <= 0) return To(0);
    return To(static_cast<uint64_t>(value));
  }
}

// Converts as HLO's convert does:
//   to PRED: true unless zero (NaN is true);
//   integer to narrower integer: wraps; PRED counts as 0 or 1;
//   float to integer: truncates and saturates, NaN gives 0;
//   complex to real, integer or PRED: the real part converted; real to complex: imaginary part 0;
//   to a float: rounds once, to nearest, ties to even; overflow as the type's FloatSpecials state.
template <typename From, typename To>
To ConvertElement(From from) {
  if constexpr (std::is_same_v<From, To>) {
    return from;
  } else if constexpr (is_complex<From> && is_complex<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(from.real()), static_cast<Part>(from.imag()));
  } else if constexpr (is_complex<From>) {
    return ConvertElement<typename From::value_type, To>(from.real());
  } else if constexpr (is_complex<To>) {
    return To(ConvertElement<From, typename To::value_type>(from), 0);
  } else if constexpr (is_small_float<From>) {
    return ConvertElement<float, To>(static_cast<float>(from));
  } else if constexpr (is_small_int<From>) {
    return ConvertElement<typename From::Storage, To>(from.value);
  } else if constexpr (std::is_same_v<To, bool>) {
    return from != 0;
  } else if constexpr (std::is_floating_point_v<From> && (std::is_integral_v<To> || is_small_int<To>)) {
    return FloatToInteger<To>(from);
  } else {
    // Between integers this wraps, to a float it rounds once (in SmallFloat's constructors).
    return static_cast<To>(from);
  }
}

}  // namespace hilo

#endif  // HILO_SHAPE_CONVERT_H_
