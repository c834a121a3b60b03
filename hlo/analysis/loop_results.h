// The results of an element-wise instruction, or of a fusion of them, as a loop over elements computes them.
#ifndef HILO_HLO_ANALYSIS_LOOP_RESULTS_H_
#define HILO_HLO_ANALYSIS_LOOP_RESULTS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

struct LoopResults {
  const HloInstruction* instruction;
  std::vector<const HloInstruction*> roots;  // one per output leaf; a single one with a tuple shape yields them all
  std::vector<Shape> leaf_shapes;
  int64_t first_leaf = 0;  // the number of the first of them among the instruction's leaves

  bool has_root_per_leaf() const { return roots.size() == leaf_shapes.size(); }
  // True if one loop computes all of them: they are arrays of equally many elements, or one instruction yields them.
  bool are_one_loop() const;
  // The array whose dimensions that loop runs over. There must be a result.
  const Shape& shape() const { return leaf_shapes[0]; }
  // Result `leaf` alone. There must be a root per leaf.
  LoopResults Only(int64_t leaf) const;
};
LoopResults LoopResultsOf(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_LOOP_RESULTS_H_
