// Chooses among the loops over the elements of a result.
//
// If every array is read at the index that is written, the loop is flat: one index over all elements, split into
// blocks. Otherwise the rows of the result (its minor-most dimension) are the parts, and the lanes are along a row. A
// row is split where a concatenation or a padding along it changes its source: masked accesses are slow, especially
// those whose inactive lanes are outside memory. Rows of two to four elements, as of points in space, would leave most
// lanes empty: there the lanes are rows, and each column has a vector. Other rows shorter than two vectors are taken
// several at once, if that fills lanes, and what they read can be permuted in registers. Where transposes read along
// another dimension than the rows, square tiles are transposed in registers. Tiny arrays are fully unrolled, and LLVM
// keeps them in registers.
#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/code_size.h"
#include "backends/cpu/kernels/function_lanes.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/library_transpose.h"
#include "backends/cpu/kernels/row_blocks.h"
#include "backends/cpu/kernels/row_segments.h"
#include "backends/cpu/kernels/transposed_reads.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::cpu {
namespace {

using codegen::TargetTraits;

// Fewer elements are faster as scalars.
constexpr int64_t kFewElements = 5;
// Elements of the smallest arrays that are tables in memory, whatever they are read by.
constexpr int64_t kTableElements = 8 * kUnrolledElements;
// Elements of one part of a flat loop; a multiple of every vector width.
constexpr int64_t kFlatBlock = 2048;
// Rows of one part of a table of few columns.
constexpr int64_t kTableRows = 1024;
// Columns of one part of the transpose of a table of few columns that has several strips of tiles: the rows are then
// still in the first-level cache when the next strip reads them.
constexpr int64_t kTransposeColumns = 128;
// Fewer rows than this are split, so that all threads have work.
constexpr int64_t kRowsToSplit = 16;
// Elements of short rows, of which a part has several: at most so many, so that there are so many parts at least.
constexpr int64_t kShortLoopRow = 64, kMaxRowsOfPart = 256, kMinParts = 16;
// Bytes of one part of a copy.
constexpr int64_t kCopyBytes = 1 << 16;
// Vectors of truth values that are computed together, and the most code of them. Measured on AVX2, one thread, 40,000
// elements, us and ms to compile before and after: isfinite of f32 8.0 and 3.0, 9.5 and 11.0; comparison with the rows'
// numbers 7.7 and 4.3, 10.9 and 13.7, with the columns' 9.1 and 5.6; f64 that are less 14.4 and 12.2. Not of rows that
// change their source, each part of which has its own code: of neighbors in a ring 2.4 and 2.1, 15.6 and 28.0.
constexpr int kPredicateVectors = 4;
constexpr int64_t kPredicatesCode = 120;

// Rows and columns of a square tile. Larger ones read whole cache lines, but take twice as long to compile, and are
// slower where a rest remains: f32[1024,1024] 374 -> 247 us, f32[200,200] 4.1 -> 6.0.
constexpr int kSmallestTile = 4, kUsualTile = 8, kLargeTile = 16;
constexpr int64_t kLargeTileElements = 1 << 16;

// Code of the largest loop of which all rows of a tile are unrolled, as each is emitted up to four times: rows in
// registers cost half the time of rows on the stack, which matters where little is computed.
constexpr int64_t kUnrolledRowsCode = 100;

constexpr int kAnyWidth = 1 << 20;

// Returns true for a tiny loop of sums, or of sums of sums, of enough terms to be loops themselves: lanes compute them
// all at once.
bool HasLongSums(const LoopResults& loop) {
  std::vector<std::pair<const HloInstruction*, int64_t>> work;  // and the terms of the sums that it is in
  for (const HloInstruction* root : loop.roots) work.emplace_back(root, 1);
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!work.empty()) {
    auto [instruction, terms] = work.back();
    work.pop_back();
    if (!seen.insert(instruction).second || !instruction->shape().IsArray()) continue;
    if (instruction->opcode() == HloOpcode::kFusion)
      work.emplace_back(instruction->called_computation()->root_instruction(), terms);
    const auto multiply = [&terms](int64_t size) {
      terms = std::min(terms, codegen::kUnrolledTerms + 1) * std::min(size, codegen::kUnrolledTerms + 1);
    };
    if (instruction->opcode() == HloOpcode::kDot) {
      for (int64_t d : instruction->attrs<DotAttrs>().lhs_contracting_dims)
        multiply(instruction->operand(0)->shape().dimensions(d));
    } else if (instruction->opcode() == HloOpcode::kReduce) {
      for (int64_t d : instruction->attrs<ReduceAttrs>().dimensions)
        multiply(instruction->operand(0)->shape().dimensions(d));
    }
    if (terms > codegen::kUnrolledTerms) return true;
    if (!instruction->parent()->IsFusion()) continue;
    for (const HloInstruction* operand : instruction->operands()) work.emplace_back(operand, terms);
  }
  return false;
}

