// Emits the value of an instruction at an index; fusion is composition.
//
// An ElementEmitter computes the elements of a root at an index from those of its operands, recursively, up to
// instructions that are in memory. Nothing is emitted twice in a region: the context caches values by (instruction,
// index).
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_ELEMENTAL_EMITTER_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_ELEMENTAL_EMITTER_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/llvm/elements/generated_ops.h"
#include "backends/llvm/elements/ir_array.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::codegen {

// The location of an instruction's value: in memory, or (scalars) in a register.
struct Materialized {
  std::optional<IrArray> array;
  ElementValue value;  // without an array: of every element
};

// Provides values that have already been computed.
class OperandSource {
 public:
  virtual ~OperandSource() = default;
  // Returns leaf `leaf` (depth first) of `instruction`'s value, or nullopt: it is then emitted at its use. Also called
  // for fused parameters; if it returns nullopt for one, it is called for the operand of the fusion instruction. Must
  // return a value for array constants of more than one distinct value.
  virtual absl::StatusOr<std::optional<Materialized>> Find(const HloInstruction* instruction, int64_t leaf) = 0;
};

class ElementEmitter {
 public:
  ElementEmitter(EmitterContext* context, OperandSource* source) : context_(*context), source_(*source) {}

  // Returns the element(s) of an array-shaped instruction at `index` (rank: the instruction's). A uniform index gives
  // scalars. Errors: Unimplemented for instructions that are not an element-wise computation of their operands;
  // ResourceExhausted if fused code is too large or too deep.
  absl::StatusOr<ElementValue> Generate(const HloInstruction* instruction, const Index& index);
  // Returns the values by leaf of a tuple-shaped instruction (a variadic reduce, a multi-output fusion) whose leaves
  // all have the same dimensions.
  absl::StatusOr<std::vector<ElementValue>> GenerateLeaves(const HloInstruction* instruction, const Index& index);

  // Makes `value` the element(s) of an array-shaped instruction at `index`, for the active lanes, in the region that is
  // being emitted. At other indices they are computed.
  void SetElement(const HloInstruction* instruction, const Index& index, const ElementValue& value);

  EmitterContext& context() { return context_; }

 private:
  // Leaf `leaf` of an instruction's value.
  struct LeafRef {
    const HloInstruction* instruction;
    int64_t leaf;
  };
  using Values = std::vector<ElementValue>;

  // Follows forwarding instructions (tuples, barriers, nested fusions and their parameters) to the value in memory or
  // its computation.
  absl::StatusOr<LeafRef> Resolve(LeafRef ref, std::optional<Materialized>* materialized);
  absl::StatusOr<ElementValue> GenerateLeaf(LeafRef ref, const Index& index);
  absl::StatusOr<Values> Compute(const HloInstruction* instruction, const Index& index);
  // Returns the operands that are read at the same index, in the order in which they are emitted: those that take the
  // longest chain of instructions come first, so that few values wait for others. Outside of fusions: as they are.
  std::vector<const HloInstruction*> OperandsInOrder(const HloInstruction& instruction);

  EmitterContext& context_;
  OperandSource& source_;
  int depth_ = 0;
  int64_t emitted_ = 0;
  absl::flat_hash_map<const HloInstruction*, int> heights_;  // of members of fusions: the longest chain of instructions
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_ELEMENTAL_EMITTER_H_
