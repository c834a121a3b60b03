// Scatter: the slices that a gather would read are combined with updates, in row-major order of the
// updates' index vectors. Each element whose index is out of bounds is dropped individually;
// nothing is clamped.
#include "hlo/ops/movement/index_vectors.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"
#include "hlo/ops/table/scalar_computation.h"

namespace hilo {
namespace {

IndexVectors VectorsOf(const ScatterAttrs& attrs) {
  return {.map = attrs.scatter_dims_to_operand_dims,
          .operand_batching_dims = attrs.input_batching_dims,
          .indices_batching_dims = attrs.scatter_indices_batching_dims,
          .index_vector_dim = attrs.index_vector_dim,
          .map_name = "scatter_dims_to_operand_dims",
          .operand_batching_name = "input_batching_dims",
          .indices_batching_name = "scatter_indices_batching_dims",
          .indices_name = "scatter_indices"};
}

// scatter_c4
absl::Status CheckUpdateSizes(const OpView& op, const ScatterAttrs& attrs, const Shape& operand, const Shape& indices,
                              const Shape& updates, absl::Span<const int64_t> window_dims) {
  const std::vector<int64_t> batch = BatchSizes(indices, attrs.index_vector_dim);
  for (int64_t d = 0, next_batch = 0, next_window = 0; d < updates.rank(); ++d) {
    const int64_t size = updates.dimensions(d);
    if (Contains(attrs.update_window_dims, d)) {
      const int64_t bound = operand.dimensions(window_dims[next_window++]);
      if (size > bound) {
        return InvalidOp(op, "updates have size ", size, " in window dimension ", d, ", but the operand has ", bound);
      }
    } else if (size != batch[next_batch++]) {
      return InvalidOp(op, "updates have size ", size, " in dimension ", d, ", but scatter_indices have ",
                       batch[next_batch - 1]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kScatter>(const OpView& op) {
  const int64_t count = op.operands.size();
  if (count < 3 || count % 2 == 0) {  // scatter_c5
    return InvalidOp(op, "expected N >= 1 arrays, scatter_indices and N updates, got ", count, " operands");
  }
  const int64_t n = count / 2;
  HILO_RETURN_IF_ERROR(CheckSameDimensions(op, 0, n, "arrays"));  // scatter_c1
  HILO_RETURN_IF_ERROR(CheckArray(op, n, "scatter_indices"));
  HILO_RETURN_IF_ERROR(CheckSameDimensions(op, n + 1, count, "updates"));  // scatter_c3
  std::vector<PrimitiveType> types;
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i) {
    types.push_back(op.operand(i).element_type());
    results.push_back(op.operand(i));
    if (op.operand(n + 1 + i).element_type() != types.back()) {  // scatter_c6
      return InvalidOp(op, "updates ", i, " must be of type ", PrimitiveTypeName(types.back()), ", but are ",
                       op.operand(n + 1 + i).ToString());
    }
  }
  const Shape& operand = op.operand(0);
  const Shape& indices = op.operand(n);
  const Shape& updates = op.operand(n + 1);
  const ScatterAttrs& attrs = op.attrs<ScatterAttrs>();
  const IndexVectors vectors = VectorsOf(attrs);
  HILO_RETURN_IF_ERROR(CheckCollapsed(op, vectors, "inserted_window_dims", attrs.inserted_window_dims, operand.rank()));
  HILO_RETURN_IF_ERROR(CheckIndexVectors(op, vectors, operand, indices));
  HILO_RETURN_IF_ERROR(
      CheckDimensions(op, "update_window_dims", attrs.update_window_dims, updates.rank(), "updates"));  // scatter_c8
  HILO_RETURN_IF_ERROR(CheckUnique(op, "update_window_dims", attrs.update_window_dims));                // scatter_c7
  HILO_RETURN_IF_ERROR(CheckSorted(op, "update_window_dims", attrs.update_window_dims));                // scatter_c7
  const std::vector<int64_t> window_dims =
      SliceDimensions(operand.rank(), attrs.inserted_window_dims, attrs.input_batching_dims);
  if (attrs.update_window_dims.size() != window_dims.size()) {  // scatter_c2
    return InvalidOp(op, "update_window_dims = ", ListText(attrs.update_window_dims), " has ",
                     attrs.update_window_dims.size(), " entries, but windows span ", window_dims.size(),
                     " of the operand's ", operand.rank(), " dimensions");
  }
  const int64_t rank = window_dims.size() + BatchSizes(indices, attrs.index_vector_dim).size();
  if (updates.rank() != rank) {  // scatter_c4
    return InvalidOp(op, "updates must have rank ", rank, ", but are ", updates.ToString());
  }
  HILO_RETURN_IF_ERROR(CheckUpdateSizes(op, attrs, operand, indices, updates, window_dims));
  HILO_RETURN_IF_ERROR(CheckReducer(op, types));  // scatter_c23
  return CollateShapes(std::move(results));       // scatter_c24, scatter_c25
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kScatter>(const OpView& op, const Shape&, Operands operands) {
  const ScatterAttrs& attrs = op.attrs<ScatterAttrs>();
  const IndexVectors vectors = VectorsOf(attrs);
  const int64_t n = operands.size() / 2;
  const Shape& shape = operands[0]->shape();
  const Shape& updates = operands[n + 1]->shape();
  std::vector<Literal> results;
  std::vector<PrimitiveType> types(2 * n);
  for (int64_t i = 0; i < n; ++i) {
    HILO_ASSIGN_OR_RETURN(Literal result, CopyOf(*operands[i]));
    results.push_back(std::move(result));
    types[i] = types[n + i] = operands[i]->shape().element_type();
  }
  if (ShapeUtil::IsZeroElementArray(updates)) return CollateLiterals(std::move(results));

  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(shape.dimensions());
  const std::vector<int64_t> update_strides = ShapeUtil::RowMajorStrides(updates.dimensions());
  const std::vector<int64_t> window_dims =
      SliceDimensions(shape.rank(), attrs.inserted_window_dims, attrs.input_batching_dims);
  std::vector<int64_t> batch, batch_strides, window, window_strides;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const bool is_window = Contains(attrs.update_window_dims, d);
    (is_window ? window : batch).push_back(updates.dimensions(d));
    (is_window ? window_strides : batch_strides).push_back(update_strides[d]);
  }

  std::vector<int64_t> window_sizes(shape.rank(), 1);
  for (size_t k = 0; k < window_dims.size(); ++k) window_sizes[window_dims[k]] = window[k];

  ScalarComputation function(op.computations[0], types);
  std::vector<int64_t> index(batch.size(), 0), start(shape.rank()), offset(window.size());
  do {
    SliceStart(vectors, *operands[n], index, absl::MakeSpan(start));
    // A window that is not wholly inside is dropped, as XLA does; the specification's own words
    // would keep the part that is inside.
    bool inside = true;
    for (int64_t d = 0; d < shape.rank(); ++d)
      inside = inside && start[d] >= 0 && start[d] <= shape.dimensions(d) - window_sizes[d];
    if (!inside) continue;
    offset.assign(window.size(), 0);
    do {
      std::vector<int64_t> target = start;
      for (size_t k = 0; k < window_dims.size(); ++k) target[window_dims[k]] += offset[k];
      const int64_t to = DotProduct(target, strides);
      const int64_t from = DotProduct(index, batch_strides) + DotProduct(offset, window_strides);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t size = function.element_size(i);
        function.SetArgument(i, results[i].untyped_data().data() + to * size);
        function.SetArgument(n + i, operands[n + 1 + i]->untyped_data().data() + from * size);
      }
      HILO_RETURN_IF_ERROR(function.Call());
      for (int64_t i = 0; i < n; ++i) {
        const int64_t size = function.element_size(i);
        std::memcpy(results[i].untyped_data().data() + to * size, function.result(i), size);
      }
    } while (IndexUtil::BumpIndices(window, absl::MakeSpan(offset)));
  } while (IndexUtil::BumpIndices(batch, absl::MakeSpan(index)));
  return CollateLiterals(std::move(results));
}

}  // namespace hilo
