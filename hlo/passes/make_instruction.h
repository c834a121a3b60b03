// Functions that add an instruction to the computation of its operands.
#ifndef HILO_HLO_PASSES_MAKE_INSTRUCTION_H_
#define HILO_HLO_PASSES_MAKE_INSTRUCTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

absl::StatusOr<HloInstruction*> MakeReshape(HloInstruction* operand, const Shape& shape);
absl::StatusOr<HloInstruction*> MakeBroadcast(HloInstruction* operand, const Shape& shape,
                                              std::vector<int64_t> dimensions);
absl::StatusOr<HloInstruction*> MakeTranspose(HloInstruction* operand, std::vector<int64_t> dimensions);
absl::StatusOr<HloInstruction*> MakeSlice(HloInstruction* operand, std::vector<SliceRange> ranges);
absl::StatusOr<HloInstruction*> MakeBinary(HloOpcode opcode, HloInstruction* lhs, HloInstruction* rhs);
// Adds the computation of `opcode` on two scalars.
HloComputation* MakeScalarComputation(HloModule* module, HloOpcode opcode, PrimitiveType type);
// Of one array, by `computation`.
absl::StatusOr<HloInstruction*> MakeReduce(HloInstruction* operand, HloInstruction* init,
                                           std::vector<int64_t> dimensions, HloComputation* computation);
// Replaces reductions of one array each, along the same dimensions of equal ones, by one of all of their arrays, which
// is returned: each is combined by its own ReductionOp. None depends on another.
absl::StatusOr<HloInstruction*> MergeReductions(absl::Span<HloInstruction* const> reduces);
// Element `index` of a tuple.
absl::StatusOr<HloInstruction*> MakeTupleElement(HloInstruction* tuple, int64_t index);
// `x` as elements of `type`; itself if it has that type.
absl::StatusOr<HloInstruction*> MakeConvert(HloInstruction* x, PrimitiveType type);
// The number that an iota of that element type has at index `k`, a constant: integers wrap.
HloInstruction* MakeIotaNumber(HloComputation* computation, PrimitiveType type, int64_t k);
// `value` in the shape of `like`.
absl::StatusOr<HloInstruction*> MakeUniform(HloInstruction* like, double value);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_MAKE_INSTRUCTION_H_
