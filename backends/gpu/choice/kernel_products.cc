// The choice of kernels for dots and convolutions, and the tiles of products.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/product_epilogue.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/lib/library_thresholds.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/match/product_match.h"
#include "base/math.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/precision.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

// A product as the choice of its tile sees it.
struct ProductFacts {
  int64_t batch, rows, columns, depth;
  PrimitiveType lhs, rhs, sum;
  int64_t lhs_minor = 1, rhs_minor = 1;  // sizes of the dimensions in which elements are adjacent
  // True if both operands are in memory as the kernel has them in shared memory.
  bool can_copy = false;
  bool tf32 = false;  // factors of F32 may be rounded
};

// Tiles of 64 x 64 results, 4 x 4 for each of 256 threads, over strips 16 deep: twice 8 KB of shared memory for F32,
// and eight loads from it for 16 multiplications. Elements of 16 bytes have strips of half the depth.
constexpr int64_t kTileSide = 64, kStripDepth = 16, kOwnResults = 4, kWideBytes = 16;
// Half a tile in each direction, and half a strip, must be filled: the rest is multiplied by zeros.
constexpr int64_t kMinTileSide = 32, kMinDepth = 8;
// Tensor cores have results to spare: a strip of weights for eight rows is read at the speed of memory.
constexpr int64_t kMinTensorCoreSide = 8, kMinTensorCoreDepth = 16;
// Two steps for each strip. A warp's 64 x 32 results are 64 registers of a thread, and 24 loads of 16 bytes make 64
// multiplications.
constexpr int64_t kTensorCoreStripBytes = 64;
constexpr int64_t kNarrowSide = 16, kMiddleSide = 64, kWideSide = 128, kWarpSide = 32;
// Multiprocessors of an H100: with fewer tiles, smaller ones are faster.
constexpr int64_t kWantedTiles = 132;
// Strips that asynchronous copies fill: with more than four, reads wait no less; as many as fit into static shared
// memory. A copy has at least four bytes.
constexpr int64_t kMaxCopiedStrips = 4;
// A part of a product's depth has at least this many strips, and there are at most as many blocks as run at a time. A
// thread that adds up the sums of parts has those of all parts in registers. They are written and read again, in
// another launch: with parts the product takes at most this part of the time.
constexpr int64_t kMinStripsOfPart = 4, kBlocksOfMultiprocessor = 2, kMaxParts = 32;
constexpr double kWorthParts = 0.85;
// A product with an epilogue alone takes at most this part of the time of a library and a loop.
constexpr double kWorthEpilogue = 0.85;
// With few rows the time is that of reading the other side: strips are deeper, to wait for more bytes at a time. Of
// those that are copied, several are waited for.
constexpr int64_t kNarrowStripBytes = 256, kNarrowCopiedBytes = 128;
// Warp groups, of this architecture alone, have 64 rows each, and read 128 bytes of the depth at a time. One block of
// 256 columns has all of a multiprocessor's shared memory, of narrower ones two share it: four strips and three. Strips
// that threads make are in registers before, beside the sums: those of half the depth and columns.
constexpr int kWarpGroupArchitecture = 90;
constexpr int64_t kWarpGroupStepBytes = 32, kGroupRows = 64, kGroupThreads = 128, kGroupStripBytes = 128,
                  kMaxGroupColumns = 256, kMultiprocessorSharedBytes = 224 << 10;
// Half of a warp group's rows must be filled, and two strips: one is multiplied while the other comes.
constexpr int64_t kMinGroupRows = 48, kMinGroupColumns = 48, kMinGroupDepth = 128;
// Producers of an operand that are looked at.
constexpr int64_t kMaxSources = 32;
// Operands of a concatenation that is made with an operand, as of weights of which a byte has two.
constexpr int64_t kMaxConcatenatedFactors = 4;

// mma.sync adds up in f32 or s32, in an order of its own.
bool TensorCoresMultiply(const ProductFacts& product, const KernelFacts& facts) {
  if (facts.strict || facts.architecture < kFirstTensorCores || product.lhs != product.rhs) return false;
  const bool is_float = (product.lhs == BF16 || product.lhs == F16 || product.tf32) && product.sum == F32;
  const bool is_integer = (product.lhs == S8 || product.lhs == U8) && product.sum == S32;
  return (is_float || is_integer) && std::min(product.rows, product.columns) >= kMinTensorCoreSide &&
         std::max(product.rows, product.columns) >= kMinTileSide && product.depth >= kMinTensorCoreDepth;
}

