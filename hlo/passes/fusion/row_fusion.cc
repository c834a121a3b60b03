// The pass that groups rows. A group grows from a reduction: forward to its transitive users that stay in its
// rows, then backward to producers, including further reductions of the same rows. An instruction joins only if
// no path leads from the group through the outside back into it: the forward phase tracks outside users of the
// group, the backward phase its outside producers. Values of the group with other users become results of the
// fusion.
//
//   m = reduce(x), max
//   b = broadcast(m)
//   d = subtract(x, b)
//   e = exponential(d)        =>   one fusion of x, three passes over registers
//   s = reduce(e), add
//   c = broadcast(s)
//   r = divide(e, c)
//
// Ordinary fusion (hlo/passes/fusion/fusion.cc) runs later and does not change these fusions.
#include "hlo/passes/fusion/row_fusion.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/row_group.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/dimensions/column_separation.h"
#include "hlo/passes/fusion/fused_members.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/fusion/row_fusion_group.h"
#include "hlo/passes/fusion/row_repeats.h"

namespace hilo {
namespace {

// Adjacent repetitions of an element for which a cheap one is computed again for each vector.
constexpr int64_t kMaxAdjacentRepeats = 128;
// Smaller arrays are parts of other kernels.
constexpr int64_t kMinRowElements = 512;
// Limit of the total number of instructions in the orders that groups are found in.
constexpr int64_t kMaxOrdered = int64_t{1} << 26;

// Returns true for producers that read the elements of a row at adjacent positions, if not those of the row itself, and
// for cheap ones of elements that are repeated for a few vectors only, such as scales of groups.
bool KeepsRows(const HloInstruction& instruction) {
  constexpr OpcodeSet kMovesAlongLines = {HloOpcode::kBroadcast, HloOpcode::kDynamicSlice, HloOpcode::kIota,
                                          HloOpcode::kReshape, HloOpcode::kSlice};
  if (instruction.opcode() == HloOpcode::kTranspose)
    return instruction.attrs<TransposeAttrs>().dimensions.back() == instruction.shape().rank() - 1;
  if (!IsElementwise(instruction.opcode())) return kMovesAlongLines.contains(instruction.opcode());
  return !IsExpensiveToRepeat(instruction) &&
         std::all_of(instruction.users().begin(), instruction.users().end(), [](const HloInstruction* user) {
           if (user->opcode() != HloOpcode::kBroadcast) return false;
           const int64_t elements = ShapeUtil::ElementsIn(user->operand(0)->shape());
           const int64_t most = AdjacentRepeats(*user) > 0 ? kMaxAdjacentRepeats : kMaxRepeats;
           return ShapeUtil::ElementsIn(user->shape()) <= most * elements;
         });
}

// The positions of instructions in an order.
using OrderIndex = absl::flat_hash_map<const HloInstruction*, int64_t>;

class RowFusion : public FusionPass {
 public:
  RowFusion(const Target* target, bool strict, RowFusionOptions options)
      : target_(*target),
        strict_(strict),
        options_(std::move(options)),
        repeats_(*target, options_.repeats_producers, options_.instructions_per_byte) {}
  absl::string_view name() const override {
    return options_.max_column_reductions > 0 ? "fuse-rows-and-columns" : "fuse-rows";
  }

 private:
  // Groups found in one order lie one after the other in it, as two that interleave may form a cycle where neither does
  // alone; those are found in the next order.
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    HILO_ASSIGN_OR_RETURN(bool changed, options_.separates_reads ? SeparateFewReads(computation, context) : false);
    if (options_.separates_columns) {
      HILO_ASSIGN_OR_RETURN(const bool separated, SeparateColumns(computation, context));
      changed |= separated;
    }
    bool again = true;
    absl::flat_hash_set<int64_t> tried;
    int64_t ordered = 0;
    while (again && ordered <= kMaxOrdered) {
      again = false;
      const std::vector<HloInstruction*> order = computation->MakePostOrder();
      const auto count = static_cast<int64_t>(order.size());
      ordered += count;
      OrderIndex index;
      for (int64_t i = 0; i < count; ++i) index[order[i]] = i;
      int64_t floor = 0;  // everything from here on is untouched
      for (int64_t i = 0; i < count; ++i) {
        if (!Begins(order[i]) || !tried.insert(order[i]->unique_id()).second) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        RowFusionGroup group{.space = *RowSpaceOf(*order[i])};
        const int64_t last = Grow(order, index, i, floor, &group);
        if (options_.max_column_reductions > 0 ? group.column_reductions == 0
                                               : group.followers == 0 && group.reductions < 2)
          continue;
        HILO_ASSIGN_OR_RETURN(const bool built, Build(computation, order, floor, last, group));
        if (!built) continue;
        changed = again = true;
        i = last;
        floor = last + 1;
      }
    }
    return changed;
  }

