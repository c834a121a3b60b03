// The choice of kernels for data movement: transposes, concatenates, updates, scatters, sorts.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/key_sorts.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/match/radix_tile.h"
#include "backends/gpu/match/scatter_match.h"
#include "backends/gpu/match/sort_match.h"
#include "base/errors.h"
#include "base/math.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/own_positions.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/sort_keys.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

// Transposes of shorter sides are loops: a warp would read mostly what lies outside of the array.
constexpr int64_t kMinTransposedSide = 16;
constexpr int64_t kWordBytes = 4;

struct TransposeTile {
  int64_t group = 1;     // adjacent elements per thread
  int64_t side = kWarp;  // in elements
  int64_t pitch = kWarp + 1;
};

// 16 bytes of neighbours per thread if the sides allow it, else a word. A line is one element longer than its side (of
// 16 bits: one word), so that lines begin in different banks.
TransposeTile TransposeTileOf(const Shape& shape, int64_t rows, int64_t columns) {
  const PrimitiveType type = shape.element_type();
  if (IsComplexType(type) || PrimitiveTypeBitWidth(type) % 8 != 0) return {};
  const int64_t bytes = PrimitiveTypeByteSize(type), words = std::max<int64_t>(kWordBytes / bytes, 1);
  const auto fits = [&](const TransposeTile& tile) {
    return rows % tile.group == 0 && columns % tile.group == 0 && rows >= tile.side && columns >= tile.side;
  };
  const int64_t gap = bytes == 2 ? words : 1;
  const TransposeTile wide = {kGroupBytes / bytes, 2 * kWarp, 2 * kWarp + gap};
  const TransposeTile narrow = {words, words * kWarp, words * kWarp + gap};
  if (bytes > 1 && fits(wide)) return wide;  // bytes would have four-way bank conflicts
  return fits(narrow) ? narrow : TransposeTile();
}

// With more operands, selecting the operand costs more than a table would.
constexpr int64_t kMaxConcatenated = 32;

// Threads that iterate over the same indices, each for the elements that it owns: with more of them, reading the
// indices again costs more than the updates.
constexpr int64_t kOwners = 128;
// Fewer updates are applied by their owners before they would be sorted.
constexpr int64_t kSortedUpdates = 512;

// Shared memory of a sort's tile, twice; of a top-k's. Two and four blocks share a multiprocessor then.
constexpr int64_t kSortTileBytes = 32 << 10, kTopKTileBytes = 16 << 10;
// Updates of an element, in the mean, from which on one thread would add them up, some 0.1 us each with runs of twice
// the mean, for longer than blocks combine them in two launches more.
constexpr int64_t kLongRun = 32;
// Blocks that share a multiprocessor, and what each may have of its shared memory for the elements that it applies
// updates to.
constexpr int64_t kBlocksTogether = 8, kMaxOwnBytes = 24 << 10;
// So many elements have few of the updates each that a device applies at a time.
constexpr int64_t kSpreadElements = int64_t{1} << 14;
// The most updates that one thread combines: what follows of a long run has other threads, and a launch for each power
// of this number.
constexpr int64_t kMaxOwnUpdates = 64;
static_assert(kMaxOwnUpdates < kBlockSize);

// Elements that a block sorts: the largest power of two of which two copies fit; 1 if even a warp's do not.
int64_t SortTileOf(const HloInstruction& sort, int64_t length) {
  int64_t bytes = 0, tile = kWarp;
  for (const HloInstruction* operand : sort.operands())
    bytes += std::max<int64_t>(kWordBytes, PrimitiveTypeByteSize(operand->shape().element_type()));
  while (tile < length && 4 * tile * bytes <= kSortTileBytes) tile *= 2;
  return 2 * tile * bytes <= kSortTileBytes ? tile : 1;
}

KernelConfig MergesOf(const HloInstruction& sort) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t tile = SortTileOf(sort, shape.dimensions(sort.attrs<SortAttrs>().dimensions[0]));
  return {.kind = KernelKind::kMergeSort,
          .tile = {std::min<int64_t>(kBlockSize, std::max<int64_t>(kWarp, tile)), tile,
                   BlockFor(ShapeUtil::ElementsIn(shape))},
          .why = "any comparator"};
}

int64_t UpdatesOf(const Scatter& s) { return Product(s.BatchSizes()); }

