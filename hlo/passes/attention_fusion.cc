// The members of an attention become a fusion, and with them what its logits are computed from where that costs no more
// than reading it, such as a mask:
//
//   s = f32[b,q,k] dot(queries, keys)
//   m = pred[q,k] compare(iota, iota)
//   x = f32[b,q,k] select(broadcast(m), s, -1e9)       f = f32[b,q,d] fusion(queries, keys, values), kind=kInput
//   p = f32[b,q,k] ... softmax of x               =>
//   o = f32[b,q,d] dot(p, values)
//
// Nothing but the result is read by others, so no path leads from the members through the outside back to them.
#include "hlo/passes/attention_fusion.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/attention_pass.h"
#include "hlo/passes/fused_members.h"

namespace hilo {
namespace {

// Returns the members of an attention with their producers.
FusedGroup GroupOf(const Target& target, const Attention& attention) {
  FusedGroup group(attention.members.begin(), attention.members.end());
  std::vector<const HloInstruction*> producers;
  const HloInstruction* values = attention.product->operand(1 - attention.weights_operand);
  for (const HloInstruction* member : attention.members) {
    if (member == attention.scores) continue;
    for (const HloInstruction* operand : member->operands()) {
      if (operand != values) producers.push_back(operand);
    }
  }
  AddAttentionProducers(target, kAttentionLimits, std::move(producers), &group);
  return group;
}

class AttentionFusion : public AttentionPass {
 public:
  AttentionFusion(const Target* target, AttentionFilter takes) : target_(*target), takes_(std::move(takes)) {}
  absl::string_view name() const override { return "fuse-attention"; }

 private:
  absl::StatusOr<FusedGroup> FuseDot(HloComputation* computation, HloInstruction* dot) override {
    const std::optional<Attention> attention = AttentionOf(*dot);
    if (!attention.has_value() || !takes_(*attention)) return FusedGroup();
    FusedMembers inside(computation, "fused_attention");
    const FusedGroup group = GroupOf(target_, *attention);
    auto* result = const_cast<HloInstruction*>(attention->result);
    for (HloInstruction* member : PostOrderWithin(result, [&](const HloInstruction& x) { return group.contains(&x); }))
      inside.Add(member);
    HILO_RETURN_IF_ERROR(
        inside.Replace({&result, 1}, FusionKind::kInput, absl::StrCat(dot->name(), "_attention")).status());
    return FusedGroup(inside.removed().begin(), inside.removed().end());
  }

  const Target& target_;
  const AttentionFilter takes_;
};

}  // namespace

std::unique_ptr<HloPass> MakeAttentionFusion(const Target* target, AttentionFilter takes) {
  return std::make_unique<AttentionFusion>(target, std::move(takes));
}

}  // namespace hilo
