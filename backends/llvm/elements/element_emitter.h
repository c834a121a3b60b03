// Emission of the value of an instruction at an index; fusion is composition.
//
// An ElementEmitter is asked for the elements of a root at an index and asks for those of its operands, until it meets
// instructions that are in memory. Nothing is emitted twice in a region: (instruction, index) is remembered in the
// context.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_ELEMENT_EMITTER_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_ELEMENT_EMITTER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "backends/llvm/elements/ir_array.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::codegen {

// Where an instruction's value is: in memory, or (scalars) in a register.
struct Materialized {
  std::optional<IrArray> array;
  ElementValue value;  // if there is no array: of every element
};

// Answers which instructions have been computed already.
class OperandSource {
 public:
  virtual ~OperandSource() = default;
  // Leaf `leaf` (depth first) of `instruction`'s value, or nullopt: it is then emitted where it is used. Asked of fused
  // parameters too; when the answer is nullopt for one, the operand of the fusion instruction is asked for. Array
  // constants of more than one distinct value must be answered.
  virtual absl::StatusOr<std::optional<Materialized>> Find(const HloInstruction* instruction, int64_t leaf) = 0;
};

class ElementEmitter {
 public:
  ElementEmitter(EmitterContext* context, OperandSource* source) : context_(*context), source_(*source) {}

  // The element(s) of an array-shaped instruction at `index` (rank: the instruction's). A uniform index gives scalars.
  // Errors: Unimplemented for instructions that are no element-wise computation of their operands; ResourceExhausted
  // when fused code is too big or too deep.
  absl::StatusOr<ElementValue> Generate(const HloInstruction* instruction, const Index& index);
  // Leaf by leaf for a tuple-shaped instruction (a variadic reduce, a multi-output fusion), whose leaves are all of the
  // same dimensions.
  absl::StatusOr<std::vector<ElementValue>> GenerateLeaves(const HloInstruction* instruction, const Index& index);

  EmitterContext& context() { return context_; }

 private:
  // Leaf `leaf` of an instruction's value.
  struct Place {
    const HloInstruction* instruction;
    int64_t leaf;
  };
  using Values = std::vector<ElementValue>;

  // Goes through what only forwards (tuples, barriers, nested fusions and their parameters) to where the value is in
  // memory or computed.
  absl::StatusOr<Place> Resolve(Place place, std::optional<Materialized>* materialized);
  absl::StatusOr<ElementValue> GenerateLeaf(Place place, const Index& index);
  absl::StatusOr<Values> Compute(const HloInstruction* instruction, const Index& index);

  EmitterContext& context_;
  OperandSource& source_;
  int depth_ = 0;
  int64_t emitted_ = 0;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_ELEMENT_EMITTER_H_
