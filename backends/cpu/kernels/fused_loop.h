// The computation of a loop over the elements of a result, and its destinations.
#ifndef HILO_BACKENDS_CPU_KERNELS_FUSED_LOOP_H_
#define HILO_BACKENDS_CPU_KERNELS_FUSED_LOOP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

struct FusedLoop {
  const HloInstruction* instruction;
  std::vector<const HloInstruction*> roots;  // one per output leaf; a single one with a tuple shape yields them all
  Shape shape;                               // whose dimensions the loop runs over
  std::vector<Shape> leaf_shapes;
};

// Errors: Unimplemented if the results differ in their number of elements.
absl::StatusOr<FusedLoop> FusedLoopOf(const HloInstruction* instruction);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_FUSED_LOOP_H_
