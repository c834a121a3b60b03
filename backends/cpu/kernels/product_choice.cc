// Chooses between loops and library calls for dots, and the tiles of convolutions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/reduce_choice.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/contiguous_view.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::NumericOptions;
using codegen::TargetTraits;

// Rows of a call if there are more than twice as many.
constexpr int64_t kRowBlock = 256;
constexpr int64_t kFewRows = 64;
// Rows and columns of tiles of the library.
constexpr int64_t kRowMultiple = 8, kColumnMultiple = 48;
// So many calls are enough for threads to share. Fewer are divided into calls of this many products at least.
constexpr int64_t kManyCalls = 8;
constexpr double kLeastProducts = 4e6;
// Products per library call, about 10 ms, if that leaves at least this many columns.
constexpr double kPanelProducts = 5e8;
constexpr int64_t kMinPanel = 256;

// Returns the size, a multiple of `unit` or all of `size`, of the parts if `size` is divided into `parts` at most.
int64_t PartSize(int64_t size, int64_t parts, int64_t unit) {
  return std::min(size, CeilDiv(CeilDiv(size, parts), unit) * unit);
}

KernelConfig ChooseLibraryDot(const Gemm& gemm) {
  int64_t block = gemm.m >= 2 * kRowBlock ? kRowBlock : gemm.m;
  // The columns of one call, between which cancellation is polled.
  const double column_products = static_cast<double>(block) * static_cast<double>(gemm.k);
  int64_t panel = std::min(
      gemm.n, std::max(kMinPanel, static_cast<int64_t>(kPanelProducts / column_products) / kMinPanel * kMinPanel));
  const double products = static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                          static_cast<double>(gemm.k);
  const auto wanted = static_cast<int64_t>(std::min<double>(kManyCalls, products / kLeastProducts));
  const auto calls = [&] { return gemm.batch * CeilDiv(gemm.m, block) * CeilDiv(gemm.n, panel); };
  if (gemm.m < kFewRows && gemm.batch < kManyCalls) panel = std::min(panel, kMinPanel);
  // By columns first: a call reads and packs its columns of the right side once for all of its rows.
  if (calls() < wanted) {
    const int64_t panels = CeilDiv(gemm.n, panel);
    const int64_t most = std::max(panels, gemm.n / kMinPanel);
    panel = std::min(panel, PartSize(gemm.n, std::min(most, CeilDiv(wanted * panels, calls())), kColumnMultiple));
  }
  const int64_t least_rows = calls() == 1 ? kFewRows / 2 : kFewRows;
  if (calls() < wanted && block > least_rows) {
    const int64_t blocks = CeilDiv(wanted * CeilDiv(gemm.m, block), calls());
    block = std::min(block, std::max(least_rows, PartSize(gemm.m, blocks, kRowMultiple)));
  }
  return {.kind = KernelKind::kLibraryDot,
          .tile = {block, panel},
          .parts = gemm.batch * CeilDiv(gemm.m, block) * CeilDiv(gemm.n, panel),
          .why = "large enough for a call of the library"};
}

// Vectors of sums that a tile keeps in registers, beside those of the factors.
int64_t TileVectors(const TargetTraits& target) { return target.has_avx512 ? 16 : 8; }
// Vectors of a tile that are adjacent in a row of the result.
constexpr int64_t kTileColumns = 2;
// Rows of a part, unless there are enough products in the batch to share among threads.
constexpr int64_t kTiledRows = 64, kManyTiled = 16;

// Multiply-adds of a product above which the library, whose code is compiled already, is as fast as tiles.
constexpr double kTiledWork = 1 << 21;
// Products that a sum adds up one after the other; longer sums add up such sums.
constexpr int64_t kTiledSum = 256;

