// Where the windows of a scatter go.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_SCATTER_ORIGIN_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_SCATTER_ORIGIN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/llvm/elements/elemental_emitter.h"

namespace hilo::codegen {

// Returns the origin of the window of an index vector in the operand of `scatter`, an i64 per dimension: it may be
// outside. `batch` has an index for each dimension of the scatter's indices but that of the vectors. Errors: those of
// the indices' elements.
absl::StatusOr<std::vector<llvm::Value*>> EmitScatterOrigin(ElementEmitter& elements, EmitterContext& context,
                                                            const HloInstruction& scatter,
                                                            const std::vector<LaneIndex>& batch);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_SCATTER_ORIGIN_H_
