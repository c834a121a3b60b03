// Short rows that a kernel moves whole.
#ifndef HILO_HLO_PASSES_DIMENSIONS_ROW_MERGE_H_
#define HILO_HLO_PASSES_DIMENSIONS_ROW_MERGE_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "merge-rows": the two minor-most dimensions of all arrays of a loop, where rows are short and moved whole, become
// one. After fusion.
std::unique_ptr<HloPass> MakeRowMerge();

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DIMENSIONS_ROW_MERGE_H_
