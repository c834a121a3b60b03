// What a kernel that computes logits computes with them: masks, scales and the like.
#ifndef HILO_HLO_PASSES_ATTENTION_PRODUCERS_H_
#define HILO_HLO_PASSES_ATTENTION_PRODUCERS_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/passes/fusion_pass.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

using FusedGroup = absl::flat_hash_set<const HloInstruction*>;

// Adds to the group those of `producers`, and of their own producers, that cost no more to compute for each logit than
// to read.
void AddAttentionProducers(const Target& target, const FusionLimits& limits,
                           std::vector<const HloInstruction*> producers, FusedGroup* group);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ATTENTION_PRODUCERS_H_
