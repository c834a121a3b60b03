// Matches dots to the library: how they map to matrix products of BLAS, and which instructions around them can be
// fused.
//
// Precision as in XLA on GPUs: f32 factors may be rounded to tf32 unless operand_precision is HIGHEST or the algorithm
// is dot_f32_f32_f32. A fused maximum with 0 is the library's relu, which may return 0 for NaN.
#ifndef HILO_BACKENDS_GPU_MATCH_GEMM_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_GEMM_MATCH_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/lib/gemm.h"
#include "backends/gpu/lib/libraries.h"
#include "hlo/analysis/precision.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// A dot and the element-wise instructions around it that are one library call, or one call per iteration of a loop.
//
//   root = activation(alpha dot(lhs, rhs) + residual + broadcast(bias)), also with transpose(dot(lhs, rhs))
struct GemmMatch {
  GemmDescriptor gemm;  // A is rhs, B is lhs: row-major arrays are transposed matrices
  GemmLoop loop;        // an outermost loop
  const HloInstruction* dot = nullptr;
  const HloInstruction* root = nullptr;
  const HloInstruction* residual = nullptr;  // null: none; of the root's shape
  const HloInstruction* bias = nullptr;      // null: none
  std::vector<const HloInstruction*>
      members;  // from the dot to the root, with the broadcasts and constants that they read; operands first
};

// Returns nullopt if the library does not support the product: types, sizes of zero, orders of dimensions that BLAS has
// no flags for.
std::optional<GemmMatch> MatchDot(const HloInstruction& dot);
// The same, with a transpose of the dot as the result: nullopt, too, if BLAS cannot write it in that order.
std::optional<GemmMatch> MatchTransposedDot(const HloInstruction& dot, const HloInstruction& transpose);
// The same, with as many surrounding instructions as the library can fuse.
std::optional<GemmMatch> MatchGemm(const HloInstruction& dot);
// Returns the match of a fusion that MakeGemmFusion made; nullopt for others.
std::optional<GemmMatch> GemmOf(const HloInstruction& instruction);

// "fuse-gemm": makes fusions of the work assigned to the library, with transposes of operands where BLAS needs them.
// Leaves the dots for which `is_ours` returns true.
std::unique_ptr<HloPass> MakeGemmFusion(Libraries* libraries, std::function<bool(const HloInstruction& dot)> is_ours);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_GEMM_MATCH_H_
