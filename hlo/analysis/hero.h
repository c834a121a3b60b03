// The instruction that determines how a fusion is computed.
#ifndef HILO_HLO_ANALYSIS_HERO_H_
#define HILO_HLO_ANALYSIS_HERO_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Returns the instruction that determines a fusion's kernel, its root; for other instructions, the instruction itself.
const HloInstruction* HeroOf(const HloInstruction* instruction);

// Returns the hero if it is a dot, or the dot around which a fusion of kind kOutput has been made
// (hlo/passes/dots/dot_fusion.h); null for others.
const HloInstruction* DotOf(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_HERO_H_
