// The choice of the kernel for attention.
#include <algorithm>
#include <bit>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/lib/library_thresholds.h"
#include "backends/gpu/match/attention_tile.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/operands.h"
#include "base/errors.h"
#include "base/math.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

// A warp has 16 rows. With fewer, tensor cores throw most of what they multiply away, but then all wait for memory.
constexpr int64_t kWarpRows = 16, kMaxWarps = 4;
// With no more rows than a warp has, parts of the keys have blocks of their own, until there are so many blocks that
// their copies keep memory busy: 4 x 32 KiB a multiprocessor, of which 18 KiB are on their way in the time of a read.
// A part has some strips, as nothing is multiplied before the first one is there.
constexpr int64_t kBusyBlocks = 4 * GpuMachine().multiprocessors, kMinPartStrips = 4;
// With fewer keys the logits are no larger than the operands.
constexpr int64_t kMinKeys = 32;
// Keys of a strip: the most that fit into shared memory and registers.
constexpr int64_t kMaxStripKeys = 64, kMinStripKeys = 16;
// Registers of a thread for results, queries, and either the logits of a strip or what it loads of the next one, and
// for the latter alone. With some 50 for all else there are no spills.
constexpr int64_t kMaxRegisters = 192, kMaxLoaded = 64, kRegisterBytes = 4;
// Multiplications from which libraries round factors of F32 to tf32 (lib/library_thresholds.h): smaller attention keeps
// all digits.
constexpr int64_t kTf32Multiplications = LibraryThresholds().gemm_products;

int64_t SizeOf(const std::vector<int64_t>& sizes) { return Product(sizes); }

// Bytes of lines of a strip in shared memory; a power of two of 16 bytes has no gap if elements have 16 bits.
int64_t StripBytes(int64_t lines, int64_t in_line, int64_t bytes) {
  const bool has_gap = bytes > 2 || !std::has_single_bit(static_cast<uint64_t>(in_line));
  return lines * (in_line + (has_gap ? kLineGap : 0)) * bytes;
}

// Returns the depth of a multiplication: 1 if threads make it, as tensor cores would round factors.
int64_t StepOf(const Attention& attention) {
  const AttentionSides sides = SidesOf(attention);
  if (sides.keys.operand->shape().element_type() != F32) return 16;
  const int64_t batches = SizeOf(sides.queries.batch_sizes), rows = SizeOf(sides.queries.free_sizes),
                keys = SizeOf(sides.keys.free_sizes), depth = SizeOf(sides.keys.contracting_sizes);
  const bool allowed =
      AllowsTf32(attention.scores->attrs<DotAttrs>()) && AllowsTf32(attention.product->attrs<DotAttrs>());
  return allowed && batches * rows * keys * depth >= kTf32Multiplications ? 8 : 1;
}

// Returns true for an operand whose elements are in memory, `group` adjacent ones together: the kernel does not compute
// them.
bool IsInMemory(const HloInstruction& operand, int64_t group) {
  if (!operand.parent()->IsFusion()) return !operand.IsConstant();
  return ArrayOfLines(&operand, operand.parent()->fusion_instruction(), group) != nullptr;
}

// Returns true if asynchronous copies fill strips with groups of an operand: what is in memory is what tensor cores
// multiply. F32, which they would cut off, each of a block's warps would have to round as it reads: one does.
bool CanCopy(const DotSide& side, int64_t group, int64_t warps) {
  const int64_t bytes = PrimitiveTypeByteSize(side.operand->shape().element_type());
  return (bytes == 2 || warps == 1) && group * bytes >= kMinCopiedBytes && IsInMemory(*side.operand, group);
}

