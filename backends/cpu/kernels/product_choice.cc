// Chooses between loops and library calls for dots, and the tiles of convolutions.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/cpu/kernels/even_part.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/library_convolution.h"
#include "backends/cpu/kernels/patch_convolution.h"
#include "backends/cpu/kernels/reduce_choice.h"
#include "backends/llvm/nest/loop_nest.h"
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
// Columns of tiles of few rows: f64[40,1024] times f64[1024,2048] in calls of 256 columns 0.87 ms, of 288 1.03.
constexpr int64_t kFewRowsMultiple = 16;
// So many calls are enough for threads to share. Fewer are divided into calls of this many products at least:
// f32[64,784] times f32[784,128], 6.4 million products, takes 111 us in one call, 61 in two.
constexpr int64_t kManyCalls = 8;
constexpr double kMinProducts = 2e6, kMinOfTiles = 5e5;  // of the library, of our own tiles
// Calls for few rows, whose weights are read in place, as streams: longer ones are read faster. f32[2,4096] times
// f32[4096,4096] in calls of 256 columns 2.6 ms, of 512 2.1, of 1024 1.8, of 2048 1.7.
constexpr int64_t kFewRowCalls = 4;
// Columns of a stream, as processors prefetch along rows.
constexpr int64_t kStreamPart = 2048, kMinStreamPart = 512;
// Weights that a call reads, some 10 ms, unless it would have too few columns.
constexpr int64_t kStreamedElements = 1 << 25;
// Products per library call, about 10 ms, if that leaves at least this many columns.
constexpr double kPanelProducts = 5e8;
constexpr int64_t kMinPanel = 256;
// The same for products of wide numbers among few calls, whose packed columns fill a cache earlier, and the multiple of
// columns. f64[400,400] times f64[400,400] in eight calls of 56 x 400 1.42 ms, of 200 x 104 1.19, in nine of 136 x 144
// 1.27. The panels of few calls are a power of two, so that threads have equal shares: f32[48,768] times f32[768,768]
// in three calls of 256 columns 151 us, in four of 192 111; f32[256,768] times f32[768,768] in nine calls of 88 x 288
// 633 us, in eight of 64 x 384 582.
constexpr int64_t kMinWidePanel = 96, kWideMultiple = 8;

// Returns the size, a multiple of `unit` or all of `size`, of the parts if `size` is divided into `parts` at most.
int64_t PartSize(int64_t size, int64_t parts, int64_t unit) {
  return std::min(size, CeilDiv(CeilDiv(size, parts), unit) * unit);
}

KernelConfig ChooseLibraryDot(const HloInstruction& dot, const TargetTraits& target) {
  const Gemm gemm = *GemmOf(dot);
  const PrimitiveType type = dot.shape().element_type();
  int64_t block = gemm.m >= 2 * kRowBlock ? kRowBlock : gemm.m;
  // The columns of one call, between which cancellation is polled.
  const double column_products = static_cast<double>(block) * static_cast<double>(gemm.k);
  int64_t panel = std::min(
      gemm.n, std::max(kMinPanel, static_cast<int64_t>(kPanelProducts / column_products) / kMinPanel * kMinPanel));
  const double products = static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                          static_cast<double>(gemm.k) * (IsComplexType(type) ? 4 : 1);
  // Without AVX-512 calls of few rows transpose the columns that they share for as long as they multiply them:
  // f32[256,1024] times transposed f32[256,1024] in calls of 64 x 256 1.29 ms, of 256 x 96 1.0; 400 x 400 x 400 0.93.
  const bool transposes = !target.has_avx512 && gemm.b.transposed && gemm.m >= 2 * kFewRows;
  const bool is_wide = PrimitiveTypeBitWidth(type) > 32 || transposes;
  const double min_products = IsTileProduct(dot) ? kMinOfTiles : kMinProducts;
  const auto wanted = static_cast<int64_t>(std::min<double>(kManyCalls, products / min_products));
  const auto calls = [&] { return gemm.batch * CeilDiv(gemm.m, block) * CeilDiv(gemm.n, panel); };
  const bool streams = gemm.m <= gemm::kFewRows && !gemm.b.transposed;
  if (streams) {
    const int64_t most = std::clamp(kStreamedElements / gemm.k, kMinStreamPart, kStreamPart);
    panel = std::min(gemm.n, std::clamp(PartSize(gemm.n, kFewRowCalls, kColumnMultiple), kMinStreamPart, most));
  } else if (gemm.m < kFewRows && gemm.batch < kManyCalls) {
    const auto panels = static_cast<uint64_t>(CeilDiv(gemm.n, kMinPanel));
    panel = std::min(panel, PartSize(gemm.n, static_cast<int64_t>(absl::bit_ceil(panels)), kFewRowsMultiple));
  }
  // By columns first: a call reads and packs its columns of the right side once for all of its rows.
  if (calls() < wanted && !streams) {
    const int64_t panels = CeilDiv(gemm.n, panel);
    const auto fitting = static_cast<uint64_t>(gemm.n / (is_wide ? kMinWidePanel : kMinPanel));
    const auto rounded = static_cast<int64_t>(absl::bit_floor(fitting));
    // Of too few rows to divide as well, narrower panels.
    const bool few_blocks = !is_wide && rounded * CeilDiv(gemm.m, kFewRows) < wanted;
    const int64_t most = std::max(panels, few_blocks ? static_cast<int64_t>(absl::bit_ceil(fitting)) : rounded);
    panel = std::min(panel, PartSize(gemm.n, std::min(most, CeilDiv(wanted * panels, calls())),
                                     is_wide ? kWideMultiple : kColumnMultiple));
  }
  const int64_t min_rows = calls() == 1 ? kFewRows / 2 : kFewRows;
  if (calls() < wanted && block > min_rows) {
    const int64_t blocks = CeilDiv(wanted * CeilDiv(gemm.m, block), calls());
    block = std::min(block, std::max(min_rows, PartSize(gemm.m, blocks, kRowMultiple)));
    if (calls() == CeilDiv(gemm.m, block)) block = EvenPart(gemm.m, block, kRowMultiple);
  }
  return {.kind = KernelKind::kLibraryDot,
          .tile = {block, panel},
          .parts = gemm.batch * CeilDiv(gemm.m, block) * CeilDiv(gemm.n, panel),
          .why = "large enough for a call of the library"};
}

