// Emits an embedded computation (to_apply of reduce, map, sort, scatter; called ones) on values in registers.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_SCALAR_COMPUTATION_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_SCALAR_COMPUTATION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::codegen {

// Returns the leaves of the root for the leaves of the parameters, all of them scalars in HLO; each value may be a
// vector of lanes. Supports element-wise ops, constants, tuples, calls and fusions; while and conditional if their
// conditions are uniform over the lanes (so always at width 1). Errors: Unimplemented for other instructions and for
// arrays; ResourceExhausted beyond a depth of nested calls.
absl::StatusOr<std::vector<ElementValue>> EmitComputation(EmitterContext& context, const HloComputation& computation,
                                                          absl::Span<const ElementValue> arguments);

// Returns true if EmitComputation can emit it for vectors of lanes; `scalar`: at width 1.
bool CanEmitComputation(const HloComputation& computation, bool scalar = false);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_SCALAR_COMPUTATION_H_