bool FillsTiles(const ProductFacts& product, const KernelFacts& facts) {
  return TensorCoresMultiply(product, facts) ||
         (product.rows >= kMinTileSide && product.columns >= kMinTileSide && product.depth >= kMinDepth);
}

bool WarpGroupsMultiply(const ProductFacts& product, const KernelFacts& facts) {
  return TensorCoresMultiply(product, facts) && facts.architecture == kWarpGroupArchitecture && product.sum == F32 &&
         !product.tf32 && product.rows >= kMinGroupRows && product.columns >= kMinGroupColumns &&
         product.depth >= kMinGroupDepth;
}

int64_t TensorCoreSide(int64_t size, int64_t widest) {
  return size <= kNarrowSide ? kNarrowSide : size <= kMiddleSide ? kMiddleSide : widest;
}

// Completes a tile whose sides, threads and strip are known.
ProductTile WithGroups(ProductTile tile, const ProductFacts& product) {
  // 16 bytes, or fewer so that all threads have some.
  const auto group = [&](PrimitiveType type, int64_t minor, int64_t side) {
    return GroupOf(PrimitiveTypeByteSize(type), minor, std::max<int64_t>(side * tile.strip / tile.threads, 1));
  };
  tile.lhs_group = group(product.lhs, product.lhs_minor, tile.rows);
  tile.rhs_group = group(product.rhs, product.rhs_minor, tile.columns);
  return tile;
}

// Returns true if asynchronous copies can fill strips.
bool CopiesStrips(const ProductTile& tile, const ProductFacts& product) {
  return tile.uses_tensor_cores() && product.can_copy &&
         std::min(tile.lhs_group, tile.rhs_group) * PrimitiveTypeByteSize(product.lhs) >= kMinCopiedBytes;
}

int64_t StripBytes(const ProductTile& tile, PrimitiveType type) {
  return (tile.rows + tile.columns) * tile.strip * PrimitiveTypeByteSize(type);
}

ProductTile WarpTile(const ProductFacts& product) {
  ProductTile tile;
  const auto set_sides = [&](int64_t widest) {
    tile.rows = TensorCoreSide(product.rows, widest);
    tile.columns = TensorCoreSide(product.columns, widest);
    return product.batch * CeilDiv(product.rows, tile.rows) * CeilDiv(product.columns, tile.columns);
  };
  if (set_sides(kWideSide) < kWantedTiles) set_sides(kMiddleSide);
  const int64_t bytes = PrimitiveTypeByteSize(product.lhs);
  tile.strip = kTensorCoreStripBytes / bytes;
  tile.step = tile.strip / 2;
  const bool is_narrow =
      std::min(tile.rows, tile.columns) == kNarrowSide && std::max(tile.rows, tile.columns) <= kMiddleSide;
  const int64_t most = product.can_copy ? kNarrowCopiedBytes : kNarrowStripBytes;
  while (is_narrow && tile.strip < product.depth && tile.strip * bytes < most) tile.strip *= 2;
  const int64_t own = is_narrow ? kNarrowSide : kWarpSide;
  tile.own_rows = std::min(tile.rows, tile.columns == kWideSide ? 2 * own : own);
  tile.own_columns = std::min(tile.columns, own);
  tile.threads = kWarp * (tile.rows / tile.own_rows) * (tile.columns / tile.own_columns);
  tile = WithGroups(tile, product);
  if (CopiesStrips(tile, product))
    tile.copied_strips = std::min(kMaxCopiedStrips, kSharedBytes / StripBytes(tile, product.lhs));
  return tile;
}

