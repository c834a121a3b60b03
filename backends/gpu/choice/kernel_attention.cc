// The choice of the kernel for attention.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/match/attention_tile.h"
#include "backends/gpu/match/launch_sizes.h"
#include "base/math.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::gpu {
namespace {

// A warp has 16 rows: with fewer, most of what tensor cores multiply is thrown away, and the keys of a row should be
// divided among blocks.
constexpr int64_t kWarpRows = 16, kMostWarps = 4;
// With fewer keys the logits are no larger than the operands.
constexpr int64_t kMinKeys = 32;
// Strips of keys and of values of 128 elements are 34 KB of shared memory. The results of 16 rows and 128 features are
// 64 registers of a thread, the queries 32, and the logits of a strip 32.
constexpr int64_t kStripKeys = 64, kMostFeatures = 128;
// Fragments have 8 columns, which are all or none of the features.
constexpr int64_t kFragmentColumns = 8;
constexpr int kFirstTensorCores = 80;

int64_t SizeOf(const std::vector<int64_t>& sizes) { return Product(sizes); }

// Elements are adjacent in memory along the operand's last dimension, unless that is one of the batch.
int64_t MinorSize(const DotSide& side) {
  if (side.DepthIsMinor()) return side.contracting_sizes.back();
  const bool free = !side.free.empty() && side.free.back() == side.operand->shape().rank() - 1;
  return free ? side.free_sizes.back() : 1;
}

bool IsSmall(int64_t features) { return features > 0 && features <= kMostFeatures && features % kFragmentColumns == 0; }

}  // namespace

bool TakesAttention(const Attention& attention, const KernelFacts& facts) {
  if (facts.strict || facts.architecture < kFirstTensorCores) return false;
  const AttentionSides sides = SidesOf(attention);
  const PrimitiveType type = sides.keys.operand->shape().element_type();
  if (type != BF16 && type != F16) return false;
  for (const DotSide* side : {&sides.queries, &sides.weights, &sides.values}) {
    if (side->operand->shape().element_type() != type) return false;
  }
  for (const HloInstruction* dot : {attention.scores, attention.product}) {
    if (SumType(type, type, dot->shape().element_type()) != F32) return false;
  }
  return SizeOf(sides.queries.free_sizes) >= kWarpRows && SizeOf(sides.keys.free_sizes) >= kMinKeys &&
         IsSmall(SizeOf(sides.keys.contracting_sizes)) && IsSmall(SizeOf(sides.values.free_sizes)) &&
         sides.keys.contracting_sizes.back() % 2 == 0 && sides.values.free_sizes.back() % 2 == 0;
}

absl::StatusOr<KernelConfig> ChooseAttention(const Attention& attention) {
  const AttentionSides sides = SidesOf(attention);
  const int64_t rows = SizeOf(sides.queries.free_sizes), keys = SizeOf(sides.keys.free_sizes),
                depth = SizeOf(sides.keys.contracting_sizes), features = SizeOf(sides.values.free_sizes);
  const int64_t warps = std::min(kMostWarps, CeilDiv(rows, kWarpRows)), threads = warps * kWarp;
  // 16 bytes, or fewer so that all threads have some.
  const auto group = [&](const DotSide& side, int64_t width) {
    return GroupOf(PrimitiveTypeByteSize(side.operand->shape().element_type()), MinorSize(side),
                   std::max<int64_t>(width * kStripKeys / threads, 1));
  };
  return KernelConfig{
      .kind = KernelKind::kAttention,
      .width = kWarpRows,
      .tile = {threads, warps * kWarpRows, kStripKeys, group(sides.keys, depth), group(sides.values, features)},
      .why = absl::StrCat(rows, " queries, ", keys, " keys: logits stay in registers")};
}

}  // namespace hilo::gpu
