// Kernels for NVIDIA GPUs from the same element generators, with one lane per thread, as PTX text.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_NVPTX_KERNEL_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_NVPTX_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::codegen {

// Threads per block, for both kernels.
inline constexpr int kNvptxBlockSize = 256;

// Emits the root of `computation` (an array, or a tuple of arrays of one size), one element per thread. The kernel,
// "kernel", has a global pointer per parameter, then one per leaf of the root. `arch` is as in "sm_80". Array constants
// must be parameters. Errors: InvalidArgument for an unknown arch; Unimplemented as ElementEmitter.
absl::StatusOr<std::string> EmitNvptxLoop(const HloComputation& computation, absl::string_view arch);

// Emits the root of `computation`, a reduce of one operand of 32-bit elements over its minor-most dimension, with one
// block per result element: threads stride along the row, warps combine by shuffles, the first warp combines the warps.
// The reducer must be associative and commutative. Producers fused into the operand are included. Errors: as above;
// Unimplemented for other reductions.
absl::StatusOr<std::string> EmitNvptxRowReduction(const HloComputation& computation, absl::string_view arch);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_NVPTX_KERNEL_H_
