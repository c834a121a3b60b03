// Values that are compared with what is computed from them: the gradient of a maximum compares its operands with it.
#ifndef HILO_HLO_ANALYSIS_COMPARED_VALUES_H_
#define HILO_HLO_ANALYSIS_COMPARED_VALUES_H_

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Returns the floating-point values that instructions of `computation` compare with others that depend on them. A
// kernel that computed such a value again, with other contractions or with more precision, would find no element equal
// to its maximum. Looks at a bounded number of instructions behind each comparison.
absl::flat_hash_set<const HloInstruction*> ValuesComparedWithResults(const HloComputation& computation);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_COMPARED_VALUES_H_
