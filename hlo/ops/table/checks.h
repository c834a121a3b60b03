// Checks and messages shared by the inference of many ops. Private to hlo/ops.
#ifndef HILO_HLO_OPS_TABLE_CHECKS_H_
#define HILO_HLO_OPS_TABLE_CHECKS_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ops/table/op.h"

namespace hilo {

// "slice: " and the message, as InvalidArgument.
template <typename... Parts>
absl::Status InvalidOp(const OpView& op, const Parts&... message) {
  return absl::InvalidArgumentError(absl::StrCat(HloOpcodeString(op.opcode), ": ", message...));
}

// "{0,2}".
inline std::string ListText(absl::Span<const int64_t> values) {
  return absl::StrCat("{", absl::StrJoin(values, ","), "}");
}

// Every operand is an array.
absl::Status CheckArrayOperands(const OpView& op);
// All operands have the element type of the first.
absl::Status CheckSameElementTypes(const OpView& op);
// The op states its result, a valid array.
absl::Status CheckStatedArray(const OpView& op);
// The entries of the attribute `name` lie in [0, rank) and are distinct.
absl::Status CheckDistinctDimensions(const OpView& op, absl::string_view name, absl::Span<const int64_t> dimensions,
                                     int64_t rank);
// The element type of operand `i` is one of `classes` (a mask of TypeClass).
absl::Status CheckTypeClass(const OpView& op, int64_t i, uint32_t classes);

// An array without layout of `type`, with the dimensions of the first operand that is not a scalar;
// a dimension is dynamic if it is in any operand. The operands must have equal dimensions or be
// scalars.
Shape ElementwiseShape(const OpView& op, PrimitiveType type);

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_CHECKS_H_
