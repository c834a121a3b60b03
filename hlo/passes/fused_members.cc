#include "hlo/passes/fused_members.h"

#include "absl/strings/str_cat.h"

namespace hilo {

void FusedMembers::Add(const HloInstruction& member) {
  std::vector<HloInstruction*> mapped;
  for (HloInstruction* operand : member.operands()) {
    HloInstruction*& copy = copies_[operand];
    if (copy == nullptr && operand->IsConstant() && operand->shape().IsScalar()) {
      copy = fused_->AddInstruction(operand->CloneWithNewOperands(operand->shape(), {}));
    } else if (copy == nullptr) {
      const auto number = static_cast<int64_t>(operands_.size());
      copy = fused_->AddInstruction(
          HloInstruction::CreateParameter(number, operand->shape(), absl::StrCat("param_", number)));
      operands_.push_back(operand);
    }
    mapped.push_back(copy);
  }
  copies_[&member] = fused_->AddInstruction(member.CloneWithNewOperands(member.shape(), mapped));
}

}  // namespace hilo