// Vectors of sums that a tile keeps in registers, beside those of the factors.
int64_t TileVectors(const TargetTraits& target) { return target.has_avx512 ? 16 : 8; }
// Vectors of a tile that are adjacent in a row of the result; rows of a tile of one, which hide each other's latency:
// twice as many are no faster and take a quarter more time to compile.
constexpr int64_t kTileColumns = 2, kTileRows = 8;
// Vectors of a row of the result that are one tile, if registers are many: f32[46,46] times f32[46,46] takes 1.18 us
// rather than 1.21, and 2.4 ms to compile rather than 4.5.
constexpr int64_t kFewTileColumns = 3;
// Rows of a part, unless there are enough products in the batch to share among threads.
constexpr int64_t kTiledRows = 64, kManyTiled = 16;

// Terms, and products of vectors, of the sums of a tile that are unrolled: arrays on the stack are registers then. A
// product of complex numbers is kComplexProducts.
constexpr int64_t kUnrolledTerms = 8, kUnrolledProducts = 32, kComplexProducts = 2;

// Multiply-adds of a product from which the library, whose code is compiled already, is as fast as tiles. Measured, on
// two threads, as tiles and by the library, in us, f32: 1000 products of 24 x 24 x 24 169 and 348, 1000 of 32 x 32 x 32
// 307 and 342, 16 of 50 x 40 x 60 27 and 23, 32 of 64 x 64 x 64 74 and 74.
constexpr double kTiledWork = 1e5;
// The same in a batch, if the left factor is stored by columns, which the library packs: sums of 250 terms, by the
// library and as tiles: 400 of 12 x 100 2190 and 1180, 400 of 64 x 64 3020 and 2420, 80 of 30 x 30 98 and 83.
constexpr double kTransposedTiledWork = 2e6;
// Columns of a product that the library computes as slowly as if they were many more, as it copies all of the left side
// first; and products of a sum, if the columns are more than half as many and F32. Measured with the library and as
// tiles, on two threads, in us: f32[100000,16] times f32[16,3] 221 and 126, f32[100000,8] times f32[8,8] 148 and 64,
// f32[300,300] times f32[300,4] 15.5 and 9.0, f32[64,4096] times f32[4096,10] 48 and 68, f64[1000,4096] times
// f64[4096,7] 1030 and 394, f64[3,100000] times f64[100000,3] 900 and 101; of 8 lanes f32[100000,8] times f32[8,8] 162
// and 90, f32[20000,32] times f32[32,12] 78 and 140.
constexpr int64_t kNarrowColumns = 16, kNarrowDepth = 512;
// The part of the lanes that columns must fill. Measured, f32[200,32,48] times f32[200,48,40] with 16 lanes:
// 92 us as tiles, 144 us by the library.
constexpr double kFullVectors = 0.8;
// Products that a sum adds up one after the other; longer sums add up such sums.
constexpr int64_t kTiledSum = 256;

