// Which dimensions of an op's operands and of its result belong together, so that the op can be done on tiles.
//
//   dot(lhs[b,i,k], rhs[b,k,j]) -> [b,i,j]:  factors 0 (b), 1 (i), 2 (j), 3 (k, which is summed up)
//   lhs: {0, 1, 3}   rhs: {0, 3, 2}   result: {0, 1, 2}
//
// If all dimensions of a factor are cut alike, tiles of the operands give the tile of the result; a factor that is in
// no dimension of the result gives parts that are still to be combined.
#ifndef HILO_HLO_PASSES_PARTITION_OP_FACTORS_H_
#define HILO_HLO_PASSES_PARTITION_OP_FACTORS_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

struct OpFactors {
  static constexpr int kNone = -1;         // must not be cut
  std::vector<std::vector<int>> operands;  // factor of each dimension of each operand
  std::vector<int> result;                 // of the dimensions of the result, or of each array of a tuple
  int count = 0;
  std::vector<int> combined;          // factors whose parts are to be combined
  std::optional<HloOpcode> combiner;  // by this
};

// Nothing if the op can only be done on whole arrays.
std::optional<OpFactors> FactorsOf(const HloInstruction& instruction);

// The operand whose dimensions the result has, if for other positions or sizes, of an op that may have to be done on
// whole arrays: the first that `is_cut` of those that can be it. Nothing of other ops.
std::optional<int64_t> OperandAlike(const HloInstruction& op, absl::FunctionRef<bool(int64_t)> is_cut);

// Attributes that tell sizes, of an op whose result is to have `shape` and whose operands are tiles already.
void SetTileSizes(const OpFactors& factors, HloInstruction* tile);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_OP_FACTORS_H_
