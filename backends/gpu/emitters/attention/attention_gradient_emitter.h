// The kernel of a grid of scores (hlo/analysis/score_grid.h), of which the gradient of attention is made.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_ATTENTION_GRADIENT_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_ATTENTION_GRADIENT_EMITTER_H_

#include "absl/status/status.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

class ProgramEmitter;

// Adds the kernel of a fusion of kind kAttention that is no attention, but has a grid of scores.
absl::Status EmitScoreGrid(ProgramEmitter& program, const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_ATTENTION_GRADIENT_EMITTER_H_
