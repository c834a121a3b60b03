// Flat arrays whose elements a kernel computes in rows.
#ifndef HILO_HLO_PASSES_DIMENSIONS_ROW_SPLIT_H_
#define HILO_HLO_PASSES_DIMENSIONS_ROW_SPLIT_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "split-rows": the minor-most dimension of the results of a loop becomes two where reshapes inside have collapsed
// computed rows into it. After fusion.
std::unique_ptr<HloPass> MakeRowSplit();

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DIMENSIONS_ROW_SPLIT_H_
