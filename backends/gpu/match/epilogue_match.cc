#include "backends/gpu/match/epilogue_match.h"

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/fused_members.h"

namespace hilo::gpu {

std::optional<double> UniformNumber(const HloInstruction* instruction) {
  if (instruction->opcode() == HloOpcode::kBroadcast) instruction = instruction->operand(0);
  if (!instruction->IsConstant() || !instruction->shape().IsScalar() ||
      !IsFloatingPointType(instruction->shape().element_type()))
    return std::nullopt;
  return instruction->literal().GetAsDouble(0);
}

const HloInstruction* OnlyUser(const HloInstruction* instruction) {
  return instruction->IsRoot() || instruction->user_count() != 1 ? nullptr : instruction->users()[0];
}

absl::Status FuseForLibrary(const std::vector<const HloInstruction*>& members, const HloInstruction* root,
                            absl::string_view library) {
  HloComputation* computation = const_cast<HloInstruction*>(root)->parent();
  HloComputation* fused = computation->parent()->AddComputation(std::string(library));
  FusedMembers inside(fused);
  for (const HloInstruction* member : members) inside.Add(*member);
  HILO_RETURN_IF_ERROR(fused->set_root_instruction(inside.at(root)));
  auto attributes = std::make_unique<FusionAttrs>();
  attributes->kind = FusionKind::kCustom;
  HloInstruction* fusion = computation->AddInstruction(
      HloInstruction::Create(HloOpcode::kFusion, root->shape(), inside.operands(), std::move(attributes), {&fused, 1}),
      absl::StrCat(root->name(), "_", library));
  fused->set_fusion_instruction(fusion);
  return computation->ReplaceInstruction(const_cast<HloInstruction*>(root), fusion);
}

}  // namespace hilo::gpu