// Returns the lanes of the narrowest vector of `columns` results, or of a full one. Masks load what is less.
int64_t NarrowWidth(const HloInstruction& dot, int64_t columns, const TargetTraits& target) {
  int64_t width = FullWidth(target, std::vector<PrimitiveType>{dot.shape().element_type()});
  while (target.has_avx512 && width / 2 >= columns) width /= 2;
  return width;
}

// Returns the lanes of a tile, along the columns of the result; 1 if there is none. `row`: see below.
int64_t TileWidth(const HloInstruction& dot, const KernelConfig& row, int64_t columns, const TargetTraits& target) {
  if (row.kind == KernelKind::kRows) return row.width;
  if (!target.has_avx512 || RhsOf(dot).DepthIsMinor()) return 1;
  return NarrowWidth(dot, columns, target);
}

// Tiles of the result in registers: each vector of the right side is loaded once for all rows of a tile. `row`: the
// choice of the loop over rows of the result.
std::optional<KernelConfig> ChooseTiledDot(const HloInstruction& dot, const KernelConfig& row,
                                           const TargetTraits& target, const NumericOptions& numerics) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  if (rhs.free.empty()) return std::nullopt;
  const int64_t rows = Product(lhs.free_sizes), columns = rhs.free_sizes.back(), batch = Product(lhs.batch_sizes),
                depth = Product(lhs.contracting_sizes);
  const int64_t width = TileWidth(dot, row, columns, target);
  if (width < 2 || depth < 2) return std::nullopt;
  const bool is_complex = IsComplexType(dot.shape().element_type());
  int64_t vectors = std::min(kTileColumns, CeilDiv(columns, width));
  if (target.has_avx512 && !is_complex && CeilDiv(columns, width) == kFewTileColumns) vectors = kFewTileColumns;
  if (rows == 1) {
    // One tile of all columns, whose vectors hide each other's latency as rows do.
    vectors = columns / width;
    if (columns % width != 0 || vectors < 2 || vectors > kTileRows / (is_complex ? 2 : 1)) return std::nullopt;
  }
  const int64_t most = vectors == 1 && !is_complex ? kTileRows : TileVectors(target) / vectors / (is_complex ? 2 : 1);
  int64_t tile = std::min(rows, most);
  // The largest of those of half the size at least that compute the fewest rows, if they compute few twice.
  int64_t fewest = CeilDiv(rows, tile) * tile;
  for (int64_t smaller = tile - 1, least = tile / 2; smaller > least; --smaller) {
    const int64_t computed = CeilDiv(rows, smaller) * smaller;
    if (computed >= fewest || !codegen::RepeatsFew(computed, rows)) continue;
    tile = smaller;
    fewest = computed;
  }
  const int64_t part = batch >= kManyTiled ? rows : std::min(rows, CeilDiv(kTiledRows, tile) * tile);
  int64_t sum = depth >= 2 * kTiledSum && !numerics.strict ? kTiledSum : 0;
  const int64_t products = depth * tile * vectors * (is_complex ? kComplexProducts : 1);
  if (depth <= kUnrolledTerms && products <= kUnrolledProducts) sum = depth;
  return KernelConfig{.kind = KernelKind::kTiledDot,
                      .width = width,
                      .tile = {part, tile, vectors, sum},
                      .parts = batch * CeilDiv(rows, part),
                      .why = "tiles of the result stay in registers"};
}

// Streams: rows of weights that are read together, fewer if the product has few rows; and rows of a tile, the factors
// of which stay in registers. Measured, s8[4096,4096] weights of f32[8,4096]: tiles of 4 rows 1.4 ms, of 8 rows 1.7;
// parts of 256 columns 1.8; blocks of 16 rows 1.6 (f32[16,4096]: 3.4, blocks of 8 rows 4.8).
constexpr int64_t kStreamBlock = 8, kLargeStreamBlock = 16, kRowsOfOneStreamBlock = 8;
constexpr int64_t kStreamTiles[] = {5, 4, 3, 2};

// Rows of the weights of a part, and rows of either factor of a tile, if sums are along the rows of the weights.
constexpr int64_t kLanePart = 64, kLaneTile = 4;
// Terms of all results that are added up before the next ones, so that both factors stay in a cache meanwhile.
constexpr int64_t kLaneSection = 2048;

