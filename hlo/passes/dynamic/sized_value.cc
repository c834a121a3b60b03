#include "hlo/passes/dynamic/sized_value.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "hilo/literal.h"

namespace hilo {

HloInstruction* GraphWriter::Op(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                                std::unique_ptr<OpAttributes> attributes, absl::Span<HloComputation* const> called,
                                const Shape* stated) {
  if (status_.ok()) {
    absl::StatusOr<HloInstruction*> added =
        computation_->AddOp(opcode, operands, std::move(attributes), called, stated);
    if (added.ok()) return *added;
    Fail(added.status());
  }
  return S32(0);
}

HloInstruction* GraphWriter::Copy(const HloInstruction& instruction, absl::Span<HloInstruction* const> operands) {
  return computation_->AddInstruction(
      instruction.CloneWithNewOperands(ShapeUtil::MakeStaticShape(instruction.shape()), operands), instruction.name());
}

HloInstruction* GraphWriter::S32(int64_t value) {
  if (value > std::numeric_limits<int32_t>::max())
    Fail(absl::UnimplementedError(absl::StrCat("a size of ", value, " does not fit in an s32")));
  return computation_->AddConstant(LiteralUtil::CreateR0(static_cast<int32_t>(value)));
}

HloInstruction* GraphWriter::Zero(PrimitiveType type) { return computation_->AddConstant(LiteralUtil::Zero(type)); }

HloInstruction* GraphWriter::Iota(absl::Span<const int64_t> dimensions, int64_t dimension) {
  if (dimensions[dimension] > std::numeric_limits<int32_t>::max()) S32(dimensions[dimension]);  // fails
  auto attributes = std::make_unique<IotaAttrs>();
  attributes->iota_dimension = dimension;
  const Shape shape = ShapeUtil::MakeShape(PrimitiveType::S32, dimensions);
  return Op(HloOpcode::kIota, {}, std::move(attributes), {}, &shape);
}

HloInstruction* GraphWriter::Broadcast(HloInstruction* scalar, absl::Span<const int64_t> dimensions) {
  const Shape shape = ShapeUtil::MakeShape(scalar->shape().element_type(), dimensions);
  return Op(HloOpcode::kBroadcast, {scalar}, nullptr, {}, &shape);
}

HloInstruction* GraphWriter::Compare(HloInstruction* a, HloInstruction* b, ComparisonDirection direction) {
  auto attributes = std::make_unique<CompareAttrs>();
  attributes->direction = direction;
  return Op(HloOpcode::kCompare, {a, b}, std::move(attributes));
}

HloInstruction* GraphWriter::Reshape(HloInstruction* array, absl::Span<const int64_t> dimensions) {
  const Shape shape = ShapeUtil::MakeShape(array->shape().element_type(), dimensions);
  return Op(HloOpcode::kReshape, {array}, nullptr, {}, &shape);
}

HloInstruction* GraphWriter::DynamicSlice(HloInstruction* array, absl::Span<HloInstruction* const> starts,
                                          absl::Span<const int64_t> sizes) {
  std::vector<HloInstruction*> operands = {array};
  operands.insert(operands.end(), starts.begin(), starts.end());
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes.assign(sizes.begin(), sizes.end());
  return Op(HloOpcode::kDynamicSlice, operands, std::move(attributes));
}

HloInstruction* GraphWriter::Tuple(HloInstruction* first, absl::Span<HloInstruction* const> others) {
  std::vector<HloInstruction*> elements = {first};
  elements.insert(elements.end(), others.begin(), others.end());
  return Op(HloOpcode::kTuple, elements);
}

HloInstruction* GraphWriter::Element(HloInstruction* tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return Op(HloOpcode::kGetTupleElement, {tuple}, std::move(attributes));
}

HloInstruction* GraphWriter::SizeWithinBound(const SizedValue& value, int64_t d) {
  HloInstruction* bound = S32(value.data->shape().dimensions(d));
  HloInstruction* size = value.size(d);
  return size == nullptr ? bound : Maximum(S32(0), Minimum(size, bound));
}

HloInstruction* GraphWriter::IsBelow(absl::Span<const int64_t> dimensions, int64_t d, HloInstruction* size) {
  return Compare(Iota(dimensions, d), Broadcast(size, dimensions), ComparisonDirection::kLt);
}

HloInstruction* GraphWriter::Mask(const SizedValue& value, absl::Span<const int64_t> dimensions,
                                  HloInstruction* filler) {
  HloInstruction* counts = nullptr;
  const Shape& shape = value.data->shape();
  for (int64_t d : dimensions) {
    HloInstruction* size = value.size(d);
    if (size == nullptr) continue;
    HloInstruction* below = IsBelow(shape.dimensions(), d, size);
    counts = counts == nullptr ? below : Op(HloOpcode::kAnd, {counts, below});
  }
  if (counts == nullptr) return value.data;
  return Op(HloOpcode::kSelect, {counts, value.data, Broadcast(filler, shape.dimensions())});
}

HloInstruction* GraphWriter::Repack(const SizedValue& value, absl::Span<const int64_t> bounds,
                                    absl::Span<HloInstruction* const> sizes) {
  const Shape shape = value.data->shape();
  const int64_t count = ShapeUtil::ElementsIn(shape);
  if (count == 0) return Broadcast(Zero(shape.element_type()), bounds);  // nothing can count
  S32(count);                                                            // fails where indices would not fit
  // The position of each element of the result among those that count.
  const auto spread = [&](HloInstruction* scalar) { return Broadcast(scalar, bounds); };
  HloInstruction* position = spread(S32(0));
  for (size_t d = 0; d < bounds.size(); ++d) {
    position = Add(Multiply(position, spread(sizes[d])), Iota(bounds, static_cast<int64_t>(d)));
  }
  // Its position in the operand at its bounds: the last dimension changes fastest.
  HloInstruction* index = spread(S32(0));
  int64_t stride = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    HloInstruction* size = spread(Maximum(SizeWithinBound(value, d), S32(1)));
    index = Add(index, Multiply(Op(HloOpcode::kRemainder, {position, size}), spread(S32(stride))));
    position = Divide(position, size);
    stride *= shape.dimensions(d);
  }
  auto attributes = std::make_unique<GatherAttrs>();
  attributes->collapsed_slice_dims = {0};
  attributes->start_index_map = {0};
  attributes->index_vector_dim = static_cast<int64_t>(bounds.size());
  attributes->slice_sizes = {1};
  return Op(HloOpcode::kGather, {Reshape(value.data, {count}), index}, std::move(attributes));
}

}  // namespace hilo
