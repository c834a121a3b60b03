#include "hlo/analysis/compared_values.h"

#include <vector>

#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Instructions behind one side of a comparison among which the other side is searched for.
constexpr size_t kMaxDependencies = 128;

// Returns the instructions that compute the elements of `value`, which moves and conversions may come after.
std::vector<const HloInstruction*> ComputedBy(const HloInstruction* value) {
  std::vector<const HloInstruction*> computed, work = {value};
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!work.empty() && seen.size() <= kMaxDependencies) {
    const HloInstruction* at = work.back();
    work.pop_back();
    if (!seen.insert(at).second) continue;
    if (at->opcode() == HloOpcode::kConcatenate) {
      work.insert(work.end(), at->operands().begin(), at->operands().end());
    } else if (HasTrait(at->opcode(), kMovement) || at->opcode() == HloOpcode::kConvert) {
      work.push_back(at->operand(0));
    } else if (IsElementwise(at->opcode()) && at->shape().IsArray() &&
               IsFloatingPointType(at->shape().element_type())) {
      computed.push_back(at);
    }
  }
  return computed;
}

bool DependsOn(const HloInstruction* result, const HloInstruction* value) {
  absl::flat_hash_set<const HloInstruction*> seen = {result};
  std::vector<const HloInstruction*> work = {result};
  for (size_t next = 0; next < work.size() && work.size() <= kMaxDependencies; ++next) {
    for (const HloInstruction* operand : work[next]->operands()) {
      if (operand == value) return true;
      if (seen.insert(operand).second) work.push_back(operand);
    }
  }
  return false;
}

}  // namespace

absl::flat_hash_set<const HloInstruction*> ValuesComparedWithResults(const HloComputation& computation) {
  absl::flat_hash_set<const HloInstruction*> compared;
  for (const HloInstruction* compare : computation.instructions()) {
    if (compare->opcode() != HloOpcode::kCompare) continue;
    for (int side : {0, 1}) {
      for (const HloInstruction* value : ComputedBy(compare->operand(side))) {
        if (DependsOn(compare->operand(1 - side), value)) compared.insert(value);
      }
    }
  }
  return compared;
}

}  // namespace hilo
