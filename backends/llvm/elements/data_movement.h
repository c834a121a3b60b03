// Generators of the ops that are not element-wise: data movement, and small reductions and dots as producers. Private
// to backends/llvm/elements.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_DATA_MOVEMENT_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_DATA_MOVEMENT_H_

#include "backends/llvm/elements/elemental_emitter.h"
#include "backends/llvm/elements/predication.h"

namespace hilo::codegen {

// Emits the leaves of `instruction` at `index`. Errors: Unimplemented for ops that have no generator.
absl::StatusOr<ElementValues> EmitMovement(ElementEmitter& emitter, const HloInstruction* instruction,
                                           const Index& index);

absl::StatusOr<ElementValues> EmitReduceElement(ElementEmitter& emitter, const HloInstruction* reduce,
                                                const Index& index);
absl::StatusOr<ElementValues> EmitReduceWindowElement(ElementEmitter& emitter, const HloInstruction* reduce_window,
                                                      const Index& index);
absl::StatusOr<ElementValues> EmitDotElement(ElementEmitter& emitter, const HloInstruction* dot, const Index& index);
absl::StatusOr<ElementValues> EmitConvolutionElement(ElementEmitter& emitter, const HloInstruction* convolution,
                                                     const Index& index);
absl::StatusOr<ElementValues> EmitGatherElement(ElementEmitter& emitter, const HloInstruction* gather,
                                                const Index& index);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_DATA_MOVEMENT_H_
