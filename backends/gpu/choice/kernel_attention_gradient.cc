// The choice of the kernel for grids of scores: the gradient of attention.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/lib/library_thresholds.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/grid_tile.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/operands.h"
#include "base/errors.h"
#include "base/math.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kWarpLines = 16, kMaxGridWarps = 4;
// With fewer the grid is no larger than the operands.
constexpr int64_t kMinLines = 32;
// Of 16 bits, a block's lines of two operands of 128 elements are 32 KB of shared memory, and strips of two 16 KB.
constexpr int64_t kStrip = 32, kMaxFeatures = 128;
constexpr int64_t kFeatureMultiple = 16;  // the depth of a multiplication
// Each is a pass over all scores.
constexpr size_t kMaxPasses = 4;

PrimitiveType TypeOf(const ScoreGrid& grid) {
  return ScoreOperand(grid, grid.scores[0], GridSide::kLeft).operand->shape().element_type();
}

// Returns the side of whose lines a kernel's blocks have some each.
GridSide OwnSide(const ScoreGrid& grid) {
  if (!grid.batch_sums.empty()) return GridSide::kLeft;
  return OtherSide(grid.summed.at(grid.products.empty() ? grid.reductions[0] : grid.products[0]));
}

// Bytes of shared memory of `warps` warps, where lines of `side` are those of blocks, with `strips` strips of each
// operand, and as many times those lines for a batch sum, whose blocks go through batches. Lines have a gap, but for
// those of 16 bits that are a power of two long.
int64_t SharedBytes(const ScoreGrid& grid, GridSide side, int64_t warps, int64_t strips) {
  const int64_t lines = grid.batch_sums.empty() ? 1 : strips;
  const int64_t cell_bytes = PrimitiveTypeByteSize(TypeOf(grid));
  const auto cells = [&](const GridOperand& operand) {
    const int64_t features = FeaturesOf(operand);
    const bool has_gap = cell_bytes > 2 || (features & (features - 1)) != 0;
    return features + (has_gap ? kLineGap : 0);
  };
  int64_t block = 0, strip = 0;
  for (const HloInstruction* score : grid.scores) block += cells(ScoreOperand(grid, score, side));
  for (const GridOperand& operand : StripsOf(grid, OtherSide(side))) strip += cells(operand);
  return (block * kWarpLines * warps * lines + strip * kStrip * strips) * cell_bytes;
}

// Returns the most warps that the lines need and shared memory has room for; 0: none.
int64_t WarpsFor(const ScoreGrid& grid, GridSide side) {
  int64_t warps = std::min(kMaxGridWarps, CeilDiv(grid.SizeOf(side), kWarpLines));
  while (warps > 0 && SharedBytes(grid, side, warps, 1) > kSharedBytes) warps /= 2;
  return warps;
}

// Returns true if asynchronous copies fill the strips: operands are in memory as tensor cores want them. `instruction`
// is the fusion of the kernel, or an instruction beside those that will be in it.
bool CopiesStrips(const HloInstruction& instruction, const ScoreGrid& grid, GridSide side, int64_t warps) {
  const int64_t bytes = PrimitiveTypeByteSize(TypeOf(grid));
  // Copies are of elements that are adjacent, as many as divide a line of memory and each thread has of `lines`.
  const int64_t least = kMinCopiedBytes / bytes;
  const auto can_copy = [&](const GridOperand& operand, int64_t lines) {
    return AdjacentElements(grid, operand) % least == 0 && FeaturesOf(operand) * lines / (warps * kWarp) >= least &&
           ArrayOfOperand(operand.operand, &instruction) != nullptr;
  };
  return bytes == 2 && SharedBytes(grid, side, warps, 2) <= kSharedBytes &&
         absl::c_all_of(StripsOf(grid, OtherSide(side)),
                        [&](const GridOperand& operand) { return can_copy(operand, kStrip); }) &&
         (grid.batch_sums.empty() || absl::c_all_of(grid.scores, [&](const HloInstruction* score) {
            return can_copy(ScoreOperand(grid, score, side), kWarpLines * warps);
          }));
}

