// Sums of what is computed from the elements of products.
#ifndef HILO_BACKENDS_GPU_COMPILE_SCORE_SUMS_H_
#define HILO_BACKENDS_GPU_COMPILE_SCORE_SUMS_H_

#include <memory>

#include "backends/gpu/choice/kernel_facts.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "split-score-sums": sums and extrema of the elements of a product, or of what is computed from them one by one, that
// run along more than one of its sides (batch, rows and columns) run along one of them first: so grids of scores have
// them (hlo/analysis/score_grid.h), if they may have the product's elements as scores.
std::unique_ptr<HloPass> MakeScoreSumSplit(const KernelFacts& facts);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_SCORE_SUMS_H_
