// Private to hlo/passes: sets of instructions that become one instruction each.
#ifndef HILO_HLO_PASSES_MERGED_SETS_H_
#define HILO_HLO_PASSES_MERGED_SETS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

class MergedSets {
 public:
  using Instructions = absl::flat_hash_set<const HloInstruction*>;

  // Instructions are added in an order in which operands are first. Set `number` may be new, the next one.
  void Add(const HloInstruction* x, size_t number) {
    if (number == sets_.size()) sets_.emplace_back();
    sets_[number].push_back(x);
    set_of_[x] = number;
  }

  // Returns all that `x` waits for, if each set is one instruction: with a member of a set all of them. Only
  // instructions before it in the order are among them, so none of a set waits for it. Incomplete if IsExhausted().
  Instructions DependencesOf(const HloInstruction& x) {
    Instructions reached;
    std::vector<const HloInstruction*> work = {&x};
    while (!work.empty() && ++visits_ <= kMaxVisits) {
      const HloInstruction* next = work.back();
      work.pop_back();
      const auto add = [&](const HloInstruction* other) {
        if (reached.insert(other).second) work.push_back(other);
      };
      for (const HloInstruction* operand : next->operands()) add(operand);
      for (const HloInstruction* before : next->control_predecessors()) add(before);
      if (const auto it = set_of_.find(next); it != set_of_.end()) {
        for (const HloInstruction* member : sets_[it->second]) add(member);
      }
    }
    return reached;
  }
  bool IsExhausted() const { return visits_ > kMaxVisits; }

 private:
  // Instructions that all searches visit.
  static constexpr int64_t kMaxVisits = int64_t{1} << 22;

  std::vector<std::vector<const HloInstruction*>> sets_;
  absl::flat_hash_map<const HloInstruction*, size_t> set_of_;
  int64_t visits_ = 0;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_MERGED_SETS_H_
