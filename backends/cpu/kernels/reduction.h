// What the kernels of reduce and reduce-window share: N running values, N elements in, N new running values out.
#ifndef HILO_BACKENDS_CPU_KERNELS_REDUCTION_H_
#define HILO_BACKENDS_CPU_KERNELS_REDUCTION_H_

#include <vector>

#include "backends/cpu/compile/function_emitter.h"

namespace hilo::cpu {

using Elements = std::vector<codegen::ElementValue>;

// True if each result of `reduce` is made of so few elements that the lanes are best on neighbouring results, each
// adding up its own elements: then it is as good as an element-wise operation for the loops that read it.
bool IsShortReduction(const HloInstruction& reduce);

// Of `reduce`, a reduce or reduce-window: its initial values, and the elements of its arrays at `index`.
absl::StatusOr<Elements> InitsOf(FunctionEmitter& f, const HloInstruction* reduce);
absl::StatusOr<Elements> ElementsOf(FunctionEmitter& f, const HloInstruction* reduce, const codegen::Index& index);

// computation(running, elements).
absl::StatusOr<Elements> Combine(FunctionEmitter& f, const HloComputation& computation, Elements running,
                                 const Elements& elements);

// Loop-carried values and back. Values are brought to vectors of the current lanes so that their types stay the same.
codegen::Carried PackLanes(FunctionEmitter& f, const Elements& values);
Elements UnpackLanes(const codegen::Carried& carried, const Elements& like);

// Lanes [first, first + count) of vectors; a scalar when count is 1.
Elements Lanes(FunctionEmitter& f, const Elements& values, int first, int count);

int64_t Product(absl::Span<const int64_t> sizes);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_REDUCTION_H_
