// Fuses attention (hlo/analysis/attention.h).
#ifndef HILO_HLO_PASSES_ATTENTION_ATTENTION_FUSION_H_
#define HILO_HLO_PASSES_ATTENTION_ATTENTION_FUSION_H_

#include <functional>
#include <memory>

#include "hlo/analysis/attention.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Returns true if a kernel of the backend computes the attention: better so than in parts.
using AttentionFilter = std::function<bool(const Attention& attention)>;

// "fuse-attention": makes fusions of kind kInput whose root is the attention's result: AttentionOf(fusion) is the
// attention, in terms of the fused computation.
std::unique_ptr<HloPass> MakeAttentionFusion(const Target* target, AttentionFilter takes);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ATTENTION_ATTENTION_FUSION_H_
