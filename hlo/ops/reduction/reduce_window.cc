// Reduce-window. A window starts from the initial value and combines the elements under it in
// row-major order; positions in the padding and in the holes of a dilated base are skipped, so
// the initial value enters once.
#include "hlo/ops/reduction/reducer.h"
#include "hlo/ops/reduction/window.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kReduceWindow>(const OpView& op) {
  // reduce_window_c1 .. c3, c13
  HILO_ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, CheckReduction(op));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                        WindowedSizes(op, op.operand(0), op.attrs<ReduceWindowAttrs>().window));
  std::vector<Shape> results;
  for (PrimitiveType type : types) results.emplace_back(type, sizes);  // reduce_window_c14 .. c16
  return CollateShapes(std::move(results));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kReduceWindow>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(std::vector<Literal> results, CreateResults(shape));
  Reducer reducer(op, operands);
  auto finish = [&](int64_t position) {
    reducer.Finish(position, absl::MakeSpan(results));
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(ForEachWindow(
      op, operands[0]->shape(), op.attrs<ReduceWindowAttrs>().window, results[0].shape().dimensions(),
      [&] { reducer.Start(); }, [&](int64_t linear) { return reducer.Combine(linear); }, finish));
  return CollateLiterals(std::move(results));
}

}  // namespace hilo