// The tile of warp groups with these sides; its columns may be fewer.
ProductTile WarpGroupTile(const ProductFacts& product, int64_t rows, int64_t columns) {
  const int64_t bytes = PrimitiveTypeByteSize(product.lhs);
  ProductTile tile{.threads = rows / kGroupRows * kGroupThreads,
                   .rows = rows,
                   .columns = columns,
                   .strip = kGroupStripBytes / bytes,
                   .own_rows = kGroupRows,
                   .own_columns = columns,
                   .by_warp_groups = true,
                   .step = kWarpGroupStepBytes / bytes};
  tile = WithGroups(tile, product);
  if (CopiesStrips(tile, product)) {
    const int64_t blocks = columns == kMaxGroupColumns ? 1 : kBlocksOfMultiprocessor;
    tile.copied_strips =
        std::min(kMaxCopiedStrips, kMultiprocessorSharedBytes / blocks / StripBytes(tile, product.lhs));
    return tile;
  }
  tile.columns = tile.own_columns = std::min(columns, kMaxGroupColumns / 2);
  tile.strip /= 2;
  return WithGroups(tile, product);
}

double SumsOfPartsNs(const ProductFacts& product, int64_t parts) {
  if (parts == 1) return 0;
  const GpuMachine machine;
  const double sums = static_cast<double>(product.batch * product.rows * product.columns * parts);
  return machine.launch_ns + 2 * sums * PrimitiveTypeByteSize(product.sum) / machine.bytes_per_ns;
}

double FlopsPerNs(const ProductFacts& product, const ProductTile& tile) {
  // Threads that fill strips hold up warp groups as they do warps.
  if (tile.by_warp_groups) {
    const double filled = tile.copied_strips > 0 ? 1
                                                 : ProductFlopsPerNs(product.lhs, ProductUnit::kOwnTensorCores) /
                                                       ProductFlopsPerNs(product.lhs, ProductUnit::kOwnPipeline);
    return filled * ProductFlopsPerNs(product.lhs, ProductUnit::kWarpGroups) * WarpGroupPart(tile);
  }
  return ProductFlopsPerNs(product.lhs, tile.copied_strips > 0     ? ProductUnit::kOwnPipeline
                                        : tile.uses_tensor_cores() ? ProductUnit::kOwnTensorCores
                                                                   : ProductUnit::kThreads);
}

// Returns the time of the product with its depth in parts. With few blocks there is little arithmetic and little to
// wait for at a time.
double TiledNs(const ProductFacts& product, const ProductTile& tile, int64_t parts) {
  const GpuMachine machine;
  const auto multiprocessors = static_cast<double>(machine.multiprocessors);
  const double tiles = static_cast<double>(product.batch * CeilDiv(product.rows, tile.rows) *
                                           CeilDiv(product.columns, tile.columns)),
               blocks = tiles * static_cast<double>(parts),
               strip_bytes = static_cast<double>((tile.rows * PrimitiveTypeByteSize(product.lhs) +
                                                  tile.columns * PrimitiveTypeByteSize(product.rhs)) *
                                                 tile.strip),
               strips = static_cast<double>(CeilDiv(product.depth, tile.strip));
  // Of copied strips one is multiplied, or two by warp groups; the others are waited for.
  const int64_t multiplied = tile.by_warp_groups ? 2 : 1;
  const double of_multiprocessor =
      tile.by_warp_groups && tile.columns == kMaxGroupColumns ? 1 : double{kBlocksOfMultiprocessor};
  const double waiting = std::min(blocks, of_multiprocessor * multiprocessors) * strip_bytes *
                         static_cast<double>(std::max<int64_t>(tile.copied_strips - multiplied, 1));
  const double flops = 2 * tiles * static_cast<double>(tile.rows * tile.columns * product.depth);
  return std::max(tiles * strips * strip_bytes * machine.latency_ns / waiting,
                  flops / (FlopsPerNs(product, tile) * std::min(1.0, blocks / multiprocessors))) +
         SumsOfPartsNs(product, parts);
}