// Tiles of the result in registers: each vector of the right side is loaded once for all rows of a tile. `row`: the
// choice of the loop over rows of the result.
std::optional<KernelConfig> ChooseTiledDot(const HloInstruction& dot, const KernelConfig& row,
                                           const TargetTraits& target, const NumericOptions& numerics) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  if (row.kind != KernelKind::kRows || row.width == 1 || rhs.free.empty()) return std::nullopt;
  const int64_t rows = Product(lhs.free_sizes), columns = rhs.free_sizes.back(), batch = Product(lhs.batch_sizes),
                depth = Product(lhs.contracting_sizes);
  if (rows < 2 || depth < 2) return std::nullopt;
  const int64_t vectors = std::min(kTileColumns, CeilDiv(columns, row.width));
  const int64_t most = TileVectors(target) / vectors / (IsComplexType(dot.shape().element_type()) ? 2 : 1);
  int64_t tile = std::min(rows, most);
  // No rest, if some tile of half the size at least has none.
  for (int64_t smaller = tile; 2 * smaller > tile; --smaller) {
    if (rows % smaller == 0) {
      tile = smaller;
      break;
    }
  }
  const int64_t part = batch >= kManyTiled ? rows : std::min(rows, CeilDiv(kTiledRows, tile) * tile);
  return KernelConfig{.kind = KernelKind::kTiledDot,
                      .width = row.width,
                      .tile = {part, tile, vectors, depth >= 2 * kTiledSum && !numerics.strict ? kTiledSum : 0},
                      .parts = batch * CeilDiv(rows, part),
                      .why = "tiles of the result stay in registers"};
}

// Streams: columns of a part, as processors prefetch along rows; rows of weights that are read together, fewer if the
// product has few rows; and rows of a tile, the factors of which stay in registers. Measured, s8[4096,4096] weights of
// f32[8,4096]: tiles of 4 rows 1.4 ms, of 8 rows 1.7; parts of 256 columns 1.8; blocks of 16 rows 1.6
// (f32[16,4096]: 3.4, blocks of 8 rows 4.8).
constexpr int64_t kStreamPart = 2048, kLeastStreamPart = 512;
constexpr int64_t kStreamBlock = 8, kLargeStreamBlock = 16, kFewStreamRows = 8;
constexpr int64_t kStreamTiles[] = {5, 4, 3, 2};

// Rows of the weights of a part, and rows of either factor of a tile, if sums are along the rows of the weights.
constexpr int64_t kLanePart = 64, kLaneTile = 4;

KernelConfig ChooseStreamDot(const HloInstruction& dot, const TargetTraits& target) {
  const Gemm gemm = *GemmOf(dot);
  const int width = FullWidth(target, std::vector<PrimitiveType>{dot.shape().element_type()});
  if (gemm.b.transposed) {
    return {.kind = KernelKind::kLaneDot,
            .width = width,
            .tile = {std::min(kLanePart, gemm.n), kLaneTile, std::min(gemm.m, kLaneTile)},
            .parts = gemm.batch * CeilDiv(gemm.n, kLanePart),
            .why = "few rows: the weights are read once, as streams along the sums"};
  }
  // The tile that leaves the fewest rows over.
  const int64_t tile = *std::min_element(std::begin(kStreamTiles), std::end(kStreamTiles),
                                         [&](int64_t a, int64_t b) { return gemm.m % a < gemm.m % b; });
  const int64_t part =
      std::min(gemm.n, std::clamp(PartSize(gemm.n, kManyCalls, kTileColumns * width), kLeastStreamPart, kStreamPart));
  return {.kind = KernelKind::kStreamDot,
          .width = width,
          .tile = {part, kTileColumns, tile, gemm.m <= kFewStreamRows ? kStreamBlock : kLargeStreamBlock},
          .parts = gemm.batch * CeilDiv(gemm.n, part),
          .why = "few rows: the weights are read once, as streams"};
}

// Products of a sum that lanes add up together; for fewer, combining the lanes costs more than they save.
constexpr int64_t kLaneTerms = 16;

