#include "hlo/passes/fusion/loop_work.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/passes/array_sizes.h"

namespace hilo {
namespace {

// Instructions behind a producer, or behind what a loop reads besides, that are searched for arrays that both read.
constexpr size_t kMaxSearchedSources = 64;

// Gives a group copies of what computes an array, so that it need not read it.
class ReadRepeater {
 public:
  ReadRepeater(const std::vector<HloInstruction*>& order, const absl::flat_hash_set<const HloInstruction*>& once,
               double instructions_per_byte, MayCompute may_compute)
      : once_(once), instructions_per_byte_(instructions_per_byte), may_compute_(may_compute) {
    for (size_t i = 0; i < order.size(); ++i) positions_[order[i]] = i;
  }

  // Returns true if the group has copies now.
  bool Repeat(const FusionGroup& group) {
    const int64_t elements = LoopElements(group);
    std::vector<HloInstruction*> stored;
    for (const HloInstruction* operand : group.operands) {
      if (Elements(operand) == elements && positions_.contains(operand) && may_compute_(*operand) &&
          ReadsOf(group, operand, 2) == std::vector<uint64_t>{0})
        stored.push_back(const_cast<HloInstruction*>(operand));
    }
    absl::c_sort(stored, [&](const auto* a, const auto* b) { return positions_.at(a) > positions_.at(b); });
    bool changed = false;
    for (HloInstruction* array : stored) {
      LoopWork own = WorkOfLoop({array}, elements);
      const auto is_once = [&](const HloInstruction* x) { return once_.contains(x); };
      if (own.computed.empty() || absl::c_any_of(own.computed, is_once) || !IsFaster(group, *array, own, elements))
        continue;
      Copy(group, array, std::move(own.computed));
      changed = true;
    }
    return changed;
  }

 private:
  // Copies that other groups were given are arrays like others: they are in no order of the computation.
  LoopWork WorkOfLoop(std::vector<const HloInstruction*> values, int64_t elements) const {
    return WorkFor(std::move(values), elements,
                   [&](const HloInstruction& x) { return positions_.contains(&x) && may_compute_(x); });
  }

  bool IsFaster(const FusionGroup& group, const HloInstruction& array, const LoopWork& own, int64_t elements) const {
    std::vector<const HloInstruction*> others;
    for (const HloInstruction* operand : group.operands) {
      if (operand != &array) others.push_back(operand);
    }
    const LoopWork work = WorkOfLoop(std::move(others), elements);
    const double bytes = BytesOfLoop(group, work), instructions = group.instructions + work.instructions;
    double more_bytes = 0;
    for (const HloInstruction* source : own.arrays)
      more_bytes += work.arrays.contains(source) ? 0 : BytesRead(*source, elements);
    return TimeOf(bytes + more_bytes, instructions + own.instructions) <
           TimeOf(bytes + BytesRead(array, elements), instructions);
  }

  double TimeOf(double bytes, double instructions) const {
    return std::max(bytes * instructions_per_byte_, instructions);
  }

  void Copy(const FusionGroup& group, HloInstruction* array, std::vector<const HloInstruction*> computed) {
    HloComputation* computation = array->parent();
    absl::c_sort(computed, [&](const auto* a, const auto* b) { return positions_.at(a) < positions_.at(b); });
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
    for (const HloInstruction* instruction : computed) {
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : instruction->operands()) {
        const auto copy = copies.find(operand);
        operands.push_back(copy == copies.end() ? operand : copy->second);
      }
      copies[instruction] =
          computation->AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
    }
    for (HloInstruction* member : group.members) {
      for (int64_t i = 0; i < member->operand_count(); ++i) {
        if (member->operand(i) == array) computation->ReplaceOperand(member, i, copies.at(array));
      }
    }
  }

  const absl::flat_hash_set<const HloInstruction*>& once_;
  const double instructions_per_byte_;
  const MayCompute may_compute_;
  absl::flat_hash_map<const HloInstruction*, size_t> positions_;
};

}  // namespace

LoopWork WorkFor(std::vector<const HloInstruction*> values, int64_t elements, MayCompute may_compute) {
  LoopWork work;
  absl::flat_hash_set<const HloInstruction*> seen;
  // The number of those that are looked at is bounded: which they are does not depend on the order of a table.
  absl::c_sort(values, [](const auto* a, const auto* b) { return a->unique_id() < b->unique_id(); });
  while (!values.empty()) {
    const HloInstruction* x = values.back();
    values.pop_back();
    if (!x->shape().IsArray() || x->IsConstant() || IsFreeToRepeat(*x) || !seen.insert(x).second) continue;
    const bool is_computed =
        seen.size() <= kMaxSearchedSources && Elements(x) == elements && may_compute(*x) &&
        (x->opcode() == HloOpcode::kReshape || (IsElementwise(x->opcode()) && !IsExpensiveToRepeat(*x)));
    if (is_computed) {
      work.computed.push_back(x);
      work.instructions += WorkOf(*x).instructions;
      values.insert(values.end(), x->operands().begin(), x->operands().end());
    } else {
      work.arrays.insert(x);
    }
  }
  return work;
}

int64_t LoopElements(const FusionGroup& group) {
  const HloInstruction* first = group.roots[0];
  return Elements(first->opcode() == HloOpcode::kReduce ? first->operand(0) : first);
}

double BytesRead(const HloInstruction& array, int64_t elements) {
  return static_cast<double>(std::min(Elements(&array), elements) *
                             PrimitiveTypeByteSize(array.shape().element_type()));
}

double BytesOfLoop(const FusionGroup& group, const LoopWork& work) {
  const int64_t elements = LoopElements(group);
  double bytes = 0;
  for (const HloInstruction* root : group.roots) bytes += root->shape().IsArray() ? BytesRead(*root, elements) : 0;
  for (const HloInstruction* array : work.arrays) bytes += BytesRead(*array, elements);
  return bytes;
}

absl::StatusOr<bool> RepeatReads(const std::vector<HloInstruction*>& order, const std::vector<FusionGroup>& groups,
                                 const absl::flat_hash_set<const HloInstruction*>& once, double instructions_per_byte,
                                 MayCompute may_compute, const PassContext& context) {
  ReadRepeater repeater(order, once, instructions_per_byte, may_compute);
  bool changed = false;
  for (const FusionGroup& group : groups) {
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    changed |= repeater.Repeat(group);
  }
  return changed;
}

}  // namespace hilo
