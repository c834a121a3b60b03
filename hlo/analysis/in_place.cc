#include "hlo/analysis/in_place.h"

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// How a fusion reads one of its parameters, relative to the index it writes at.
enum class Access { kNone, kSameIndex, kOther };

Access Worse(Access a, Access b) { return a > b ? a : b; }

// Returns true if a result element reads only the operand element with the same linear index, provided that both have
// equally many elements.
bool SameLinearIndex(const HloInstruction& instruction, int64_t operand) {
  if (instruction.opcode() == HloOpcode::kGather) {
    // Index vectors come in the order of the slices that they select. With one component each, and as many of them as
    // result elements, every slice is one element. A vector of several components is read by all elements of its slice,
    // also by those that are computed after one of them was stored.
    return operand == 1 && instruction.attrs<GatherAttrs>().start_index_map.size() == 1;
  }
  return IsElementwise(instruction.opcode()) || instruction.opcode() == HloOpcode::kReshape ||
         instruction.opcode() == HloOpcode::kBitcast;
}

// Accesses of every instruction of the fused computation when each of `roots` is evaluated once per index; an
// instruction is kSameIndex if all paths from a root to it keep the linear index.
absl::flat_hash_map<const HloInstruction*, Access> AccessesOf(const HloComputation& computation,
                                                              absl::Span<HloInstruction* const> roots) {
  absl::flat_hash_map<const HloInstruction*, Access> access;
  for (const HloInstruction* root : roots) access[root] = Access::kSameIndex;
  std::vector<HloInstruction*> order = computation.MakePostOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const HloInstruction* user = *it;
    const Access mine = access[user];
    if (mine == Access::kNone) continue;
    for (int64_t i = 0; i < user->operand_count(); ++i) {
      const HloInstruction* operand = user->operand(i);
      const bool same = mine == Access::kSameIndex && SameLinearIndex(*user, i) &&
                        ShapeUtil::ElementsIn(operand->shape()) == ShapeUtil::ElementsIn(user->shape());
      Access& theirs = access[operand];
      theirs = Worse(theirs, same ? Access::kSameIndex : Access::kOther);
    }
  }
  return access;
}

bool SameBytes(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && ShapeUtil::ByteSizeOf(a) == ShapeUtil::ByteSizeOf(b) &&
         PrimitiveTypeByteSize(a.element_type()) == PrimitiveTypeByteSize(b.element_type());
}

// True for what a loop over the result computes element by element, reading nothing that it has written.
bool IsPlainLoopRoot(const HloInstruction& root) {
  return IsElementwise(root.opcode()) || HasTrait(root.opcode(), kMovement) || root.opcode() == HloOpcode::kBitcast ||
         root.opcode() == HloOpcode::kIota || root.IsParameter() || root.IsConstant();
}

// Returns true if `update`, a dynamic-update-slice, writes where `ranges`, those of a slice of the same size, are.
// These lie inside the array, so that starts that are equal need not be clamped.
bool StartsAt(const HloInstruction& update, absl::Span<const SliceRange> ranges) {
  if (update.operand_count() != static_cast<int64_t>(ranges.size()) + 2) return false;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const HloInstruction& start = *update.operand(d + 2);
    if (!start.IsConstant() || ranges[d].stride != 1 || start.literal().GetAsInt64(0) != ranges[d].start) return false;
  }
  return true;
}

// A fusion whose root updates a part of a parameter: the parameter may be used by the root alone, or be read at the
// written window for the update's own elements.
void UpdateFusionPairs(const HloInstruction& root, std::vector<InPlacePair>& pairs) {
  const HloInstruction* target = root.operand(0);
  if (!target->IsParameter() || !SameBytes(target->shape(), root.shape())) return;
  int64_t uses = 0;
  for (const HloInstruction* operand : root.operands()) uses += operand == target;
  if (uses != 1) return;
  if (target->user_count() > 1) {
    if (root.opcode() != HloOpcode::kDynamicUpdateSlice) return;
    HloInstruction* update = root.operand(1);
    const auto access = AccessesOf(*root.parent(), {&update, 1});
    for (const HloInstruction* user : target->users()) {
      if (user == &root) continue;
      auto it = access.find(user);
      if (!ReadsWrittenWindow(*user, root) || it == access.end() || it->second != Access::kSameIndex) return;
      // The window must have no other uses (such as start indices).
      for (size_t i = 2; i < root.operands().size(); ++i) {
        HloInstruction* start = root.operand(i);
        const auto starts = AccessesOf(*root.parent(), {&start, 1});
        if (auto found = starts.find(user); found != starts.end() && found->second != Access::kNone) return;
      }
    }
  }
  pairs.push_back({target->parameter_number(), 0, true});
}

