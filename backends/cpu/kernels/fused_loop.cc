#include "backends/cpu/kernels/fused_loop.h"

#include "base/errors.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::cpu {

absl::StatusOr<FusedLoop> FusedLoopOf(const HloInstruction* instruction) {
  FusedLoop loop{.instruction = instruction};
  const HloInstruction* root = HeroOf(instruction);
  if (root->opcode() == HloOpcode::kTuple) {
    loop.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    loop.roots = {root};
  }
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(root->shape());
  if (leaves.empty()) return Unimplemented("a fusion without results");
  loop.shape = *leaves[0].shape;
  for (const ShapeUtil::Leaf& leaf : leaves) {
    if (!leaf.shape->IsArray() || ShapeUtil::ElementsIn(*leaf.shape) != ShapeUtil::ElementsIn(loop.shape)) {
      return Unimplemented("a fusion whose results differ in their number of elements");
    }
    loop.leaf_shapes.push_back(*leaf.shape);
  }
  return loop;
}

}  // namespace hilo::cpu