// Vectors of sums, whose factors are contiguous along them. `max_terms`: those that are added up before they are added
// to the result.
KernelConfig ChooseLaneDot(const HloInstruction& dot, const TargetTraits& target, int64_t max_terms,
                           absl::string_view why) {
  const Gemm gemm = *GemmOf(dot);
  const int width = FullWidth(target, std::vector<PrimitiveType>{dot.shape().element_type()});
  const int64_t section = CeilDiv(std::min(gemm.k, max_terms), width) * width;
  return {.kind = KernelKind::kLaneDot,
          .width = width,
          .tile = {std::min(kLanePart, gemm.n), std::min(gemm.n, kLaneTile), std::min(gemm.m, kLaneTile), section},
          .parts = gemm.batch * CeilDiv(gemm.n, kLanePart),
          .why = std::string(why)};
}

KernelConfig ChooseStreamDot(const HloInstruction& dot, const TargetTraits& target) {
  const Gemm gemm = *GemmOf(dot);
  if (gemm.b.transposed)
    return ChooseLaneDot(dot, target, gemm.k, "few rows: the weights are read once, as streams along the sums");
  const int width = FullWidth(target, std::vector<PrimitiveType>{dot.shape().element_type()});
  // The tile that leaves the fewest rows over.
  const int64_t tile = *std::min_element(std::begin(kStreamTiles), std::end(kStreamTiles),
                                         [&](int64_t a, int64_t b) { return gemm.m % a < gemm.m % b; });
  const int64_t part =
      std::min(gemm.n, std::clamp(PartSize(gemm.n, kManyCalls, kTileColumns * width), kMinStreamPart, kStreamPart));
  return {.kind = KernelKind::kStreamDot,
          .width = width,
          .tile = {part, kTileColumns, tile, gemm.m <= kRowsOfOneStreamBlock ? kStreamBlock : kLargeStreamBlock},
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
  int width = FullWidth(target, std::vector<PrimitiveType>{type});
  while (2 * width > terms) width /= 2;
  if (width < 2) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kReduceRows,
                      .width = width,
                      .tile = RowTile(terms, width, /*is_float_sum=*/true),
                      .parts = ShapeUtil::ElementsIn(dot.shape()),
                      .why = "both rows of factors are contiguous"};
}

// Results of a product whose rows of both factors are contiguous, in all, with and without AVX-512; and terms of each.
// Measured with the library, which copies the factors first, and in lanes, on two threads, in us: f32[16,500] times
// f32[3,500] transposed 4.1 and 0.7, f32[16,100000] times f32[3,100000] 644 and 83, f32[64,1000] times f32[64,1000] 51
// and 42, f32[300,100] times f32[30,100] 9.6 and 16, f64[16,500] times f64[3,500] 4.5 and 0.8; of 8 lanes f32[20,500]
// times f32[20,500] 7.2 and 6.2, f32[50,333] times f32[50,333] 17 and 26. As the lanes of each result are combined, its
// terms must be a share of the results: f32[64,64] times f32[64,64] 3.8 and 5.3, f32[64,128] times
// f32[64,128] 7.1, 7.0.
constexpr int64_t kLaneResults = 64 * 64, kLaneResultsOfFewLanes = 20 * 20;
constexpr int64_t kMinTerms = 64, kResultsPerTerm = 32;

// Returns true if lanes along the sums are faster than tiles, whose right factor has to be transposed, and the library.
bool AddsInLanes(const HloInstruction& dot, const TargetTraits& target) {
  const PrimitiveType type = dot.shape().element_type();
  if (type != F32 && type != F64) return false;
  for (const DotSide& side : {LhsOf(dot), RhsOf(dot)}) {
    if (side.operand->shape().element_type() != type || side.contracting.size() != 1 || !side.DepthIsMinor())
      return false;
  }
  const std::optional<Gemm> gemm = GemmOf(dot);
  const int64_t most = target.has_avx512 ? kLaneResults : kLaneResultsOfFewLanes;
  return gemm.has_value() && gemm->m >= 2 && gemm->n >= 2 && gemm->k >= kMinTerms &&
         gemm->m * gemm->n <= std::min(most, kResultsPerTerm * gemm->k);
}

// Returns true if tiles of `width` lanes are at least as fast as the library: they fill vectors, and need not be
// divided for caches.
bool TilesBeatLibrary(const HloInstruction& dot, int64_t width, const TargetTraits& target) {
  const int64_t columns = RhsOf(dot).free_sizes.back();
  const int64_t depth = Product(LhsOf(dot).contracting_sizes);
  const double work = static_cast<double>(Product(LhsOf(dot).free_sizes)) *
                      static_cast<double>(Product(RhsOf(dot).free_sizes)) * static_cast<double>(depth);
  const bool fills_vectors = kFullVectors * static_cast<double>(CeilDiv(columns, width) * width) <= columns;
  // Libraries have better instructions for narrower factors and for complex numbers.
  const PrimitiveType type = dot.shape().element_type();
  const bool is_plain = !IsComplexType(type) && dot.operand(0)->shape().element_type() == type &&
                        dot.operand(1)->shape().element_type() == type;
  if (!is_plain) return false;
  if (columns <= kNarrowColumns && (target.has_avx512 || columns % width == 0) &&
      (type == F64 || columns <= kNarrowColumns / 2 || depth <= kNarrowDepth))
    return true;
  const std::optional<Gemm> gemm = GemmOf(dot);
  const bool packs_batch = gemm.has_value() && gemm->a.transposed && gemm->batch >= kManyTiled;
  return work <= (packs_batch ? kTransposedTiledWork : kTiledWork) && fills_vectors &&
         width == FullWidth(target, std::vector<PrimitiveType>{type});
}