int64_t PowerFrom(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); }

}  // namespace

absl::StatusOr<KernelConfig> ChooseTranspose(const HloInstruction& instruction, const KernelFacts& facts) {
  const HloInstruction& transpose = *HeroOf(&instruction);
  const Shape& shape = transpose.shape();
  const int64_t row = shape.rank() < 2 ? -1 : TransposedRowDimension(transpose);
  if (row < 0) return ChooseLoop(instruction, facts, "lines stay lines");
  const int64_t rows = shape.dimensions(row), columns = shape.dimensions().back();
  if (rows < kMinTransposedSide || columns < kMinTransposedSide)
    return ChooseLoop(instruction, facts, absl::StrCat("a side of less than ", kMinTransposedSide));
  const TransposeTile tile = TransposeTileOf(shape, rows, columns);
  return KernelConfig{.kind = KernelKind::kTiledTranspose,
                      .width = tile.group,
                      .tile = {kBlockSize, tile.side, tile.pitch},
                      .why = "reads and writes are along lines"};
}

absl::StatusOr<KernelConfig> ChooseConcatenate(const HloInstruction& instruction, const KernelFacts& facts) {
  const HloInstruction& concatenate = *HeroOf(&instruction);
  const Shape& shape = concatenate.shape();
  if (ShapeUtil::ElementsIn(shape) < facts.settings.group_elements_from)
    return ChooseLoop(instruction, facts, "too few elements for groups");
  if (concatenate.operand_count() > kMaxConcatenated)
    return ChooseLoop(instruction, facts, absl::StrCat("more than ", kMaxConcatenated, " operands"));
  const int64_t minor = shape.rank() - 1;
  int64_t group = kMaxInGroup;
  for (const HloInstruction* operand : concatenate.operands())
    group = GroupOf(PrimitiveTypeByteSize(shape.element_type()), operand->shape().dimensions(minor), group);
  if (group == 1) return ChooseLoop(instruction, facts, "operands are not whole groups");
  return KernelConfig{.kind = KernelKind::kConcatenate,
                      .width = group,
                      .tile = {BlockFor(ShapeUtil::ElementsIn(shape) / group)},
                      .why = "a group has one operand"};
}

absl::StatusOr<KernelConfig> ChooseUpdate(const HloInstruction& instruction, const KernelFacts& facts) {
  const HloInstruction& hero = *HeroOf(&instruction);
  const HloInstruction* operand = FusedOperand(hero.operand(0), &instruction);
  if (operand->parent()->IsFusion() || operand->IsConstant())
    return ChooseLoop(instruction, facts, "the operand has no memory to update");
  return KernelConfig{.kind = KernelKind::kUpdate,
                      .tile = {BlockFor(ShapeUtil::ElementsIn(hero.operand(1)->shape()))},
                      .why = "in place: the window only"};
}

// Returns true if the updates of an element may be combined with each other before they are applied.
bool MayCombineUpdates(const Scatter& s, bool strict) {
  return s.count == 1 && (!strict || IsIntegralType(s.operand.element_type())) &&
         ReductionOp(s.computation()).has_value();
}

// Returns true for a sorted scatter of single elements each of which has many updates in the mean, and may have many
// more: blocks combine them, in an order of their own.
bool HasLongRuns(const Scatter& s) {
  return UpdatesOf(s) == ShapeUtil::ElementsIn(s.updates) &&
         UpdatesOf(s) >= kLongRun * ShapeUtil::ElementsIn(s.operand);
}

// Returns the configuration of a scatter whose updates are applied one by one, in any order. If few elements of 32 bits
// have many updates each, for which threads would wait, each block has them in shared memory: as many times as there is
// memory for, so that lanes of a warp do not wait for each other.
KernelConfig AtomicScatter(const Scatter& s) {
  const int64_t updates = ShapeUtil::ElementsIn(s.updates), elements = ShapeUtil::ElementsIn(s.operand),
                bytes = elements * kWordBytes;
  KernelConfig config{.kind = KernelKind::kScatterAtomic,
                      .tile = {BlockFor(updates), 1},
                      .why = AtomicOperation(s).has_value()
                                 ? "an atomic operation"
                                 : "extrema: compared and exchanged, as long as they change"};
  const bool has_words = IsSumOfWholeNumbers(s) || PrimitiveTypeByteSize(s.operand.element_type()) == kWordBytes;
  if (!has_words || elements == 0 || bytes > kMaxOwnBytes || updates < kLongRun * elements) return config;
  int64_t copies = 1;
  while (copies < kWarp && 2 * copies * bytes <= kMaxOwnBytes) copies *= 2;
  // A block applies more updates than it has words to clear and to apply.
  const int64_t of_block = std::max(CeilDiv(updates, GpuMachine().multiprocessors * kBlocksTogether),
                                    kLongRun / 2 * std::max<int64_t>(elements, kBlockSize));
  if (updates < 2 * of_block) return config;
  config.tile = {kBlockSize, copies};
  config.parts = CeilDiv(updates, of_block);
  config.why = "few elements: each block has its own";
  return config;
}

