// Random numbers of a distribution are made from the bits of Philox, whose counter is the process's random state: each
// use takes the blocks that it needs, so no two uses overlap, and one key suffices for all.
#include <cmath>

#include "base/math.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

constexpr uint64_t kKey = 0x853C49E6748FEA9B;

// `count` random numbers of 32 or 64 bits.
XlaOp FreshBits(XlaBuilder* builder, PrimitiveType type, int64_t count) {
  const XlaOp counter = RngGetAndUpdateState(builder, CeilDiv(count, type == U64 ? 2 : 4));
  const XlaOp state = ConcatInDim(builder, {ConstantR1<uint64_t>(builder, {kKey}), counter}, 0);
  return GetTupleElement(RngBitGenerator(RandomAlgorithm::kPhilox, state, ShapeUtil::MakeShape(type, {count})), 1);
}

XlaOp Scalar(XlaOp like, PrimitiveType type, double value) {
  return ConstantLiteral(like.builder(), LiteralUtil::FromDouble(type, value));
}

// Floats are computed in single precision, or double.
PrimitiveType ComputeType(PrimitiveType type) { return type == F64 ? F64 : F32; }

// `count` floats in [0, 1): all multiples of 2^-24 (2^-53).
XlaOp UnitFloats(XlaBuilder* builder, PrimitiveType type, int64_t count) {
  if (type == F64) {
    const XlaOp bits = FreshBits(builder, U64, count);
    return ConvertElementType(ShiftRightLogical(bits, ConstantR0<uint64_t>(builder, 11)), F64) *
           Scalar(bits, F64, std::ldexp(1.0, -53));
  }
  const XlaOp bits = FreshBits(builder, U32, count);
  return ConvertElementType(ShiftRightLogical(bits, ConstantR0<uint32_t>(builder, 8)), F32) *
         Scalar(bits, F32, std::ldexp(1.0, -24));
}

XlaOp UniformFloats(XlaBuilder* builder, XlaOp a, XlaOp b, PrimitiveType type, int64_t count) {
  const PrimitiveType compute = ComputeType(type);
  const XlaOp u = UnitFloats(builder, compute, count);
  const XlaOp x = ConvertElementType(a, compute) * (Scalar(u, compute, 1) - u) + ConvertElementType(b, compute) * u;
  const XlaOp result = ConvertElementType(x, type);
  return Select(Lt(result, b), result, Broadcast(a, {count}));  // it may have been rounded up to b
}

// The upper 64 bits of x * y, from products of their halves: frameworks that read the optimized module may be older
// than the operation mulhi.
XlaOp UpperHalf(XlaOp x, XlaOp y) {
  const XlaOp half = ConstantR0<uint64_t>(x.builder(), 32), mask = ConstantR0<uint64_t>(x.builder(), 0xFFFFFFFF);
  const XlaOp x_high = ShiftRightLogical(x, half), x_low = x & mask;
  const XlaOp y_high = ShiftRightLogical(y, half), y_low = y & mask;
  const XlaOp middle = x_high * y_low + ShiftRightLogical(x_low * y_low, half);
  const XlaOp carry = ShiftRightLogical((middle & mask) + x_low * y_high, half);
  return x_high * y_high + ShiftRightLogical(middle, half) + carry;
}

// Integers as a + floor(range * u), with a random fraction u of 32 more bits than the range has, so that all are as
// likely as can be.
XlaOp UniformIntegers(XlaBuilder* builder, XlaOp a, XlaOp b, PrimitiveType type, int64_t count) {
  const bool wide = PrimitiveTypeBitWidth(type) == 64;
  const XlaOp low = ConvertElementType(a, S64), range = BitcastConvertType(ConvertElementType(b, S64) - low, U64);
  XlaOp offset;
  if (wide) {
    const XlaOp bits = FreshBits(builder, U64, 2 * count);
    const XlaOp upper = SliceInDim(bits, 0, count, 1, 0), lower = SliceInDim(bits, count, 2 * count, 1, 0);
    const XlaOp spread = Broadcast(range, {count});
    const XlaOp sum = upper * spread + UpperHalf(lower, spread);
    offset = UpperHalf(upper, spread) + ConvertElementType(Lt(sum, upper * spread), U64);
  } else {
    const XlaOp bits = FreshBits(builder, U64, count), half = ConstantR0<uint64_t>(builder, 32);
    const XlaOp upper = ShiftRightLogical(bits, half), lower = bits & ConstantR0<uint64_t>(builder, 0xFFFFFFFF);
    offset = ShiftRightLogical(upper * range + ShiftRightLogical(lower * range, half), half);
  }
  return ConvertElementType(low + BitcastConvertType(offset, S64), type);
}

// The Box-Muller transform: two independent uniform numbers give two independent normal ones.
XlaOp NormalFloats(XlaBuilder* builder, XlaOp mu, XlaOp sigma, PrimitiveType type, int64_t count) {
  const PrimitiveType compute = ComputeType(type);
  const int64_t half = CeilDiv(count, 2);
  const XlaOp u = UnitFloats(builder, compute, 2 * half);
  const XlaOp not_zero = Scalar(u, compute, 1) - SliceInDim(u, 0, half, 1, 0);
  const XlaOp radius = Sqrt(Scalar(u, compute, -2) * Log(not_zero));
  const XlaOp angle = Scalar(u, compute, 2 * M_PI) * SliceInDim(u, half, 2 * half, 1, 0);
  const XlaOp unit = SliceInDim(ConcatInDim(builder, {radius * Cos(angle), radius * Sin(angle)}, 0), 0, count, 1, 0);
  return ConvertElementType(ConvertElementType(mu, compute) + ConvertElementType(sigma, compute) * unit, type);
}

}  // namespace

absl::StatusOr<XlaOp> ExpandRng(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands) {
  const Shape& shape = instruction.shape();
  const PrimitiveType type = shape.element_type();
  const int64_t count = ShapeUtil::ElementsIn(shape);
  const XlaOp a = operands[0], b = operands[1];
  if (type == PRED) return Broadcast(a, shape.dimensions());  // [a, b) of two booleans is a alone
  if (instruction.attrs<RngAttrs>().distribution == RandomDistribution::kNormal) {
    return Reshape(NormalFloats(builder, a, b, type, count), shape.dimensions());
  }
  const XlaOp flat = IsFloatingPointType(type) ? UniformFloats(builder, a, b, type, count)
                                               : UniformIntegers(builder, a, b, type, count);
  return Reshape(flat, shape.dimensions());
}

}  // namespace hilo