// Rows of a product that pay for the transpose of its right factor, if lanes would gather that, and if the library
// would read it in place; and products of a sum, of which fewer are gathered as fast as they are transposed. Measured,
// f32, in us, without and with the transpose: 1000 products of 8 x 8 x 8 43 and 28, 300 of 16 x 16 x 16 244 and 24;
// complex, 64 of 64 x 64 x 64 4720 and 406. By the library: f32, 10 of 100 x 100 x 100 100 and 80.
constexpr int64_t kMinTransposedRows = 4, kMinLibraryRows = 8, kMinTransposedTerms = 5;

// Bytes of the rows of both factors in a section of long sums, which the second-level cache holds; terms of a section
// at least; sections of which a product has so many at least; and how many times as large the factors are as all sums
// of sections. Measured, f32, on two threads, in us, in one piece and in sections: 100,000 rows, 64 x 4 results 4532
// and 673, 8 x 8 113 and 66, 64 x 64 3363 and 3345; 1,000,000 rows, 3 x 3 1237 and 473; 20,000 rows, 200 x 5 625 and
// 338, 30 x 30 160 and 93; 10,000 rows, 500 x 3 1067 and 494; 100,000 rows, 12 x 100 2190 and 1180.
constexpr int64_t kSectionBytes = 1 << 17, kMinSectionTerms = 64, kMinSections = 16;
constexpr int64_t kFactorsPerSum = 4;
// Sections that are longer for the sake of few sums, of factors that leave the caches: bytes of the factors, and the
// number of sections. Each is one call, which reads all of its rows; calls of blocks of the result would each read
// parts of all rows. Measured as above, with AVX2: 4096 rows, 128 x 512 results 7898 and 4976; 3136 rows, 96 x 384 2192
// and 1797; 10,000 rows, 128 x 128 4024 and 2655, 128 x 64 3351 and 2245, 100 x 100 2439 and 1683, in 50 sections 4050;
// 6000 rows, 300 x 300 9800 and 9110; 2000 rows, 128 x 64 320 and 376.
constexpr int64_t kLargeFactors = 4 << 20, kMinLargeSections = 8, kMaxLargeSections = 16;
// Sizes above and below the wanted one that are tried.
constexpr int64_t kMaxTried = 1 << 16;
// Sections at most, and multiply-adds at least, of products of arrays that the program computes. A thread computes rows
// of these, and rows of another one are in another processor's caches. Measured as above, factors that the kernel
// before writes, on processors that exchange a cache line in 1 us, without and with 4 sections: 1024 rows, 128 x 128
// results 476 and 190; 2000 rows, 128 x 64 445 and 183; 4000 rows, 64 x 64 442 and 183; 512 rows, 64 x 64 69 and 35;
// 2048 rows, 32 x 32 51 and 28; in 2 sections 1024 rows, 256 x 256 915 and 714.
constexpr int64_t kMaxComputedSections = 4;
constexpr double kComputedWork = 1 << 20;

// Returns how many sections there are if their size is the divisor of `terms` that is nearest to `wanted`, from half of
// it to twice; 1 if there is none.
int64_t DivisorNear(int64_t terms, int64_t wanted) {
  for (int64_t more = 0; more <= std::min(wanted, kMaxTried); ++more) {
    if (terms % (wanted + more) == 0) return terms / (wanted + more);
    if (more <= wanted / 2 && terms % (wanted - more) == 0) return terms / (wanted - more);
  }
  return 1;
}

// Returns the largest divisor of `terms` that is at most `most`, or 1.
int64_t SmallDivisor(int64_t terms, int64_t most) {
  while (most > 1 && terms % most != 0) --most;
  return std::max<int64_t>(1, most);
}

// Returns true for what the program gets, under other shapes perhaps: no thread of it has written that.
bool IsArgument(const HloInstruction& array) {
  const HloInstruction* at = &array;
  while (at->opcode() == HloOpcode::kReshape || at->opcode() == HloOpcode::kBitcast) at = at->operand(0);
  return at->IsParameter() || at->opcode() == HloOpcode::kConstant || at->opcode() == HloOpcode::kGetTupleElement;
}

}  // namespace

