// Shares the code of equal loops.
#ifndef HILO_HLO_PASSES_LOOPS_LOOP_SHARING_H_
#define HILO_HLO_PASSES_LOOPS_LOOP_SHARING_H_

#include <functional>
#include <memory>

#include "hlo/analysis/cost_model.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "share-loops": equal loops that run long enough become calls of one computation, which is compiled once. Before
// "flatten". `nanoseconds`: the time of some work on the target.
std::unique_ptr<HloPass> MakeLoopSharing(std::function<double(const Work& work)> nanoseconds);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_LOOPS_LOOP_SHARING_H_
