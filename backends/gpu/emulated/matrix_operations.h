// The warp operations on matrices whose elements are spread over the lanes.
#ifndef HILO_BACKENDS_GPU_EMULATED_MATRIX_OPERATIONS_H_
#define HILO_BACKENDS_GPU_EMULATED_MATRIX_OPERATIONS_H_

#include <array>
#include <cstdint>

#include "backends/gpu/emulated/thread_context.h"

namespace hilo::gpu {

// Replaces the words of each lane, the operation's registers, by its results: in the order in which PTX has them. Those
// of kLoadMatrix* are an address, in two words.
//
// A result of kMultiply* is the sum of the lane's addend and of the products in ascending order of depth, each sum
// rounded to f32. GPUs add up the products of one operation together, with fewer roundings, and round towards zero:
// their results differ in the last bits.
void RunMatrixOperation(WarpOperation operation, const std::array<uint32_t*, 32>& lanes);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_MATRIX_OPERATIONS_H_