bool FillsMoreLanesMerged(const HloInstruction& dot, const TargetTraits& target, bool /*strict*/) {
  const int64_t width = FullWidth(target, std::vector<PrimitiveType>{dot.shape().element_type()});
  const std::vector<int64_t> sizes = RhsOf(dot).free_sizes;
  const auto share = [&](int64_t columns) {
    return static_cast<double>(columns) / static_cast<double>(CeilDiv(columns, width) * width);
  };
  return !sizes.empty() && share(sizes.back()) < kFullVectors && share(sizes.back()) < share(Product(sizes));
}

bool IsFasterTransposed(const HloInstruction& dot, const TargetTraits& target, bool strict) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  int64_t minor = rhs.operand->shape().rank() - 1;
  while (minor > 0 && rhs.operand->shape().dimensions(minor) == 1) --minor;
  if (absl::c_linear_search(rhs.free, minor)) return false;
  const int64_t rows = Product(lhs.free_sizes), columns = Product(rhs.free_sizes);
  if (rows < kMinTransposedRows || columns < 2 || Product(rhs.contracting_sizes) < kMinTransposedTerms) return false;
  if (strict) return true;
  if (IsStreamDot(dot) || AddsInLanes(dot, target)) return false;
  if (!IsLibraryDot(dot)) return true;
  return rows >= kMinLibraryRows && TilesBeatLibrary(dot, NarrowWidth(dot, rhs.free_sizes.back(), target), target);
}

int64_t SectionsOf(const HloInstruction& dot) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const int64_t rows = Product(lhs.free_sizes), columns = Product(rhs.free_sizes),
                terms = Product(lhs.contracting_sizes);
  const auto bytes_of = [&](const DotSide& side) {
    return Product(side.free_sizes) * PrimitiveTypeByteSize(side.operand->shape().element_type());
  };
  if (rows < 2 || columns < 2) return 1;
  const int64_t bytes = bytes_of(lhs) + bytes_of(rhs);
  const int64_t wanted = std::max(kMinSectionTerms, kSectionBytes / bytes);
  // Terms whose factors are kFactorsPerSum times as large as the sums.
  const int64_t pays = std::max<int64_t>(1, CeilDiv(kFactorsPerSum * rows * columns, rows + columns));
  if (wanted >= pays && terms >= kMinSections * wanted) return DivisorNear(terms, wanted);
  if (wanted < pays && terms * bytes >= kLargeFactors && terms >= kMinLargeSections * pays)
    return DivisorNear(terms, std::max(pays, terms / kMaxLargeSections));
  const bool is_long =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(terms) >= kComputedWork;
  if (!is_long || (IsArgument(*dot.operand(0)) && IsArgument(*dot.operand(1)))) return 1;
  return SmallDivisor(terms, std::min(kMaxComputedSections, terms / std::max(pays, kMinSectionTerms)));
}

DotFusionOptions DotFusionFor(bool strict) {
  const auto takes_dot = [strict](const HloInstruction& dot) {
    return !strict && (IsLibraryDot(dot) || IsStreamDot(dot));
  };
  const auto takes_producer = [](const HloInstruction& dot, int64_t operand, const HloInstruction& producer) {
    if (producer.opcode() == HloOpcode::kConcatenate) return false;
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
  const bool streams = IsDotOfViews(instruction) ? IsStreamDot(dot) && !IsLibraryStream(dot) : CanStream(dot);
  if (!numerics.strict && streams) return ChooseStreamDot(dot, target);
  HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseLoop(instruction, target));
  if (!IsDotOfViews(instruction)) {
    absl::StrAppend(&config.why, "; a fused dot");
    return config;
  }
  if (!numerics.strict && AddsInLanes(dot, target))
    return ChooseLaneDot(dot, target, kLaneSection, "few results: both factors are read once, along the sums");
  const bool may_call = !numerics.strict && IsLibraryDot(dot);
  if (std::optional<KernelConfig> tiled = ChooseTiledDot(dot, config, target, numerics)) {
    if (!may_call || TilesBeatLibrary(dot, tiled->width, target)) return *std::move(tiled);
  }
  if (may_call) return ChooseLibraryDot(dot, target);
  if (&dot == &instruction && config.width == 1 && !numerics.strict) {
    if (std::optional<KernelConfig> lanes = ChooseLanesOfTerms(dot, target)) return *std::move(lanes);
  }
  if (&dot == &instruction && config.kind == KernelKind::kUnrolled && config.width == 1) {
    if (std::optional<KernelConfig> whole = ChooseWholeVectorProducts(dot, target)) return *std::move(whole);
  }
  absl::StrAppend(&config.why, numerics.strict ? "; strict products are added in order"
                                               : "; small, or not as the library reads matrices");
  return config;
}

