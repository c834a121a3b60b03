#include "hlo/passes/fusion/fused_members.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {

FusedMembers::FusedMembers(HloComputation* computation, absl::string_view name)
    : computation_(computation), fused_(computation->parent()->AddComputation(std::string(name))) {}

void FusedMembers::Add(HloInstruction* member) {
  std::vector<HloInstruction*> mapped;
  for (HloInstruction* operand : member->operands()) {
    HloInstruction*& copy = copies_[operand];
    if (copy == nullptr && IsFusedConstant(*operand)) {
      copy = fused_->AddInstruction(operand->CloneWithNewOperands(operand->shape(), {}));
    } else if (copy == nullptr) {
      const auto number = static_cast<int64_t>(operands_.size());
      copy = fused_->AddInstruction(
          HloInstruction::CreateParameter(number, operand->shape(), absl::StrCat("param_", number)));
      operands_.push_back(operand);
    }
    mapped.push_back(copy);
  }
  copies_[member] = fused_->AddInstruction(member->CloneWithNewOperands(member->shape(), mapped));
  members_.push_back(member);
}

absl::StatusOr<HloInstruction*> FusedMembers::Replace(absl::Span<HloInstruction* const> outputs, FusionKind kind,
                                                      absl::string_view name,
                                                      absl::FunctionRef<bool(const HloInstruction&)> accepts) {
  HloInstruction* root = copies_.at(outputs[0]);
  if (outputs.size() > 1) {
    std::vector<Shape> shapes;
    std::vector<HloInstruction*> roots;
    for (const HloInstruction* output : outputs) {
      shapes.push_back(output->shape());
      roots.push_back(copies_.at(output));
    }
    root = fused_->AddInstruction(HloInstruction::Create(HloOpcode::kTuple, ShapeUtil::MakeTupleShape(shapes), roots));
  }
  HILO_RETURN_IF_ERROR(fused_->set_root_instruction(root, /*allow_shape_change=*/true));
  auto attributes = std::make_unique<FusionAttrs>();
  attributes->kind = kind;
  HloComputation* called = fused_;
  HloInstruction* fusion = computation_->AddInstruction(
      HloInstruction::Create(HloOpcode::kFusion, root->shape(), operands_, std::move(attributes), {&called, 1}), name);
  fused_->set_fusion_instruction(fusion);
  if (!accepts(*fusion)) {
    HILO_RETURN_IF_ERROR(computation_->RemoveInstruction(fusion));
    fused_->set_fusion_instruction(nullptr);  // it has no caller; removed with other dead code
    return nullptr;
  }
  std::vector<HloInstruction*> results = {fusion};
  if (outputs.size() > 1) {
    results.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(results.emplace_back(), MakeTupleElement(fusion, static_cast<int64_t>(i)));
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    results[i]->CopyOriginFrom(*outputs[i]);
    HILO_RETURN_IF_ERROR(computation_->ReplaceAllUsesWith(outputs[i], results[i]));
  }
  for (size_t i = members_.size(); i-- > 0;) {
    HloInstruction* member = members_[i];
    if (!member->users().empty() || member->IsRoot() || member->HasControlDependencies()) continue;
    removed_.push_back(member);
    HILO_RETURN_IF_ERROR(computation_->RemoveInstruction(member));
  }
  return fusion;
}

}  // namespace hilo
