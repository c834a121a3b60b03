// Scaled dot: a dot of two operands that are each multiplied by a scale first. A scale has the rank of its operand, and
// each of its sizes divides the operand's: one scale belongs to a block of equal elements. A scalar scale means none.
//
//   scaled-dot(a, b, s, t) = dot(a * blocks(s), b * blocks(t))
//
// Products with scales are rounded to ScaledType before the dot.
#include "hlo/ops/linalg/contraction.h"
#include "hlo/ops/linalg/scaled_type.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

absl::Status CheckScale(const OpView& op, int64_t operand, int64_t scale, absl::string_view name) {
  HILO_RETURN_IF_ERROR(CheckArray(op, scale, name));
  const Shape& of = op.operand(operand);
  const Shape& by = op.operand(scale);
  for (const Shape* shape : {&of, &by}) {
    if (!IsFloatingPointType(shape->element_type())) {
      return InvalidOp(op, "operands and scales must be floats; got ", shape->ToString());
    }
  }
  if (by.rank() == 0) return absl::OkStatus();
  bool fits = by.rank() == of.rank();
  for (int64_t d = 0; fits && d < of.rank(); ++d) {
    const int64_t blocks = by.dimensions(d);
    fits = blocks == of.dimensions(d) || (blocks != 0 && of.dimensions(d) % blocks == 0);
  }
  if (fits) return absl::OkStatus();
  return InvalidOp(op, "the sizes of ", name, " ", by.ToString(), " must divide those of ", of.ToString());
}

// Each element of `scale` repeated over its block of `sizes`.
absl::StatusOr<Literal> Blocks(const Literal& scale, absl::Span<const int64_t> sizes) {
  const Shape& blocks = scale.shape();
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(Shape(blocks.element_type(), sizes)));
  if (HasNoIndex(sizes)) return result;
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(blocks.dimensions());
  std::vector<int64_t> index(sizes.size(), 0);
  ArrayTypeSwitch(blocks.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& out : result.data<T>()) {
      int64_t from = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        from += index[d] / (sizes[d] / blocks.dimensions(d)) * strides[d];
      }
      out = scale.data<T>()[from];
      IndexUtil::BumpIndices(sizes, absl::MakeSpan(index));
    }
  });
  return result;
}

absl::StatusOr<Literal> Scaled(const Literal& operand, const Literal& scale) {
  if (scale.shape().rank() == 0) return CopyOf(operand);
  const PrimitiveType type = ScaledType(operand.shape().element_type(), scale.shape().element_type());
  HILO_ASSIGN_OR_RETURN(const Literal x, operand.Convert(type));
  HILO_ASSIGN_OR_RETURN(const Literal s, scale.Convert(type));
  HILO_ASSIGN_OR_RETURN(const Literal blocks, Blocks(s, x.shape().dimensions()));
  const Shape* shapes[] = {&x.shape(), &blocks.shape()};
  const Literal* factors[] = {&x, &blocks};
  return EvaluateBinary(OpView{.opcode = HloOpcode::kMultiply, .operands = shapes}, x.shape(), factors);
}

// The op without its scales.
OpView DotOf(const OpView& op) {
  OpView dot = op;
  dot.operands = op.operands.subspan(0, 2);
  return dot;
}

}  // namespace

PrimitiveType ScaledType(PrimitiveType operand, PrimitiveType scale) {
  const int bits = PrimitiveTypeBitWidth(operand), scale_bits = PrimitiveTypeBitWidth(scale);
  if (bits < 16 && scale_bits < 16) return BF16;
  if (operand == scale) return operand;
  if (bits == scale_bits) return F32;
  return bits > scale_bits ? operand : scale;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kScaledDot>(const OpView& op) {
  if (op.operands.size() != 4) {
    return InvalidOp(op, "expected lhs, rhs, lhs_scale and rhs_scale; got ", op.operands.size(), " operands");
  }
  HILO_ASSIGN_OR_RETURN(Shape result, Infer<HloOpcode::kDot>(DotOf(op)));
  HILO_RETURN_IF_ERROR(CheckScale(op, 0, 2, "lhs_scale"));
  HILO_RETURN_IF_ERROR(CheckScale(op, 1, 3, "rhs_scale"));
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kScaledDot>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(const Literal lhs, Scaled(*operands[0], *operands[2]));
  HILO_ASSIGN_OR_RETURN(const Literal rhs, Scaled(*operands[1], *operands[3]));
  const Literal* scaled[] = {&lhs, &rhs};
  return Evaluate<HloOpcode::kDot>(DotOf(op), shape, scaled);
}

}  // namespace hilo
