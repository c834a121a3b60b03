// Computes products of a batch in lanes.
#ifndef HILO_HLO_PASSES_DOTS_BATCH_LANES_H_
#define HILO_HLO_PASSES_DOTS_BATCH_LANES_H_

#include <functional>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "batch-lanes": dots for which `accepts` returns true, and whose batch dimensions are the minor-most ones of both
// factors, become sums of products. Before the simplifier.
std::unique_ptr<HloPass> MakeBatchLanes(std::function<bool(const HloInstruction& dot)> accepts);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DOTS_BATCH_LANES_H_