// The number of parts of the depth that is fastest, and its time. Strict sums have one order.
struct Parts {
  int64_t count = 1;
  double ns = 0;
};
Parts FastestParts(const ProductFacts& product, const ProductTile& tile, const KernelFacts& facts) {
  const double whole_ns = TiledNs(product, tile, 1);
  if (facts.strict || (product.sum != F32 && product.sum != F64 && product.sum != S32)) return {1, whole_ns};
  const int64_t strips = CeilDiv(product.depth, tile.strip),
                tiles = product.batch * CeilDiv(product.rows, tile.rows) * CeilDiv(product.columns, tile.columns),
                most = std::min({strips / kMinStripsOfPart, kMaxParts,
                                 kBlocksOfMultiprocessor * GpuMachine().multiprocessors / std::max<int64_t>(tiles, 1)});
  int64_t best = 1;
  double best_ns = kWorthParts * whole_ns;
  for (int64_t parts = 2; parts <= most; parts *= 2) {
    const double ns = TiledNs(product, tile, parts);
    if (ns >= best_ns) continue;
    best = parts;
    best_ns = ns;
  }
  return {CeilDiv(strips, CeilDiv(strips, best)), best == 1 ? whole_ns : best_ns};  // each has strips
}

int64_t PartsOf(const ProductFacts& product, const ProductTile& tile, const KernelFacts& facts) {
  return FastestParts(product, tile, facts).count;
}

ProductTile TileOf(const ProductFacts& product, const KernelFacts& facts) {
  if (!TensorCoresMultiply(product, facts)) {
    const bool is_wide = PrimitiveTypeByteSize(product.sum) >= kWideBytes;
    return WithGroups({.threads = (kTileSide / kOwnResults) * (kTileSide / kOwnResults),
                       .rows = kTileSide,
                       .columns = kTileSide,
                       .strip = is_wide ? kStripDepth / 2 : kStripDepth,
                       .own_rows = kOwnResults,
                       .own_columns = kOwnResults},
                      product);
  }
  ProductTile best = WarpTile(product);
  if (!WarpGroupsMultiply(product, facts)) return best;
  double best_ns = FastestParts(product, best, facts).ns;
  // Of equal times, those that wait for memory, that of the smaller tile, which has more blocks.
  for (const int64_t rows : {kGroupRows, 2 * kGroupRows}) {
    for (int64_t columns = kMiddleSide; columns <= kMaxGroupColumns; columns *= 2) {
      const ProductTile tile = WarpGroupTile(product, rows, columns);
      const double ns = FastestParts(product, tile, facts).ns;
      if (ns >= best_ns) continue;
      best = tile;
      best_ns = ns;
    }
  }
  return best;
}

KernelConfig Tiled(KernelKind kind, const ProductFacts& product, const KernelFacts& facts) {
  const ProductTile tile = TileOf(product, facts);
  return {
      .kind = kind,
      .width = tile.step,
      .tile = tile.ToList(),
      .why = absl::StrCat("fills tiles: ", product.rows, " x ", product.columns, " x ", product.depth,
                          tile.by_warp_groups        ? ", by warp groups"
                          : tile.uses_tensor_cores() ? ", on tensor cores"
                                                     : "",
                          tile.copied_strips > 0 ? absl::StrCat(", ", tile.copied_strips, " strips by copies") : "")};
}

ProductFacts FactsOf(const HloInstruction& dot) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const PrimitiveType x = lhs.operand->shape().element_type(), y = rhs.operand->shape().element_type();
  ProductFacts product{.batch = Product(lhs.batch_sizes),
                       .rows = Product(lhs.free_sizes),
                       .columns = Product(rhs.free_sizes),
                       .depth = Product(lhs.contracting_sizes),
                       .lhs = x,
                       .rhs = y,
                       .sum = SumType(x, y, dot.shape().element_type()),
                       .lhs_minor = MinorSize(lhs),
                       .rhs_minor = MinorSize(rhs)};
  // As libraries do, which compute none that are smaller.
  product.tf32 = x == F32 && y == F32 && AllowsTf32(dot.attrs<DotAttrs>()) &&
                 DotFlops(dot) >= 2 * static_cast<double>(LibraryThresholds().gemm_products);
  return product;
}

