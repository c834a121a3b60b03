// The dimensions of the operands of a dot, by what the dot does with them.
#ifndef HILO_HLO_ANALYSIS_DOT_SIDES_H_
#define HILO_HLO_ANALYSIS_DOT_SIDES_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// One operand. The result has the batch dimensions, then the free ones of the left side, then those of the right.
struct DotSide {
  const HloInstruction* operand;
  std::vector<int64_t> batch, free, contracting;  // dimension numbers
  std::vector<int64_t> batch_sizes, free_sizes, contracting_sizes;

  // Returns true if elements that are adjacent in depth are adjacent in memory.
  bool DepthIsMinor() const { return !contracting.empty() && contracting.back() == operand->shape().rank() - 1; }
};
DotSide LhsOf(const HloInstruction& dot);
DotSide RhsOf(const HloInstruction& dot);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_DOT_SIDES_H_
