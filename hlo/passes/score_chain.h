// Two dots with work on the rows of scores between them, as in attention: second = dot(f(dot(q, k)), v).
#ifndef HILO_HLO_PASSES_SCORE_CHAIN_H_
#define HILO_HLO_PASSES_SCORE_CHAIN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// For each dimension of an array: the dimension of the scores that it runs along, -1 for others. Dimensions of size 1
// run along none.
using ScoreAxes = std::vector<int64_t>;

struct ScoreChain {
  HloInstruction* first = nullptr;
  HloInstruction* second = nullptr;
  int64_t scores_operand = 0;  // of the second dot
  // What is computed between the dots, operands first, the first dot among it. An element with certain indices along
  // the scores' free dimensions depends only on elements with the same ones.
  std::vector<HloInstruction*> members;
  absl::flat_hash_map<const HloInstruction*, ScoreAxes> axes;  // of the members and the second dot

  const HloInstruction* scores() const { return second->operand(scores_operand); }
  bool Has(const HloInstruction* instruction) const { return axes.contains(instruction); }
  // Returns the axes that a member or the second dot, with the axes above, needs of operand `i`.
  ScoreAxes OperandAxes(const HloInstruction& instruction, int64_t i) const;
};

// Returns the chain that ends in `second`, if nothing else reads what depends on the first dot. `index`: of the
// instructions of the computation, operands before their users; others are not looked into.
std::optional<ScoreChain> ScoreChainOf(HloInstruction* second,
                                       const absl::flat_hash_map<const HloInstruction*, int64_t>& index);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_SCORE_CHAIN_H_
