#include <limits>

#include "hilo/literal.h"
#include "shape/convert.h"

namespace hilo {
namespace {

// A scalar of `type` with the value returned by f(T{}).
template <typename F>
Literal MakeScalar(PrimitiveType type, const F& f) {
  if (!IsArrayType(type)) return Literal();
  return ArrayTypeSwitch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return LiteralUtil::CreateR0<T>(f(tag));
  });
}

// The lowest (negative) or highest value: an infinity if the type has one.
template <typename T>
T FloatExtreme(bool negative) {
  const double infinity = std::numeric_limits<double>::infinity();
  if constexpr (is_small_float<T>) {
    constexpr uint32_t kAllOnes = (1u << (T::format.exponent_bits + T::format.mantissa_bits)) - 1;
    const uint32_t sign = negative ? kAllOnes + 1 : 0;
    uint32_t bits = 0;
    switch (T::format.specials) {
      case FloatSpecials::kIeee: return T(negative ? -infinity : infinity);
      case FloatSpecials::kFiniteNan: bits = sign | (kAllOnes - 1); break;
      case FloatSpecials::kFiniteOnly:
      case FloatSpecials::kUnsignedZero: bits = sign | kAllOnes; break;
      case FloatSpecials::kScale: bits = negative ? 0 : kAllOnes - 1; break;
    }
    return T::FromBits(bits);
  } else {
    return static_cast<T>(negative ? -infinity : infinity);
  }
}

Literal Extreme(PrimitiveType type, bool lowest) {
  return MakeScalar(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_complex<T>) {
      return T(FloatExtreme<typename T::value_type>(lowest), 0);
    } else if constexpr (is_small_float<T> || std::is_floating_point_v<T>) {
      return FloatExtreme<T>(lowest);
    } else if constexpr (std::is_same_v<T, bool>) {
      return !lowest;
    } else {
      return lowest ? LowestInteger<T>() : HighestInteger<T>();
    }
  });
}

}  // namespace

Literal LiteralUtil::Zero(PrimitiveType type) { return FromDouble(type, 0); }
Literal LiteralUtil::One(PrimitiveType type) { return FromDouble(type, 1); }
Literal LiteralUtil::MinValue(PrimitiveType type) { return Extreme(type, /*lowest=*/true); }
Literal LiteralUtil::MaxValue(PrimitiveType type) { return Extreme(type, /*lowest=*/false); }

Literal LiteralUtil::FromDouble(PrimitiveType type, double value) {
  return MakeScalar(type, [&](auto tag) { return ConvertElement<double, typename decltype(tag)::type>(value); });
}

}  // namespace hilo