std::vector<InPlacePair> FusionPairs(const HloInstruction& fusion) {
  std::vector<InPlacePair> pairs;
  const HloComputation& computation = *fusion.called_computation();
  HloInstruction* root = computation.root_instruction();
  if (root->opcode() == HloOpcode::kDynamicUpdateSlice || root->opcode() == HloOpcode::kScatter) {
    UpdateFusionPairs(*root, pairs);
    return pairs;
  }
  std::vector<HloInstruction*> roots = {root};
  if (root->opcode() == HloOpcode::kTuple) roots.assign(root->operands().begin(), root->operands().end());
  for (const HloInstruction* output : roots) {
    if (!output->shape().IsArray() ||
        ShapeUtil::ElementsIn(output->shape()) != ShapeUtil::ElementsIn(roots[0]->shape()) ||
        output->opcode() == HloOpcode::kReduce || (roots.size() > 1 && !IsPlainLoopRoot(*output))) {
      return pairs;  // not a plain loop over one index space
    }
  }
  const auto access = AccessesOf(computation, roots);
  for (const HloInstruction* parameter : computation.parameter_instructions()) {
    auto it = access.find(parameter);
    if (it == access.end() || it->second != Access::kSameIndex) continue;
    for (size_t i = 0; i < roots.size(); ++i) {
      if (SameBytes(parameter->shape(), roots[i]->shape())) {
        pairs.push_back({parameter->parameter_number(), static_cast<int64_t>(i), false});
      }
    }
  }
  return pairs;
}

}  // namespace

bool ReadsWrittenWindow(const HloInstruction& slice, const HloInstruction& update) {
  const bool is_static = slice.opcode() == HloOpcode::kSlice;
  if (!is_static && slice.opcode() != HloOpcode::kDynamicSlice) return false;
  if (slice.operand(0) != update.operand(0)) return false;
  if (!ShapeUtil::SameDimensions(slice.shape(), update.operand(1)->shape())) return false;
  if (is_static) return StartsAt(update, slice.attrs<SliceAttrs>().slice);
  if (slice.operand_count() + 1 != update.operand_count()) return false;
  for (int64_t i = 1; i < slice.operand_count(); ++i) {
    if (slice.operand(i) != update.operand(i + 1)) return false;
  }
  return true;
}

std::vector<InPlacePair> InPlacePairs(const HloInstruction& instruction) {
  std::vector<InPlacePair> pairs;
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kFusion) return FusionPairs(instruction);
  if (opcode == HloOpcode::kDynamicUpdateSlice || (opcode == HloOpcode::kScatter && instruction.operand_count() == 3)) {
    int64_t uses = 0;
    for (const HloInstruction* operand : instruction.operands()) uses += operand == instruction.operand(0);
    if (uses == 1) pairs.push_back({0, 0, true});
    return pairs;
  }
  if (!IsElementwise(opcode)) return pairs;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    if (SameBytes(instruction.operand(i)->shape(), instruction.shape())) pairs.push_back({i, 0, false});
  }
  return pairs;
}

bool IsForwarding(const HloInstruction& instruction) {
  if (HasTrait(instruction.opcode(), kForwarding)) return true;
  if (instruction.parent()->IsFusion()) return false;
  if (instruction.opcode() == HloOpcode::kBitcastConvert) return IsReinterpretation(instruction);
  return instruction.opcode() == HloOpcode::kReshape || instruction.opcode() == HloOpcode::kBitcast;
}

bool IsReinterpretation(const HloInstruction& bitcast_convert) {
  const Shape& from = bitcast_convert.operand(0)->shape();
  const Shape& to = bitcast_convert.shape();
  return from.rank() != to.rank() && ShapeUtil::ByteSizeOf(from) == ShapeUtil::ByteSizeOf(to);
}

}  // namespace hilo
