// Where the elements of a gather are.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_GATHERED_INDEX_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_GATHERED_INDEX_H_

#include "absl/status/statusor.h"
#include "backends/llvm/elements/elemental_emitter.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::codegen {

// Returns the index of the gather's operand whose element it has at `index`. Errors: as ElementEmitter::Generate of the
// start indices.
absl::StatusOr<Index> GatheredIndex(ElementEmitter& emitter, const HloInstruction* gather, const Index& index);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_GATHERED_INDEX_H_
