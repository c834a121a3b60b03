// Which convolutions are computed by the tiles of convolution/, and their loops in numbers. Independent of LLVM.
#ifndef HILO_BACKENDS_CPU_KERNELS_LIBRARY_CONVOLUTION_H_
#define HILO_BACKENDS_CPU_KERNELS_LIBRARY_CONVOLUTION_H_

#include <optional>

#include "backends/cpu/convolution/convolution_loops.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/llvm/lanes/lane_plan.h"

namespace hilo::cpu {

// Returns the loops of a phase of a convolution of `type`, if the target has tiles for its plan that take no longer
// than generated ones: lanes are features that are minor-most, they fill the vectors of the plan, and a tile has enough
// products to amortize its call.
std::optional<convolution::Loops> LibraryLoopsOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan,
                                                 PrimitiveType type, const codegen::TargetTraits& target);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_LIBRARY_CONVOLUTION_H_
