// Fuses row groups (hlo/analysis/row_group.h) into one kernel each.
#ifndef HILO_HLO_PASSES_ROW_FUSION_H_
#define HILO_HLO_PASSES_ROW_FUSION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Returns true if the backend has a good kernel for a fusion that is a row group.
using RowFusionFilter = std::function<bool(const HloInstruction& fusion)>;

// "fuse-rows": makes fusions, with one or several results, that are row groups of at most `most_reductions` and that
// `accepts` takes.
std::unique_ptr<HloPass> MakeRowFusion(const Target* target, bool strict, int64_t most_reductions,
                                       RowFusionFilter accepts);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ROW_FUSION_H_