  bool IsReduction(const HloInstruction* instruction, const RowSpace& space) const {
    return RowSpaceOf(*instruction) == space && MayReorder(*instruction, strict_) &&
           !instruction->HasControlDependencies();
  }

  bool Begins(const HloInstruction* instruction) const {
    const std::optional<RowSpace> space = RowSpaceOf(*instruction);
    return space.has_value() && !instruction->IsDead() && space->rows * space->columns >= kMinRowElements &&
           IsReduction(instruction, *space);
  }

  // Adds what belongs to the group of order[first], all of it from order[floor] on. Returns the index of its last
  // member.
  int64_t Grow(const std::vector<HloInstruction*>& order, const OrderIndex& index, int64_t first, int64_t floor,
               RowFusionGroup* group) const {
    group->Add(order[first], true);
    group->reductions = 1;
    const auto count = static_cast<int64_t>(order.size());
    // Outside instructions that depend on the group.
    absl::flat_hash_set<const HloInstruction*> below;
    int64_t last = first;
    for (int64_t i = first + 1; i < count && i - last <= kRowReach; ++i) {
      const HloInstruction* instruction = order[i];
      const auto operands = instruction->operands();
      const bool outside = std::any_of(operands.begin(), operands.end(),
                                       [&](const HloInstruction* operand) { return below.contains(operand); });
      if (!outside && std::none_of(operands.begin(), operands.end(),
                                   [&](const HloInstruction* operand) { return group->Has(operand); }))
        continue;
      if (outside || !Follows(instruction, *group)) {
        below.insert(instruction);
        continue;
      }
      const bool reduces = instruction->opcode() == HloOpcode::kReduce;
      ++(reduces ? group->reductions : group->followers);
      group->Add(instruction, true);
      last = i;
    }
    last = LeaveOutResults(order, first, last, group, &below);
    const int64_t lowest = AddProducers(order, first, last, floor, below, group);
    const int64_t last_sibling = AddSiblings(order, lowest, last, group);
    if (last_sibling > last) AddProducers(order, lowest, last_sibling, floor, {}, group);
    last = std::max(last, last_sibling);
    last = AddColumnReductions(order, floor, lowest, last, group);
    // They may be before the rows in the order.
    if (group->column_reductions > 0) AddProducers(order, lowest, last, floor, {}, group);
    AddEarlier(order, index, floor, last, group);
    if (options_.repeats_producers) repeats_.LeaveOutNarrow(order, floor, last, group);
    return last;
  }

  // Adds producers from order[floor] on, if no path leads from them through `below`, whose instructions depend on the
  // group. Returns the index of the first one, or `lowest`.
  int64_t AddProducers(const std::vector<HloInstruction*>& order, int64_t lowest, int64_t last, int64_t floor,
                       const absl::flat_hash_set<const HloInstruction*>& below, RowFusionGroup* group) const {
    // Outside instructions on which the group depends.
    absl::flat_hash_set<const HloInstruction*> above;
    for (int64_t i = last; i >= floor && lowest - i <= kRowReach; --i) {
      const HloInstruction* instruction = order[i];
      if (group->Has(instruction) || below.contains(instruction)) continue;
      const auto users = instruction->users();
      const bool feeds =
          std::any_of(users.begin(), users.end(), [&](const HloInstruction* user) { return group->Has(user); });
      if (!feeds &&
          std::none_of(users.begin(), users.end(), [&](const HloInstruction* user) { return above.contains(user); }))
        continue;
      if (feeds && Precedes(instruction, above, group)) {
        lowest = std::min(lowest, i);
      } else {
        above.insert(instruction);
      }
    }
    return lowest;
  }

  // Returns the instructions from order[first] to order[last] outside of the group on which it depends.
  static absl::flat_hash_set<const HloInstruction*> Above(const std::vector<HloInstruction*>& order, int64_t first,
                                                          int64_t last, const RowFusionGroup& group) {
    absl::flat_hash_set<const HloInstruction*> above;
    for (int64_t i = last; i >= first; --i) {
      if (!group.Has(order[i]) && absl::c_any_of(order[i]->users(), [&](const HloInstruction* user) {
            return group.Has(user) || above.contains(user);
          }))
        above.insert(order[i]);
    }
    return above;
  }

