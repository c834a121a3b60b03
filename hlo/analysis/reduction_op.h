// Properties of a reduction whose computation is a single op: the op, its identity element, and whether
// elements may be combined in another order. Backends and passes query this.
#ifndef HILO_HLO_ANALYSIS_REDUCTION_OP_H_
#define HILO_HLO_ANALYSIS_REDUCTION_OP_H_

#include <optional>

#include "hilo/literal.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Returns the associative and commutative op that `computation` applies to its two parameters, if that is all that it
// does.
std::optional<HloOpcode> ReductionOp(const HloComputation& computation);
// The same of an instruction of `computation` in place of its root.
std::optional<HloOpcode> ReductionOp(const HloComputation& computation, const HloInstruction& result);

// Returns the scalar e for which op(x, e) is x for every x of `type`: -0 for a sum of floats, as adding +0 changes -0
// to +0. nullopt if there is none.
std::optional<Literal> IdentityOf(HloOpcode op, PrimitiveType type);

// Whether the elements that `reduce`, a reduce or reduce-window, combines may be combined in any order: for one
// associative and commutative op on one array; always if the result is unaffected, and for floating-point types unless
// numerics are strict.
bool MayReorder(const HloInstruction& reduce, bool strict);
// The same of a reduce of several arrays, each of which it combines by such an op on its own.
bool MayReorderEach(const HloInstruction& reduce, bool strict);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_REDUCTION_OP_H_
