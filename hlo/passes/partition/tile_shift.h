// Ops that move elements along a dimension that is cut: slices, pads (interior ones, too), reverses and concatenations.
// Each partition gets the pieces of its tile of the result from the partitions that have them:
//
//   f32[8] in 4 tiles, slice [1:5]:   0 1 | 2 3 | 4 5 | 6 7   =>   1 | 2 | 3 | 4
//   tile 1 stays in place; the others get a piece by one permute: tile 0 keeps its last element, 2 <- 1, 3 <- 2
#ifndef HILO_HLO_PASSES_PARTITION_TILE_SHIFT_H_
#define HILO_HLO_PASSES_PARTITION_TILE_SHIFT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "hlo/ir/tile_assignment.h"

namespace hilo {

// Indices begin, begin + spacing, ... before `end` of the result along the dimension are those from `offset`, `stride`
// apart, of one operand. The last of them is end - 1.
struct ShiftSource {
  int64_t operand_size, begin, end, offset, stride;
  size_t operand = 0;
  int64_t spacing = 1;
};

// Along one dimension, which is cut into equally many tiles in the operands and in the result. The last tiles may reach
// beyond them.
struct TileShift {
  int64_t dimension = 0, result_size = 0;
  std::vector<ShiftSource> sources;  // in order; what none of them covers is filled
};

// One piece for each partition that takes part: from at most one, to at most one.
struct ShiftRound {
  size_t source = 0;      // of the pieces, or another one of the same operand, stride and spacing
  bool is_local = false;  // every piece stays where it is
  int64_t length = 0;     // elements of the longest piece
  std::vector<std::pair<int64_t, int64_t>> pairs;  // source and target partition
  // By source partition: the first element of the piece in its tile. By target partition: the index in the tile of the
  // result of the piece's first element, and the range that it covers.
  std::vector<int64_t> start, at, begin, end;
};

// More pieces for one partition are not worth their instructions.
inline constexpr size_t kMaxShiftRounds = 16;

// Indices of the result that the longest piece of the round reaches over.
int64_t SpanOf(const ShiftSource& source, const ShiftRound& round);

std::vector<ShiftRound> PlanShift(const TileShift& shift, const TileAssignment& tiles);

// Several shifts, one after the other, by their rounds: where each of two consecutive ones is a permute of pieces that
// begin at the start of their tiles and of those of the result, and all partitions take part, it becomes one permute,
// that of the second. Reversing two dimensions takes one exchange.
void JoinPermutes(int64_t partitions, std::vector<std::vector<ShiftRound>>* shifts);

// Elements along the dimension that a partition receives, on average.
double ReceivedElements(const std::vector<ShiftRound>& rounds, int64_t partitions);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_TILE_SHIFT_H_
