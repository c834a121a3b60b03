// The shapes of asynchronous pairs: a start returns (operands, result, contexts...), of which its
// done returns the result. For hlo/ops and the evaluator.
#ifndef HILO_HLO_OPS_COLLECTIVE_ASYNC_SHAPES_H_
#define HILO_HLO_OPS_COLLECTIVE_ASYNC_SHAPES_H_

#include "hlo/ops/table/op_checks.h"

namespace hilo {

// The stated shape, if there is one, is a tuple of at least two.
absl::Status CheckStartShape(const OpView& op);
// (operands, result) and the contexts that are stated; these may be of any shape.
Shape StartShape(const OpView& op, Shape operands, Shape result);
// Element 1 of the operand, which is a tuple of at least two.
absl::StatusOr<Shape> InferDone(const OpView& op);

// The result of a start of the tuple shape `shape` once `result` is available; contexts are zero.
absl::StatusOr<Literal> StartedLiteral(const Shape& shape, Operands operands, Literal result);

}  // namespace hilo

#endif  // HILO_HLO_OPS_COLLECTIVE_ASYNC_SHAPES_H_