  // Adds reductions of the rows that read, element by element, what others compute from the group's elements, such as
  // the components of a force: computed apart, the elements would be an array in memory, or computed several times.
  // Returns the index of the last one, or `last`.
  int64_t AddSiblings(const std::vector<HloInstruction*>& order, int64_t lowest, int64_t last,
                      RowFusionGroup* group) const {
    const auto count = static_cast<int64_t>(order.size());
    absl::flat_hash_set<const HloInstruction*>
        below;  // reductions of the group, and what depends on them or is outside
    absl::flat_hash_set<const HloInstruction*> between;  // what may join with a reduction
    const absl::flat_hash_set<const HloInstruction*> above = Above(order, lowest, last, *group);
    int64_t siblings = 0;
    for (int64_t i = lowest; i < count && i - last <= kRowReach && siblings < options_.max_siblings; ++i) {
      HloInstruction* instruction = order[i];
      // It may read a producer that is copied into the group, as a broadcast constant, and lead to a member.
      if (above.contains(instruction)) continue;
      const auto reads = [&](const HloInstruction* operand) {
        return between.contains(operand) || (group->Has(operand) && group->space.IsFull(operand->shape()));
      };
      const auto operands = instruction->operands();
      if (absl::c_any_of(operands, [&](const HloInstruction* operand) { return below.contains(operand); })) {
        below.insert(instruction);
        continue;
      }
      if (group->Has(instruction)) {
        if (instruction->opcode() == HloOpcode::kReduce) below.insert(instruction);
        continue;
      }
      if (absl::c_none_of(operands, [&](const HloInstruction* operand) {
            return between.contains(operand) || group->Has(operand);
          }))
        continue;
      const bool stays = absl::c_any_of(operands, reads) && group->HasRoomFor(instruction) &&
                         !instruction->HasControlDependencies() && !instruction->HasSideEffect();
      if (stays && IsReduction(instruction, group->space) && instruction->operand(1)->IsConstant()) {
        AddWith(instruction, between, group);
        ++group->reductions;
        ++siblings;
        last = std::max(last, i);
      } else if (stays && IsElementwise(instruction->opcode()) && target_.IsFusible(*instruction) &&
                 StaysInRow(*instruction, group->space) && instruction->users().size() == 1) {
        between.insert(instruction);
      } else {
        below.insert(instruction);
      }
    }
    return last;
  }

  // Adds reductions across the rows of what is computed, element by element, from the group's elements and from arrays
  // that it reads. Returns the index of the last one, or `last`.
  int64_t AddColumnReductions(const std::vector<HloInstruction*>& order, int64_t floor, int64_t lowest, int64_t last,
                              RowFusionGroup* group) const {
    if (options_.max_column_reductions == 0) return last;
    const auto count = static_cast<int64_t>(order.size());
    const int64_t first = std::max(floor, lowest - kRowReach);
    const absl::flat_hash_set<const HloInstruction*> above = Above(order, first, last, *group);
    absl::flat_hash_set<const HloInstruction*> below;    // outside instructions that depend on the group
    absl::flat_hash_set<const HloInstruction*> between;  // what may join with a reduction
    for (int64_t i = first; i < count && i - last <= kRowReach; ++i) {
      if (group->column_reductions == options_.max_column_reductions) break;
      const HloInstruction* instruction = order[i];
      if (group->Has(instruction) || above.contains(instruction)) continue;
      const auto is_of_group = [&](const HloInstruction* operand) {
        return group->Has(operand) || between.contains(operand) || group->reads.contains(operand);
      };
      const auto depends = [&](const HloInstruction* operand) {
        return group->Has(operand) || between.contains(operand) || below.contains(operand);
      };
      const bool stays =
          absl::c_any_of(instruction->operands(), is_of_group) &&
          absl::c_none_of(instruction->operands(), [&](const HloInstruction* x) { return below.contains(x); }) &&
          group->HasRoomFor(instruction) && !instruction->HasControlDependencies() && !instruction->HasSideEffect();
      if (stays && ReducesColumns(*instruction, group->space) && MayReorder(*instruction, strict_) &&
          instruction->operand(1)->IsConstant()) {
        AddWith(instruction, between, group);
        ++group->column_reductions;
        last = std::max(last, i);
      } else if (stays && target_.IsFusible(*instruction) && StaysInRow(*instruction, group->space) &&
                 !IsExpensiveToRepeat(*instruction) && instruction->users().size() == 1) {
        between.insert(instruction);
      } else if (absl::c_any_of(instruction->operands(), depends)) {
        below.insert(instruction);
      }
    }
    return last;
  }