// Returns the tile with the most warps, then with copies, then with the most keys, that fits; nullopt: none does.
std::optional<AttentionTile> TileOf(const Attention& attention) {
  const AttentionSides sides = SidesOf(attention);
  const int64_t rows = SizeOf(sides.queries.free_sizes),
                depth = AttentionTile::PaddedFeatures(SizeOf(sides.keys.contracting_sizes)),
                features = AttentionTile::PaddedFeatures(SizeOf(sides.values.free_sizes)),
                bytes = PrimitiveTypeByteSize(sides.keys.operand->shape().element_type()), step = StepOf(attention);
  // 16 bytes, or fewer so that all threads have some.
  const auto group = [&](const DotSide& side, int64_t elements, int64_t threads) {
    return GroupOf(bytes, MinorSize(side), std::max<int64_t>(elements / threads, 1));
  };
  // Returns the tile if it fits.
  const auto tile_of = [&](int64_t warps, bool copies, bool shares_queries,
                           int64_t strip) -> std::optional<AttentionTile> {
    const int64_t threads = warps * kWarp;
    const int64_t query_bytes = shares_queries ? StripBytes(warps * kWarpRows, depth, bytes) : 0,
                  strip_bytes = StripBytes(strip, depth, bytes) + StripBytes(strip, features, bytes),
                  results = kWarpRows * features / kWarp,
                  queries = shares_queries ? 0 : kWarpRows * depth * bytes / kRegisterBytes / kWarp,
                  logits = kWarpRows * strip / kWarp;
    const AttentionTile tile{
        .threads = threads,
        .rows = warps * kWarpRows,
        .keys = strip,
        .key_group = group(sides.keys, strip * depth, threads),
        .value_group = group(sides.values, strip * features, threads),
        .query_group = shares_queries ? group(sides.queries, warps * kWarpRows * depth, threads) : 0,
        .copies_strips = copies};
    // A group takes a register at least.
    const auto loaded_of = [&](int64_t elements, int64_t in_group) {
      return CeilDiv(elements, in_group * threads) * CeilDiv(in_group * bytes, kRegisterBytes);
    };
    const int64_t loaded =
        copies ? 0 : loaded_of(strip * depth, tile.key_group) + loaded_of(strip * features, tile.value_group);
    if (query_bytes + (copies ? 2 : 1) * strip_bytes > kSharedBytes || loaded > kMaxLoaded ||
        results + queries + std::max(loaded, logits) > kMaxRegisters ||
        (copies && !(CanCopy(sides.keys, tile.key_group, warps) && CanCopy(sides.values, tile.value_group, warps))))
      return std::nullopt;
    return tile;
  };
  for (int64_t warps = std::min(kMaxWarps, CeilDiv(rows, kWarpRows)); warps > 0; warps /= 2) {
    for (const bool copies : {true, false}) {
      for (const bool shares_queries : {false, true}) {
        if (!shares_queries && step == 1) continue;  // a lane would have whole rows
        for (int64_t strip = kMaxStripKeys; strip >= kMinStripKeys; strip /= 2) {
          if (const auto tile = tile_of(warps, copies, shares_queries, strip)) return tile;
        }
      }
    }
  }
  return std::nullopt;
}

// Returns how many parts of the keys have blocks of their own.
int64_t PartsOf(const Attention& attention, const AttentionTile& tile) {
  const AttentionSides sides = SidesOf(attention);
  const int64_t rows = SizeOf(sides.queries.free_sizes), keys = SizeOf(sides.keys.free_sizes),
                blocks = SizeOf(sides.queries.batch_sizes);
  if (rows > kWarpRows || blocks == 0) return 1;
  const int64_t most = std::max<int64_t>(keys / (kMinPartStrips * tile.keys), 1),
                parts = std::min(CeilDiv(kBusyBlocks, blocks), most);
  return CeilDiv(keys, AttentionTile::PartKeys(keys, parts, tile.keys));
}

KernelConfig ConfigOf(const Attention& attention, const AttentionTile& tile) {
  const AttentionSides sides = SidesOf(attention);
  KernelConfig config{.kind = KernelKind::kAttention,
                      .width = StepOf(attention),
                      .tile = {tile.threads, tile.rows, tile.keys, tile.key_group, tile.value_group},
                      .parts = PartsOf(attention, tile),
                      .why = absl::StrCat(SizeOf(sides.queries.free_sizes), " queries, ", SizeOf(sides.keys.free_sizes),
                                          " keys: logits stay in registers")};
  if (tile.shares_queries() || tile.copies_strips) config.tile.push_back(tile.query_group);
  if (tile.copies_strips) config.tile.push_back(1);
  return config;
}

}  // namespace

bool TakesAttention(const Attention& attention, const KernelFacts& facts) {
  if (facts.strict || facts.architecture < kFirstTensorCores) return false;
  const AttentionSides sides = SidesOf(attention);
  const PrimitiveType type = sides.keys.operand->shape().element_type();
  if (type != BF16 && type != F16 && type != F32) return false;
  for (const DotSide* side : {&sides.queries, &sides.weights, &sides.values}) {
    if (side->operand->shape().element_type() != type) return false;
  }
  for (const HloInstruction* dot : {attention.scores, attention.product}) {
    if (SumType(type, type, dot->shape().element_type()) != F32) return false;
  }
  if (SizeOf(sides.queries.free_sizes) == 0 || SizeOf(sides.keys.free_sizes) < kMinKeys ||
      SizeOf(sides.keys.contracting_sizes) == 0 || SizeOf(sides.values.free_sizes) == 0)
    return false;
  const std::optional<AttentionTile> tile = TileOf(attention);
  return tile.has_value() &&
         AttentionRoofline(attention, ConfigOf(attention, *tile)).ns() < AttentionInPartsNs(attention);
}

absl::StatusOr<KernelConfig> ChooseAttention(const Attention& attention) {
  const std::optional<AttentionTile> tile = TileOf(attention);
  if (!tile.has_value()) return Unimplemented("attention of so many features");
  return ConfigOf(attention, *tile);
}

}  // namespace hilo::gpu