// What an operand is made from, as far as the dot's kernel can make it.
struct Source {
  double bytes = 0;         // of arrays
  double instructions = 0;  // of threads, to make it once
};
// Returns true if the kernel makes the producer, although others may read it, too (hlo/passes/dots/dot_fusion.cc).
bool JoinsDot(const HloInstruction& producer) {
  if (producer.user_count() == 1 || IsFreeToRepeat(producer)) return true;
  int64_t read = 0;
  for (const HloInstruction* operand : producer.operands()) read += ShapeUtil::ByteSizeOf(operand->shape());
  return !IsExpensiveToRepeat(producer) && read <= ShapeUtil::ByteSizeOf(producer.shape());
}
Source SourceOf(const HloInstruction& dot, int64_t number, const DotFusionOptions& fusion) {
  std::vector<const HloInstruction*> work = {dot.operand(number)};
  Source source;
  for (int64_t visited = 0; !work.empty() && visited < kMaxSources; ++visited) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    const bool is_made =
        (IsElementwise(instruction->opcode()) || instruction->opcode() == HloOpcode::kBroadcast ||
         instruction->opcode() == HloOpcode::kConcatenate || instruction->opcode() == HloOpcode::kReshape) &&
        fusion.takes_producer(dot, number, *instruction) && JoinsDot(*instruction);
    if (is_made) {
      source.instructions += WorkOf(*instruction).instructions;
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
    } else {
      source.bytes += static_cast<double>(ShapeUtil::ByteSizeOf(instruction->shape()));
    }
  }
  for (const HloInstruction* rest : work) source.bytes += static_cast<double>(ShapeUtil::ByteSizeOf(rest->shape()));
  return source;
}

ProductFacts FactsOf(const HloInstruction& convolution, const ConvolutionSizes& sizes) {
  const PrimitiveType x = convolution.operand(0)->shape().element_type(),
                      y = convolution.operand(1)->shape().element_type();
  return {.batch = sizes.groups,
          .rows = sizes.rows(),
          .columns = sizes.out_features,
          .depth = sizes.depth(),
          .lhs = x,
          .rhs = y,
          .sum = SumType(x, y, convolution.shape().element_type())};
}

}  // namespace

int64_t MinorSize(const DotSide& side) {
  if (side.DepthIsMinor()) return side.contracting_sizes.back();
  const bool free = !side.free.empty() && side.free.back() == side.operand->shape().rank() - 1;
  return free ? side.free_sizes.back() : 1;
}

bool IsOwnDotFaster(const HloInstruction& dot, const KernelFacts& facts) {
  ProductFacts product = FactsOf(dot);
  if (!TensorCoresMultiply(product, facts)) return false;
  const DotFusionOptions fusion = DotFusionFor(facts);
  const GpuMachine machine;
  const Source sources[] = {SourceOf(dot, 0, fusion), SourceOf(dot, 1, fusion)};
  const std::optional<Epilogue> epilogue = EpilogueOf(dot, product.sum == S32);
  // Tensor cores want elements of eight bits along the depth.
  const bool is_narrow = product.sum == S32;
  product.can_copy = epilogue.has_value() && sources[0].instructions == 0 && sources[1].instructions == 0 &&
                     (!is_narrow || (LhsOf(dot).DepthIsMinor() && RhsOf(dot).DepthIsMinor()));
  const ProductTile tile = TileOf(product, facts);
  const auto bytes_of = [](const HloInstruction& array) {
    return static_cast<double>(ShapeUtil::ByteSizeOf(array.shape()));
  };
  const double flops = DotFlops(dot), result = bytes_of(dot);
  const double strips[] = {static_cast<double>(tile.rows * tile.strip), static_cast<double>(tile.columns * tile.strip)};
  // Each tile along the other side makes the operand again.
  const int64_t repeats[] = {CeilDiv(product.columns, tile.columns), CeilDiv(product.rows, tile.rows)};
  double own = result, library = epilogue.has_value() ? epilogue->left : result, made_ns = 0, strip_bytes = 0,
         instructions = 0;
  for (int64_t i = 0; i < 2; ++i) {
    const HloInstruction& operand = *dot.operand(i);
    const double here = bytes_of(operand);
    const Source& source = sources[i];
    own += source.bytes;
    library += here;
    strip_bytes += strips[i] * source.bytes / static_cast<double>(ShapeUtil::ElementsIn(operand.shape()));
    if (source.instructions == 0) continue;
    instructions += source.instructions * static_cast<double>(repeats[i]);
    made_ns += (source.bytes + here) / machine.bytes_per_ns + machine.launch_ns;
  }
  if (epilogue.has_value()) {
    own += epilogue->bytes - result + 2 * epilogue->read_twice;
    instructions += epilogue->instructions;
    made_ns += machine.launch_ns + std::max((epilogue->left + epilogue->of_loop) / machine.bytes_per_ns,
                                            epilogue->instructions / machine.instructions_per_ns);
    // So do libraries, of both.
    for (int64_t i = 0; is_narrow && i < 2; ++i) {
      if (!(i == 0 ? LhsOf(dot) : RhsOf(dot)).DepthIsMinor())
        made_ns += machine.launch_ns + 2 * bytes_of(*dot.operand(i)) / machine.bytes_per_ns;
    }
  }
  if (made_ns == 0) return false;
  // A block waits for a strip at a time, and two share a multiprocessor.
  const int64_t parts = PartsOf(product, tile, facts);
  const double blocks = static_cast<double>(product.batch * repeats[0] * repeats[1] * parts),
               max_blocks = static_cast<double>(kBlocksOfMultiprocessor * machine.multiprocessors),
               waiting = std::min(blocks, max_blocks) * strip_bytes;
  const double bytes_per_ns = std::min(machine.bytes_per_ns, waiting / machine.latency_ns);
  const double own_ns =
      std::max(own / bytes_per_ns,
               flops / ProductFlopsPerNs(product.lhs, tile.copied_strips > 0 ? ProductUnit::kOwnPipeline
                                                                             : ProductUnit::kOwnTensorCores) +
                   instructions / machine.instructions_per_ns) +
      SumsOfPartsNs(product, parts);
  const double library_ns =
      std::max(library / machine.bytes_per_ns, flops / ProductFlopsPerNs(product.lhs, ProductUnit::kLibrary));
  // What an epilogue reads, and what loops would compute again, is an estimate.
  const bool is_estimated = !is_narrow && sources[0].instructions == 0 && sources[1].instructions == 0;
  return own_ns < (is_estimated ? kWorthEpilogue : 1) * (made_ns + library_ns);
}

