// Scatters one behind the other into one array.
#ifndef HILO_BACKENDS_GPU_COMPILE_SCATTER_MERGE_H_
#define HILO_BACKENDS_GPU_COMPILE_SCATTER_MERGE_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "merge-scatters": scatters whose updates would be sorted, each of which scatters into the result of the one before,
// are one of all updates, in their order: a sort of few launches rather than several.
std::unique_ptr<HloPass> MakeScatterMerge();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_SCATTER_MERGE_H_
