// The traversal from a root to values in memory.
//
// Element-wise chains, which can be very long, are traversed with an explicit stack, because all of a chain is needed
// at one index. Instructions that move elements read their operands at other indices and recurse; fusions bound the
// depth of that, and kMaxDepth rejects modules that do not.
#include "backends/llvm/elements/elemental_emitter.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo::codegen {
namespace {

constexpr int kMaxDepth = 1000;
constexpr int64_t kMaxEmitted = int64_t{1} << 18;

int64_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.tuple_shapes()) count += LeafCount(element);
  return count;
}

// Number of leaves before element `element` of a tuple.
int64_t LeavesBefore(const Shape& tuple, int64_t element) {
  int64_t count = 0;
  for (int64_t i = 0; i < element; ++i) count += LeafCount(tuple.tuple_shapes(i));
  return count;
}

std::vector<uint64_t> Key(EmitterContext& context, const HloInstruction* instruction, int64_t leaf,
                          const Index& index) {
  std::vector<uint64_t> key{reinterpret_cast<uintptr_t>(instruction), static_cast<uint64_t>(leaf),
                            static_cast<uint64_t>(context.lanes.width)};
  if (!instruction->shape().IsScalar()) index.AppendKey(&key);  // a scalar's index may be linear or not
  return key;
}

// In keys: all leaves of a computed instruction.
constexpr int64_t kAllLeaves = -1;

}  // namespace

absl::StatusOr<ElementEmitter::LeafRef> ElementEmitter::Resolve(LeafRef ref,
                                                                std::optional<Materialized>* materialized) {
  while (true) {
    const HloInstruction* instruction = ref.instruction;
    HILO_ASSIGN_OR_RETURN(*materialized, source_.Find(instruction, ref.leaf));
    if (materialized->has_value()) return ref;
    switch (instruction->opcode()) {
      case HloOpcode::kGetTupleElement:
        ref = {instruction->operand(0),
               ref.leaf + LeavesBefore(instruction->operand(0)->shape(), instruction->tuple_index())};
        break;
      case HloOpcode::kTuple: {
        int64_t operand = 0, leaf = ref.leaf;
        while (leaf >= LeafCount(instruction->operand(operand)->shape()))
          leaf -= LeafCount(instruction->operand(operand++)->shape());
        ref = {instruction->operand(operand), leaf};
        break;
      }
      case HloOpcode::kCopy:
      case HloOpcode::kOptimizationBarrier:
      case HloOpcode::kAddDependency: ref.instruction = instruction->operand(0); break;
      case HloOpcode::kFusion: ref.instruction = instruction->called_computation()->root_instruction(); break;
      case HloOpcode::kParameter:
        if (!instruction->parent()->IsFusion()) {
          return Internal("no value is known for parameter ", instruction->parameter_number(),
                          InstructionContext(*instruction));
        }
        ref.instruction = instruction->parent()->fusion_instruction()->operand(instruction->parameter_number());
        break;
      default: return ref;
    }
  }
}

absl::StatusOr<ElementValue> ElementEmitter::Generate(const HloInstruction* instruction, const Index& index) {
  return GenerateLeaf({instruction, 0}, index);
}

absl::StatusOr<ElementEmitter::Values> ElementEmitter::GenerateLeaves(const HloInstruction* instruction,
                                                                      const Index& index) {
  Values values;
  for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf) {
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), GenerateLeaf({instruction, leaf}, index));
  }
  return values;
}

void ElementEmitter::SetElement(const HloInstruction* instruction, const Index& index, const ElementValue& value) {
  context_.RememberElements(Key(context_, instruction, kAllLeaves, index), {value});
}

std::vector<const HloInstruction*> ElementEmitter::OperandsInOrder(const HloInstruction& instruction) {
  std::vector<const HloInstruction*> operands;
  if (!IsElementwise(instruction.opcode())) return operands;
  for (int64_t i = instruction.operand_count(); i-- > 0;) {
    if (IsReadAtSameIndex(&instruction, i)) operands.push_back(instruction.operand(i));
  }
  if (operands.size() < 2 || !instruction.parent()->IsFusion()) return operands;
  if (!heights_.contains(&instruction)) {
    for (const HloInstruction* member : instruction.parent()->MakePostOrder()) {
      int height = 0;
      for (const HloInstruction* operand : member->operands()) height = std::max(height, heights_.at(operand) + 1);
      heights_.insert_or_assign(member, height);
    }
  }
  absl::c_stable_sort(
      operands, [&](const HloInstruction* a, const HloInstruction* b) { return heights_.at(a) < heights_.at(b); });
  return operands;
}

absl::StatusOr<ElementValue> ElementEmitter::GenerateLeaf(LeafRef wanted, const Index& index) {
  if (++depth_ > kMaxDepth)
    return ResourceExhausted("fused instructions are nested more than ", kMaxDepth, " deep",
                             InstructionContext(*wanted.instruction));
  struct Frame {
    LeafRef ref;
    bool resolved = false;
    std::optional<std::vector<const HloInstruction*>> operands;  // those to come, the next one last
  };
  std::vector<Frame> stack{{wanted}};
  ElementValue result;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (!frame.resolved) {
      const std::vector<uint64_t> asked = Key(context_, frame.ref.instruction, frame.ref.leaf, index);
      if (const Values* known = context_.FindElements(asked)) {
        result = known->front();
        stack.pop_back();
        continue;
      }
      std::optional<Materialized> materialized;
      const LeafRef before = frame.ref;
      HILO_ASSIGN_OR_RETURN(frame.ref, Resolve(before, &materialized));
      frame.resolved = true;
      if (materialized.has_value()) {
        std::vector<uint64_t> key = Key(context_, frame.ref.instruction, frame.ref.leaf, index);
        if (const Values* known = context_.FindElements(key)) {
          result = known->front();
        } else {
          result = materialized->array.has_value() ? materialized->array->Load(context_, index) : materialized->value;
          context_.RememberElements(std::move(key), {result});
        }
        stack.pop_back();
        continue;
      }
    }
    const HloInstruction* instruction = frame.ref.instruction;
    if (const Values* known = context_.FindElements(Key(context_, instruction, kAllLeaves, index))) {
      result = (*known)[frame.ref.leaf];
      stack.pop_back();
      continue;
    }
    if (!frame.operands) frame.operands = OperandsInOrder(*instruction);
    if (!frame.operands->empty()) {
      const HloInstruction* operand = frame.operands->back();
      frame.operands->pop_back();
      stack.push_back({{operand, 0}});
      continue;
    }
    if (++emitted_ > kMaxEmitted) {
      return ResourceExhausted("fused code needs more than ", kMaxEmitted, " element computations",
                               InstructionContext(*instruction));
    }
    HILO_ASSIGN_OR_RETURN(Values values, Compute(instruction, index));
    HILO_RET_CHECK(frame.ref.leaf < static_cast<int64_t>(values.size())) << instruction->name();
    result = values[frame.ref.leaf];
    for (ElementValue& value : values) {
      if (!value.re->hasName() && !llvm::isa<llvm::Constant>(value.re)) value.re->setName(instruction->name());
    }
    context_.RememberElements(Key(context_, instruction, kAllLeaves, index), std::move(values));
    stack.pop_back();
  }
  --depth_;
  return result;
}

}  // namespace hilo::codegen