  // Adds `instruction` and those of `between` that it depends on.
  static void AddWith(const HloInstruction* instruction, const absl::flat_hash_set<const HloInstruction*>& between,
                      RowFusionGroup* group) {
    std::vector<const HloInstruction*> work = {instruction};
    while (!work.empty()) {
      const HloInstruction* member = work.back();
      work.pop_back();
      if (group->Has(member)) continue;
      group->Add(member, true);
      for (const HloInstruction* operand : member->operands()) {
        if (between.contains(operand)) work.push_back(operand);
      }
    }
  }

  // Takes expensive functions of one value a row, and what only depends on them, out of a group from order[first] to
  // order[last] again, if no element of a row needs them, such as the logarithm of a log-sum-exp. Returns the index of
  // the last member then.
  int64_t LeaveOutResults(const std::vector<HloInstruction*>& order, int64_t first, int64_t last, RowFusionGroup* group,
                          absl::flat_hash_set<const HloInstruction*>* below) const {
    if (group->space.rows < options_.min_separate_rows || group->space.columns == 1) return last;
    absl::flat_hash_set<const HloInstruction*> results;
    for (int64_t i = last; i > first; --i) {
      const HloInstruction* member = order[i];
      if (!group->Has(member) || !group->space.IsRow(member->shape()) ||
          (!IsElementwise(member->opcode()) && member->opcode() != HloOpcode::kReshape))
        continue;
      if (absl::c_all_of(member->users(),
                         [&](const HloInstruction* user) { return !group->Has(user) || results.contains(user); }))
        results.insert(member);
    }
    RowFusionGroup kept{.space = group->space};
    kept.Add(order[first], true);
    kept.reductions = 1;
    absl::flat_hash_set<const HloInstruction*> left_out;
    int64_t last_kept = first;
    for (int64_t i = first + 1; i <= last; ++i) {
      const HloInstruction* member = order[i];
      if (!group->Has(member)) continue;
      const bool depends =
          absl::c_any_of(member->operands(), [&](const HloInstruction* operand) { return left_out.contains(operand); });
      if (results.contains(member) && (depends || IsExpensiveToRepeat(*member))) {
        left_out.insert(member);
        continue;
      }
      ++(member->opcode() == HloOpcode::kReduce ? kept.reductions : kept.followers);
      kept.Add(member, true);
      last_kept = i;
    }
    if (left_out.empty()) return last;
    *group = std::move(kept);
    below->insert(left_out.begin(), left_out.end());
    return last_kept;
  }

  // Adds producers from before order[floor] that only the group reads, so that no path leads from them to other groups,
  // and copies of free ones.
  void AddEarlier(const std::vector<HloInstruction*>& order, const OrderIndex& index, int64_t floor, int64_t last,
                  RowFusionGroup* group) const {
    if (floor == 0) return;
    std::vector<HloInstruction*> work;
    const auto push_reads = [&](const HloInstruction& member) {
      for (HloInstruction* operand : member.operands()) {
        const auto it = index.find(operand);
        if (it != index.end() && it->second < floor && !group->Has(operand)) work.push_back(operand);
      }
    };
    for (int64_t i = floor; i <= last; ++i) {
      if (group->Has(order[i])) push_reads(*order[i]);
    }
    // A producer with several users in the group joins when the last of them has, so each of them asks.
    while (!work.empty()) {
      HloInstruction* producer = work.back();
      work.pop_back();
      const auto users = producer->users();
      const bool all_inside =
          std::all_of(users.begin(), users.end(), [&](const HloInstruction* user) { return group->Has(user); });
      if (group->Has(producer) || producer->opcode() == HloOpcode::kReduce ||
          (!all_inside && !repeats_.IsFree(*producer)) || !Precedes(producer, {}, group))
        continue;
      group->earlier.push_back(producer);
      push_reads(*producer);
    }
    std::sort(group->earlier.begin(), group->earlier.end(),
              [&](const HloInstruction* a, const HloInstruction* b) { return index.at(a) < index.at(b); });
  }

