// Small consecutive instructions, and loops of them, as single-threaded kernels: instructions that take less time than
// their launches.
#ifndef HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_

#include <vector>

#include "absl/status/status.h"
#include "backends/gpu/compile/program_emitter.h"

namespace hilo::gpu {

// Returns true if one thread executes the instruction as fast as a launch.
bool IsSmall(const HloInstruction& instruction, ProgramEmitter& program);
// Returns true if condition and body are sequences of small instructions.
bool IsSmallLoop(const HloInstruction& loop, ProgramEmitter& program);

// Returns the end of the longest sequence of `instructions` from index `begin` that one kernel can contain.
size_t SequenceEnd(absl::Span<const HloInstruction* const> instructions, size_t begin);

absl::Status EmitSmallInstructions(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions);
absl::Status EmitSmallLoop(ProgramEmitter& program, const HloInstruction* loop);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_
