// Which reductions choose an element: argmax, argmin.
#ifndef HILO_HLO_ANALYSIS_CHOICE_REDUCTION_H_
#define HILO_HLO_ANALYSIS_CHOICE_REDUCTION_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// True if `reduce` goes along its minor-most dimension alone, over pairs of a value and its position, and its
// computation does nothing but compare and choose, in such a way that the pairs may meet in any order as long as the
// one that stands first is the first operand.
bool IsChoiceReduction(const HloInstruction& reduce);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_CHOICE_REDUCTION_H_
