// A group of rows while it grows (row_fusion.cc).
#ifndef HILO_HLO_PASSES_FUSION_ROW_FUSION_GROUP_H_
#define HILO_HLO_PASSES_FUSION_ROW_FUSION_GROUP_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/row_group.h"
#include "hlo/passes/fusion/fusion_pass.h"

namespace hilo {

// Instructions that are visited on either side of a group without one that joins.
inline constexpr int64_t kRowReach = 400;

struct RowFusionGroup {
  RowSpace space;
  // For each member: whether it is computed at the rows' own positions.
  absl::flat_hash_map<const HloInstruction*, bool> in_row;
  absl::flat_hash_set<const HloInstruction*> copies;   // have other users, which use their own copy
  absl::flat_hash_set<const HloInstruction*> to_copy;  // when they join
  absl::flat_hash_set<const HloInstruction*> reads;    // arrays from outside
  std::vector<HloInstruction*> earlier;                // members from before the floor of the group, in order
  int64_t reductions = 0, followers = 0, column_reductions = 0;

  bool Has(const HloInstruction* instruction) const { return in_row.contains(instruction); }
  // Returns true if the group reads few enough arrays after `instruction` joins.
  bool HasRoomFor(const HloInstruction* instruction) const {
    if (in_row.size() >= kRowLimits.members) return false;
    absl::flat_hash_set<const HloInstruction*> more;
    for (const HloInstruction* operand : instruction->operands()) {
      if (IsRead(operand) && !reads.contains(operand)) more.insert(operand);
    }
    return reads.size() + more.size() - reads.count(instruction) <= kRowLimits.operands;
  }
  void Add(const HloInstruction* instruction, bool stays_in_row) {
    in_row[instruction] = stays_in_row;
    reads.erase(instruction);
    for (const HloInstruction* operand : instruction->operands()) {
      if (IsRead(operand)) reads.insert(operand);
    }
  }

 private:
  bool IsRead(const HloInstruction* operand) const {
    return !Has(operand) && !(operand->IsConstant() && operand->shape().IsScalar());
  }
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_ROW_FUSION_GROUP_H_