// Plans that the library has may cost so much more than generated tiles, which take 6 to 40 ms to compile. Measured
// (Zen 4, two threads), us generated and with vectors of half the width: 3x3 from 20 to 24 features on a batch of 2 of
// 40 x 40 167 and 134, 7 taps from 12 to 24 on 8 of 200 44 and 39, from 8 to 12 in f64 on 2 of 30 x 30 65 and 37,
// depthwise 3x3 of 24 on 4 of 40 x 40 34 and 37; with 1.1, that is with more in vain: 4x4 from 24 to 12 31 and 81.
constexpr double kLibraryConvolutionCost = 1.02;
// The same is not worth it for convolutions of so many times as many vector operations, since some processors execute
// vectors of 32 bytes no faster than those of 64, so that twice the time may be lost: 3x3 of 8 features on 4 of 64 x 64
// 47 us generated and 118 by the library.
constexpr double kMaxShortCost = 5;

// Vector operations of a unit of the library, for the call and what precedes it: 30 to 40 cycles. They may be so much
// of all, or as many as kShortConvolution.
constexpr double kLibraryUnit = 80, kLibraryUnits = 0.16;

// Returns the vector operations of a phase, of vectors as wide as the target's.
double CostOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan, PrimitiveType type,
              const TargetTraits& target) {
  double terms = 1;
  for (const ConvolutionTap& tap : phase.taps) terms *= static_cast<double>(tap.count);
  // Operations take half the time with vectors of half the width, and no less.
  const int64_t bits = std::max<int64_t>(256, plan.width * PrimitiveTypeBitWidth(type));
  return terms * plan.cost * static_cast<double>(bits) / std::max(target.vector_bits, 256);
}

// The vector operations of generated tiles, and how many more are few: those of a convolution that runs once.
struct GeneratedCost {
  double operations = 0, short_loss = 0;

  bool IsShort() const { return operations <= kMaxShortCost * short_loss; }
};

// Returns true if tiles of the library take little longer than generated ones.
bool AreFastInLibrary(absl::Span<const ConvolutionPhase> phases, absl::Span<const ConvolutionPlan> plans,
                      const GeneratedCost& generated, PrimitiveType type, const TargetTraits& target) {
  double cost = 0, units = 0;
  for (size_t p = 0; p < phases.size(); ++p) {
    cost += CostOf(phases[p], plans[p], type, target);
    units += kLibraryUnit * static_cast<double>(UnitsOf(phases[p], plans[p]).count);
  }
  const double loss = generated.IsShort() ? generated.short_loss : 0;
  return cost <= std::max(generated.operations * kLibraryConvolutionCost, generated.operations + loss) &&
         units <= std::max(generated.operations * kLibraryUnits, loss);
}

// Returns the plans of a convolution's phases that cost the least of those whose lanes are features that the library
// has, also with vectors of half the width, which may fit the features better; nullopt if it has none or if they are
// much slower than generated ones. The last vector is partial only if the convolution is short. Measured (Zen 4, two
// threads), us of a run, generated and with a partial vector: 3x3 from 18 to 18 features on 8 of 56 x 56 844 and 1097,
// from 20 to 40 on 2 of 40 x 40 256 and 329, from 12 to 12 on 8 of 64 x 64 541 and 633.
std::optional<std::vector<ConvolutionPlan>> FeaturePlansOf(absl::Span<const ConvolutionPhase> phases,
                                                           const GeneratedCost& generated, PrimitiveType type,
                                                           const TargetTraits& target) {
  std::vector<ConvolutionPlan> plans;
  for (const ConvolutionPhase& phase : phases) {
    std::optional<ConvolutionPlan> best;
    for (const int bits : {target.vector_bits, target.vector_bits / 2}) {
      const ConvolutionPlan plan = PlanOf(phase, type,
                                          {.vector_bits = bits,
                                           .registers = target.vector_registers,
                                           .in_library = true,
                                           .may_be_partial = generated.IsShort()});
      if (LibraryLoopsOf(phase, plan, type, target).has_value() &&
          (!best.has_value() || CostOf(phase, plan, type, target) < CostOf(phase, *best, type, target)))
        best = plan;
    }
    if (!best.has_value()) return std::nullopt;
    plans.push_back(*best);
  }
  if (!AreFastInLibrary(phases, plans, generated, type, target)) return std::nullopt;
  return plans;
}