DotFusionOptions DotFusionFor(const KernelFacts& facts) {
  // Library calls are fusions by now.
  const auto takes_dot = [facts](const HloInstruction& dot) { return FillsTiles(FactsOf(dot), facts); };
  // Each tile along the other side computes the producer again. Without fusion its result is written once, and each of
  // those tiles reads that.
  const auto takes_producer = [facts](const HloInstruction& dot, int64_t operand, const HloInstruction& producer) {
    const ProductFacts product = FactsOf(dot);
    const ProductTile tile = TileOf(product, facts);
    const int64_t tiles = operand == 0 ? CeilDiv(product.columns, tile.columns) : CeilDiv(product.rows, tile.rows);
    if (tiles > 1 && IsExpensiveToRepeat(producer)) return false;
    // A thread computes all operands of a concatenation and selects one.
    if (producer.opcode() == HloOpcode::kConcatenate && producer.operand_count() > kMaxConcatenatedFactors)
      return false;
    int64_t read = 0;
    for (const HloInstruction* input : producer.operands())
      read += ShapeUtil::ElementsIn(input->shape()) > 1 ? ShapeUtil::ByteSizeOf(input->shape()) : 0;
    const int64_t result = ShapeUtil::ByteSizeOf(producer.shape());
    if (producer.opcode() == HloOpcode::kSlice || producer.opcode() == HloOpcode::kDynamicSlice) read = result;
    return read <= result || (read - result) * tiles <= read + result;
  };
  return {.takes_dot = takes_dot, .takes_producer = takes_producer, .takes_consumer = [](const auto&, const auto&) {
            return true;
          }};
}

absl::StatusOr<KernelConfig> ChooseDot(const HloInstruction& instruction, const KernelFacts& facts) {
  const HloInstruction& dot = *DotOf(instruction);
  ProductFacts product = FactsOf(dot);
  // Tensor cores want elements of eight bits along the depth.
  const auto can_copy = [&](const DotSide& side) {
    return ArrayOfOperand(side.operand, &instruction) != nullptr &&
           (PrimitiveTypeByteSize(side.operand->shape().element_type()) > 1 || side.DepthIsMinor());
  };
  product.can_copy = can_copy(LhsOf(dot)) && can_copy(RhsOf(dot));
  if (!FillsTiles(product, facts)) return ChooseLoop(instruction, facts, "too small for tiles");
  KernelConfig config = Tiled(KernelKind::kTiledDot, product, facts);
  config.parts = PartsOf(product, ProductTile::Of(config), facts);
  if (config.parts > 1) absl::StrAppend(&config.why, ", few tiles: the depth in ", config.parts, " parts");
  return config;
}