// Returns true for extrema of floats that are applied one by one. Few elements of many updates each have the updates
// sorted, unless blocks have elements of their own; where they are sorted already, they are combined first.
bool AreExchanged(const Scatter& s) {
  if (!IsExtremumOfFloats(s) || AreIndependent(s) || AreSorted(s)) return false;
  const bool waits = HasLongRuns(s) && ShapeUtil::ElementsIn(s.operand) < kSpreadElements;
  return !waits || AtomicScatter(s).parts > 1;
}

absl::StatusOr<KernelConfig> ChooseScatter(const HloInstruction& instruction, const KernelFacts& facts) {
  const Scatter s = ScatterOf(instruction);
  const int64_t updates = ShapeUtil::ElementsIn(s.updates);
  KernelConfig config;
  if (AtomicOperation(s).has_value() || AreExchanged(s)) {
    config = AtomicScatter(s);
  } else if (const bool independent = AreIndependent(s);
             independent || (AreSorted(s) && UpdatesOf(s) >= kSortedUpdates)) {
    int64_t bytes = 1;
    for (int64_t i = 0; i < s.count; ++i)
      bytes = std::max<int64_t>(bytes, PrimitiveTypeByteSize(s.scatter->operand(i)->shape().element_type()));
    const bool in_groups = updates >= facts.settings.group_elements_from && WritesWholeLines(s);
    const int64_t group = in_groups ? GroupOf(bytes, s.operand.dimensions().back()) : 1;
    config = {.kind = independent ? KernelKind::kScatterIndependent : KernelKind::kScatterSorted,
              .width = group,
              .tile = {BlockFor(updates / group), 1},
              .why = independent ? "no two updates overlap" : "updates of an element follow each other"};
    if (!independent && MayCombineUpdates(s, facts.strict)) {
      if (HasLongRuns(s)) {
        config.tile = {kBlockSize, kBlockSize};
        config.why = "long runs of updates of an element";
      } else {
        config.tile[1] = kMaxOwnUpdates;
      }
    }
  } else {
    const ScatterDivision division = DivisionOf(s);
    const int64_t owners = std::min({kOwners, Product(division.shared_sizes), Product(division.iteration_sizes)});
    config = {.kind = KernelKind::kScatterInOrder,
              .tile = {BlockFor(Product(division.thread_sizes) * owners), owners},
              .why = "updates are applied in order"};
  }
  for (int64_t i = 0; i < s.count; ++i) {
    const HloInstruction* operand = s.scatter->operand(i);
    const HloInstruction* source = FusedOperand(operand, &instruction);
    if (!source->parent()->IsFusion() && !source->IsConstant()) {
      config.tile.insert(config.tile.end(), {0, 0});
      continue;
    }
    const int64_t width = LoopWidth(instruction, {.roots = {operand}, .leaf_shapes = {operand->shape()}}, facts);
    config.tile.push_back(BlockFor(ShapeUtil::ElementsIn(operand->shape()) / width));
    config.tile.push_back(width);
  }
  return config;
}

bool IsSortedScatter(const HloInstruction& scatter) {
  const Scatter s = ScatterOf(scatter);
  if (UpdatesOf(s) < kSortedUpdates || UpdatesOf(s) > INT32_MAX || AtomicOperation(s).has_value() || AreExchanged(s) ||
      AreIndependent(s) || AreSorted(s) || !AreSameOrDisjoint(s) || !s.attrs->input_batching_dims.empty() ||
      s.attrs->scatter_dims_to_operand_dims.empty() || !OwnPositionsOf(*s.scatter).empty() ||
      ShapeUtil::IsZeroElementArray(s.updates) || ShapeUtil::IsZeroElementArray(s.operand))
    return false;
  // What the updates are sorted by: a number of 32 bits.
  int64_t origins = 1;
  for (int64_t d : s.attrs->scatter_dims_to_operand_dims) origins *= s.operand.dimensions(d);
  return origins < INT32_MAX;
}

