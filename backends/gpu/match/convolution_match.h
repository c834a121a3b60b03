// Convolutions that go to the library: as which of cuDNN's three, in which order of dimensions, and what after them the
// library does along the way.
//
// Precision as in gemm_match.h: f32 factors may be rounded to tf32 unless operand_precision is HIGHEST, and a NaN may
// come out of a fused relu as 0.
#ifndef HILO_BACKENDS_GPU_MATCH_CONVOLUTION_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_CONVOLUTION_MATCH_H_

#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/driver/libraries.h"
#include "backends/gpu/lib/convolution.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// The descriptor of an HLO convolution, and in which order the library wants the dimensions of operands and result:
// place i has dimension order[i].
struct ConvolutionPlan {
  ConvolutionDescriptor descriptor;
  std::vector<int64_t> lhs, rhs, result;
};

// Nullopt if the library has no such convolution. Of the two orders the one that moves less.
std::optional<ConvolutionPlan> PlanConvolution(const HloInstruction& convolution);
// Whether arrays in these orders are the same memory; dimensions of size 1 may be anywhere.
bool IsInOrder(const Shape& shape, const std::vector<int64_t>& order);

// A convolution whose arrays lie as the library wants them, and the element-wise instructions after it that are one
// call of the library.
//
//   root = activation(convolution(lhs, rhs) + residual + broadcast(bias))
struct ConvolutionMatch {
  ConvolutionDescriptor descriptor;
  const HloInstruction* convolution = nullptr;
  const HloInstruction* root = nullptr;
  const HloInstruction* residual = nullptr;    // null: none; of the root's shape
  const HloInstruction* bias = nullptr;        // null: none
  std::vector<const HloInstruction*> members;  // as in GemmMatch
};

std::optional<ConvolutionMatch> MatchPlainConvolution(const HloInstruction& convolution);
// The same with as much after it as the library takes.
std::optional<ConvolutionMatch> MatchConvolution(const HloInstruction& convolution);
// Of a fusion that MakeConvolutionFusion made; nullopt for others.
std::optional<ConvolutionMatch> ConvolutionOf(const HloInstruction& instruction);

// "fuse-convolution": makes a fusion of what goes to the library, with transposes around it where arrays lie in another
// order.
std::unique_ptr<HloPass> MakeConvolutionFusion(Libraries* libraries);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_CONVOLUTION_MATCH_H_
