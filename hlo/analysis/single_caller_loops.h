// Loops that may be changed for their one caller.
#ifndef HILO_HLO_ANALYSIS_SINGLE_CALLER_LOOPS_H_
#define HILO_HLO_ANALYSIS_SINGLE_CALLER_LOOPS_H_

#include <vector>

#include "hlo/ir/hlo_module.h"

namespace hilo {

// Returns the while instructions whose condition and body have no other callers.
std::vector<HloInstruction*> SingleCallerLoops(HloModule* module);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_SINGLE_CALLER_LOOPS_H_
