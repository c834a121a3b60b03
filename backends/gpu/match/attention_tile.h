// Attention (hlo/analysis/attention.h) as its kernel sees it.
#ifndef HILO_BACKENDS_GPU_MATCH_ATTENTION_TILE_H_
#define HILO_BACKENDS_GPU_MATCH_ATTENTION_TILE_H_

#include <cstdint>
#include <optional>

#include "base/math.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/attention_mask.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

// How a block computes some rows (emitters/attention/attention_emitter.cc).
struct AttentionTile {
  int64_t threads = 0;
  int64_t rows = 0;                        // of the block: 16 for each warp
  int64_t keys = 0;                        // of a strip
  int64_t key_group = 1, value_group = 1;  // adjacent elements that a thread loads together
  int64_t query_group = 0;                 // the same of queries; 0: they are in registers, not in shared memory
  bool copies_strips = false;              // asynchronous copies fill them, two of each operand

  bool shares_queries() const { return query_group > 0; }

  static AttentionTile Of(const KernelConfig& config) {
    const auto& tile = config.tile;
    return {.threads = tile[0],
            .rows = tile[1],
            .keys = tile[2],
            .key_group = tile[3],
            .value_group = tile[4],
            .query_group = tile.size() > 5 ? tile[5] : 0,
            .copies_strips = CopiesStrips(config)};
  }
  // The keys of one of `parts` parts: whole strips of `strip` keys.
  static int64_t PartKeys(int64_t keys, int64_t parts, int64_t strip) {
    return CeilDiv(CeilDiv(keys, parts), strip) * strip;
  }
  // Fragments of factors and results have 16 features.
  static int64_t PaddedFeatures(int64_t features) { return CeilDiv(features, int64_t{16}) * 16; }
  // False of a grid of scores.
  static bool CopiesStrips(const KernelConfig& config) { return config.tile.size() > 6; }
};

// The operands of the two products. The dimensions of the weights are those of the logits.
struct AttentionSides {
  DotSide queries, keys, weights, values;
};

inline AttentionSides SidesOf(const Attention& attention) {
  const HloInstruction &scores = *attention.scores, &product = *attention.product;
  const bool keys_left = attention.keys_operand == 0, weights_left = attention.weights_operand == 0;
  return {.queries = keys_left ? RhsOf(scores) : LhsOf(scores),
          .keys = keys_left ? LhsOf(scores) : RhsOf(scores),
          .weights = weights_left ? LhsOf(product) : RhsOf(product),
          .values = weights_left ? RhsOf(product) : LhsOf(product)};
}

// Returns the mask whose hidden strips a kernel leaves out: it is along the outermost of the rows' dimensions, so that
// the rows of a block which ends at some index end there, too. Parts of the keys read all of their strips.
inline std::optional<CausalMask> MaskOf(const Attention& attention, const KernelConfig& config) {
  const std::optional<CausalMask> mask = CausalMaskOf(attention);
  if (!mask.has_value() || config.parts > 1) return std::nullopt;
  const AttentionSides sides = SidesOf(attention);
  const size_t first = sides.queries.batch.size() + (attention.keys_operand == 0 ? sides.keys.free.size() : 0);
  for (size_t i = 0; i < sides.queries.free.size(); ++i) {
    if (attention.score_dimensions[first + i] == mask->row_dimension) return mask;
    if (sides.queries.free_sizes[i] != 1) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_ATTENTION_TILE_H_