absl::StatusOr<KernelConfig> ChooseBatchSum(const HloInstruction& instruction, const ScoreGrid& grid) {
  const GridSide own = OwnSide(grid), other = OtherSide(own);
  const int64_t warps = WarpsFor(grid, own);
  if (warps == 0) return Unimplemented("a sum over batches of scores of so many features");
  int64_t batches = 1;
  for (int64_t axis : grid.SummedAxes(grid.batch_sums[0])) batches *= grid.axes[axis].size;
  const int64_t tiles = grid.SizeOf(GridSide::kBatch) / batches * CeilDiv(grid.SizeOf(own), warps * kWarpLines) *
                        CeilDiv(grid.SizeOf(other), kStrip);
  const int64_t of_part = CeilDiv(batches, std::clamp<int64_t>(kWantedThreads / (tiles * warps * kWarp), 1, batches));
  return KernelConfig{.kind = KernelKind::kAttention,
                      .width = kWarpLines,
                      .tile = {warps * kWarp, warps * kWarpLines, kStrip,
                               CopiesStrips(instruction, grid, own, warps) ? int64_t{1} : int64_t{0}},
                      .parts = CeilDiv(batches, of_part),
                      .why = absl::StrCat("a sum over ", batches, " batches of ", grid.scores.size(), " scores of ",
                                          grid.SizeOf(own), " x ", grid.SizeOf(other), ": they stay in registers")};
}

}  // namespace

bool MayBeScore(const HloInstruction& dot, const KernelFacts& facts) {
  if (facts.strict || facts.architecture < kFirstTensorCores) return false;
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  if (Product(lhs.free_sizes) < kMinLines || Product(rhs.free_sizes) < kMinLines) return false;
  const int64_t features = Product(lhs.contracting_sizes);
  if (features % kFeatureMultiple != 0 || features > kMaxFeatures) return false;
  const PrimitiveType type = WithoutViews(dot.operand(0))->shape().element_type();
  if (WithoutViews(dot.operand(1))->shape().element_type() != type ||
      SumType(type, type, dot.shape().element_type()) != F32)
    return false;
  // Tensor cores round factors of F32 where libraries would.
  return type == BF16 || type == F16 ||
         (type == F32 && AllowsTf32(dot.attrs<DotAttrs>()) &&
          DotFlops(dot) >= 2.0 * static_cast<double>(LibraryThresholds().gemm_products));
}

bool TakesScoreGrid(const ScoreGrid& grid, absl::Span<const ScoreGrid> kernels, const KernelFacts& facts) {
  if (!absl::c_all_of(grid.scores, [&](const HloInstruction* score) { return MayBeScore(*score, facts); }))
    return false;
  const PrimitiveType type = TypeOf(grid);
  const auto rounds = [](const HloInstruction* product) { return AllowsTf32(product->attrs<DotAttrs>()); };
  if (type == F32 && !absl::c_all_of(grid.products, rounds)) return false;
  if (absl::c_any_of(kernels, [](const ScoreGrid& kernel) { return PassesOf(kernel).size() > kMaxPasses; }))
    return false;
  for (const HloInstruction* score : grid.scores) {
    for (const GridSide side : {GridSide::kLeft, GridSide::kRight}) {
      if (ScoreOperand(grid, score, side).operand->shape().element_type() != type) return false;
    }
  }
  for (const GridSide side : {GridSide::kLeft, GridSide::kRight}) {
    for (const HloInstruction* product : grid.products) {
      if (grid.summed.at(product) != side) continue;
      const GridOperand operand = ProductOperand(grid, product);
      if (operand.operand->shape().element_type() != type || !FactorsOf(grid, product).has_value() ||
          product->shape().element_type() == F64 || FeaturesOf(operand) % kFeatureMultiple != 0 ||
          FeaturesOf(operand) > kMaxFeatures)
        return false;
    }
    if (WarpsFor(grid, side) == 0) return false;
  }
  double ns = 0;
  for (const ScoreGrid& kernel : kernels) {
    const GridSide own = OwnSide(kernel);
    const bool copies = CopiesStrips(*kernel.scores[0], kernel, own, WarpsFor(kernel, own));
    ns += ScoreGridRoofline(kernel, copies).ns();
  }
  return ns < ScoreGridInPartsNs(grid);
}

absl::StatusOr<KernelConfig> ChooseAttentionGradient(const HloInstruction& instruction, const ScoreGrid& grid) {
  if (!grid.batch_sums.empty()) return ChooseBatchSum(instruction, grid);
  const GridSide own = OwnSide(grid), summed = OtherSide(own);
  const int64_t lines = grid.SizeOf(own), warps = WarpsFor(grid, own);
  if (warps == 0) return Unimplemented("a gradient of attention of so many features");
  const int64_t copies = CopiesStrips(instruction, grid, own, warps) ? 1 : 0;
  return KernelConfig{.kind = KernelKind::kAttention,
                      .width = kWarpLines,
                      .tile = {warps * kWarp, warps * kWarpLines, kStrip, copies},
                      .parts = 1,
                      .why = absl::StrCat(grid.scores.size(), " scores of ", lines, " x ", grid.SizeOf(summed), ", ",
                                          PassesOf(grid).size(), " passes: they stay in registers")};
}

}  // namespace hilo::gpu
