// Reduce, one call of the computation per element, left to right in row-major order of the reduced
// dimensions; the initial value enters once.
#include "hlo/ops/reduction/reducer.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReduce>(const OpView& op) {
  HILO_ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types,
                        CheckReduction(op));  // reduce_c1 .. c3, c6
  const std::vector<int64_t>& dimensions = op.attrs<ReduceAttrs>().dimensions;
  const Shape& array = op.operand(0);
  HILO_RETURN_IF_ERROR(CheckDimensions(op, "dimensions", dimensions, array.rank(), "operand"));  // reduce_c4
  HILO_RETURN_IF_ERROR(CheckUnique(op, "dimensions", dimensions));                               // reduce_c5
  std::vector<Shape> results;
  for (size_t i = 0; i < types.size(); ++i) {
    results.push_back(ShapeUtil::DeleteDimensions(dimensions, op.operand(i)));  // reduce_c7, c8
  }
  return CollateShapes(std::move(results));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReduce>(const OpView& op, const Shape& shape, Operands operands) {
  const Shape& array = operands[0]->shape();
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(array.dimensions());
  std::vector<int64_t> kept, kept_strides, reduced, reduced_strides;
  for (int64_t d = 0; d < array.rank(); ++d) {
    const bool is_reduced = Contains(op.attrs<ReduceAttrs>().dimensions, d);
    (is_reduced ? reduced : kept).push_back(array.dimensions(d));
    (is_reduced ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  HILO_ASSIGN_OR_RETURN(std::vector<Literal> results, CreateResults(shape));
  if (HasNoIndex(kept)) return CollateLiterals(std::move(results));

  const bool nothing_to_reduce = HasNoIndex(reduced);
  Reducer reducer(op, operands);
  std::vector<int64_t> index(kept.size(), 0), inner(reduced.size(), 0);
  int64_t position = 0;
  do {
    reducer.Start();
    const int64_t base = DotProduct(index, kept_strides);
    if (!nothing_to_reduce) {
      do {
        HILO_RETURN_IF_ERROR(reducer.Combine(base + DotProduct(inner, reduced_strides)));
      } while (IndexUtil::BumpIndices(reduced, absl::MakeSpan(inner)));
      inner.assign(reduced.size(), 0);
    }
    reducer.Finish(position++, absl::MakeSpan(results));
  } while (IndexUtil::BumpIndices(kept, absl::MakeSpan(index)));
  return CollateLiterals(std::move(results));
}

}  // namespace hilo
