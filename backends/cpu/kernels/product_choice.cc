// Chooses between loops and library calls for dots, and the tiles of convolutions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::NumericOptions;
using codegen::TargetTraits;

// Rows per block of a thread.
constexpr int64_t kRowBlock = 256;
// Products per library call, about 10 ms, if that leaves at least this many columns.
constexpr double kPanelProducts = 5e8;
constexpr int64_t kMinPanel = 256;

KernelConfig ChooseLibraryDot(const Gemm& gemm) {
  const int64_t block = gemm.m >= 2 * kRowBlock          ? kRowBlock
                        : gemm.batch < 8 && gemm.m >= 64 ? (gemm.m / 2 + 15) / 16 * 16
                                                         : gemm.m;
  // The columns of one call, between which cancellation is polled.
  const double column_products = static_cast<double>(block) * static_cast<double>(gemm.k);
  const int64_t panel = std::min(
      gemm.n, std::max(kMinPanel, static_cast<int64_t>(kPanelProducts / column_products) / kMinPanel * kMinPanel));
  return {.kind = KernelKind::kLibraryDot,
          .tile = {block, panel},
          .parts = gemm.batch * CeilDiv(gemm.m, block),
          .why = "large enough for a call of the library"};
}

}  // namespace

absl::StatusOr<KernelConfig> ChooseDot(const HloInstruction& instruction, const TargetTraits& target,
                                       const NumericOptions& numerics) {
  const bool is_alone = HeroOf(&instruction) == &instruction;
  if (is_alone && !numerics.strict && IsLibraryDot(instruction)) return ChooseLibraryDot(*GemmOf(instruction));
  HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseLoop(instruction, target));
  absl::StrAppend(&config.why, !is_alone         ? "; a fused dot"
                               : numerics.strict ? "; strict products are added in order"
                                                 : "; small, or not as the library reads matrices");
  return config;
}

absl::StatusOr<KernelConfig> ChooseConvolution(const HloInstruction& instruction, const TargetTraits& target,
                                               const NumericOptions& numerics) {
  const std::optional<std::vector<ConvolutionPhase>> phases = PhasesOf(instruction, numerics.strict);
  if (!phases.has_value()) {
    HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseLoop(instruction, target));
    absl::StrAppend(&config.why, "; a convolution of too many phases");
    return config;
  }
  KernelConfig config{.kind = KernelKind::kConvolution, .parts = 0, .why = "tiles of results stay in registers"};
  for (const ConvolutionPhase& phase : *phases) {
    const ConvolutionPlan plan =
        PlanOf(phase, instruction.shape().element_type(),
               {.vector_bits = std::max(target.vector_bits, 32), .registers = target.has_avx512 ? 32 : 16});
    const std::vector<int64_t> tile = plan.ToTile();
    config.tile.insert(config.tile.end(), tile.begin(), tile.end());
    config.width = std::max<int64_t>(config.width, plan.width);
    config.parts += UnitsOf(phase, plan).count;
  }
  return config;
}

}  // namespace hilo::cpu
