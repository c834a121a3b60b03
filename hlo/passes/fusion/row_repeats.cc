#include "hlo/passes/fusion/row_repeats.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Copies of each element in a broadcast that is not worth storing, whatever its operand.
constexpr int64_t kMinRepeats = 4;

}  // namespace

bool RowRepeats::IsFree(const HloInstruction& instruction) const {
  return instruction.opcode() == HloOpcode::kIota ||
         (instruction.opcode() == HloOpcode::kBroadcast && instruction.operand(0)->shape().rank() <= 1) ||
         (repeats_producers_ && instruction.opcode() == HloOpcode::kBroadcast &&
          kMinRepeats * ShapeUtil::ElementsIn(instruction.operand(0)->shape()) <=
              ShapeUtil::ElementsIn(instruction.shape()));
}

bool RowRepeats::IsRepeated(const HloInstruction* producer, RowFusionGroup* group) const {
  if (!repeats_producers_ || !group->space.IsFull(producer->shape())) return false;
  if (group->to_copy.contains(producer)) return true;
  absl::flat_hash_set<const HloInstruction*> chain, read;
  std::vector<const HloInstruction*> work = {producer};
  int64_t bytes = 0;
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (group->Has(instruction) || chain.contains(instruction) || !group->space.IsFull(instruction->shape()) ||
        (instruction != producer && IsFree(*instruction)))
      continue;
    const bool repeats = (IsElementwise(instruction->opcode()) || instruction->opcode() == HloOpcode::kBroadcast) &&
                         StaysInRow(*instruction, group->space) && !IsExpensiveToRepeat(*instruction) &&
                         !instruction->HasControlDependencies() && target_.IsFusible(*instruction) &&
                         static_cast<int64_t>(chain.size()) < kMaxRepeatedWork;
    if (repeats) {
      chain.insert(instruction);
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
    } else if (instruction == producer) {
      return false;
    } else if (!group->reads.contains(instruction) && read.insert(instruction).second) {
      bytes += ShapeUtil::ByteSizeOf(instruction->shape());
    }
  }
  // An array that only the chain reads might be in no memory.
  const bool in_memory = absl::c_all_of(read, [&](const HloInstruction* array) {
    return array->IsParameter() ||
           absl::c_any_of(array->users(), [&](const HloInstruction* user) { return !chain.contains(user); });
  });
  if (!in_memory || bytes > ShapeUtil::ByteSizeOf(producer->shape()) ||
      group->in_row.size() + chain.size() > kRowLimits.members ||
      group->reads.size() + chain.size() > kRowLimits.operands)
    return false;
  group->to_copy.insert(chain.begin(), chain.end());
  return true;
}

RowRepeats::Narrow RowRepeats::NarrowProducer(const std::vector<HloInstruction*>& order, int64_t floor, int64_t at,
                                              const RowFusionGroup& group) const {
  const HloInstruction* result = order[at];
  Narrow narrow{.members = {result}, .bytes = -ShapeUtil::ByteSizeOf(result->shape())};
  const auto is_member = [&](const HloInstruction* x) { return narrow.members.contains(x); };
  // What members have of their own: it does not depend on the group's reductions.
  const auto is_free = [&](const HloInstruction& x) {
    return IsFree(x) && absl::c_none_of(x.operands(), [&](const HloInstruction* y) { return group.Has(y); });
  };
  int64_t lowest = at;
  for (int64_t i = at - 1; i >= floor && lowest - i <= kRowReach; --i) {
    const HloInstruction* instruction = order[i];
    if (!group.Has(instruction) || group.copies.contains(instruction) ||
        absl::c_none_of(instruction->users(), is_member))
      continue;
    if (is_free(*instruction)) continue;
    if (instruction->opcode() == HloOpcode::kReduce || !absl::c_all_of(instruction->users(), is_member)) return {};
    narrow.members.insert(instruction);
    lowest = i;
  }
  absl::flat_hash_set<const HloInstruction*> arrays;
  for (const HloInstruction* member : narrow.members) {
    for (const HloInstruction* operand : member->operands()) {
      if (is_member(operand) || group.copies.contains(operand) || is_free(*operand)) continue;
      if (group.Has(operand)) return {};  // out of reach, or needed by others
      if (!group.space.IsFull(operand->shape()) || !arrays.insert(operand).second) continue;
      if (operand->IsParameter() || operand->IsConstant() || operand->opcode() == HloOpcode::kReduce ||
          !target_.IsFusible(*operand) || !absl::c_all_of(operand->users(), is_member))
        return {};
      narrow.bytes += ShapeUtil::ByteSizeOf(operand->shape());
    }
  }
  return narrow.bytes > 0 ? narrow : Narrow();
}

