#include "hlo/ops/table/op_checks.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace hilo {

absl::Status CheckArray(const OpView& op, int64_t i, absl::string_view name) {
  if (op.operand(i).IsArray()) return absl::OkStatus();
  return InvalidOp(op, name, " must be an array, but operand ", i, " is ", op.operand(i).ToString());
}

absl::Status CheckDimensions(const OpView& op, absl::string_view name, absl::Span<const int64_t> list, int64_t rank,
                             absl::string_view of) {
  for (int64_t dimension : list) {
    if (dimension < 0 || dimension >= rank) {
      return InvalidOp(op, name, " = ", ListText(list), " names dimension ", dimension, ", but the ", of, " has rank ",
                       rank);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUnique(const OpView& op, absl::string_view name, absl::Span<const int64_t> list) {
  absl::flat_hash_set<int64_t> seen;
  for (int64_t dimension : list) {
    if (!seen.insert(dimension).second) {
      return InvalidOp(op, name, " = ", ListText(list), " names dimension ", dimension, " twice");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSorted(const OpView& op, absl::string_view name, absl::Span<const int64_t> list) {
  if (std::is_sorted(list.begin(), list.end())) return absl::OkStatus();
  return InvalidOp(op, name, " = ", ListText(list), " must be in ascending order");
}

absl::Status CheckSameDimensions(const OpView& op, int64_t begin, int64_t end, absl::string_view name) {
  for (int64_t i = begin; i < end; ++i) {
    HILO_RETURN_IF_ERROR(CheckArray(op, i, name));
    if (!ShapeUtil::SameDimensions(op.operand(begin), op.operand(i))) {
      return InvalidOp(op, name, " must have equal dimensions, but operand ", begin, " is ",
                       op.operand(begin).ToString(), " and operand ", i, " is ", op.operand(i).ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckArguments(const OpView& op, int64_t c, absl::Span<const Shape* const> arguments) {
  const ProgramShape& program = *op.called[c];
  if (program.parameters.size() != arguments.size()) {
    return InvalidOp(op, "called computation ", c, " takes ", program.parameters.size(), " parameters, but gets ",
                     arguments.size(), " arguments");
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!ShapeUtil::Compatible(program.parameters[i], *arguments[i])) {
      return InvalidOp(op, "parameter ", i, " of called computation ", c, " is ", program.parameters[i].ToString(),
                       ", but its argument is ", arguments[i]->ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReducer(const OpView& op, absl::Span<const PrimitiveType> types) {
  std::vector<Shape> scalars;
  for (PrimitiveType type : types) scalars.emplace_back(type, absl::Span<const int64_t>());
  std::vector<const Shape*> arguments;
  for (int round = 0; round < 2; ++round) {
    for (const Shape& scalar : scalars) arguments.push_back(&scalar);
  }
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, arguments));
  const Shape expected = scalars.size() == 1 ? scalars[0] : Shape(scalars);
  if (!ShapeUtil::Compatible(op.called[0]->result, expected)) {
    return InvalidOp(op, "to_apply must return ", expected.ToString(), ", but returns ",
                     op.called[0]->result.ToString());
  }
  return absl::OkStatus();
}

Shape WithoutLayouts(Shape shape) {
  ShapeUtil::ClearLayouts(&shape);
  return shape;
}

Shape CollateShapes(std::vector<Shape> results) {
  return WithoutLayouts(results.size() == 1 ? std::move(results[0]) : Shape(std::move(results)));
}

Literal CollateLiterals(std::vector<Literal> results) {
  if (results.size() == 1) return std::move(results[0]);
  return Literal::MakeTuple(std::move(results));
}

absl::StatusOr<Literal> CopyOf(const Literal& literal) {
  Literal copy = literal.Clone();
  if (copy.shape().element_type() == PRIMITIVE_TYPE_INVALID) {
    return ResourceExhausted("no memory for a copy of ", literal.shape().ToString());
  }
  return copy;
}

}  // namespace hilo
