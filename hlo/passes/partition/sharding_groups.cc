#include "hlo/passes/partition/sharding_groups.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/passes/partition/sharding_marks.h"

namespace hilo {

ShardingGroups::ShardingGroups(const std::vector<HloInstruction*>& instructions) {
  absl::flat_hash_map<std::string, size_t> by_name;
  for (HloInstruction* instruction : instructions) {
    const std::string name = ShardingGroupOf(*instruction);
    if (name.empty() || !instruction->operand(0)->shape().IsArray()) continue;
    const auto [it, is_new] = by_name.try_emplace(name, groups_.size());
    if (is_new) groups_.emplace_back();
    groups_[it->second].marks.push_back(instruction);
    group_of_[instruction] = it->second;
  }
}

std::vector<HloInstruction*> ShardingGroups::Order(const std::vector<HloInstruction*>& instructions) const {
  if (groups_.empty()) return instructions;
  absl::flat_hash_map<const HloInstruction*, std::vector<size_t>> groups_of_member;
  for (size_t group = 0; group < groups_.size(); ++group) {
    for (const HloInstruction* mark : groups_[group].marks) groups_of_member[mark->operand(0)].push_back(group);
  }
  // A walk over instructions and groups. A group depends on its marks, and what is not a mark on the groups of its
  // operands.
  struct Node {
    HloInstruction* instruction;  // null for a group
    size_t group;
    std::vector<Node> before;
    size_t next = 0;
  };
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<bool> seen_groups(groups_.size(), false);
  std::vector<HloInstruction*> order;
  std::vector<Node> stack;
  const auto push_instruction = [&](HloInstruction* instruction) {
    if (!seen.insert(instruction).second) return;
    Node node{.instruction = instruction};
    for (HloInstruction* operand : instruction->operands()) node.before.push_back({.instruction = operand});
    for (HloInstruction* before : instruction->control_predecessors()) node.before.push_back({.instruction = before});
    for (const HloInstruction* operand : instruction->operands()) {
      const auto groups = groups_of_member.find(operand);
      if (group_of_.contains(instruction) || groups == groups_of_member.end()) continue;
      for (const size_t group : groups->second) node.before.push_back({.instruction = nullptr, .group = group});
    }
    stack.push_back(std::move(node));
  };
  for (HloInstruction* instruction : instructions) {
    push_instruction(instruction);
    while (!stack.empty()) {
      Node& top = stack.back();
      if (top.next == top.before.size()) {
        if (top.instruction != nullptr) order.push_back(top.instruction);
        stack.pop_back();
        continue;
      }
      const Node next = std::move(top.before[top.next++]);
      if (next.instruction != nullptr) {
        push_instruction(next.instruction);
      } else if (!seen_groups[next.group]) {
        seen_groups[next.group] = true;
        Node node{.instruction = nullptr, .group = next.group};
        for (HloInstruction* mark : groups_[next.group].marks) node.before.push_back({.instruction = mark});
        stack.push_back(std::move(node));
      }
    }
  }
  return order;
}

absl::Status ShardingGroups::AfterVisit(const HloInstruction* instruction, TileWalk* walk) {
  const auto of_mark = group_of_.find(instruction);
  if (of_mark == group_of_.end()) return absl::OkStatus();
  Group& group = groups_[of_mark->second];
  if (++group.visited < group.marks.size()) return absl::OkStatus();
  const HloInstruction* model = nullptr;
  for (const HloInstruction* mark : group.marks) {
    const DividedValue& value = walk->Get(mark->operand(0));
    if (model == nullptr && value.tile != nullptr && !value.is_local) model = mark->operand(0);
  }
  if (model == nullptr) return absl::OkStatus();
  const TileAssignment tiles = walk->Get(model).tiles;
  for (const HloInstruction* mark : group.marks) {
    const HloInstruction* member = mark->operand(0);
    if (walk->Get(member).is_local || SameTiles(walk->Get(member).tiles, tiles)) continue;
    if (!TileShape(member->shape(), tiles).ok()) continue;
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, walk->Tile(member, tiles));
    walk->Set(member, {.whole = walk->Get(member).whole, .tile = tile, .tiles = tiles});
  }
  return absl::OkStatus();
}

}  // namespace hilo
