// Inference, evaluation and attributes of an op by its opcode.
#ifndef HILO_HLO_OPS_SEMANTICS_H_
#define HILO_HLO_OPS_SEMANTICS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ops/table/op.h"

namespace hilo {

// The shape of the result, ignoring layouts. Checks all that the specification demands of operands, attributes
// and called computations; ops whose shape cannot be derived (parameter, reshape, convert ...) check and return
// `stated`. Errors: InvalidArgument (the program is wrong), Unimplemented (the op is known by name only).
absl::StatusOr<Shape> InferShape(const OpView& op);

// The result, computed naively from the specification; `op` has passed InferShape, whose result (or the stated shape)
// is `shape`. Control-flow ops that need a graph (while, conditional, call, fusion) use op.computations.
absl::StatusOr<Literal> EvaluateOp(const OpView& op, const Shape& shape, Operands operands);

// New attributes of the op with default values; null for ops that have none.
std::unique_ptr<OpAttributes> MakeAttributes(HloOpcode opcode);

}  // namespace hilo

#endif  // HILO_HLO_OPS_SEMANTICS_H_