void RowRepeats::LeaveOutNarrow(const std::vector<HloInstruction*>& order, int64_t floor, int64_t last,
                                RowFusionGroup* group) const {
  Narrow best;
  for (int64_t i = last; i > floor; --i) {
    const HloInstruction* member = order[i];
    const auto found = group->in_row.find(member);
    if (found == group->in_row.end() || !found->second || group->copies.contains(member) ||
        !IsElementwise(member->opcode()) || !group->space.IsFull(member->shape()))
      continue;
    Narrow narrow = NarrowProducer(order, floor, i, *group);
    if (narrow.bytes > best.bytes) best = std::move(narrow);
  }
  if (best.members.empty()) return;
  RowFusionGroup kept{.space = group->space,
                      .to_copy = std::move(group->to_copy),
                      .reductions = group->reductions,
                      .followers = group->followers,
                      .column_reductions = group->column_reductions};
  const auto is_left = [&](const HloInstruction* x) { return group->Has(x) && !best.members.contains(x); };
  const auto keep = [&](HloInstruction* member) {
    // What is free has a copy on either side.
    const bool is_copy =
        group->copies.contains(member) ||
        absl::c_any_of(member->users(), [&](const HloInstruction* x) { return best.members.contains(x); });
    if (!is_left(member) || (is_copy && absl::c_none_of(member->users(), is_left))) return false;
    kept.Add(member, group->in_row.at(member));
    if (is_copy) kept.copies.insert(member);
    return true;
  };
  for (HloInstruction* member : group->earlier) {
    if (keep(member)) kept.earlier.push_back(member);
  }
  for (int64_t i = floor; i <= last; ++i) keep(order[i]);
  *group = std::move(kept);
}

bool RowRepeats::ReadsInLoop(const HloInstruction& reader, const RowFusionGroup& group) const {
  const bool is_view = reader.opcode() == HloOpcode::kReshape || reader.opcode() == HloOpcode::kBroadcast;
  const auto computes = [&](const HloInstruction* user) {
    return group.Has(user) || user->opcode() == HloOpcode::kReduce ||
           (IsElementwise(user->opcode()) && target_.IsFusible(*user));
  };
  const auto is_reshape = [](const HloInstruction* user) { return user->opcode() == HloOpcode::kReshape; };
  if (!is_view) return computes(&reader);
  return !reader.IsRoot() && absl::c_all_of(reader.users(), computes) && absl::c_none_of(reader.users(), is_reshape);
}

bool RowRepeats::IsFasterToRepeat(const HloInstruction& result, const RowFusionGroup& group,
                                  const absl::flat_hash_set<const HloInstruction*>& chain, int64_t read_bytes) const {
  if (absl::c_count_if(result.users(), [&](const HloInstruction* user) { return !group.Has(user); }) != 1) return false;
  double instructions = 0;
  for (const HloInstruction* member : chain) instructions += WorkOf(*member).instructions;
  const auto bytes = static_cast<double>(2 * ShapeUtil::ByteSizeOf(result.shape()) - read_bytes);
  return instructions <= bytes * instructions_per_byte_;
}

void RowRepeats::LeaveToReaders(const std::vector<HloInstruction*>& order, int64_t floor, int64_t last,
                                const RowFusionGroup& group, absl::flat_hash_set<const HloInstruction*>* read) const {
  for (int64_t i = last; i >= floor; --i) {
    const HloInstruction* result = order[i];
    if (!group.Has(result) || !read->contains(result) || !group.space.IsFull(result->shape()) || result->IsRoot() ||
        static_cast<int64_t>(result->users().size()) > kMaxCopies ||
        !absl::c_all_of(result->users(), [&](const HloInstruction* user) { return ReadsInLoop(*user, group); }))
      continue;
    absl::flat_hash_set<const HloInstruction*> chain, arrays, of_rows;
    std::vector<const HloInstruction*> work = {result};
    int64_t bytes = 0;
    bool repeats = true, is_expensive = false;
    while (!work.empty() && repeats) {
      const HloInstruction* instruction = work.back();
      work.pop_back();
      const bool is_full = group.space.IsFull(instruction->shape());
      if (!group.Has(instruction) || (instruction != result && read->contains(instruction))) {
        if (is_full && arrays.insert(instruction).second) bytes += ShapeUtil::ByteSizeOf(instruction->shape());
        continue;
      }
      if (group.copies.contains(instruction) || !chain.insert(instruction).second) continue;
      const bool is_view =
          instruction->opcode() == HloOpcode::kBroadcast || instruction->opcode() == HloOpcode::kReshape;
      if (!is_full && !is_view) {
        repeats = group.space.IsRow(instruction->shape());
        of_rows.insert(instruction);
        continue;
      }
      repeats =
          (is_view || IsElementwise(instruction->opcode())) && static_cast<int64_t>(chain.size()) <= kMaxRepeatedWork;
      is_expensive = is_expensive || IsExpensiveToRepeat(*instruction);
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
    }
    repeats = repeats && (!is_expensive || IsFasterToRepeat(*result, group, chain, bytes));
    if (!repeats || bytes > ShapeUtil::ByteSizeOf(result->shape()) || (read->size() == 1 && of_rows.empty())) continue;
    read->erase(result);
    read->insert(of_rows.begin(), of_rows.end());
  }
}

}  // namespace hilo
