// Which convolutions are computed by the tiles of convolution/, and their loops in numbers. Independent of LLVM.
#ifndef HILO_BACKENDS_CPU_KERNELS_LIBRARY_CONVOLUTION_H_
#define HILO_BACKENDS_CPU_KERNELS_LIBRARY_CONVOLUTION_H_

#include <optional>

#include "backends/cpu/convolution/convolution_loops.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/llvm/lanes/lane_plan.h"

namespace hilo::cpu {

// Returns the loops of a phase of a convolution of `type`, if the target has tiles for its plan. Lanes are either
// features that are minor-most, of which those that read one element of the input need not fill the plan's last vector,
// or positions, rows then features.
std::optional<convolution::Loops> LibraryLoopsOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan,
                                                 PrimitiveType type, const codegen::TargetTraits& target);

// Returns true if the lanes of a plan, if there are any, are positions of the input rather than features.
bool HasPositionLanes(const ConvolutionPhase& phase, const ConvolutionPlan& plan);

// Returns true if the lanes of a plan are fewer than its vectors have.
bool HasPartialVector(const ConvolutionPhase& phase, const ConvolutionPlan& plan);

// Returns a plan whose lanes are positions; nullopt if there is no such axis, or if features fill vectors.
std::optional<ConvolutionPlan> PositionPlanOf(const ConvolutionPhase& phase, PrimitiveType type,
                                              const codegen::TargetTraits& target);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_LIBRARY_CONVOLUTION_H_
