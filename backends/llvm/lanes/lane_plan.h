// The target's vector capabilities, and the number of lanes for a loop.
#ifndef HILO_BACKENDS_LLVM_LANES_LANE_PLAN_H_
#define HILO_BACKENDS_LLVM_LANES_LANE_PLAN_H_

#include "absl/types/span.h"
#include "hilo/xla_data.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::codegen {

struct CpuFeatures;

// Properties of the processor that emission depends on.
struct TargetTraits {
  int vector_bits = 128;  // registers that are profitable to fill; 0 if there are none: lane plans then return 1
  int vector_registers = 16;
  bool has_fma = false;
  bool has_avx512 = false;  // masked loads and stores of all widths are one instruction
  bool has_f16c = false;
  bool has_bf16_rounding = false;  // truncation of single precision to bf16 is an instruction, or LLVM expands it well
  bool has_ieee_extremes = false;  // minima and maxima that propagate NaN and order zeros are instructions
  bool has_exp2_f32 = false;       // as in MathTarget

  static TargetTraits FromCpu(const CpuFeatures& features);
};

// Returns true if every instruction of a fused computation (or the lone instruction) reads its array operands at the
// linear index that it writes, up to reshapes and broadcast scalars: one flat loop over Index::FromLinear then emits it
// best. `with_gathers`: of a fused computation also one that gathers in order from arrays that it does not compute, or
// has numbers along its rows, which repeat in lanes.
bool IsFlat(const HloInstruction* root, bool with_gathers = false);

// Returns true if a gather reads one element for each of its start indices, which are one number each and computed: it
// has them at the linear index of its result.
bool GathersInOrder(const HloInstruction& gather);

// Sums of at most this many terms are unrolled in the code of an element, longer ones are loops.
constexpr int64_t kUnrolledTerms = 8;

// Loads of lanes at most this many elements apart become a few contiguous loads and shuffles.
constexpr int64_t kLargestShuffledStride = 4;

// Returns true if which lanes of a vector along the padded dimension are elements of the operand is known when the code
// is emitted, as vectors begin at multiples of their width: all of them, every second or every fourth.
bool HasPaddedPattern(const PaddingConfig::Dimension& padding);

// Returns the number of lanes that fill a register with the widest type that occurs in a loop over `root`'s elements; 1
// if the target has no vectors.
int FullVectorWidth(const HloInstruction* root, const TargetTraits& target);

// Returns the number of lanes for a loop over `root`'s elements with the lanes on its dimension `behind` positions
// before the minor-most (`flat`: on the linear index). The widest type that occurs determines it; 1 if the accesses
// would be mostly gathers or scalars, or the row is shorter than two lanes. A power of two.
// `vectors`: fused instructions whose values the loop has as vectors.
int PreferredWidth(const HloInstruction* root, const TargetTraits& target, bool flat = false, int64_t behind = 0,
                   absl::Span<const HloInstruction* const> vectors = {});

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_LANES_LANE_PLAN_H_