// The number of minor-most dimensions of one element.
int64_t DimensionsBehindLine(const Shape& shape) {
  int64_t behind = 0;
  while (behind + 1 < shape.rank() && shape.dimensions(shape.rank() - 1 - behind) == 1) ++behind;
  return behind;
}

// Returns true if the results are one row that does not change its source, or one column of an operand.
bool IsLine(const LoopResults& loop) {
  const Shape& shape = loop.shape();
  const int64_t behind = DimensionsBehindLine(shape), count = ShapeUtil::ElementsIn(shape);
  if (shape.rank() == 0 || shape.dimensions(shape.rank() - 1 - behind) != count) return false;
  return behind == 0 ? RowSegments(loop.roots, count).size() <= 2 : loop.instruction->opcode() == HloOpcode::kSlice;
}

// Returns true for what a loop reads of a table, which is too large for registers: its elements are not scalars before.
bool IsReadFromTable(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDynamicSlice &&
         ShapeUtil::ElementsIn(instruction.operand(0)->shape()) >= kTableElements;
}

// Square tiles, if some operands are contiguous along another dimension than the rows, and lanes suit the others.
std::optional<KernelConfig> ChooseTiledTranspose(const LoopResults& loop, const TargetTraits& target) {
  const std::optional<TransposedReads> reads = TransposedReadsOf(loop);
  if (!reads) return std::nullopt;
  int64_t rows = 1;
  for (int64_t dim : reads->dims) rows *= loop.shape().dimensions(dim);
  const int64_t columns = loop.shape().dimensions().back();
  const bool is_large =
      rows % kLargeTile == 0 && columns % kLargeTile == 0 && ShapeUtil::ElementsIn(loop.shape()) >= kLargeTileElements;
  int width = is_large ? kLargeTile : kUsualTile;
  for (const HloInstruction* root : loop.roots)
    width = std::min(width, codegen::PreferredWidth(root, target, /*flat=*/false, /*behind=*/0, reads->transposes));
  for (const HloInstruction* transpose : reads->transposes) {
    // Vectors of an operand lie in one dimension of it, or in its linear index. An operand outside the loop is in
    // memory.
    if (!transpose->parent()->IsFusion()) {
      width = std::min(width, codegen::FullVectorWidth(transpose, target));
    } else if (reads->dims.size() == 1) {
      const int64_t behind = loop.shape().rank() - 1 - reads->dims[0];
      width = std::min(width, codegen::PreferredWidth(transpose, target, /*flat=*/false, behind));
    } else {
      const HloInstruction* operand = transpose->operand(0);
      if (!codegen::IsFlat(operand)) return std::nullopt;
      width = std::min(width, codegen::PreferredWidth(operand, target, /*flat=*/true));
    }
  }
  if (width < kSmallestTile || rows < kSmallestTile || columns < kSmallestTile) return std::nullopt;
  const bool unrolls_rows = CodeSize(*loop.instruction, /*by_elements=*/false) <= kUnrolledRowsCode;
  const auto in_tiles = [&](int rows_of_tile) {
    const int64_t strips = ShapeUtil::ElementsIn(loop.shape()) / rows / columns * CeilDiv(rows, rows_of_tile);
    const int64_t most = strips > 1 ? kTransposeColumns : kTableRows;
    const int64_t block = strips < kRowsToSplit && columns >= 2 * most ? most : columns;
    return KernelConfig{.kind = KernelKind::kTiledTranspose,
                        .width = rows_of_tile,
                        .tile = {block, unrolls_rows ? 1 : 0},
                        .parts = strips * CeilDiv(columns, block),
                        .why = "operands are contiguous along another dimension"};
  };
  // The library's tiles of bytes have more rows than those whose shuffles LLVM selects.
  const bool is_bytes = PrimitiveTypeByteSize(loop.shape().element_type()) == 1;
  KernelConfig of_library = in_tiles(is_bytes ? kLargeTile : width);
  if (!LibraryLoopsOf(*loop.instruction, of_library, target)) return in_tiles(width);
  of_library.kind = KernelKind::kLibraryTranspose;
  absl::StrAppend(&of_library.why, ", in tiles of the library");
  return of_library;
}

