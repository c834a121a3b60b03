// Floats to signed integers, away from zero with the probability that the fraction gives: a fraction above the random
// number, read as a fraction of one too, rounds away.
#include <cmath>

#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// `bits` is the width of the result, `random_bits` that of `random`.
int64_t ConvertStochastically(double x, uint64_t random, int bits, int random_bits) {
  const int64_t highest = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1), lowest = -highest - 1;
  if (std::isnan(x)) return 0;
  if (x >= static_cast<double>(highest)) return highest;
  if (x <= static_cast<double>(lowest)) return lowest;
  const double whole = std::floor(std::fabs(x));
  const bool away = random < static_cast<uint64_t>(std::ldexp(std::fabs(x) - whole, random_bits));
  const int64_t magnitude = static_cast<int64_t>(whole) + (away ? 1 : 0);
  return x < 0 ? -magnitude : magnitude;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kStochasticConvert>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckSameDimensions(op, 0, 2, "operand and random"));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 0, kFloat));
  HILO_RETURN_IF_ERROR(CheckTypeClass(op, 1, kUnsignedInt));
  const Shape& operand = op.operand(0);
  const Shape& random = op.operand(1);
  if (PrimitiveTypeBitWidth(operand.element_type()) != PrimitiveTypeBitWidth(random.element_type())) {
    return InvalidOp(op, "operand and random must have elements of equal width, but are ", operand.ToString(), " and ",
                     random.ToString());
  }
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  if (!ShapeUtil::SameDimensions(*op.stated, operand)) {
    return InvalidOp(op, "the result must have the dimensions of the operand, ", operand.ToString(), ", but is ",
                     op.stated->ToString());
  }
  if (!InTypeClass(op.stated->element_type(), kSignedInt)) {
    return InvalidOp(op, "the result must be of signed integers, but is ", op.stated->ToString());
  }
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kStochasticConvert>(const OpView&, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  HILO_ASSIGN_OR_RETURN(const Literal random, operands[1]->Convert(U64));
  const int bits = PrimitiveTypeBitWidth(shape.element_type());
  const int random_bits = PrimitiveTypeBitWidth(operands[1]->shape().element_type());
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> || is_small_int<T>) {
      const absl::Span<T> out = result.data<T>();
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = T(ConvertStochastically(operands[0]->GetAsDouble(i), random.data<uint64_t>()[i], bits, random_bits));
      }
    }
  });
  return result;
}

}  // namespace hilo
