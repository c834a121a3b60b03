// Which reductions choose an element: argmax, argmin.
#ifndef HILO_HLO_ANALYSIS_ARG_REDUCTION_H_
#define HILO_HLO_ANALYSIS_ARG_REDUCTION_H_

#include <optional>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// True if `reduce` reduces its minor-most dimension only, over pairs of a value and its index, and its
// computation only compares and selects, such that the pairs may be combined in any order as long as the
// pair with the lower index is the first operand.
bool IsArgReduction(const HloInstruction& reduce);

// True if `reduce` is such a reduction of any one dimension.
bool IsArgReductionOfOneDimension(const HloInstruction& reduce);

// Which of two pairs is chosen, if that is the one whose value comes first in an order of all values.
struct ArgOrder {
  bool largest;    // larger values come first; else smaller ones
  bool nan_first;  // NaN comes before all numbers; else after them. Any NaN are equal
  bool last;       // of equal values the one at the highest position is chosen; else at the lowest
};

// Returns the order by which `reduce`, which IsArgReduction, chooses; nullopt if it has none.
std::optional<ArgOrder> ArgOrderOf(const HloInstruction& reduce);

// Returns what the value is that such a reduction of one dimension chooses: kMaximum or kMinimum, if it is NaN where
// one of the elements is. Else nullopt. Of zeros it may be one of either sign.
std::optional<HloOpcode> ExtremumOfArgReduction(const HloInstruction& reduce);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_ARG_REDUCTION_H_
