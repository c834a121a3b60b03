#include "backends/gpu/match/epilogue_match.h"

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/fusion/fused_members.h"

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
  FusedMembers inside(const_cast<HloInstruction*>(root)->parent(), library);
  for (const HloInstruction* member : members) inside.Add(const_cast<HloInstruction*>(member));
  HloInstruction* result = const_cast<HloInstruction*>(root);
  return inside.Replace({&result, 1}, FusionKind::kCustom, absl::StrCat(root->name(), "_", library)).status();
}

}  // namespace hilo::gpu
