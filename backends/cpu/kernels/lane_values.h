// Values in lanes, which may be complex: vectors of their parts.
#ifndef HILO_BACKENDS_CPU_KERNELS_LANE_VALUES_H_
#define HILO_BACKENDS_CPU_KERNELS_LANE_VALUES_H_

#include <cstdint>
#include <vector>

#include "backends/cpu/functions/function_emitter.h"
#include "backends/llvm/elements/terms.h"

namespace hilo::cpu {

using Elements = codegen::ElementValues;

// Convert to and from loop-carried values. Values become vectors of the current lanes so that types stay the same.
codegen::Carried PackLanes(FunctionEmitter& f, const Elements& values);
Elements UnpackLanes(const codegen::Carried& carried, const Elements& like);

// Returns lanes [first, first + count) of vectors; a scalar when count is 1.
Elements Lanes(FunctionEmitter& f, const Elements& values, int first, int count);
// Returns lanes `lanes` of x and y, one after the other.
Elements ShuffleLanes(FunctionEmitter& f, const Elements& x, const Elements& y, const std::vector<int>& lanes);
// Returns a mask of the first `count` lanes of `width`.
llvm::Value* FirstLanes(FunctionEmitter& f, int64_t count, int width);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_LANE_VALUES_H_
