// The semantics of an op: inference and evaluation, on shapes and literals, without a graph. hlo/ops/semantics.h calls
// them by opcode.
#ifndef HILO_HLO_OPS_TABLE_OP_H_
#define HILO_HLO_OPS_TABLE_OP_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/work_budget.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hlo/ops/table/attributes.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo {

using Operands = absl::Span<const Literal* const>;
// Runs a called computation on its arguments.
using ComputationFn = std::function<absl::StatusOr<Literal>(Operands)>;

// The view of an op for inference and evaluation.
struct OpView {
  HloOpcode opcode;
  absl::Span<const Shape* const> operands;            // operand shapes
  const OpAttributes* attributes = nullptr;           // null for ops that have none
  absl::Span<const ProgramShape* const> called = {};  // called computations, in the table's order
  const Shape* stated = nullptr;                      // the shape that the text or builder states, or null
  // Evaluation only.
  absl::Span<const ComputationFn> computations = {};
  WorkBudget* budget = nullptr;  // null: unlimited

  template <typename T>
  const T& attrs() const {
    return static_cast<const T&>(*attributes);
  }
  const Shape& operand(int64_t i) const { return *operands[i]; }
  // Call before work of about as many operations on elements. Errors: those of WorkBudget.
  absl::Status Spend(int64_t operations) const {
    return budget == nullptr ? absl::OkStatus() : budget->Spend(operations);
  }
};

// One specialization per row HLO_OP, in the op's own file.
template <HloOpcode kOpcode>
absl::StatusOr<Shape> Infer(const OpView& op);
template <HloOpcode kOpcode>
absl::StatusOr<Literal> Evaluate(const OpView& op, const Shape& shape, Operands operands);
#define HLO_UNARY(...)
#define HLO_BINARY(...)
#define HLO_OP(opcode, ...)                                         \
  template <>                                                       \
  absl::StatusOr<Shape> Infer<HloOpcode::opcode>(const OpView& op); \
  template <>                                                       \
  absl::StatusOr<Literal> Evaluate<HloOpcode::opcode>(const OpView& op, const Shape& shape, Operands operands);
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP

// The two element-wise families (elementwise.cc).
absl::StatusOr<Shape> InferUnary(const OpView& op);
absl::StatusOr<Shape> InferBinary(const OpView& op);
absl::StatusOr<Literal> EvaluateUnary(const OpView& op, const Shape& shape, Operands operands);
absl::StatusOr<Literal> EvaluateBinary(const OpView& op, const Shape& shape, Operands operands);

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_OP_H_
