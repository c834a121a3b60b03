// The keys that a causal mask hides from rows of attention, so that blocks of rows may leave them out.
#ifndef HILO_HLO_PASSES_ATTENTION_HIDDEN_KEYS_H_
#define HILO_HLO_PASSES_ATTENTION_HIDDEN_KEYS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/analysis/score_chain.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

struct HiddenKeys {
  struct Group {
    int64_t first_block, blocks;  // along the rows
    int64_t keys;                 // that the rows see
  };
  int64_t rows = 0;                         // dimension of the scores
  int64_t keys = 0;                         // in all
  int64_t offset = 0;                       // keys greater than the row plus this are masked
  const HloInstruction* maximum = nullptr;  // of a row
  double least_maximum = 0;                 // above it, exponentials of what is masked are 0
  std::vector<Group> groups;
  int64_t first_whole_block = 0;  // from here on rows see all keys
};

// Returns the rows of a softmax's scores from which a causal mask hides keys, without groups; nullopt if there are
// none. The caller must check that all values are finite and that each row's maximum exceeds `least_maximum`: only then
// do hidden keys contribute 0.
std::optional<HiddenKeys> HiddenKeysOf(const ScoreChain& chain);

// Returns how many groups of rows, each of which sees other keys, pay for their compilation.
int64_t MaxKeyGroups(const ScoreChain& chain);

// Adds groups of blocks of so many rows. Returns false if they see almost all keys.
bool AddKeyGroups(const ScoreChain& chain, int64_t block_rows, HiddenKeys* hidden);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ATTENTION_HIDDEN_KEYS_H_
