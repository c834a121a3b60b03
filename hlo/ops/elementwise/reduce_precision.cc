// reduce-precision: the value nearest to x that a float of exponent_bits and mantissa_bits can
// hold, in x's own type.
//
// Doubles hold every other float type exactly, so all types are computed there, from three facts
// about the element type: its exponent bits, its mantissa bits and the exponent of its smallest
// normal. First the mantissa is rounded, subnormals of the element type on their fixed grid; then,
// if the target has fewer exponent bits, values above its largest finite exponent become
// infinite and values below its smallest normal become zero. Element types without infinities are
// computed as f32, which has their values and more: there, each of their subnormals is normal.
#include <cmath>

#include "hilo/status_macros.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

struct FloatFacts {
  int exponent_bits, mantissa_bits, min_exponent;
};
template <typename T>
constexpr FloatFacts FactsOf() {
  if constexpr (std::is_same_v<T, double>) {
    return {11, 52, -1022};
  } else if constexpr (std::is_same_v<T, float>) {
    return {8, 23, -126};
  } else {
    return {T::format.exponent_bits, T::format.mantissa_bits, 1 - T::format.bias};
  }
}
template <typename T>
constexpr bool ComputedAsF32() {
  if constexpr (is_small_float<T>) {
    return T::format.specials != FloatSpecials::kIeee;
  } else {
    return false;
  }
}

double ReducePrecision(double x, const FloatFacts& type, int64_t exponent_bits, int64_t mantissa_bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  if (mantissa_bits < type.mantissa_bits) {
    const int unit = std::max(std::ilogb(x), type.min_exponent) - static_cast<int>(mantissa_bits);
    double scaled = std::nearbyint(std::ldexp(x, -unit));
    // Without mantissa bits the lowest bit, which a tie makes even, is that of the exponent with its bias, an odd
    // number.
    if (mantissa_bits == 0 && unit % 2 != 0 && std::abs(std::ldexp(x, -unit)) == 1.5) scaled = 1;
    x = std::copysign(std::ldexp(scaled, unit), x);
  }
  if (exponent_bits < type.exponent_bits && x != 0 && std::isfinite(x)) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = std::ilogb(x);
    if (exponent > bias) return std::copysign(HUGE_VAL, x);
    if (exponent <= -bias) return std::copysign(0.0, x);
  }
  return x;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReducePrecision>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 0, kFloat));
  const ReducePrecisionAttrs& attributes = op.attrs<ReducePrecisionAttrs>();
  // reduce_precision_c2
  if (attributes.exponent_bits < 1) {
    return InvalidOp(op, "exponent_bits = ", attributes.exponent_bits, " must be at least 1");
  }
  // reduce_precision_c3
  if (attributes.mantissa_bits < 0) return InvalidOp(op, "mantissa_bits = ", attributes.mantissa_bits, " is negative");
  return ElementwiseShape(op, op.operand(0).element_type());
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReducePrecision>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  const ReducePrecisionAttrs& attributes = op.attrs<ReducePrecisionAttrs>();
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T> || is_small_float<T>) {
      constexpr FloatFacts own = FactsOf<T>();
      constexpr FloatFacts facts = ComputedAsF32<T>() ? FactsOf<float>() : own;
      const int64_t exponent_bits =
          attributes.exponent_bits < own.exponent_bits ? attributes.exponent_bits : facts.exponent_bits;
      const bool identity =
          attributes.exponent_bits >= own.exponent_bits && attributes.mantissa_bits >= own.mantissa_bits;
      const auto in = operands[0]->data<T>();
      const auto out = result->template data<T>();
      for (size_t i = 0; i < in.size(); ++i) {
        const double x = static_cast<double>(in[i]);
        out[i] = identity || std::isnan(x)
                     ? in[i]
                     : static_cast<T>(ReducePrecision(x, facts, exponent_bits, attributes.mantissa_bits));
      }
    }
  });
  return result;
}

}  // namespace hilo