// Returns true if a loop permutes elements of at most 32 bits, and does nothing else. Without AVX-512 blocks of rows
// are then faster than lanes that are rows, which are taken apart when they are loaded and put together when they are
// stored: pixels of f32[256,256,3] turned by 90 degrees take 34 us rather than 58, of u8 12 rather than 18. Repeated
// elements and those of 64 bits gain nothing.
bool OnlyPermutes(const HloInstruction& instruction, const RowBlocks& blocks, const TargetTraits& target) {
  constexpr OpcodeSet kPermutations = {HloOpcode::kBitcast,  HloOpcode::kCopy,    HloOpcode::kPad,
                                       HloOpcode::kReshape,  HloOpcode::kReverse, HloOpcode::kSlice,
                                       HloOpcode::kTranspose};
  if (target.has_avx512 || blocks.width < target.vector_bits / 32) return false;
  if (instruction.opcode() != HloOpcode::kFusion) return kPermutations.contains(instruction.opcode());
  return absl::c_all_of(instruction.called_computation()->instructions(), [&](const HloInstruction* fused) {
    return kPermutations.contains(fused->opcode()) || fused->IsParameter() || fused->IsConstant() ||
           fused->opcode() == HloOpcode::kTuple;
  });
}

KernelConfig RowBlocksKernel(const LoopResults& loop, const RowBlocks& blocks) {
  const int64_t rank = loop.shape().rank(),
                table = loop.shape().dimensions(rank - 1 - blocks.row_rank) * blocks.row_elements;
  const int64_t part = std::max<int64_t>(1, kFlatBlock / blocks.block_elements()) * blocks.block_elements();
  return {.kind = KernelKind::kRowBlocks,
          .width = blocks.width,
          .tile = {part, blocks.block_elements(), blocks.row_rank},
          .parts = ShapeUtil::ElementsIn(loop.shape()) / table * CeilDiv(table, part),
          .why = absl::StrCat("vectors of ", blocks.block_rows, " rows together")};
}

// Rows together, if they are so few that a transpose's operand has all of them in adjacent elements: the lines of
// memory that one row reads are those of the others.
std::optional<KernelConfig> ChooseRowsTogether(const LoopResults& loop, int width) {
  const std::optional<TransposedReads> reads = TransposedReadsOf(loop);
  if (!reads || reads->dims.size() != 1 || width == 1) return std::nullopt;
  const Shape& shape = loop.shape();
  const int64_t dim = reads->dims[0], rows = shape.dimensions(dim), columns = shape.dimensions().back();
  if (rows < 2 || rows > codegen::kLargestShuffledStride || columns < 4 * width) return std::nullopt;
  if (RowSegments(loop.roots, columns).size() > 2) return std::nullopt;
  if (CodeSize(*loop.instruction, /*by_elements=*/false) > kUnrolledRowsCode) return std::nullopt;
  const int64_t block = std::min(columns, kFlatBlock);
  return KernelConfig{.kind = KernelKind::kRows,
                      .width = width,
                      .tile = {block, dim},
                      .parts = ShapeUtil::ElementsIn(shape) / rows / columns * CeilDiv(columns, block),
                      .why = absl::StrCat(rows, " rows read the same lines")};
}

