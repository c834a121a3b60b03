// Small consecutive instructions that do not wait for each other, in one launch: each has blocks of its own.
#ifndef HILO_BACKENDS_GPU_EMITTERS_GROUP_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_GROUP_EMITTER_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/program_emitter.h"

namespace hilo::gpu {

// One kernel of loops and updates of the same group (choice/kernel_groups.cc).
absl::Status EmitGroup(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_GROUP_EMITTER_H_
