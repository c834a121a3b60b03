// Matches convolutions to the library: which of cuDNN's three convolutions, which order of dimensions, and which
// instructions after it can be fused.
//
// Precision as in gemm_match.h: f32 factors may be rounded to tf32 unless operand_precision is HIGHEST, and a fused
// relu may return 0 for NaN.
#ifndef HILO_BACKENDS_GPU_MATCH_CONVOLUTION_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_CONVOLUTION_MATCH_H_

#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/libraries.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// The descriptor of an HLO convolution, and the library's order of the dimensions of operands and result: position i
// holds dimension order[i].
struct ConvolutionPlan {
  ConvolutionDescriptor descriptor;
  std::vector<int64_t> lhs, rhs, result;
};

// Returns nullopt if the library has no such convolution. Of the two orders, chooses the one with fewer transposes.
std::optional<ConvolutionPlan> PlanConvolution(const HloInstruction& convolution);
// Returns true if arrays in these orders have the same memory layout; dimensions of size 1 may be anywhere.
bool IsInOrder(const Shape& shape, const std::vector<int64_t>& order);

// A convolution whose arrays are in the library's order, and the element-wise instructions after it that are part of
// the same library call.
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
// The same, with as many following instructions as the library can fuse.
std::optional<ConvolutionMatch> MatchConvolution(const HloInstruction& convolution);
// Returns the match of a fusion that MakeConvolutionFusion made; nullopt for others.
std::optional<ConvolutionMatch> ConvolutionOf(const HloInstruction& instruction);

// "fuse-convolution": makes fusions of the work assigned to the library, with transposes around them where arrays are
// in another order.
std::unique_ptr<HloPass> MakeConvolutionFusion(Libraries* libraries);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_CONVOLUTION_MATCH_H_
