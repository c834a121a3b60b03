#include "hlo/passes/fusion/fusion_pass.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

std::vector<HloComputation*> UnembeddedComputations(const HloModule& module) {
  absl::flat_hash_set<const HloComputation*> embedded;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (HasTrait(instruction->opcode(), kControlFlow)) continue;
      for (const HloComputation* called : instruction->called_computations()) embedded.insert(called);
    }
  }
  std::vector<HloComputation*> rest;
  for (HloComputation* computation : module.computations()) {
    if (!embedded.contains(computation)) rest.push_back(computation);
  }
  return rest;
}

}  // namespace

absl::StatusOr<bool> FusionPass::Run(HloModule* module, const PassContext& context) {
  bool changed = false;
  for (HloComputation* computation : UnembeddedComputations(*module)) {
    HILO_ASSIGN_OR_RETURN(const bool here, FuseComputation(computation, context));
    changed |= here;
  }
  return changed;
}

}  // namespace hilo
