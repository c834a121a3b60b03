// Small instructions in a row, and loops of them, as kernels of one thread: what a launch would cost more than is
// worth.
#ifndef HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_

#include <vector>

#include "absl/status/status.h"
#include "backends/gpu/compile/program_emitter.h"

namespace hilo::gpu {

// Whether one thread does the instruction as fast as a launch would.
bool IsSmall(const HloInstruction& instruction, ProgramEmitter& program);
// Whether condition and body are sequences of small instructions.
bool IsSmallLoop(const HloInstruction& loop, ProgramEmitter& program);

// One past the last of `instructions` that one kernel takes, beginning with number `begin`.
size_t SequenceEnd(absl::Span<const HloInstruction* const> instructions, size_t begin);

absl::Status EmitSmallInstructions(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions);
absl::Status EmitSmallLoop(ProgramEmitter& program, const HloInstruction* loop);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_
