// Gather: one slice of the operand for each index vector, its start clamped so that the slice is
// in bounds.
#include <algorithm>

#include "hlo/ops/movement/index_vectors.h"
#include "hlo/ops/movement/strided_copy.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

IndexVectors VectorsOf(const GatherAttrs& attrs) {
  return {.map = attrs.start_index_map,
          .operand_batching_dims = attrs.operand_batching_dims,
          .indices_batching_dims = attrs.start_indices_batching_dims,
          .index_vector_dim = attrs.index_vector_dim,
          .map_name = "start_index_map",
          .operand_batching_name = "operand_batching_dims",
          .indices_batching_name = "start_indices_batching_dims",
          .indices_name = "start_indices"};
}

absl::Status CheckSliceSizes(const OpView& op, const GatherAttrs& attrs, const Shape& operand) {
  if (static_cast<int64_t>(attrs.slice_sizes.size()) != operand.rank()) {  // gather_c20
    return InvalidOp(op, "slice_sizes = ", ListText(attrs.slice_sizes), " has ", attrs.slice_sizes.size(),
                     " entries, but the operand has rank ", operand.rank());
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t size = attrs.slice_sizes[d];
    if (size < 0 || size > operand.dimensions(d)) {  // gather_c21
      return InvalidOp(op, "slice_sizes[", d, "] = ", size, " is not in [0, ", operand.dimensions(d),
                       "], the operand's size");
    }
    const bool collapsed = Contains(attrs.collapsed_slice_dims, d);
    if (size > 1 && (collapsed || Contains(attrs.operand_batching_dims, d))) {  // gather_c9, gather_c12
      return InvalidOp(op, collapsed ? "collapsed_slice_dims" : "operand_batching_dims", " names dimension ", d,
                       ", but slice_sizes[", d, "] = ", size, " is not 1");
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kGather>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  HILO_RETURN_IF_ERROR(CheckArray(op, 1, "start_indices"));
  const Shape& operand = op.operand(0);
  const Shape& indices = op.operand(1);
  const GatherAttrs& attrs = op.attrs<GatherAttrs>();
  const IndexVectors vectors = VectorsOf(attrs);
  HILO_RETURN_IF_ERROR(CheckCollapsed(op, vectors, "collapsed_slice_dims", attrs.collapsed_slice_dims, operand.rank()));
  HILO_RETURN_IF_ERROR(CheckIndexVectors(op, vectors, operand, indices));
  HILO_RETURN_IF_ERROR(CheckSliceSizes(op, attrs, operand));
  const std::vector<int64_t> slice_dims =
      SliceDimensions(operand.rank(), attrs.collapsed_slice_dims, attrs.operand_batching_dims);
  if (attrs.offset_dims.size() != slice_dims.size()) {  // gather_c1
    return InvalidOp(op, "offset_dims = ", ListText(attrs.offset_dims), " has ", attrs.offset_dims.size(),
                     " entries, but slices keep ", slice_dims.size(), " of the operand's ", operand.rank(),
                     " dimensions");
  }
  const std::vector<int64_t> batch = BatchSizes(indices, attrs.index_vector_dim);
  const int64_t rank = batch.size() + slice_dims.size();
  HILO_RETURN_IF_ERROR(CheckDimensions(op, "offset_dims", attrs.offset_dims, rank, "result"));  // gather_c5
  HILO_RETURN_IF_ERROR(CheckUnique(op, "offset_dims", attrs.offset_dims));                      // gather_c4
  HILO_RETURN_IF_ERROR(CheckSorted(op, "offset_dims", attrs.offset_dims));                      // gather_c4
  std::vector<int64_t> sizes;                                                                   // gather_c22
  for (int64_t d = 0, next_batch = 0, next_offset = 0; d < rank; ++d) {
    const bool is_offset = Contains(attrs.offset_dims, d);
    sizes.push_back(is_offset ? attrs.slice_sizes[slice_dims[next_offset++]] : batch[next_batch++]);
  }
  return Shape(operand.element_type(), sizes);  // gather_c23
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kGather>(const OpView& op, const Shape& shape, Operands operands) {
  const GatherAttrs& attrs = op.attrs<GatherAttrs>();
  const IndexVectors vectors = VectorsOf(attrs);
  const Literal& operand = *operands[0];
  const Shape& operand_shape = operand.shape();
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (ShapeUtil::IsZeroElementArray(shape)) return result;

  // Result dimensions are slice or batch dimensions, each kind in its order.
  const std::vector<int64_t> operand_strides = ShapeUtil::RowMajorStrides(operand_shape.dimensions());
  const std::vector<int64_t> result_strides = ShapeUtil::RowMajorStrides(shape.dimensions());
  StridedWalk from, to;
  std::vector<int64_t> sizes, batch_strides;
  for (int64_t d : SliceDimensions(operand_shape.rank(), attrs.collapsed_slice_dims, attrs.operand_batching_dims)) {
    sizes.push_back(attrs.slice_sizes[d]);
    from.strides.push_back(operand_strides[d]);
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    (Contains(attrs.offset_dims, d) ? to.strides : batch_strides).push_back(result_strides[d]);
  }

  const std::vector<int64_t> batch = BatchSizes(operands[1]->shape(), attrs.index_vector_dim);
  std::vector<int64_t> index(batch.size(), 0), start(operand_shape.rank());
  do {
    SliceStart(vectors, *operands[1], index, absl::MakeSpan(start));
    for (int64_t d = 0; d < operand_shape.rank(); ++d) {
      start[d] = std::clamp<int64_t>(start[d], 0, operand_shape.dimensions(d) - attrs.slice_sizes[d]);
    }
    from.offset = DotProduct(start, operand_strides);
    to.offset = DotProduct(index, batch_strides);
    HILO_RETURN_IF_ERROR(op.Spend(start.size()));
    StridedCopy(sizes, operand, from, &result, to);
  } while (IndexUtil::BumpIndices(batch, absl::MakeSpan(index)));
  return result;
}

}  // namespace hilo