absl::StatusOr<KernelConfig> ChooseRaggedDot(const HloInstruction& instruction, const KernelFacts& facts) {
  const auto each = [&](absl::string_view why) {
    return KernelConfig{.kind = KernelKind::kRaggedDot,
                        .tile = {BlockFor(ShapeUtil::ElementsIn(instruction.shape()))},
                        .why = std::string(why)};
  };
  if (const std::optional<GroupedDepth> grouped = GroupedDepthOf(instruction)) {
    const PrimitiveType x = grouped->lhs.operand->shape().element_type(),
                        y = grouped->rhs.operand->shape().element_type();
    // As if all groups were equal. They begin anywhere, so no two elements along the depth are read together.
    const auto minor = [](const DotSide& side) { return side.DepthIsMinor() ? 1 : MinorSize(side); };
    const auto can_copy = [](const DotSide& side) {
      return !side.operand->IsConstant() && !side.DepthIsMinor() &&
             PrimitiveTypeByteSize(side.operand->shape().element_type()) > 1;
    };
    const ProductFacts product = {.batch = grouped->groups,
                                  .rows = Product(grouped->lhs.free_sizes),
                                  .columns = Product(grouped->rhs.free_sizes),
                                  .depth = std::max(CeilDiv(grouped->depth(), grouped->groups), kMinTensorCoreDepth),
                                  .lhs = x,
                                  .rhs = y,
                                  .sum = SumType(x, y, instruction.shape().element_type()),
                                  .lhs_minor = minor(grouped->lhs),
                                  .rhs_minor = minor(grouped->rhs),
                                  .can_copy = can_copy(grouped->lhs) && can_copy(grouped->rhs)};
    if (!FillsTiles(product, facts)) return each("too small for tiles");
    return Tiled(KernelKind::kTiledRaggedDot, product, facts);
  }
  const std::optional<GroupedRows> grouped = GroupedRowsOf(instruction);
  if (!grouped.has_value()) return each("groups are neither of rows nor of the depth");
  const PrimitiveType x = grouped->lhs.operand->shape().element_type(),
                      y = grouped->rhs.operand->shape().element_type();
  const auto can_copy = [&](const DotSide& side) {
    return !side.operand->IsConstant() &&
           (PrimitiveTypeByteSize(side.operand->shape().element_type()) > 1 || side.DepthIsMinor());
  };
  // As if all groups had as many rows. A group's rows begin anywhere, so no two of them are read together.
  const ProductFacts product = {.batch = grouped->groups(),
                                .rows = std::max(CeilDiv(grouped->rows(), grouped->groups()), kMinTensorCoreSide),
                                .columns = Product(grouped->rhs.free_sizes),
                                .depth = Product(grouped->lhs.contracting_sizes),
                                .lhs = x,
                                .rhs = y,
                                .sum = SumType(x, y, instruction.shape().element_type()),
                                .lhs_minor = grouped->lhs.DepthIsMinor() ? MinorSize(grouped->lhs) : 1,
                                .rhs_minor = MinorSize(grouped->rhs),
                                .can_copy = can_copy(grouped->lhs) && can_copy(grouped->rhs)};
  if (!FillsTiles(product, facts)) return each("too small for tiles");
  return Tiled(KernelKind::kTiledRaggedDot, product, facts);
}

absl::StatusOr<KernelConfig> ChooseConvolution(const HloInstruction& instruction, const KernelFacts& facts) {
  // Sums of strict results have one order, and must not include 0 times infinity.
  if (facts.strict) return ChooseLoop(instruction, facts, "strict sums have one order");
  const HloInstruction& convolution = *HeroOf(&instruction);
  const ProductFacts product = FactsOf(convolution, ConvolutionSizes(convolution));
  if (FillsTiles(product, facts)) return Tiled(KernelKind::kTiledConvolution, product, facts);
  return ChooseLoop(instruction, facts, "too small for tiles");
}

}  // namespace hilo::gpu