// Returns the rows of a part: several short ones, whose indices are counters of loops rather than quotients and
// remainders of the row's number, in the minor-most dimensions that leave parts for threads.
int64_t RowsOfPart(const Shape& shape) {
  const auto sizes = shape.dimensions().first(shape.rank() - 1);
  if (shape.dimensions().back() > kShortLoopRow) return 1;
  const int64_t rows = Product(sizes);
  int64_t part = 1;
  for (size_t d = sizes.size();
       d > 1 && part * sizes[d - 1] <= kMaxRowsOfPart && rows / (part * sizes[d - 1]) >= kMinParts; --d)
    part *= sizes[d - 1];
  return part;
}

// Components of the longest rows that are put together from single columns, of which each has a vector then. The
// shuffles that store them are as many as these, squared: sums of two products of f32[3000,3] take 9.3 us in row blocks
// and 5.5 so for 9 columns, 18 and 13 ms to compile; for 14 columns 22 and 8.5 us, but 10 and 26 ms.
constexpr int64_t kMaxStackedColumns = 10;

// The lanes for rows that are put together from more single columns than narrow rows have, as the elements of rotation
// matrices or a basis of functions at each point; 1 if they are not, or if a lane's elements lie far apart.
int StackedColumnsWidth(const LoopResults& loop, const TargetTraits& target) {
  const Shape& shape = loop.shape();
  const int64_t minor = shape.rank() - 1;
  if (!target.has_avx512 || minor < 1 || ShapeUtil::IsZeroElementArray(shape)) return 1;
  const int64_t columns = shape.dimensions(minor), rows = ShapeUtil::ElementsIn(shape) / columns;
  int width = kAnyWidth;
  for (const HloInstruction* root : loop.roots) {
    if (root->opcode() != HloOpcode::kConcatenate || !ShapeUtil::SameDimensions(root->shape(), shape) ||
        root->attrs<ConcatenateAttrs>().dimensions[0] != minor || root->operand_count() != columns)
      return 1;
    const PrimitiveType type = root->shape().element_type();
    const int64_t components = columns * (IsComplexType(type) ? 2 : 1);
    if (components > kMaxStackedColumns || PrimitiveTypeByteSize(ComplexComponentType(type)) < 4) return 1;
    for (const HloInstruction* operand : root->operands()) {
      if (operand->shape().dimensions(minor) != 1) return 1;
    }
    width = std::min(width, codegen::PreferredWidth(root, target, /*flat=*/false, /*behind=*/1));
  }
  for (const HloInstruction* operand : loop.instruction->operands()) {
    if (ShapeUtil::ElementsIn(operand->shape()) > codegen::kLargestShuffledStride * rows) return 1;
  }
  return 2 * shape.dimensions(minor - 1) <= width ? 1 : width;
}

// Returns true if loops over segments of a dimension are faster than masks. Where masks are cheap, short dimensions
// would be mostly tails.
bool PaysBySegments(const std::vector<int64_t>& segments, int width, const TargetTraits& target) {
  return segments.size() > 2 && (segments.back() >= 4 * width || (width > 1 && !target.has_avx512));
}

// Extends a first or last segment that is shorter than a vector, where the one beside it is long, to a multiple of the
// width: that is one vector with masks, and the vectors beside it straddle no cache lines. Measured (Zen 4), us: 20
// steps of a stencil whose borders are padded, 64 x 64 17.3 and 15.0, with copies of the border 15.9 and 13.2, 100 x
// 100 50.6 and 44.8; 50 steps of two such arrays of 64 x 64 63 and 45.
std::vector<int64_t> AlignedCuts(std::vector<int64_t> cuts, int64_t width) {
  const size_t n = cuts.size();
  if (n < 3) return cuts;
  if (cuts[1] < width && cuts[2] >= 2 * width) cuts[1] = width;
  const int64_t end = cuts[n - 2] / width * width;
  if (cuts[n - 1] - cuts[n - 2] < width && cuts[n - 1] - end <= width && end - cuts[n - 3] >= width) cuts[n - 2] = end;
  return cuts;
}

