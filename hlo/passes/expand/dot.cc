// dot and ragged-dot of bf16, f16 and narrower floats => the same in f32 and its result rounded, as specified; a dot
// of bf16 keeps its operands.
// dot of s8, u8 and narrower integers => the same in s8, if that has all their values, or s16 with sums of 32
// bits, of which narrower results are the lowest. Other dots => the dot of operands transposed to batch, free and
// contracting dimensions, each kind together. Backends request either where the result is fast.
#include <algorithm>
#include <numeric>

#include "hlo/builder/add_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

bool IsNarrowFloat(const Shape& shape) {
  return IsFloatingPointType(shape.element_type()) && PrimitiveTypeBitWidth(shape.element_type()) < 32;
}

absl::StatusOr<XlaOp> InF32(const HloInstruction& instruction, XlaBuilder* builder, absl::Span<const XlaOp> operands) {
  Shape shape = instruction.shape();
  shape.set_element_type(F32);
  std::vector<XlaOp> wide(operands.begin(), operands.end());
  const auto is_bf16 = [&](int64_t side) { return instruction.operand(side)->shape().element_type() == BF16; };
  if (instruction.opcode() != HloOpcode::kDot || !is_bf16(0) || !is_bf16(1)) {
    for (int64_t side : {0, 1}) wide[side] = ConvertElementType(wide[side], F32);
  }
  const XlaOp dot = AddOp(builder, instruction.opcode(), wide, instruction.attributes()->Clone(), {}, &shape);
  return ConvertElementType(dot, instruction.shape().element_type());
}

absl::StatusOr<XlaOp> InS8OrS16(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands) {
  const auto fits_s8 = [&](int64_t side) { return instruction.operand(side)->shape().element_type() != U8; };
  const PrimitiveType type = fits_s8(0) && fits_s8(1) ? S8 : S16;
  Shape shape = instruction.shape();
  shape.set_element_type(S32);
  const XlaOp dot =
      AddOp(builder, HloOpcode::kDot, {ConvertElementType(operands[0], type), ConvertElementType(operands[1], type)},
            instruction.attributes()->Clone(), {}, &shape);
  return ConvertElementType(dot, instruction.shape().element_type());
}

// The dimensions of `shape` that are in neither list.
std::vector<int64_t> Free(const Shape& shape, const std::vector<int64_t>& batch,
                          const std::vector<int64_t>& contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) == contracting.end())
      free.push_back(d);
  }
  return free;
}

std::vector<int64_t> Count(int64_t first, size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// An order of an operand's dimensions: batch ones, then the free and the contracting ones. The minor-most dimension
// stays so: then the transpose copies rows.
struct Arranged {
  std::vector<int64_t> order;
  int64_t first_contracting;  // position in `order`
};
Arranged Arrange(const Shape& shape, const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting) {
  int64_t minor = shape.rank() - 1;
  while (minor > 0 && shape.dimensions(minor) == 1) --minor;
  std::vector<int64_t> first = Free(shape, batch, contracting), last = contracting;
  const bool by_rows = std::find(last.begin(), last.end(), minor) != last.end();
  Arranged arranged{.order = batch,
                    .first_contracting = static_cast<int64_t>(batch.size() + (by_rows ? first.size() : 0))};
  if (!by_rows) std::swap(first, last);
  arranged.order.insert(arranged.order.end(), first.begin(), first.end());
  arranged.order.insert(arranged.order.end(), last.begin(), last.end());
  return arranged;
}

absl::StatusOr<XlaOp> InOrder(const HloInstruction& instruction, XlaBuilder* builder,
                              absl::Span<const XlaOp> operands) {
  const DotAttrs& attrs = instruction.attrs<DotAttrs>();
  // Products are added up in the order of the rhs, which so may stay as it is.
  const size_t batch = attrs.lhs_batch_dims.size(), contracting = attrs.lhs_contracting_dims.size();
  std::vector<int64_t> order = Count(0, contracting);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return attrs.rhs_contracting_dims[a] < attrs.rhs_contracting_dims[b]; });
  std::vector<int64_t> lhs_contracting, rhs_contracting;
  for (int64_t i : order) {
    lhs_contracting.push_back(attrs.lhs_contracting_dims[i]);
    rhs_contracting.push_back(attrs.rhs_contracting_dims[i]);
  }
  const Arranged lhs = Arrange(instruction.operand(0)->shape(), attrs.lhs_batch_dims, lhs_contracting);
  const Arranged rhs = Arrange(instruction.operand(1)->shape(), attrs.rhs_batch_dims, rhs_contracting);
  auto ordered = std::make_unique<DotAttrs>(attrs);
  ordered->lhs_batch_dims = ordered->rhs_batch_dims = Count(0, batch);
  ordered->lhs_contracting_dims = Count(lhs.first_contracting, contracting);
  ordered->rhs_contracting_dims = Count(rhs.first_contracting, contracting);
  return AddOp(builder, HloOpcode::kDot, {Transpose(operands[0], lhs.order), Transpose(operands[1], rhs.order)},
               std::move(ordered), {}, &instruction.shape());
}

}  // namespace

bool IsDotOfSmallIntegers(const HloInstruction& dot) {
  const auto is_narrow = [](PrimitiveType type) { return IsIntegralType(type) && PrimitiveTypeBitWidth(type) <= 8; };
  const PrimitiveType lhs = dot.operand(0)->shape().element_type(), rhs = dot.operand(1)->shape().element_type(),
                      sum = dot.shape().element_type();
  if (!is_narrow(lhs) || !is_narrow(rhs) || !IsIntegralType(sum) || PrimitiveTypeBitWidth(sum) > 32) return false;
  return lhs != S8 || rhs != S8 || PrimitiveTypeBitWidth(sum) < 32;
}

absl::StatusOr<XlaOp> ExpandDot(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands) {
  const Shape &lhs = instruction.operand(0)->shape(), &rhs = instruction.operand(1)->shape();
  // What InF32 makes of a dot of bf16.
  const bool is_done =
      lhs.element_type() == BF16 && rhs.element_type() == BF16 && instruction.shape().element_type() == F32;
  const bool narrow = IsNarrowFloat(lhs) && IsNarrowFloat(rhs) && !is_done;
  if (narrow || instruction.opcode() != HloOpcode::kDot) return InF32(instruction, builder, operands);
  if (IsDotOfSmallIntegers(instruction)) return InS8OrS16(instruction, builder, operands);
  return InOrder(instruction, builder, operands);
}

}  // namespace hilo
