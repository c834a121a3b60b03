// Select-and-scatter: each window chooses one of the elements under it and adds its source element there, by two
// computations.
//
// The chosen element stays for as long as select(chosen, candidate) holds, in row-major order, so of equal ones the
// first wins under
// >= and the last under >. Padding is never chosen; a window of nothing but padding scatters nothing.
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/reduction/window.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"
#include "hlo/ops/table/scalar_computation.h"

namespace hilo {
namespace {

absl::Status CheckResult(const OpView& op, int64_t c, absl::string_view name, const Shape& expected) {
  if (ShapeUtil::Compatible(op.called[c]->result, expected)) return absl::OkStatus();
  return InvalidOp(op, name, " must return ", expected.ToString(), ", but returns ", op.called[c]->result.ToString());
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSelectAndScatter>(const OpView& op) {
  const Shape &operand = op.operand(0), &source = op.operand(1), &init = op.operand(2);
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "operand"));
  HILO_RETURN_IF_ERROR(CheckArray(op, 1, "source"));
  const PrimitiveType type = operand.element_type();
  if (source.element_type() != type) {  // select_and_scatter_c1
    return InvalidOp(op, "source must have the operand's element type ", PrimitiveTypeName(type), ", but is ",
                     source.ToString());
  }
  const Shape scalar(type, absl::Span<const int64_t>());
  if (!ShapeUtil::Compatible(init, scalar)) {  // select_and_scatter_c3
    return InvalidOp(op, "the initial value must be ", scalar.ToString(), ", but is ", init.ToString());
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                        WindowedSizes(op, operand, op.attrs<SelectAndScatterAttrs>().window));
  if (const Shape expected(type, sizes); !ShapeUtil::Compatible(source, expected)) {  // select_and_scatter_c2
    return InvalidOp(op, "source must have an element for each window, ", expected.ToString(), ", but is ",
                     source.ToString());
  }
  for (int64_t c : {0, 1})
    HILO_RETURN_IF_ERROR(CheckArguments(op, c, {&scalar, &scalar}));  // select_and_scatter_c9, c10
  HILO_RETURN_IF_ERROR(CheckResult(op, 0, "select", Shape(PRED, absl::Span<const int64_t>())));
  HILO_RETURN_IF_ERROR(CheckResult(op, 1, "scatter", scalar));
  return WithoutLayouts(operand);  // select_and_scatter_c11, c12
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSelectAndScatter>(const OpView& op, const Shape& shape,
                                                               Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  const PrimitiveType type = shape.element_type();
  ScalarComputation select(op.computations[0], {type, type}), scatter(op.computations[1], {type, type});
  const int64_t size = select.element_size(0);
  const uint8_t *operand = operands[0]->untyped_data().data(), *source = operands[1]->untyped_data().data();
  uint8_t* target = result.untyped_data().data();
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i)
    std::memcpy(target + i * size, operands[2]->untyped_data().data(), size);

  int64_t chosen = -1;
  auto choose = [&](int64_t candidate) -> absl::Status {
    if (chosen >= 0) {
      select.SetArgument(0, operand + chosen * size);
      select.SetArgument(1, operand + candidate * size);
      HILO_RETURN_IF_ERROR(select.Call());
    }
    if (chosen < 0 || *select.result(0) == 0) chosen = candidate;
    return absl::OkStatus();
  };
  auto combine = [&](int64_t position) -> absl::Status {
    if (chosen < 0) return absl::OkStatus();
    scatter.SetArgument(0, target + chosen * size);
    scatter.SetArgument(1, source + position * size);
    HILO_RETURN_IF_ERROR(scatter.Call());
    std::memcpy(target + chosen * size, scatter.result(0), size);
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(ForEachWindow(
      op, operands[0]->shape(), op.attrs<SelectAndScatterAttrs>().window, operands[1]->shape().dimensions(),
      [&] { chosen = -1; }, choose, combine));
  return result;
}

}  // namespace hilo