absl::StatusOr<KernelConfig> ChooseSort(const HloInstruction& instruction, const KernelFacts& facts) {
  if (instruction.opcode() != HloOpcode::kSort)
    return Unimplemented("sort inside a fusion is not supported on this platform yet");
  const int64_t length = instruction.operand(0)->shape().dimensions(instruction.attrs<SortAttrs>().dimensions[0]);
  KernelConfig merges = MergesOf(instruction);
  if (const std::optional<KeySort> keys = KeySortOf(instruction); keys.has_value() && length <= INT32_MAX) {
    KernelConfig digits{.kind = KernelKind::kRadixSort,
                        .tile = {kBlockSize, CeilDiv(keys->key_bits(), kRadixBits)},
                        .why = absl::StrCat("keys of ", keys->key_bits(), " bits, lists of ", length, " elements")};
    if (facts.settings.always_radix_sorts ||
        SortRoofline(instruction, digits).ns() <= SortRoofline(instruction, merges).ns())
      return digits;
    merges.why =
        absl::StrCat("lists of ", length, " elements: merges are faster than digits of ", keys->key_bits(), " bits");
  }
  return merges;
}

bool IsSortedByEachKey(const HloInstruction& sort) {
  if (!IsListByKeys(sort)) return false;
  const GpuMachine machine;
  const auto elements = static_cast<double>(ShapeUtil::ElementsIn(sort.operand(0)->shape()));
  constexpr double kNumberBytes = 4;  // of an element's number, which moves with the keys
  double bytes = 0, launches = 0;
  for (const SortKey& key : SortKeysOf(*sort.called_computation())) {
    const PrimitiveType type = sort.operand(key.array)->shape().element_type();
    if (!HasOrderKey(key.less->operand(0)->shape().element_type())) return false;
    const int64_t key_bytes = PrimitiveTypeByteSize(type),
                  bits = 8 * (IsFloatingPointType(type) ? std::max<int64_t>(4, key_bytes) : key_bytes);
    const auto passes = static_cast<double>(CeilDiv(bits, kRadixBits)), wide = static_cast<double>(key_bytes);
    // Keys are gathered and counted; a launch clears what the passes share.
    bytes += elements * (kNumberBytes + 3 * wide + 2 * passes * (wide + kNumberBytes));
    launches += 3 + passes;
  }
  // Other arrays are gathered.
  for (const HloInstruction* operand : sort.operands()) {
    bytes += elements * kNumberBytes + 2 * static_cast<double>(ShapeUtil::ByteSizeOf(operand->shape()));
    ++launches;
  }
  return bytes / machine.bytes_per_ns + launches * machine.launch_ns < SortRoofline(sort, MergesOf(sort)).ns();
}

bool IsSelectedTopK(const HloInstruction& instruction) {
  const Shape& shape = instruction.operand(0)->shape();
  const int64_t k = instruction.attrs<TopKAttrs>().k;
  return k > 0 && HasOrderKey(shape.element_type()) && shape.dimensions().back() < INT32_MAX &&
         2 * PowerFrom(k) * TopKCellBytes(shape.element_type()) <= kTopKTileBytes &&
         !ShapeUtil::IsZeroElementArray(shape);
}

KernelConfig ChooseTopK(const HloInstruction& instruction) {
  const Shape& shape = instruction.operand(0)->shape();
  const int64_t k = instruction.attrs<TopKAttrs>().k;
  // A row that is shorter than a tile is all of one.
  const int64_t tile = std::min(kTopKTileBytes / TopKCellBytes(shape.element_type()),
                                std::max(PowerFrom(k), PowerFrom(shape.dimensions().back())));
  return {.kind = KernelKind::kTopK,
          .tile = {BlockFor(tile / 2), tile},
          .why = absl::StrCat("two lists of the first ", k, " fit into a tile")};
}

}  // namespace hilo::gpu
