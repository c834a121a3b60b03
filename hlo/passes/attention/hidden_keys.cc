#include "hlo/passes/attention/hidden_keys.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/math.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/attention_mask.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Groups of rows, the last of which sees all keys as a rule: the loop of each compiles the kernels of a block again.
// Measured (Zen 4, two threads, called from JAX), ms to run with one, three and four groups, and to compile: 4 heads of
// 2048 rows 32.7, 23.9 and 21.8; 17, 43 and 57. Fewer scores than 2^23 run too short for that many kernels.
constexpr int64_t kGroups = 2, kManyGroups = 4, kManyScores = 1 << 23;
constexpr int64_t kKeyMultiple = 16;  // lanes of f32
// Scores that are left out, of all: fewer do not pay for another loop.
constexpr double kMinHidden = 0.125;
// Logits may be rounded between the maximum and the exponential, to 8 bits at worst: two numbers each by 2^-9 of their
// size.
constexpr double kMaxRounding = 1.0 / 64;

}  // namespace

std::optional<HiddenKeys> HiddenKeysOf(const ScoreChain& chain) {
  const std::optional<Attention> attention = AttentionOf(*chain.second);
  if (!attention.has_value() || attention->product != chain.second || attention->scores != chain.first)
    return std::nullopt;
  const std::optional<CausalMask> mask = CausalMaskOf(*attention);
  if (!mask.has_value()) return std::nullopt;
  HiddenKeys hidden{.rows = chain.axes.at(attention->logits)[mask->row_dimension],
                    .keys = attention->logits->shape().dimensions(attention->key_dimension),
                    .offset = mask->offset,
                    .least_maximum = mask->HiddenAbove()};
  if (std::isfinite(mask->masked_value)) hidden.least_maximum += std::abs(mask->masked_value) * kMaxRounding;
  if (hidden.rows < 0) return std::nullopt;
  for (const HloInstruction* member : chain.members) {
    const Shape& shape = member->shape();
    if (IsFloatingPointType(shape.element_type()) && PrimitiveTypeBitWidth(shape.element_type()) > 32)
      return std::nullopt;
    int64_t along_keys = 0;
    const ScoreAxes& axes = chain.axes.at(member);
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (axes[d] >= 0 || shape.dimensions(d) == 1) continue;
      if (shape.dimensions(d) != hidden.keys || ++along_keys > 1) return std::nullopt;
    }
    if (member->opcode() == HloOpcode::kReduce && member->operand(0) == attention->logits &&
        ReductionOp(*member->called_computation()) == HloOpcode::kMaximum)
      hidden.maximum = member;
  }
  return hidden.maximum == nullptr ? std::nullopt : std::optional(std::move(hidden));
}

bool AddKeyGroups(const ScoreChain& chain, int64_t block_rows, HiddenKeys* hidden) {
  const int64_t rows = chain.scores()->shape().dimensions(hidden->rows), blocks = CeilDiv(rows, block_rows);
  const int64_t keys = hidden->keys;
  const int64_t groups = std::min(blocks, MaxKeyGroups(chain));
  double seen = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t first = g * blocks / groups, last = (g + 1) * blocks / groups;
    const int64_t end = std::min(rows, last * block_rows);
    const int64_t visible = std::clamp<int64_t>(end + std::clamp(hidden->offset, -rows, keys), 1, keys);
    const int64_t rounded = std::min(keys, CeilDiv(visible, kKeyMultiple) * kKeyMultiple);
    seen += static_cast<double>(last - first) * static_cast<double>(rounded);
    if (!hidden->groups.empty() && hidden->groups.back().keys == rounded) {
      hidden->groups.back().blocks += last - first;
    } else {
      hidden->groups.push_back({.first_block = first, .blocks = last - first, .keys = rounded});
    }
  }
  hidden->first_whole_block = blocks;
  if (hidden->groups.back().keys == keys) {
    hidden->first_whole_block = hidden->groups.back().first_block;
    hidden->groups.pop_back();
  }
  return seen <= (1 - kMinHidden) * static_cast<double>(blocks) * static_cast<double>(keys);
}

int64_t MaxKeyGroups(const ScoreChain& chain) {
  return ShapeUtil::ElementsIn(chain.scores()->shape()) >= kManyScores ? kManyGroups : kGroups;
}

}  // namespace hilo
