// Builds the fused computation of a fusion's members.
#ifndef HILO_HLO_PASSES_FUSED_MEMBERS_H_
#define HILO_HLO_PASSES_FUSED_MEMBERS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

class FusedMembers {
 public:
  explicit FusedMembers(HloComputation* fused) : fused_(fused) {}

  // Copies `member`, whose operands among the members have been added. Other operands become parameters, except scalar
  // constants, which are copied.
  void Add(const HloInstruction& member);
  // Returns the copy of a member.
  HloInstruction* at(const HloInstruction* member) const { return copies_.at(member); }
  // Returns the fusion's operands, in the order of the parameters.
  const std::vector<HloInstruction*>& operands() const { return operands_; }

 private:
  HloComputation* fused_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_;
  std::vector<HloInstruction*> operands_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSED_MEMBERS_H_
