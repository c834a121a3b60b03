// The choice of the kernel for grids of scores: the gradient of attention.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/match/grid_tile.h"
#include "backends/gpu/match/launch_sizes.h"
#include "base/math.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kWarpLines = 16, kMostWarps = 4;
// With fewer the grid is no larger than the operands.
constexpr int64_t kMinLines = 32;
// A block's lines of two operands of 128 elements are 32 KB of shared memory, and strips of two 16 KB.
constexpr int64_t kStrip = 32, kMostFeatures = 128;
constexpr int64_t kFeatureMultiple = 16;  // the depth of a multiplication
constexpr int64_t kSharedBytes = 48 * 1024, kCellBytes = 2;
// Each is a pass over all scores.
constexpr size_t kMostPasses = 4;
constexpr int kFirstTensorCores = 80;

// Bytes of shared memory, where lines of `side` are those of blocks. Lines that are not a power of two long have a gap.
int64_t SharedBytes(const ScoreGrid& grid, GridSide side) {
  const auto cells = [](const GridOperand& operand) { return FeaturesOf(operand) + 8; };
  int64_t block = 0, strip = 0;
  for (const HloInstruction* score : grid.scores) block += FeaturesOf(ScoreOperand(grid, score, side));
  for (const GridOperand& operand : StripsOf(grid, OtherSide(side))) {
    const int64_t features = FeaturesOf(operand);
    strip += (features & (features - 1)) == 0 ? features : cells(operand);
  }
  return (block * kWarpLines * kMostWarps + strip * kStrip) * kCellBytes;
}

}  // namespace

bool TakesScoreGrid(const ScoreGrid& grid, absl::Span<const ScoreGrid> kernels, const KernelFacts& facts) {
  if (facts.strict || facts.architecture < kFirstTensorCores) return false;
  const PrimitiveType type = ScoreOperand(grid, grid.scores[0], GridSide::kLeft).operand->shape().element_type();
  if ((type != BF16 && type != F16) || PassesOf(grid).size() > kMostPasses) return false;
  for (const HloInstruction* score : grid.scores) {
    for (const GridSide side : {GridSide::kLeft, GridSide::kRight}) {
      const GridOperand operand = ScoreOperand(grid, score, side);
      const int64_t features = FeaturesOf(operand);
      if (operand.operand->shape().element_type() != type || features % kFeatureMultiple != 0 ||
          features > kMostFeatures)
        return false;
    }
    if (SumType(type, type, score->shape().element_type()) != F32) return false;
  }
  for (const GridSide side : {GridSide::kLeft, GridSide::kRight}) {
    for (const HloInstruction* product : grid.products) {
      if (grid.summed.at(product) != side) continue;
      const GridOperand operand = ProductOperand(grid, product);
      if (operand.operand->shape().element_type() != type || !FactorsOf(grid, product).has_value() ||
          product->shape().element_type() == F64 || FeaturesOf(operand) % kFeatureMultiple != 0 ||
          FeaturesOf(operand) > kMostFeatures)
        return false;
    }
    if (grid.SizeOf(side) < kMinLines || SharedBytes(grid, side) > kSharedBytes) return false;
  }
  double ns = 0;
  for (const ScoreGrid& kernel : kernels) ns += ScoreGridRoofline(kernel).ns();
  return ns < ScoreGridInPartsNs(grid);
}

absl::StatusOr<KernelConfig> ChooseAttentionGradient(const ScoreGrid& grid) {
  const HloInstruction* sum = grid.products.empty() ? grid.reductions[0] : grid.products[0];
  const GridSide summed = grid.summed.at(sum);
  const int64_t lines = grid.SizeOf(OtherSide(summed));
  const int64_t warps = std::min(kMostWarps, CeilDiv(lines, kWarpLines));
  return KernelConfig{.kind = KernelKind::kAttention,
                      .width = kWarpLines,
                      .tile = {warps * kWarp, warps * kWarpLines, kStrip},
                      .parts = 1,
                      .why = absl::StrCat(grid.scores.size(), " scores of ", lines, " x ", grid.SizeOf(summed), ", ",
                                          PassesOf(grid).size(), " passes: they stay in registers")};
}

}  // namespace hilo::gpu