// Lanes along the rows of factors, which are contiguous on both sides: a product of a matrix and a vector, or of
// vectors.
std::optional<KernelConfig> ChooseLanesOfTerms(const HloInstruction& dot, const TargetTraits& target) {
  const PrimitiveType type = dot.shape().element_type();
  if (type != F32 && type != F64) return std::nullopt;
  int64_t terms = 1;
  for (const DotSide& side : {LhsOf(dot), RhsOf(dot)}) {
    if (side.operand->shape().element_type() != type || side.contracting.size() != 1 || !side.DepthIsMinor())
      return std::nullopt;
    terms = side.contracting_sizes[0];
  }
  if (terms < kLaneTerms) return std::nullopt;
  const int width = FullWidth(target, std::vector<PrimitiveType>{type});
  if (width < 2 || 2 * width > terms) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kReduceRows,
                      .width = width,
                      .tile = RowTile(terms, width, /*is_float_sum=*/true),
                      .parts = ShapeUtil::ElementsIn(dot.shape()),
                      .why = "both rows of factors are contiguous"};
}

// Returns true if tiles are at least as fast as the library: they fill vectors, and need not be divided for caches.
bool TilesBeatLibrary(const HloInstruction& dot, const KernelConfig& tiled, const TargetTraits& target) {
  const int64_t columns = RhsOf(dot).free_sizes.back();
  const double work = static_cast<double>(Product(LhsOf(dot).free_sizes)) *
                      static_cast<double>(Product(RhsOf(dot).free_sizes)) *
                      static_cast<double>(Product(LhsOf(dot).contracting_sizes));
  const bool fills_vectors = columns % tiled.width == 0 || columns >= 4 * tiled.width;
  // Libraries have better instructions for narrower factors and for complex numbers.
  const PrimitiveType type = dot.shape().element_type();
  const bool is_plain = !IsComplexType(type) && dot.operand(0)->shape().element_type() == type &&
                        dot.operand(1)->shape().element_type() == type;
  return work <= kTiledWork && fills_vectors && is_plain &&
         tiled.width == FullWidth(target, std::vector<PrimitiveType>{type});
}

}  // namespace

DotFusionOptions DotFusionFor(bool strict) {
  const auto takes_dot = [strict](const HloInstruction& dot) {
    return !strict && (IsLibraryDot(dot) || IsStreamDot(dot));
  };
  const auto takes_producer = [](const HloInstruction& dot, int64_t operand, const HloInstruction& producer) {
    return IsContiguousView(producer) || (operand == 1 && IsStreamDot(dot) && !IsExpensiveToRepeat(producer));
  };
  return {.takes_dot = takes_dot, .takes_producer = takes_producer, .takes_consumer = [](const auto&, const auto&) {
            return false;
          }};
}

absl::StatusOr<KernelConfig> ChooseDot(const HloInstruction& instruction, const TargetTraits& target,
                                       const NumericOptions& numerics) {
  const HloInstruction& dot = *HeroOf(&instruction);
  // Only streams have other producers than views fused into them.
  if (!numerics.strict && (IsStreamDot(dot) || (!IsDotOfViews(instruction) && CanStream(dot))))
    return ChooseStreamDot(dot, target);
  HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseLoop(instruction, target));
  if (!IsDotOfViews(instruction)) {
    absl::StrAppend(&config.why, "; a fused dot");
    return config;
  }
  const bool may_call = !numerics.strict && IsLibraryDot(dot);
  if (std::optional<KernelConfig> tiled = ChooseTiledDot(dot, config, target, numerics)) {
    if (!may_call || TilesBeatLibrary(dot, *tiled, target)) return *std::move(tiled);
  }
  if (may_call) return ChooseLibraryDot(*GemmOf(dot));
  if (&dot == &instruction && config.width == 1 && !numerics.strict) {
    if (std::optional<KernelConfig> lanes = ChooseLanesOfTerms(dot, target)) return *std::move(lanes);
  }
  absl::StrAppend(&config.why, numerics.strict ? "; strict products are added in order"
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