KernelConfig ChooseRows(const LoopResults& loop, int width, const TargetTraits& target) {
  const int64_t row = loop.shape().dimensions(loop.shape().rank() - 1);
  const int64_t rows = ShapeUtil::ElementsIn(loop.shape()) / row;
  KernelConfig config{.kind = KernelKind::kRows, .width = width, .parts = rows / RowsOfPart(loop.shape())};
  std::vector<int64_t> segments = RowSegments(loop.roots, row);
  if (width > 1 && target.has_avx512) segments = AlignedCuts(std::move(segments), width);
  // Few rows leave threads without work.
  const bool has_segments = PaysBySegments(segments, width, target) || (width > 1 && HasPaddedPattern(loop.roots, row));
  const bool is_long = rows < kRowsToSplit && row >= 4 * kFlatBlock;
  if (has_segments || is_long) {
    const int64_t block = row < 2 * kFlatBlock ? row : kFlatBlock;
    config.kind = KernelKind::kRowSegments;
    config.parts = rows * CeilDiv(row, block);
    config.tile = {block};
    config.tile.insert(config.tile.end(), segments.begin(), segments.end());
    config.why = has_segments ? "rows change their source" : "few long rows";
  } else {
    config.why = width > 1 ? "lanes along rows" : "rows are short, or lanes would gather";
  }
  return config;
}

}  // namespace

int NarrowArrayWidth(absl::Span<const HloInstruction* const> roots, const Shape& shape, const TargetTraits& target) {
  const int64_t rank = shape.rank();
  if (rank < 2 || shape.dimensions(rank - 1) > codegen::kLargestShuffledStride) return 1;
  int width = kAnyWidth;
  for (const HloInstruction* root : roots) {
    if (!root->shape().IsArray() || !ShapeUtil::SameDimensions(root->shape(), shape)) return 1;
    width = std::min(width, codegen::PreferredWidth(root, target, /*flat=*/false, /*behind=*/1));
  }
  return 2 * shape.dimensions(rank - 2) <= width ? 1 : width;
}

// Returns how many vectors of `width` lanes are computed together, so that their truth values fill a vector of bytes:
// without registers of masks, one alone is narrowed to a few bytes in as many instructions as four.
int VectorsOfPredicates(const LoopResults& loop, int width, const TargetTraits& target) {
  constexpr OpcodeSet kSources = {HloOpcode::kConcatenate, HloOpcode::kPad};
  const auto is_predicate = [](const HloInstruction* root) { return root->shape().element_type() == PRED; };
  const auto has_sources = [&](const HloInstruction* i) { return kSources.contains(i->opcode()); };
  const HloInstruction& loop_instruction = *loop.instruction;
  const Shape& shape = loop.shape();
  if (width < 2 || target.has_avx512 || shape.rank() == 0 || !absl::c_all_of(loop.roots, is_predicate) ||
      CodeSize(loop_instruction, /*by_elements=*/false) > kPredicatesCode ||
      (loop_instruction.opcode() == HloOpcode::kFusion &&
       absl::c_any_of(loop_instruction.called_computation()->instructions(), has_sources)))
    return 1;
  int vectors = 1;
  while (vectors < kPredicateVectors && 2 * vectors * width * 8 <= target.vector_bits &&
         2 * kPredicateVectors * vectors * width <= shape.dimensions(shape.rank() - 1))
    vectors *= 2;
  return vectors;
}

