// Arrays with an element for each pair of a row and a key, as the gradient of attention has them:
//
//   s = f32[b,q,k] dot(queries, keys)          g = f32[b,q,k] dot(gradient, values)
//   p = f32[b,q,k] ... of s, g, masks, and reductions along k
//   r = f32[b,q,d] dot(p, keys)                and others that contract q or k
//   t = f32[q,k]   reduce(p) along b           as the gradient of a bias
//
// The grid is what lies between: the dots that make such arrays (the scores), what is element-wise, transposes,
// broadcasts, reshapes that add or remove dimensions of size 1, reductions along one side, and the dots that contract
// a side (the products), and sums over the batch. Which function of the scores it is does not matter here: a kernel can
// compute its elements a strip at a time, whatever they are, without arrays of the size of s.
#ifndef HILO_HLO_ANALYSIS_SCORE_GRID_H_
#define HILO_HLO_ANALYSIS_SCORE_GRID_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// The sides are those of the first score: the left one of its operands gives one, the right one the other.
enum class GridSide { kBatch, kLeft, kRight };
inline GridSide OtherSide(GridSide side) { return side == GridSide::kLeft ? GridSide::kRight : GridSide::kLeft; }

struct ScoreGrid {
  struct Axis {
    int64_t size = 0;
    GridSide side = GridSide::kBatch;
  };
  std::vector<Axis> axes;  // the dimensions of the first score, without those of size 1
  // All in an order in which operands are first.
  std::vector<HloInstruction*> members;     // the scores and what depends on them, but not the products
  std::vector<HloInstruction*> scores;      // dots
  std::vector<HloInstruction*> reductions;  // of one array along all axes of a side: sums, maxima and minima
  std::vector<HloInstruction*> products;    // dots that contract all axes of a side
  std::vector<HloInstruction*> batch_sums;  // sums along axes of the batch alone; no members
  // The axis of each dimension of a member; -1 for dimensions of size 1.
  absl::flat_hash_map<const HloInstruction*, std::vector<int64_t>> dimensions;
  // The side along which a reduction or a product adds up.
  absl::flat_hash_map<const HloInstruction*, GridSide> summed;
  absl::flat_hash_map<const HloInstruction*, int64_t>
      grid_operands;  // the number of a product's operand that is a member

  bool Has(const HloInstruction* instruction) const { return dimensions.contains(instruction); }
  // Returns true for members with an element for each row and key, rather than for each row.
  bool IsWhole(const HloInstruction* member) const;
  int64_t SizeOf(GridSide side) const;
  // Returns the axes along which a batch sum adds up.
  std::vector<int64_t> SummedAxes(const HloInstruction* batch_sum) const;
};

// Returns the grid of which the dot `score` is a score; nullopt if there is none, if more than its reductions,
// products and batch sums are read by others, or if it has neither products nor reductions.
std::optional<ScoreGrid> ScoreGridOf(HloInstruction* score);
// Returns the grid of a fusion all of whose dots are its scores and products; nullopt: it has none.
std::optional<ScoreGrid> ScoreGridOfFusion(const HloInstruction& fusion);

// An operand of a score or a product, as a matrix of lines along a side and features, for each batch. The operand is
// what transposes, reshapes that add or remove dimensions of size 1, and converts of 16 bits to F32 are of; no
// dimension of size 1 is listed.
struct GridOperand {
  const HloInstruction* operand = nullptr;
  std::vector<int64_t> batch, lines, features;  // dimensions of the operand
  std::vector<int64_t> batch_axes, line_axes;   // of the grid
  std::vector<const HloInstruction*> views;     // these, users first
  friend bool operator==(const GridOperand& a, const GridOperand& b) {
    return a.operand == b.operand && a.batch == b.batch && a.lines == b.lines && a.features == b.features &&
           a.batch_axes == b.batch_axes && a.line_axes == b.line_axes;
  }
};
// Returns the operand of a score whose lines are along `side`.
GridOperand ScoreOperand(const ScoreGrid& grid, const HloInstruction* score, GridSide side);
// Returns what is the operand there, of a score's or a product's factor.
const HloInstruction* WithoutViews(const HloInstruction* factor);
// Returns the operand of a product that is no member. Its lines are along the side that the product contracts.
GridOperand ProductOperand(const ScoreGrid& grid, const HloInstruction* product);
// Returns the product of the sizes of an operand's features.
int64_t FeaturesOf(const GridOperand& side);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_SCORE_GRID_H_
