// gather as a map of indices: the batch part of the result index selects a start, clamped so that the slice is inside;
// the offset part is added (specification: Gather).
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/llvm/elements/data_movement.h"
#include "backends/llvm/elements/gathered_index.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/affine_index.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::codegen {
namespace {

LaneIndex AffineStart(EmitterContext& context, const AffineIndex& form, absl::Span<const LaneIndex> dims) {
  LaneIndex at = LaneIndex::Constant(form.offset);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (form.coefficients[d] != 0) at = at.Add(context, dims[d].MulConstant(context, form.coefficients[d]));
  }
  return at.WithRange({form.range.first, form.range.last});
}

}  // namespace

absl::StatusOr<Index> GatheredIndex(ElementEmitter& emitter, const HloInstruction* gather, const Index& index) {
  EmitterContext& context = emitter.context();
  const auto& attrs = gather->attrs<GatherAttrs>();
  const Shape &operand = gather->operand(0)->shape(), &starts = gather->operand(1)->shape();
  const std::vector<LaneIndex> dims = index.Dims(context);

  // An index into the start indices, with a slot for the component.
  std::vector<LaneIndex> start_dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!absl::c_linear_search(attrs.offset_dims, static_cast<int64_t>(i))) start_dims.push_back(dims[i]);
  }
  // Starts that are known at compile time, up to the index, keep its form: adjacent elements are loaded as vectors.
  const std::optional<std::vector<AffineIndex>> affine = AffineStartsOf(*gather);
  const std::vector<LaneIndex> batch_dims = start_dims;
  const bool has_vectors = attrs.index_vector_dim < starts.rank();
  if (has_vectors) start_dims.insert(start_dims.begin() + attrs.index_vector_dim, LaneIndex());

  std::vector<LaneIndex> at(operand.rank(), LaneIndex::Constant(0));
  for (size_t i = 0; i < attrs.operand_batching_dims.size(); ++i) {
    at[attrs.operand_batching_dims[i]] = start_dims[attrs.start_indices_batching_dims[i]];
  }
  for (size_t k = 0; k < attrs.start_index_map.size(); ++k) {
    const int64_t d = attrs.start_index_map[k];
    if (affine.has_value()) {
      at[d] = AffineStart(context, (*affine)[k], batch_dims);
      continue;
    }
    if (has_vectors) start_dims[attrs.index_vector_dim] = LaneIndex::Constant(static_cast<int64_t>(k));
    HILO_ASSIGN_OR_RETURN(ElementValue start, emitter.Generate(gather->operand(1), Index(start_dims)));
    at[d] = ClampedIndex(context, starts.element_type(), start,
                         std::max<int64_t>(operand.dimensions(d) - attrs.slice_sizes[d], 0));
  }
  size_t next_offset = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (absl::c_linear_search(attrs.collapsed_slice_dims, d) || absl::c_linear_search(attrs.operand_batching_dims, d))
      continue;
    at[d] = at[d].Add(context, dims[attrs.offset_dims[next_offset++]]);
  }
  return Index(std::move(at));
}

absl::StatusOr<ElementValues> EmitGatherElement(ElementEmitter& emitter, const HloInstruction* gather,
                                                const Index& index) {
  EmitterContext& context = emitter.context();
  const auto& attrs = gather->attrs<GatherAttrs>();
  if (index.IsLinear() && GathersInOrder(*gather)) {
    const int64_t d = attrs.start_index_map[0];
    std::vector<LaneIndex> at(gather->operand(0)->shape().rank(), LaneIndex::Constant(0));
    const Shape& starts = gather->operand(1)->shape();
    HILO_ASSIGN_OR_RETURN(const ElementValue start,
                          emitter.Generate(gather->operand(1),
                                           index.Reshape(context, gather->shape().dimensions(), starts.dimensions())));
    at[d] = ClampedIndex(context, starts.element_type(), start, gather->operand(0)->shape().dimensions(d) - 1);
    HILO_ASSIGN_OR_RETURN(ElementValue value, emitter.Generate(gather->operand(0), Index(std::move(at))));
    return ElementValues{value};
  }
  HILO_ASSIGN_OR_RETURN(const Index at, GatheredIndex(emitter, gather, index));
  HILO_ASSIGN_OR_RETURN(ElementValue value, emitter.Generate(gather->operand(0), at));
  return ElementValues{value};
}

}  // namespace hilo::codegen
