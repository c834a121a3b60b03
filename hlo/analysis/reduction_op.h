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
// Returns the op that computes `result`, an instruction of `computation`, from the two parameters in this way.
std::optional<HloOpcode> ReductionOp(const HloComputation& computation, const HloInstruction& result);

// Returns the scalar e for which op(x, e) is x for every x of `type`: -0 for a sum of floats, as adding +0 changes -0
// to +0. nullopt if there is none.
std::optional<Literal> IdentityOf(HloOpcode op, PrimitiveType type);

// Returns true if `reduce`, a reduce or reduce-window of one array, may combine elements in any order: its computation
// is an associative and commutative op on integers or, unless numerics are `strict`, floats.
bool MayReorder(const HloInstruction& reduce, bool strict);
// Returns true if `reduce`, of several arrays, combines each by an op of its own and may do so in any order.
bool MayReorderEach(const HloInstruction& reduce, bool strict);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_REDUCTION_OP_H_
