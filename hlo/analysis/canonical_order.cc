#include "hlo/analysis/canonical_order.h"

#include <utility>

#include "absl/container/flat_hash_set.h"

namespace hilo {

std::vector<HloInstruction*> CanonicalOrder(const HloComputation& computation) {
  std::vector<HloInstruction*> order;
  absl::flat_hash_set<const HloInstruction*> reached;
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    order.push_back(computation.parameter_instruction(i));
    reached.insert(order.back());
  }
  std::vector<std::pair<HloInstruction*, size_t>> stack;  // with the next operand of each
  const auto visit = [&](HloInstruction* instruction) {
    if (reached.insert(instruction).second) stack.emplace_back(instruction, 0);
  };
  visit(computation.root_instruction());
  while (!stack.empty()) {
    auto& [instruction, next] = stack.back();
    if (next < instruction->operands().size()) {
      visit(instruction->operands()[next++]);
    } else {
      order.push_back(instruction);
      stack.pop_back();
    }
  }
  return order;
}

}  // namespace hilo
