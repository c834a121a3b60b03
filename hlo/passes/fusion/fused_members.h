// Makes a fusion of instructions.
#ifndef HILO_HLO_PASSES_FUSION_FUSED_MEMBERS_H_
#define HILO_HLO_PASSES_FUSION_FUSED_MEMBERS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

// Constants that a fused computation has for itself.
inline bool IsFusedConstant(const HloInstruction& instruction) {
  return instruction.IsConstant() && instruction.shape().IsScalar();
}

class FusedMembers {
 public:
  // The members are instructions of `computation`; `name` is that of the fused computation.
  FusedMembers(HloComputation* computation, absl::string_view name);

  // Copies `member`, whose operands among the members have been added. Other operands become parameters, except fused
  // constants, which are copied.
  void Add(HloInstruction* member);

  // Makes the fusion, whose results are `outputs`, and replaces them by it. Removes the members that nothing reads
  // then, but none of their operands. Returns null, and changes nothing, if `accepts` returns false for the fusion.
  absl::StatusOr<HloInstruction*> Replace(
      absl::Span<HloInstruction* const> outputs, FusionKind kind, absl::string_view name,
      absl::FunctionRef<bool(const HloInstruction& fusion)> accepts = [](const HloInstruction&) { return true; });
  // After Replace: the members that are no more. They must not be read.
  const std::vector<const HloInstruction*>& removed() const { return removed_; }

 private:
  HloComputation* const computation_;
  HloComputation* const fused_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_;
  std::vector<HloInstruction*> members_;   // in the order of addition
  std::vector<HloInstruction*> operands_;  // of the fusion, in the order of the parameters
  std::vector<const HloInstruction*> removed_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_FUSED_MEMBERS_H_
