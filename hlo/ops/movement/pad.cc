// pad: first spreads the operand with interior padding, then adds (or, negative, removes) elements
// at both ends. Element i of a dimension thus lands at low + i * (interior + 1), or nowhere if that
// is outside the result.
#include <algorithm>

#include "hilo/status_macros.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// low + high + n + max(n - 1, 0) * interior. nullopt if a part of it is so large that sums of a few could overflow,
// here or where positions are computed.
std::optional<int64_t> PaddedSize(int64_t n, const PaddingConfig::Dimension& padding) {
  constexpr int64_t kLimit = int64_t{1} << 60;
  const int64_t low = padding.edge_padding_low, high = padding.edge_padding_high, interior = padding.interior_padding;
  const __int128 spread = n + static_cast<__int128>(std::max<int64_t>(n - 1, 0)) * interior;
  if (std::max({low, high, interior}) > kLimit || std::min(low, high) < -kLimit || spread > kLimit) return std::nullopt;
  return low + high + static_cast<int64_t>(spread);
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kPad>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  // pad_c1
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));
  const Shape& operand = op.operand(0);
  if (!op.operand(1).IsScalar()) {
    return InvalidOp(op, "the padding value must be a scalar, got ", op.operand(1).ToString());
  }
  const PaddingConfig& padding = op.attrs<PadAttrs>().padding;
  // pad_c2
  if (static_cast<int64_t>(padding.dimensions.size()) != operand.rank()) {
    return InvalidOp(op, "padding = ", FieldToText(padding), " must have one entry for each of the ", operand.rank(),
                     " dimensions of ", operand.ToString());
  }
  Shape result = ElementwiseShape(op, operand.element_type());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const PaddingConfig::Dimension& dimension = padding.dimensions[d];
    // pad_c3
    if (dimension.interior_padding < 0) {
      return InvalidOp(op, "interior_padding[", d, "] = ", dimension.interior_padding, " is negative");
    }
    // pad_c4
    const std::optional<int64_t> size = PaddedSize(operand.dimensions(d), dimension);
    if (!size.has_value()) {
      return InvalidOp(op, "padding = ", FieldToText(padding), " is too large for result dimension ", d,
                       ": no part of it may be beyond 2^60");
    }
    if (*size < 0) {
      return InvalidOp(op, "padding = ", FieldToText(padding), " gives result dimension ", d, " the negative size ",
                       *size);
    }
    result.set_dimensions(d, *size);
  }
  return result;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kPad>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok() || ShapeUtil::IsZeroElementArray(shape)) return result;
  FillWith(*operands[1], &*result);
  const Shape& operand = operands[0]->shape();
  StridedWalk from = StridedWalk::Over(operand), to = StridedWalk::Over(shape);
  std::vector<int64_t> sizes(shape.rank());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const PaddingConfig::Dimension& padding = op.attrs<PadAttrs>().padding.dimensions[d];
    const __int128 step = static_cast<__int128>(padding.interior_padding) + 1;
    const __int128 low = padding.edge_padding_low;
    // Operand elements [first, limit) land inside the result.
    const __int128 first = low >= 0 ? 0 : (-low + step - 1) / step;
    const __int128 room = shape.dimensions(d) - low;
    const __int128 limit = std::min<__int128>(operand.dimensions(d), room <= 0 ? 0 : (room + step - 1) / step);
    if (limit <= first) return result;
    sizes[d] = static_cast<int64_t>(limit - first);
    from.offset += static_cast<int64_t>(first) * from.strides[d];
    to.offset += static_cast<int64_t>(low + first * step) * to.strides[d];
    to.strides[d] *= sizes[d] == 1 ? 1 : static_cast<int64_t>(step);  // a huge step is never taken
  }
  StridedCopy(sizes, *operands[0], from, &*result, to);
  return result;
}

}  // namespace hilo
