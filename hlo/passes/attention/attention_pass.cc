#include "hlo/passes/attention/attention_pass.h"

#include <algorithm>

#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Producers besides element-wise ones.
constexpr OpcodeSet kAttentionViews = {HloOpcode::kBroadcast, HloOpcode::kIota, HloOpcode::kReshape};

int64_t BytesOf(const HloInstruction& instruction) {
  return instruction.shape().IsArray() ? ShapeUtil::ByteSizeOf(instruction.shape()) : 0;
}

// Each block reads an element of the logits once, so what is not expensive is computed there if its operands are not
// larger than it.
bool IsProducer(const Target& target, const FusedGroup& group, const HloInstruction& producer) {
  if (producer.IsParameter() || producer.IsConstant() || !producer.shape().IsArray() || producer.HasSideEffect() ||
      producer.HasControlDependencies() || !target.IsFusible(producer) || IsExpensiveToRepeat(producer) ||
      !(IsElementwise(producer.opcode()) || kAttentionViews.contains(producer.opcode())))
    return false;
  if (IsFreeToRepeat(producer)) return true;
  const auto& users = producer.users();
  if (!producer.IsRoot() &&
      std::all_of(users.begin(), users.end(), [&](const HloInstruction* user) { return group.contains(user); }))
    return true;
  int64_t read = 0;
  for (const HloInstruction* operand : producer.operands()) {
    if (!IsFreeToRepeat(*operand)) read += BytesOf(*operand);
  }
  return read <= BytesOf(producer);
}

}  // namespace

void AddAttentionProducers(const Target& target, const FusionLimits& limits,
                           std::vector<const HloInstruction*> producers, FusedGroup* group) {
  FusedGroup reads;
  // A producer with several users in the group joins when the last of them has, so each of them tries.
  while (!producers.empty()) {
    const HloInstruction* producer = producers.back();
    producers.pop_back();
    if (group->contains(producer)) continue;
    if (!IsProducer(target, *group, *producer) || group->size() >= limits.members ||
        reads.size() + producer->operand_count() > limits.operands) {
      reads.insert(producer);
      continue;
    }
    reads.erase(producer);
    group->insert(producer);
    producers.insert(producers.end(), producer->operands().begin(), producer->operands().end());
  }
}

absl::StatusOr<bool> AttentionPass::FuseComputation(HloComputation* computation, const PassContext& context) {
  std::vector<HloInstruction*> dots;
  for (HloInstruction* instruction : computation->instructions()) {
    if (instruction->opcode() == HloOpcode::kDot) dots.push_back(instruction);
  }
  // A dot that is fused takes others along.
  FusedGroup removed;
  for (HloInstruction* dot : dots) {
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    if (removed.contains(dot) || dot->IsDead() || dot->HasControlDependencies()) continue;
    HILO_ASSIGN_OR_RETURN(const FusedGroup here, FuseDot(computation, dot, context));
    removed.insert(here.begin(), here.end());
  }
  return !removed.empty();
}

}  // namespace hilo
