// Shared by the kernels of reduce and reduce-window: N running values, N elements in, N new running values out.
#ifndef HILO_BACKENDS_CPU_KERNELS_REDUCTION_H_
#define HILO_BACKENDS_CPU_KERNELS_REDUCTION_H_

#include <vector>

#include "backends/cpu/compile/function_emitter.h"

namespace hilo::cpu {

using Elements = std::vector<codegen::ElementValue>;

// A reduce or the fusion around it: which dimensions it reduces.
struct Reduction {
  const HloInstruction* instruction;  // the reduce or the fusion around it
  const HloInstruction* reduce;
  int64_t count;                       // operands
  Shape input;                         // dimensions of the operands
  std::vector<int64_t> kept, reduced;  // dimension numbers, ascending
  std::vector<int64_t> kept_sizes, reduced_sizes;
  const HloComputation* computation;
};
Reduction ReductionOf(const HloInstruction* instruction);

// Returns true if each result of `reduce` combines so few elements that lanes are best used for neighboring results,
// each with its own elements: loops that read it can then treat it as an element-wise operation. Fusion asks too.
bool IsShortReduction(const HloInstruction& reduce);

// For `reduce`, a reduce or reduce-window: its initial values, and the elements of its arrays at `index`.
absl::StatusOr<Elements> InitsOf(FunctionEmitter& f, const HloInstruction* reduce);
absl::StatusOr<Elements> ElementsOf(FunctionEmitter& f, const HloInstruction* reduce, const codegen::Index& index);

// Emits computation(running, elements).
absl::StatusOr<Elements> Combine(FunctionEmitter& f, const HloComputation& computation, Elements running,
                                 const Elements& elements);

// Convert to and from loop-carried values. Values become vectors of the current lanes so that types stay the same.
codegen::Carried PackLanes(FunctionEmitter& f, const Elements& values);
Elements UnpackLanes(const codegen::Carried& carried, const Elements& like);

// Returns lanes [first, first + count) of vectors; a scalar when count is 1.
Elements Lanes(FunctionEmitter& f, const Elements& values, int first, int count);

int64_t Product(absl::Span<const int64_t> sizes);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_REDUCTION_H_
