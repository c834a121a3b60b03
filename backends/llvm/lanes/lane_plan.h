// What the target can do with vectors, and how many lanes a loop should have.
#ifndef HILO_BACKENDS_LLVM_LANES_LANE_PLAN_H_
#define HILO_BACKENDS_LLVM_LANES_LANE_PLAN_H_

#include "hlo/ir/hlo_instruction.h"

namespace hilo::codegen {

struct CpuFeatures;

// What emission needs to know of the processor.
struct TargetTraits {
  int vector_bits =
      128;  // registers that it pays to fill; 0 when there are none (a GPU thread): lane plans then answer 1
  bool has_fma = false;
  bool has_avx512 = false;  // masked loads and stores of all widths are one instruction
  bool has_f16c = false;

  static TargetTraits FromCpu(const CpuFeatures& features);
};

// True for opcodes that an ElementEmitter emits from their operands: what may be in a loop fusion.
bool IsElementGenerated(HloOpcode opcode);

// True if every instruction of a fused computation (or the lone instruction) reads its array operands at the very
// linear position it writes, up to reshapes and broadcast scalars: one flat loop over Index::FromLinear then emits it
// best.
bool IsFlat(const HloInstruction* root);

// Sums of at most this many terms are straight code within an element's, longer ones loops.
constexpr int64_t kUnrolledTerms = 8;

// Loads of lanes so many elements apart are a few loads of runs and shuffles of them.
constexpr int64_t kLargestShuffledStride = 4;

// Lanes to compute together for a loop over `root`'s elements with the lanes on its dimension `behind` places before
// the minor-most (`flat`: on the linear position). The widest type that occurs decides; 1 when the accesses would be
// mostly gathers or scalars, or the row is shorter than two lanes. A power of two.
int PreferredWidth(const HloInstruction* root, const TargetTraits& target, bool flat = false, int64_t behind = 0);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_LANES_LANE_PLAN_H_
