// What a kernel computes: the instruction that determines it, and its results.
#ifndef HILO_BACKENDS_GPU_MATCH_HERO_H_
#define HILO_BACKENDS_GPU_MATCH_HERO_H_

#include <cstdint>
#include <vector>

#include "base/math.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns the operand that `operand` stands for, if it is a parameter of a computation inside the fusion `instruction`;
// otherwise `operand`.
const HloInstruction* FusedOperand(const HloInstruction* operand, const HloInstruction* instruction);

// The results of an element-wise instruction or of a loop fusion.
struct LoopResults {
  std::vector<const HloInstruction*> roots;  // one per output leaf; a single one with a tuple shape yields them all
  std::vector<Shape> leaf_shapes;

  bool has_root_per_leaf() const { return roots.size() == leaf_shapes.size(); }
  // True if one loop computes all of them: they have equally many elements, or one instruction yields them.
  bool are_one_loop() const;
};
LoopResults LoopResultsOf(const HloInstruction& instruction);

// Returns the bytes of an element of the widest operand that has more than one element; at least 1.
int64_t WidestOperandBytes(const HloInstruction& instruction);

int64_t Product(absl::Span<const int64_t> sizes);
std::vector<int64_t> SizesOf(const Shape& shape, absl::Span<const int64_t> dimensions);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_HERO_H_