absl::StatusOr<KernelConfig> ChooseLoop(const HloInstruction& instruction, const TargetTraits& target) {
  const LoopResults loop = LoopResultsOf(instruction);
  if (loop.leaf_shapes.empty()) return Unimplemented("a fusion without results");
  if (!loop.are_one_loop()) return Unimplemented("a fusion whose results differ in their number of elements");
  const int64_t count = ShapeUtil::ElementsIn(loop.shape());
  bool flat = true;
  for (const HloInstruction* root : loop.roots) flat = flat && codegen::IsFlat(root);
  int width = kAnyWidth;
  for (const HloInstruction* root : loop.roots) width = std::min(width, codegen::PreferredWidth(root, target, flat));
  width *= VectorsOfPredicates(loop, width, target);
  // All lanes of a single vector, which may be along a column.
  int lanes = kAnyWidth;
  for (const HloInstruction* root : loop.roots)
    lanes = std::min(lanes, codegen::PreferredWidth(root, target, flat, flat ? 0 : DimensionsBehindLine(loop.shape())));
  // Sums long enough to be loops themselves are computed by lanes, all at once.
  if (count <= kUnrolledElements && (width < kFewElements - 1 || !HasLongSums(loop))) {
    // A single vector, if the arrays are in memory anyway: LLVM would eventually merge loads and stores of single
    // elements, at ten times the compile time.
    const bool fits = lanes == count || (lanes > count && target.has_avx512) ||
                      (IsReadFromTable(instruction) && lanes > 1 && count % lanes == 0);
    const bool is_vector = count >= kFewElements && (flat || IsLine(loop)) && fits;
    int64_t vector = is_vector ? lanes : 1;
    if (!is_vector && count >= kFewElements)
      vector = std::clamp<int64_t>(KnownIndexWidth(loop, target), 1,
                                   static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(count))));
    return KernelConfig{.kind = KernelKind::kUnrolled,
                        .width = vector,
                        .why = absl::StrCat(kUnrolledElements, " elements at most",
                                            vector > 1 ? ": vectors or unrolled" : ": unrolled")};
  }
  if (std::optional<KernelConfig> whole = ChooseWholeVectors(instruction, target)) return *std::move(whole);
  if (flat) {
    const int64_t block = std::min(count, kFlatBlock);
    return KernelConfig{.kind = KernelKind::kLoop,
                        .width = width * VectorsOfFunctions(instruction, count, width, target),
                        .tile = {block},
                        .parts = CeilDiv(count, block),
                        .why = "all arrays have one index"};
  }
  const int narrow = std::max(NarrowArrayWidth(loop.roots, loop.shape(), target), StackedColumnsWidth(loop, target));
  const std::optional<RowBlocks> blocks = RowBlocksOf(loop, target, width);
  if (blocks && (narrow < blocks->width || OnlyPermutes(instruction, *blocks, target)))
    return RowBlocksKernel(loop, *blocks);
  if (narrow > 1) {
    const int64_t rank = loop.shape().rank(), rows = loop.shape().dimensions(rank - 2);
    const int64_t tables = count / rows / loop.shape().dimensions(rank - 1);
    KernelConfig config{.kind = KernelKind::kNarrowRows,
                        .width = narrow,
                        .tile = {kTableRows},
                        .parts = tables * CeilDiv(rows, kTableRows),
                        .why = "rows are shorter than a vector: the lanes are rows"};
    const std::vector<int64_t> segments = RowSegments(loop.roots, rows, /*behind=*/1);
    if (PaysBySegments(segments, narrow, target))
      config.tile.insert(config.tile.end(), segments.begin(), segments.end());
    return config;
  }
  if (std::optional<KernelConfig> tiles = ChooseTiledTranspose(loop, target)) return *std::move(tiles);
  if (std::optional<KernelConfig> together = ChooseRowsTogether(loop, width)) return *std::move(together);
  width *= static_cast<int>(VectorsOfFunctions(instruction, loop.shape().dimensions().back(), width, target));
  return ChooseRows(loop, width, target);
}

absl::StatusOr<KernelConfig> ChooseCopy(const HloInstruction& copy, const TargetTraits& target) {
  if (ShapeUtil::ElementsIn(copy.shape()) <= kUnrolledElements) return ChooseLoop(copy, target);
  if (std::optional<KernelConfig> whole = ChooseWholeVectors(copy, target)) return *std::move(whole);
  return KernelConfig{.kind = KernelKind::kCopy,
                      .tile = {kCopyBytes},
                      .parts = CeilDiv(ShapeUtil::ByteSizeOf(copy.shape()), kCopyBytes),
                      .why = "contiguous bytes"};
}

}  // namespace hilo::cpu
