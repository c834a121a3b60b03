#include "hlo/ir/post_order.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace hilo {

std::vector<HloInstruction*> PostOrderWithin(HloInstruction* root,
                                             absl::FunctionRef<bool(const HloInstruction&)> is_inside) {
  std::vector<HloInstruction*> order;
  absl::flat_hash_set<const HloInstruction*> seen = {root};
  std::vector<std::pair<HloInstruction*, int64_t>> stack = {{root, 0}};  // with the next operand
  while (!stack.empty()) {
    auto& [instruction, next] = stack.back();
    if (next == instruction->operand_count()) {
      order.push_back(instruction);
      stack.pop_back();
      continue;
    }
    HloInstruction* operand = instruction->operand(next++);
    if (is_inside(*operand) && seen.insert(operand).second) stack.push_back({operand, 0});
  }
  return order;
}

}  // namespace hilo