// Likewise of those whose lanes are positions.
std::optional<std::vector<ConvolutionPlan>> PositionPlansOf(absl::Span<const ConvolutionPhase> phases,
                                                            PrimitiveType type, const TargetTraits& target) {
  std::vector<ConvolutionPlan> plans;
  for (const ConvolutionPhase& phase : phases) {
    const std::optional<ConvolutionPlan> plan = PositionPlanOf(phase, type, target);
    if (!plan.has_value() || !LibraryLoopsOf(phase, *plan, type, target).has_value()) return std::nullopt;
    plans.push_back(*plan);
  }
  return plans;
}

// Returns true if the lanes of all phases read adjacent elements of the input.
bool ReadAdjacent(absl::Span<const ConvolutionPhase> phases, absl::Span<const ConvolutionPlan> plans) {
  for (size_t p = 0; p < phases.size(); ++p) {
    if (phases[p].axes[static_cast<size_t>(plans[p].lanes)].lhs != 1) return false;
  }
  return true;
}

// Returns the plans of the library for a convolution whose generated plans it does not have. Those of few features have
// lanes of positions if these are adjacent, else a partial vector of features. Measured (Zen 4, two threads), us of
// positions and of features: 3x3 from 1 to 5 features on 8 of 28 x 28 24 and 35, from 3 to 6 with stride 2 on 32 x 32
// 14 and 10.
std::optional<std::vector<ConvolutionPlan>> LibraryPlansOf(absl::Span<const ConvolutionPhase> phases,
                                                           const GeneratedCost& generated, PrimitiveType type,
                                                           const TargetTraits& target) {
  std::optional<std::vector<ConvolutionPlan>> of_positions;
  if (generated.operations <= generated.short_loss) of_positions = PositionPlansOf(phases, type, target);
  if (of_positions.has_value() && ReadAdjacent(phases, *of_positions)) return of_positions;
  auto of_features = FeaturePlansOf(phases, generated, type, target);
  return of_features.has_value() ? of_features : of_positions;
}

absl::StatusOr<KernelConfig> ChooseConvolution(const HloInstruction& instruction, const TargetTraits& target,
                                               const NumericOptions& numerics) {
  if (const std::optional<convolution::Patches> patches = PatchesOf(instruction)) {
    return KernelConfig{.kind = KernelKind::kLibraryConvolution,
                        .tile = {patches->block},
                        .parts = CallsOf(*patches),
                        .why = "windows are copied, and the library multiplies them with the kernel"};
  }
  const std::optional<std::vector<ConvolutionPhase>> phases =
      PhasesOf(instruction, numerics.strict, target.vector_bits);
  if (!phases.has_value()) {
    HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseLoop(instruction, target));
    absl::StrAppend(&config.why, "; a convolution of too many phases");
    return config;
  }
  KernelConfig config{.kind = KernelKind::kConvolution, .parts = 0, .why = "tiles of results stay in registers"};
  const PrimitiveType type = instruction.shape().element_type();
  std::vector<ConvolutionPlan> plans;
  bool in_library = !numerics.strict;
  GeneratedCost generated;
  if (MayBeShort(instruction)) generated.short_loss = kShortConvolution;
  for (const ConvolutionPhase& phase : *phases) {
    plans.push_back(
        PlanOf(phase, type, {.vector_bits = std::max(target.vector_bits, 32), .registers = target.vector_registers}));
    generated.operations += CostOf(phase, plans.back(), type, target);
    // Narrower vectors may have no partial one.
    in_library = in_library && !HasPositionLanes(phase, plans.back()) && !HasPartialVector(phase, plans.back()) &&
                 LibraryLoopsOf(phase, plans.back(), type, target).has_value();
  }
  in_library = in_library && AreFastInLibrary(*phases, plans, generated, type, target);
  if (!in_library && !numerics.strict && (type == F32 || type == F64)) {
    if (auto of_library = LibraryPlansOf(*phases, generated, type, target)) {
      plans = *std::move(of_library);
      in_library = true;
    }
  }
  for (size_t p = 0; p < plans.size(); ++p) {
    const std::vector<int64_t> tile = plans[p].ToTile();
    config.tile.insert(config.tile.end(), tile.begin(), tile.end());
    config.width = std::max<int64_t>(config.width, plans[p].width);
    config.parts += UnitsOf((*phases)[p], plans[p]).count;
  }
  if (in_library) {
    config.kind = KernelKind::kLibraryConvolution;
    absl::StrAppend(&config.why, ", those of the library",
                    HasPositionLanes(phases->front(), plans.front()) ? ", whose lanes are positions" : "");
  }
  return config;
}

}  // namespace hilo::cpu
