// Generators of the ops that are not element-wise: data movement, and small reductions and dots as producers. Private
// to elemental_emitter.cc.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_DATA_MOVEMENT_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_DATA_MOVEMENT_H_

#include "backends/llvm/elements/elemental_emitter.h"

namespace hilo::codegen {

using ElementValues = std::vector<ElementValue>;

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

// The conditions under which an element comes from one operand and not another: some uniform over the lanes, some not.
class Guard {
 public:
  // Null conditions always hold.
  void Add(EmitterContext& context, llvm::Value* condition);
  bool Always() const { return uniform_ == nullptr && lanes_ == nullptr; }

  // Emits `on_true` where the conditions hold, else `on_false`: a branch for uniform conditions, narrowed masks and a
  // select for the others. With `may_skip`, sides that no lane takes are branched around. `uniform`: the values are
  // scalars; otherwise they are splatted to vectors. `types`: element types of the values.
  absl::StatusOr<ElementValues> Choose(EmitterContext& context, absl::string_view name, bool uniform,
                                       absl::Span<const PrimitiveType> types,
                                       absl::FunctionRef<absl::StatusOr<ElementValues>()> on_true,
                                       absl::FunctionRef<absl::StatusOr<ElementValues>()> on_false,
                                       bool may_skip = false) const;

 private:
  absl::StatusOr<ElementValues> ChooseLanes(EmitterContext& context, absl::Span<const PrimitiveType> types,
                                            absl::FunctionRef<absl::StatusOr<ElementValues>()> on_true,
                                            absl::FunctionRef<absl::StatusOr<ElementValues>()> on_false,
                                            bool may_skip) const;

  llvm::Value* uniform_ = nullptr;
  llvm::Value* lanes_ = nullptr;
};

// Convert element values to and from loop-carried LLVM values; `types` states which have imaginary parts.
Carried Pack(const ElementValues& values);
ElementValues Unpack(absl::Span<llvm::Value* const> carried, absl::Span<const PrimitiveType> types);

// Clamps an index computed by the program to [0, high].
LaneIndex ClampedIndex(EmitterContext& context, PrimitiveType type, ElementValue value, int64_t high);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_DATA_MOVEMENT_H_
