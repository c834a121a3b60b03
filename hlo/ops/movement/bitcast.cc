// bitcast-convert and bitcast: the same bits, read differently.
//
// bitcast-convert works on logical elements: the elements of the last dimension are concatenated,
// the first in the lowest bits, and split into elements of the new width. bitcast works on memory: the operand's bytes
// under its layout are the result's bytes under the result's layout; the compiler makes such ops,
// and dumps contain them.
#include <algorithm>

#include "hilo/status_macros.h"
#include "hlo/ops/table/checks.h"

namespace hilo {
namespace {

// The elements' logical bits, packed.
std::vector<uint8_t> PackBits(const Literal& literal) {
  const absl::Span<const uint8_t> bytes = literal.untyped_data();
  const int width = PrimitiveTypeBitWidth(literal.shape().element_type());
  if (width >= 8) return {bytes.begin(), bytes.end()};
  std::vector<uint8_t> packed((bytes.size() * width + 7) / 8, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int element = bytes[i] & ((1 << width) - 1);
    packed[i * width / 8] |= static_cast<uint8_t>(element << (i * width % 8));
  }
  return packed;
}

void UnpackBits(absl::Span<const uint8_t> packed, Literal* literal) {
  const absl::Span<uint8_t> bytes = literal->untyped_data();
  const PrimitiveType type = literal->shape().element_type();
  const int width = PrimitiveTypeBitWidth(type);
  if (width >= 8) {
    std::copy(packed.begin(), packed.end(), bytes.begin());
    return;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t element = (packed[i * width / 8] >> (i * width % 8)) & ((1 << width) - 1);
    // Signed values are kept sign-extended.
    const int unused = 8 - width;
    bytes[i] =
        IsSignedIntegralType(type) ? static_cast<uint8_t>(static_cast<int8_t>(element << unused) >> unused) : element;
  }
}

std::vector<int64_t> BitcastConvertDimensions(const Shape& operand, int from_width, int to_width) {
  std::vector<int64_t> dimensions(operand.dimensions().begin(), operand.dimensions().end());
  if (from_width > to_width) {
    dimensions.push_back(from_width / to_width);
  } else if (from_width < to_width) {
    dimensions.pop_back();
  }
  return dimensions;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kBitcastConvert>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  const Shape& operand = op.operand(0);
  const Shape& result = *op.stated;
  // bitcast_convert_c2
  if (IsComplexType(operand.element_type()) != IsComplexType(result.element_type())) {
    return InvalidOp(op, "cannot convert between complex and other types, got ", operand.ToString(), " to ",
                     result.ToString());
  }
  const int from = PrimitiveTypeBitWidth(operand.element_type()), to = PrimitiveTypeBitWidth(result.element_type());
  // bitcast_convert_c1
  if (from < to && (operand.rank() == 0 || operand.dimensions(operand.rank() - 1) != to / from)) {
    return InvalidOp(op, "from ", from, " to ", to, " bits the operand's last dimension must be ", to / from, ", got ",
                     operand.ToString());
  }
  const std::vector<int64_t> dimensions = BitcastConvertDimensions(operand, from, to);
  if (result.dimensions() != absl::MakeConstSpan(dimensions)) {
    return InvalidOp(op, "operand ", operand.ToString(), " gives the result dimensions [",
                     absl::StrJoin(dimensions, ","), "], stated is ", result.ToString());
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kBitcastConvert>(const OpView&, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (result.ok()) UnpackBits(PackBits(*operands[0]), &*result);
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kBitcast>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  if (ShapeUtil::ByteSizeOf(op.operand(0)) != ShapeUtil::ByteSizeOf(*op.stated)) {
    return InvalidOp(op, "operand ", op.operand(0).ToString(true), " of ", ShapeUtil::ByteSizeOf(op.operand(0)),
                     " bytes and result ", op.stated->ToString(true), " of ", ShapeUtil::ByteSizeOf(*op.stated),
                     " bytes must be as large");
  }
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kBitcast>(const OpView& op, const Shape& shape, Operands operands) {
  Shape from = op.operand(0), to = shape;
  ShapeUtil::AddMissingLayouts(&from);
  ShapeUtil::AddMissingLayouts(&to);
  std::vector<uint8_t> bytes(ShapeUtil::ByteSizeOf(from));
  LiteralToBytes(*operands[0], from, bytes.data());
  return LiteralFromBytes(bytes.data(), to);
}

}  // namespace hilo
