// What the passes that fuse attention share: their search, and what a kernel that computes logits computes with them:
// masks, scales and the like.
#ifndef HILO_HLO_PASSES_ATTENTION_ATTENTION_PASS_H_
#define HILO_HLO_PASSES_ATTENTION_ATTENTION_PASS_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

using FusedGroup = absl::flat_hash_set<const HloInstruction*>;

// Adds to the group those of `producers`, and of their own producers, that cost no more to compute for each logit than
// to read.
void AddAttentionProducers(const Target& target, const FusionLimits& limits,
                           std::vector<const HloInstruction*> producers, FusedGroup* group);

// Visits the dots of each computation, whether the dots of an attention or those of its gradient.
class AttentionPass : public FusionPass {
 protected:
  // Fuses what `dot` is part of, if that is an attention. Returns the instructions that this removed: others among the
  // computation's dots are still there. Errors: as Run.
  virtual absl::StatusOr<FusedGroup> FuseDot(HloComputation* computation, HloInstruction* dot,
                                             const PassContext& context) = 0;

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) final;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ATTENTION_ATTENTION_PASS_H_
