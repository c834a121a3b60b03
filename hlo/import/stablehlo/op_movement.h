// Conversions shared by operations of static and of dynamic shapes.
#ifndef HILO_HLO_IMPORT_STABLEHLO_OP_MOVEMENT_H_
#define HILO_HLO_IMPORT_STABLEHLO_OP_MOVEMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {

absl::StatusOr<HloInstruction*> BroadcastInDim(OpConversion& c, HloInstruction* operand, const Shape& result,
                                               std::vector<int64_t> dimensions);
// Gathers from operands 0 and 1, with all other attributes as the operation has them.
absl::StatusOr<HloInstruction*> Gather(OpConversion& c, std::vector<int64_t> slice_sizes);
absl::StatusOr<HloInstruction*> Pad(OpConversion& c, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                                    const std::vector<int64_t>& interior);
// `input` and operand 1. `dilate_input`: by the attribute lhs_dilation.
absl::StatusOr<HloInstruction*> Convolve(OpConversion& c, HloInstruction* input,
                                         const std::vector<std::pair<int64_t, int64_t>>& padding,
                                         bool dilate_input = true);
absl::StatusOr<HloInstruction*> Slice(OpConversion& c, HloInstruction* operand, const std::vector<int64_t>& starts,
                                      const std::vector<int64_t>& limits, const std::vector<int64_t>& strides);
// The result's shape where `operand` is its sizes: as stated, or of these if they are known. Errors: InvalidArgument
// for other sizes than are stated.
absl::StatusOr<Shape> SizedShape(const OpConversion& c, HloInstruction* operand);
absl::StatusOr<HloInstruction*> Iota(OpConversion& c, const Shape& shape);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_OP_MOVEMENT_H_
