#include "hlo/analysis/loop_results.h"

#include "absl/algorithm/container.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

bool LoopResults::are_one_loop() const {
  return !has_root_per_leaf() || absl::c_all_of(leaf_shapes, [&](const Shape& leaf) {
    return leaf.IsArray() && ShapeUtil::ElementsIn(leaf) == ShapeUtil::ElementsIn(leaf_shapes[0]);
  });
}

LoopResults LoopResults::Only(int64_t leaf) const {
  return {.instruction = instruction,
          .roots = {roots[leaf]},
          .leaf_shapes = {leaf_shapes[leaf]},
          .first_leaf = first_leaf + leaf};
}

LoopResults LoopResultsOf(const HloInstruction& instruction) {
  LoopResults results{.instruction = &instruction};
  const HloInstruction* root = HeroOf(&instruction);
  if (root->opcode() == HloOpcode::kTuple) {
    results.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    results.roots = {root};
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(root->shape())) results.leaf_shapes.push_back(*leaf.shape);
  return results;
}

}  // namespace hilo
