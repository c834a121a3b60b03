#include "hlo/ops/table/checks.h"

namespace hilo {

absl::Status CheckArrayOperands(const OpView& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operand(i).IsArray())
      return InvalidOp(op, "operand ", i, " must be an array, got ", op.operand(i).ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckSameElementTypes(const OpView& op) {
  for (size_t i = 1; i < op.operands.size(); ++i) {
    if (op.operand(i).element_type() != op.operand(0).element_type()) {
      return InvalidOp(op, "operands must have one element type, got ", op.operand(0).ToString(), " and ",
                       op.operand(i).ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStatedArray(const OpView& op) {
  if (op.stated == nullptr) return InvalidOp(op, "the result shape must be stated");
  if (!op.stated->IsArray()) return InvalidOp(op, "the result must be an array, got ", op.stated->ToString());
  return ShapeUtil::Validate(*op.stated);
}

absl::Status CheckDistinctDimensions(const OpView& op, absl::string_view name, absl::Span<const int64_t> dimensions,
                                     int64_t rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank) {
      return InvalidOp(op, name, " = ", ListText(dimensions), ": ", dimension, " is out of range for rank ", rank);
    }
    if (seen[dimension]) return InvalidOp(op, name, " = ", ListText(dimensions), " repeats ", dimension);
    seen[dimension] = true;
  }
  return absl::OkStatus();
}

namespace {

std::string ClassNames(uint32_t classes) {
  std::vector<absl::string_view> names;
  if ((classes & kBool) != 0) names.push_back("pred");
  if ((classes & kInt) == kInt) {
    names.push_back("integer");
  } else if ((classes & kSignedInt) != 0) {
    names.push_back("signed integer");
  } else if ((classes & kUnsignedInt) != 0) {
    names.push_back("unsigned integer");
  }
  if ((classes & kFloat) != 0) names.push_back("floating-point");
  if ((classes & kComplex) != 0) names.push_back("complex");
  return absl::StrJoin(names, " or ");
}

}  // namespace

absl::Status CheckTypeClass(const OpView& op, int64_t i, uint32_t classes) {
  if (InTypeClass(op.operand(i).element_type(), classes)) return absl::OkStatus();
  return InvalidOp(op, "operand ", i, " must have a ", ClassNames(classes), " element type, got ",
                   op.operand(i).ToString());
}

Shape ElementwiseShape(const OpView& op, PrimitiveType type) {
  const Shape* largest = op.operands[0];
  for (const Shape* operand : op.operands) {
    if (operand->rank() > largest->rank()) largest = operand;
  }
  Shape result(type, largest->dimensions());
  for (const Shape* operand : op.operands) {
    for (int64_t d = 0; d < operand->rank(); ++d) {
      if (operand->is_dynamic_dimension(d)) result.set_dynamic_dimension(d, true);
    }
  }
  return result;
}

}  // namespace hilo