  // Returns true if `instruction` is read only by reductions across the rows or gathers of few elements, and their
  // loops compute it from arrays that are in memory and from results of rows: in this kernel it would be stored and
  // read again.
  bool BelongsToReader(const HloInstruction& instruction, const RowFusionGroup& group) const {
    return (IsForColumns(instruction, group.space, options_.separates_columns ? kMaxSeparated : 0) ||
            (options_.separates_reads && IsForFewReads(instruction))) &&
           absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
             return !group.Has(operand) || operand->opcode() == HloOpcode::kBroadcast;
           });
  }

  bool Follows(const HloInstruction* instruction, const RowFusionGroup& group) const {
    if (!group.HasRoomFor(instruction) || instruction->HasControlDependencies() || instruction->HasSideEffect() ||
        instruction->IsDead())
      return false;
    if (instruction->opcode() == HloOpcode::kReduce)
      return group.reductions < options_.max_reductions && IsReduction(instruction, group.space) &&
             !group.Has(instruction->operand(1));
    return target_.IsFusible(*instruction) && StaysInRow(*instruction, group.space) &&
           !BelongsToReader(*instruction, group);
  }

  // Adds the producer if it may join.
  bool Precedes(const HloInstruction* instruction, const absl::flat_hash_set<const HloInstruction*>& above,
                RowFusionGroup* group) const {
    if (!group->HasRoomFor(instruction) || instruction->HasControlDependencies() || instruction->HasSideEffect())
      return false;
    if (instruction->IsParameter() || instruction->IsConstant() || ShapeUtil::ElementsIn(instruction->shape()) <= 1)
      return false;
    bool in_row = true, all_inside = !instruction->IsRoot(), in_the_way = false;
    for (const HloInstruction* user : instruction->users()) {
      const auto member = group->in_row.find(user);
      if (member == group->in_row.end()) {
        all_inside = false;
        in_the_way = in_the_way || above.contains(user);
        continue;
      }
      // A copy leaves a user outside.
      if (group->to_copy.contains(user)) {
        all_inside = false;
        in_the_way = true;
      }
      in_row = in_row && member->second && (user->opcode() == HloOpcode::kReduce || StaysInRow(*user, group->space));
    }
    const bool reduces = instruction->opcode() == HloOpcode::kReduce;
    const bool may_join = reduces
                              ? group->reductions < options_.max_reductions && IsReduction(instruction, group->space)
                              : target_.IsFusible(*instruction);
    if (!may_join) return false;
    in_row = in_row && (reduces || StaysInRow(*instruction, group->space));
    if (!in_row && !KeepsRows(*instruction)) return false;
    if (!all_inside && repeats_.IsFree(*instruction)) {
      group->copies.insert(instruction);
    } else if (!all_inside && (!in_row || in_the_way)) {
      if (!in_row || !repeats_.IsRepeated(instruction, group)) return false;
      group->copies.insert(instruction);
    }
    group->Add(instruction, in_row);
    group->reductions += reduces ? 1 : 0;
    return true;
  }

  // Returns the members that are results of the fusion. Broadcasts and reshapes are not: other users have their own,
  // of a smaller result.
  static absl::flat_hash_set<const HloInstruction*> ReadOutside(const std::vector<HloInstruction*>& order,
                                                                int64_t floor, int64_t last,
                                                                const RowFusionGroup& group) {
    constexpr OpcodeSet kViews = {HloOpcode::kBroadcast, HloOpcode::kReshape};
    absl::flat_hash_set<const HloInstruction*> read, views;
    for (int64_t i = last; i >= floor; --i) {
      const HloInstruction* member = order[i];
      if (!group.Has(member) || group.copies.contains(member)) continue;
      const auto users = member->users();
      if (!member->IsRoot() && std::all_of(users.begin(), users.end(), [&](const HloInstruction* user) {
            return group.Has(user) && !views.contains(user);
          }))
        continue;
      (kViews.contains(member->opcode()) ? views : read).insert(member);
    }
    return read;
  }

  // Makes the fusion of a group, whose members are the earlier ones and those from order[floor] to order[last].
  absl::StatusOr<bool> Build(HloComputation* computation, const std::vector<HloInstruction*>& order, int64_t floor,
                             int64_t last, const RowFusionGroup& group) const {
    std::vector<HloInstruction*> outputs;
    FusedMembers inside(computation, "fused_rows");
    absl::flat_hash_set<const HloInstruction*> read = ReadOutside(order, floor, last, group);
    if (options_.repeats_producers) repeats_.LeaveToReaders(order, floor, last, group, &read);
    for (HloInstruction* member : group.earlier) inside.Add(member);
    for (int64_t i = floor; i <= last; ++i) {
      HloInstruction* member = order[i];
      if (!group.Has(member)) continue;
      inside.Add(member);
      if (read.contains(member)) outputs.push_back(member);
    }
    HILO_ASSIGN_OR_RETURN(
        const HloInstruction* fusion,
        inside.Replace(outputs, FusionKind::kInput, absl::StrCat(outputs.back()->name(), "_rows"), options_.accepts));
    return fusion != nullptr;
  }

  const Target& target_;
  const bool strict_;
  const RowFusionOptions options_;
  const RowRepeats repeats_;
};

}  // namespace

std::unique_ptr<HloPass> MakeRowFusion(const Target* target, bool strict, RowFusionOptions options) {
  return std::make_unique<RowFusion>(target, strict, std::move(options));
}

}  // namespace hilo
