// Relates the dimensions of an op's operands and of its result, so that the op can be computed on tiles.
//
//   dot(lhs[b,i,k], rhs[b,k,j]) -> [b,i,j]:  factors 0 (b), 1 (i), 2 (j), 3 (k, which is summed up)
//   lhs: {0, 1, 3}   rhs: {0, 3, 2}   result: {0, 1, 2}
//
// If all dimensions of a factor are sharded alike, tiles of the operands give the tile of the result; a factor in
// no dimension of the result gives partial results that must be combined.
#ifndef HILO_HLO_PASSES_PARTITION_OP_FACTORS_H_
#define HILO_HLO_PASSES_PARTITION_OP_FACTORS_H_

#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

struct OpFactors {
  static constexpr int kNone = -1;         // must not be sharded
  std::vector<std::vector<int>> operands;  // factor of each dimension of each operand
  // Of the dimensions of the result, or of each array of a tuple, in which more may follow.
  std::vector<int> result;
  int count = 0;
  std::vector<int> combined;          // factors whose partial results must be combined
  std::optional<HloOpcode> combiner;  // by this
};

// nullopt if the op can only be computed on whole arrays.
std::optional<OpFactors> FactorsOf(const HloInstruction& instruction);

// Whether partitions may combine parts of a reduction, of elements of `type`, by `op`; and whether they may each begin
// their part with `start`, which must leave what it is combined with as it is.
bool MayCombineParts(HloOpcode op, PrimitiveType type);
bool IsPartStart(HloOpcode op, const HloInstruction& start);

// Returns the op by which partitions combine the parts of a reduction that each made from `start`, if `start` leaves
// them as they are.
std::optional<HloOpcode> CombinerOf(const HloComputation& computation, const HloInstruction& start);

// Sets the size attributes of `tile`, an op whose operands and result are tiles already, to the sizes of these.
void SetTileSizes(const OpFactors& factors, HloInstruction* tile);

// By array: the associative and commutative op by which a reduce or reduce-window combines it on its own; empty if its
// computation is none of that kind.
std::vector<HloOpcode> OpsOfArrays(const HloInstruction& reduce);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_OP_FACTORS_H_
