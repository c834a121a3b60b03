// The kernel of a sum over the batch of a grid of scores (hlo/analysis/score_grid.h), as of the gradient of a bias that
// attention adds to its scores.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_BATCH_SUM_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_BATCH_SUM_EMITTER_H_

#include "absl/status/status.h"
#include "hlo/analysis/score_grid.h"

namespace hilo::gpu {

class ProgramEmitter;

// Adds the kernels of a fusion of kind kAttention whose grid has one batch sum, and nothing else.
absl::Status EmitBatchSum(ProgramEmitter& program, const HloInstruction* instruction, const ScoreGrid& grid);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_BATCH_SUM_EMITTER_H_
