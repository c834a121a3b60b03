#include "hlo/ops/linalg/contraction.h"

namespace hilo {
namespace {

// Contracting and batch dimensions of one operand.
absl::Status CheckSide(const OpView& op, absl::string_view side, const Shape& shape, const std::vector<int64_t>& batch,
                       const std::vector<int64_t>& contracting) {
  const std::string batch_name = absl::StrCat(side, "_batch_dims");
  const std::string contracting_name = absl::StrCat(side, "_contracting_dims");
  HILO_RETURN_IF_ERROR(CheckDimensions(op, batch_name, batch, shape.rank(), side));  // dot_general_c5, c7
  HILO_RETURN_IF_ERROR(CheckDimensions(op, contracting_name, contracting, shape.rank(),
                                       side));  // dot_general_c6, c8
  HILO_RETURN_IF_ERROR(CheckUnique(op, batch_name, batch));
  HILO_RETURN_IF_ERROR(CheckUnique(op, contracting_name, contracting));
  std::vector<int64_t> both = batch;
  both.insert(both.end(), contracting.begin(), contracting.end());
  return CheckUnique(op, absl::StrCat(batch_name, " and ", contracting_name),
                     both);  // dot_general_c3, c4
}

// dot_general_c1, c2, c9, c10
absl::Status CheckPairs(const OpView& op, absl::string_view kind, const std::vector<int64_t>& lhs_dims,
                        const std::vector<int64_t>& rhs_dims) {
  if (lhs_dims.size() != rhs_dims.size()) {
    return InvalidOp(op, "lhs_", kind, "_dims = ", ListText(lhs_dims), " and rhs_", kind,
                     "_dims = ", ListText(rhs_dims), " must have one length");
  }
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    const int64_t a = op.operand(0).dimensions(lhs_dims[i]);
    const int64_t b = op.operand(1).dimensions(rhs_dims[i]);
    if (a != b) {
      return InvalidOp(op, "lhs dimension ", lhs_dims[i], " has size ", a, ", but rhs dimension ", rhs_dims[i],
                       ", its ", kind, " partner, has size ", b);
    }
  }
  return absl::OkStatus();
}

// Kinds of numbers, each of which the next includes.
int Kind(PrimitiveType type) { return IsComplexType(type) ? 2 : IsFloatingPointType(type) ? 1 : 0; }

// The wider kind of the operands' types; the first operand's if they are of one kind.
PrimitiveType DefaultType(PrimitiveType lhs, PrimitiveType rhs) {
  if (Kind(lhs) != Kind(rhs)) return Kind(lhs) > Kind(rhs) ? lhs : rhs;
  return PrimitiveTypeBitWidth(lhs) >= PrimitiveTypeBitWidth(rhs) ? lhs : rhs;
}

}  // namespace

PrimitiveType SumType(PrimitiveType lhs, PrimitiveType rhs, PrimitiveType result) {
  const auto is_wide = [](PrimitiveType type) { return type == F64 || type == C128; };
  const bool wide = is_wide(lhs) || is_wide(rhs) || is_wide(result);
  if (IsComplexType(result)) return wide ? C128 : C64;
  if (IsFloatingPointType(result)) return wide ? F64 : F32;
  if (result == PRED && (lhs != PRED || rhs != PRED)) return U64;
  return result;
}

absl::Status CheckContraction(const OpView& op, const std::vector<int64_t>& lhs_batch,
                              const std::vector<int64_t>& lhs_contracting, const std::vector<int64_t>& rhs_batch,
                              const std::vector<int64_t>& rhs_contracting) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "lhs"));
  HILO_RETURN_IF_ERROR(CheckArray(op, 1, "rhs"));
  HILO_RETURN_IF_ERROR(CheckSide(op, "lhs", op.operand(0), lhs_batch, lhs_contracting));
  HILO_RETURN_IF_ERROR(CheckSide(op, "rhs", op.operand(1), rhs_batch, rhs_contracting));
  HILO_RETURN_IF_ERROR(CheckPairs(op, "batch", lhs_batch, rhs_batch));
  return CheckPairs(op, "contracting", lhs_contracting, rhs_contracting);
}

absl::Status CheckPrecision(const OpView& op, const std::vector<Precision>& precision) {
  if (precision.empty() || precision.size() == 2) return absl::OkStatus();
  return InvalidOp(op, "operand_precision has ", precision.size(), " entries, but there are 2 operands");
}

absl::StatusOr<PrimitiveType> ProductType(const OpView& op) {
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  const PrimitiveType type = DefaultType(lhs.element_type(), rhs.element_type());
  if (op.stated == nullptr) return type;
  if (!op.stated->IsArray() || Kind(op.stated->element_type()) < Kind(type)) {
    return InvalidOp(op, "products of ", lhs.ToString(), " and ", rhs.ToString(), " cannot be summed up as ",
                     op.stated->ToString());
  }
  return op.stated->element_type();
}

// Dimensions in neither list.
std::vector<int64_t> FreeDimensions(int64_t rank, absl::Span<const int64_t> batch,
                                    absl::Span<const int64_t> contracting) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(batch, d) && !Contains(contracting, d)) dimensions.push_back(d);
  }
  return dimensions;
}

int64_t Volume(const Shape& shape, absl::Span<const int64_t> dimensions) {
  int64_t volume = 1;
  for (int64_t d : dimensions) volume *= shape.dimensions(d);
  return volume;
}

}  // namespace hilo
