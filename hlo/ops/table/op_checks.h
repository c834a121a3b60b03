// Checks of operand counts, dimension lists and called computations. Private to hlo/ops.
#ifndef HILO_HLO_OPS_TABLE_OP_CHECKS_H_
#define HILO_HLO_OPS_TABLE_OP_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/index_space.h"
#include "hlo/ops/table/op.h"

namespace hilo {

// Operand i is an array; `name` is its name in the specification.
absl::Status CheckArray(const OpView& op, int64_t i, absl::string_view name);

// All of `list` are dimensions of `of` (an operand's name), which has rank `rank`.
absl::Status CheckDimensions(const OpView& op, absl::string_view name, absl::Span<const int64_t> list, int64_t rank,
                             absl::string_view of);
absl::Status CheckUnique(const OpView& op, absl::string_view name, absl::Span<const int64_t> list);
absl::Status CheckSorted(const OpView& op, absl::string_view name, absl::Span<const int64_t> list);

// Operands [begin, end) are arrays with the dimensions of operand `begin`.
absl::Status CheckSameDimensions(const OpView& op, int64_t begin, int64_t end, absl::string_view name);

// Called computation number `c` takes `arguments`, ignoring layouts.
absl::Status CheckArguments(const OpView& op, int64_t c, absl::Span<const Shape* const> arguments);
// to_apply takes N scalars of `types`, then N more, and returns one scalar (N = 1) or a tuple of N.
absl::Status CheckReducer(const OpView& op, absl::Span<const PrimitiveType> types);

Shape WithoutLayouts(Shape shape);
// A single result itself, several as a tuple.
Shape CollateShapes(std::vector<Shape> results);
Literal CollateLiterals(std::vector<Literal> results);

// A copy of `literal`. Errors: ResourceExhausted if memory is short.
absl::StatusOr<Literal> CopyOf(const Literal& literal);

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_OP_CHECKS_H_
