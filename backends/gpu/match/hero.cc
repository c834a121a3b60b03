#include "backends/gpu/match/hero.h"

#include <algorithm>

#include "hlo/ir/hlo_computation.h"

namespace hilo::gpu {

const HloInstruction* FusedOperand(const HloInstruction* operand, const HloInstruction* instruction) {
  while (operand->IsParameter() && operand->parent()->IsFusion() && operand->parent() != instruction->parent()) {
    operand = operand->parent()->fusion_instruction()->operand(operand->parameter_number());
  }
  return operand;
}

bool LoopResults::are_one_loop() const {
  return !has_root_per_leaf() || std::all_of(leaf_shapes.begin(), leaf_shapes.end(), [&](const Shape& leaf) {
    return ShapeUtil::ElementsIn(leaf) == ShapeUtil::ElementsIn(leaf_shapes[0]);
  });
}

LoopResults LoopResultsOf(const HloInstruction& instruction) {
  LoopResults results;
  const HloInstruction* root = HeroOf(&instruction);
  if (root->opcode() == HloOpcode::kTuple) {
    results.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    results.roots = {root};
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(root->shape())) results.leaf_shapes.push_back(*leaf.shape);
  return results;
}

int64_t WidestOperandBytes(const HloInstruction& instruction) {
  int64_t widest = 1;
  for (const HloInstruction* operand : instruction.operands()) {
    if (operand->shape().IsArray() && ShapeUtil::ElementsIn(operand->shape()) > 1)
      widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(operand->shape().element_type()));
  }
  return widest;
}

int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

std::vector<int64_t> SizesOf(const Shape& shape, absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(d));
  return sizes;
}

}  // namespace hilo::gpu
