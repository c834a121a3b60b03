// Divides attention into blocks of rows.
#ifndef HILO_HLO_PASSES_ATTENTION_ATTENTION_BLOCKS_H_
#define HILO_HLO_PASSES_ATTENTION_ATTENTION_BLOCKS_H_

#include <cstdint>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "divide-attention": dots with work on the rows of scores between them (hlo/analysis/score_chain.h) become a loop over
// blocks of these rows, if the scores have more than twice as many bytes as a block, `block_bytes`. If a causal mask
// hides keys, several loops leave them out.
std::unique_ptr<HloPass> MakeAttentionBlocks(int64_t block_bytes);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ATTENTION_ATTENTION_BLOCKS_H_
