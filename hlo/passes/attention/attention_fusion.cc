// The members of an attention become a fusion, and with them what its logits are computed from where that costs no more
// than reading it, such as a mask:
//
//   s = f32[b,q,k] dot(queries, keys)
//   m = pred[q,k] compare(iota, iota)
//   x = f32[b,q,k] select(broadcast(m), s, -1e9)       f = f32[b,q,d] fusion(queries, keys, values), kind=kInput
//   p = f32[b,q,k] ... softmax of x               =>
//   o = f32[b,q,d] dot(p, values)
//
// So do keys and values that are computed from less than they are, such as those of a cache of 8-bit numbers with
// scales, or that are gathered, such as the pages of a cache, if there are so few queries that a kernel needs each of
// them once, and slices of lines, as of a product that computes queries, keys and values, which are read where they
// are.
//
// Nothing but the result is read by others, so no path leads from the members through the outside back to them.
#include "hlo/passes/attention/attention_fusion.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/contiguous_view.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/attention/attention_pass.h"
#include "hlo/passes/fusion/fused_members.h"

namespace hilo {
namespace {

// Rows of queries that one block has; elements of a gathered line, whose place is looked up once for each of its
// groups. Bytes that a kernel copies at once, if lines divide into them.
constexpr int64_t kRowsOfBlock = 64, kMinLine = 16, kCopiedBytes = 16;

int64_t FactorBytes(const HloInstruction& array) { return ShapeUtil::ByteSizeOf(array.shape()); }

// Returns true for a gather of lines that nothing else reads, as of the pages of a cache: where its elements are is
// less work to find than to write and read them.
bool IsGatherOfLines(const Target& target, const HloInstruction& producer, const FusedGroup& users) {
  return producer.opcode() == HloOpcode::kGather && GatheredLine(producer) >= kMinLine && !producer.IsRoot() &&
         !producer.HasControlDependencies() && target.IsFusible(producer) &&
         absl::c_all_of(producer.users(), [&](const HloInstruction* user) { return users.contains(user); });
}

// Adds what computes `factor`, keys or values, from fewer bytes than it has, or from lines of an array.
void AddFactorProducers(const Target& target, const HloInstruction& factor, FusedGroup* group) {
  FusedGroup with_producers = *group, read;
  AddAttentionProducers(target, kAttentionLimits, {&factor}, &with_producers);
  if (!with_producers.contains(&factor)) read.insert(&factor);
  for (const HloInstruction* member : with_producers) {
    if (group->contains(member)) continue;
    for (const HloInstruction* operand : member->operands()) {
      if (!with_producers.contains(operand) && !IsFreeToRepeat(*operand)) read.insert(operand);
    }
  }
  int64_t bytes = 0;
  bool gathers = false;
  for (const HloInstruction* array : read) {
    bytes += FactorBytes(*array);
    if (!IsGatherOfLines(target, *array, with_producers)) continue;
    with_producers.insert(array);
    gathers = true;
  }
  if (bytes < FactorBytes(factor) || (gathers && bytes == FactorBytes(factor))) *group = std::move(with_producers);
}

// Adds the slice of lines that `factor` is, such as a third of what one product computes for queries, keys and values,
// if nothing else reads it: it is read where it is.
void AddSlice(const Target& target, const HloInstruction* factor, FusedGroup* group) {
  FusedGroup with_slice = *group;
  for (; factor->opcode() == HloOpcode::kReshape; factor = factor->operand(0)) with_slice.insert(factor);
  if (factor->opcode() != HloOpcode::kSlice ||
      SlicedLine(*factor) * PrimitiveTypeByteSize(factor->shape().element_type()) % kCopiedBytes != 0)
    return;
  with_slice.insert(factor);
  for (const HloInstruction* added : with_slice) {
    if (group->contains(added)) continue;
    if (added->IsRoot() || added->HasControlDependencies() || !target.IsFusible(*added) ||
        !absl::c_all_of(added->users(), [&](const HloInstruction* user) { return with_slice.contains(user); }))
      return;
  }
  *group = std::move(with_slice);
}

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
  const HloInstruction* keys = attention.scores->operand(attention.keys_operand);
  // Of all batches: scores are batches, rows and keys.
  const DotSide side = attention.keys_operand == 0 ? LhsOf(*attention.scores) : RhsOf(*attention.scores);
  const int64_t scores = ShapeUtil::ElementsIn(attention.scores->shape()),
                of_row = Product(side.batch_sizes) * Product(side.free_sizes);
  if (scores <= kRowsOfBlock * of_row) {
    for (const HloInstruction* factor : {keys, values}) AddFactorProducers(target, *factor, &group);
  }
  const HloInstruction *left = attention.scores->operand(0), *right = attention.scores->operand(1);
  for (const HloInstruction* factor : {left, right, values}) AddSlice(target, factor, &group);
  return group;
}

class AttentionFusion : public AttentionPass {
 public:
  AttentionFusion(const Target* target, AttentionFilter takes) : target_(*target), takes_(std::move(takes)) {}
  absl::string_view name() const override { return "fuse-attention"; }

 private:
  absl::StatusOr<FusedGroup> FuseDot(HloComputation* computation, HloInstruction* dot, const PassContext&) override {
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
