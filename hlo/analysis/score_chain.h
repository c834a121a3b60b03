// Two dots with work on the rows of scores between them, as in attention: second = dot(f(dot(q, k)), v). What f is does
// not matter here; hlo/analysis/attention.h matches the softmax.
#ifndef HILO_HLO_ANALYSIS_SCORE_CHAIN_H_
#define HILO_HLO_ANALYSIS_SCORE_CHAIN_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// For each dimension of an array: the dimension of the second dot's operand, the scores, that it runs along; -1 for
// dimensions of size 1, and for those along which rows are reduced or repeated.
using ScoreAxes = std::vector<int64_t>;

struct ScoreChain {
  const HloInstruction* first = nullptr;
  const HloInstruction* second = nullptr;
  int64_t scores_operand = 0;  // of the second dot
  // The first dot and what depends on it, up to the second dot, operands first. An element with certain indices along
  // the scores' free dimensions depends only on elements with the same ones. Only members and the second dot read them.
  std::vector<HloInstruction*> members;
  absl::flat_hash_map<const HloInstruction*, ScoreAxes> axes;  // of the members and the second dot

  HloInstruction* scores() const { return second->operand(scores_operand); }
  bool Has(const HloInstruction* instruction) const { return axes.contains(instruction); }
  // Returns the axes that a member or the second dot, with the axes above, needs of operand `i`.
  ScoreAxes OperandAxes(const HloInstruction& instruction, int64_t i) const;
};

// Returns the chains that end in the dot `second`, one for each dot that may be their first.
std::vector<ScoreChain> ScoreChainsOf(const HloInstruction& second, int64_t scores_operand);

// Returns true for arrays of which a chain may compute the elements with certain indices along the scores' free
// dimensions: what is element-wise, transposes, broadcasts, reductions of one array, and the reshapes below. Those with
// control dependences are not among them.
bool MayBeInScoreChain(const HloInstruction& instruction);

// Returns true for a reshape that adds and removes dimensions of size 1.
bool IsReshapeOfUnits(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_SCORE_CHAIN_H_
