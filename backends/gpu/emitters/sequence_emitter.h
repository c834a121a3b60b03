// Small consecutive instructions, and loops of them, as single-threaded kernels: instructions that take less time than
// their launches.
#ifndef HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_

#include <vector>

#include "absl/status/status.h"
#include "backends/gpu/emitters/program_emitter.h"

namespace hilo::gpu {

// One kernel of instructions whose kernel is a sequence. Values are in memory between them.
absl::Status EmitSmallInstructions(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions);
// A loop that one thread executes, until it ends or has run for as long as the host may not look.
absl::Status EmitOneThreadLoop(ProgramEmitter& program, const HloInstruction* loop);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SEQUENCE_EMITTER_H_
