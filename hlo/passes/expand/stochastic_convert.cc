#include <cmath>

#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// The lowest and highest number of a signed integer type, as floats of `type`.
XlaOp Bound(XlaOp like, PrimitiveType integer, PrimitiveType type, bool highest) {
  const double power = std::ldexp(1.0, PrimitiveTypeBitWidth(integer) - 1);
  return ConstantLiteral(like.builder(), LiteralUtil::FromDouble(type, highest ? power - 1 : -power));
}

}  // namespace

// Rounds the absolute value up where the fraction, as a number of as many bits as the random one has, is above that;
// then the sign returns. Floats of fewer than 32 bits are widened first.
absl::StatusOr<XlaOp> ExpandStochasticConvert(const HloInstruction& instruction, XlaBuilder* builder,
                                              absl::Span<const XlaOp> operands) {
  const PrimitiveType from = instruction.operand(0)->shape().element_type(), to = instruction.shape().element_type();
  const PrimitiveType random_type = instruction.operand(1)->shape().element_type();
  const PrimitiveType type = from == F64 ? F64 : F32, wide_random = from == F64 ? U64 : U32;
  const XlaOp x = ConvertElementType(operands[0], type), random = ConvertElementType(operands[1], wide_random);
  auto constant = [&](PrimitiveType element_type, double value) {
    return ConstantLiteral(builder, LiteralUtil::FromDouble(element_type, value));
  };
  const XlaOp size = Abs(x), whole = Floor(size);
  const XlaOp fraction = (size - whole) * constant(type, std::ldexp(1.0, PrimitiveTypeBitWidth(random_type)));
  const XlaOp truncated = ConvertElementType(whole, to);
  const XlaOp magnitude = truncated + ConvertElementType(Lt(random, ConvertElementType(fraction, wide_random)), to);
  XlaOp result = Select(Lt(x, constant(type, 0)), Neg(magnitude), magnitude);
  const Shape& shape = instruction.shape();
  auto limit = [&](bool highest) {
    const Literal value = highest ? LiteralUtil::MaxValue(to) : LiteralUtil::MinValue(to);
    return Broadcast(ConstantLiteral(builder, value), shape.dimensions());
  };
  result = Select(Le(x, Bound(x, to, type, /*highest=*/false)), limit(false), result);
  return Select(Ge(x, Bound(x, to, type, /*highest=*/true)), limit(true), result);
}

}  // namespace hilo
