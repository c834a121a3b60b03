// Propagation of dynamic dimension sizes through instructions: shared by the evaluator and the expansion of dynamic
// shapes.
#ifndef HILO_HLO_ANALYSIS_DYNAMIC_DIMENSIONS_H_
#define HILO_HLO_ANALYSIS_DYNAMIC_DIMENSIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// True if a shape in the computation has a dynamic dimension, or an instruction reads or sets sizes. Called
// computations are ignored.
bool HasDynamicShapes(const HloComputation& computation);
bool HasDynamicShapes(const HloModule& module);

// Dimension `operand_dimension` of operand number `operand` and dimension `dimension` of leaf `leaf` of the result have
// the same size.
struct DimensionFlow {
  int64_t operand, operand_dimension;
  int64_t leaf, dimension;
};
// The result dimensions whose size equals that of an operand dimension. Where several flow into one, the first
// that is dynamic counts. Dimensions whose size an op computes (of concatenate, pad, windows, reshape), or makes static
// (a part of a slice), are excluded.
std::vector<DimensionFlow> DimensionFlows(const HloInstruction& instruction);

// The size of dimension `dimension` of a reshape's result: the product of the sizes of the operand's dimensions
// [operand_begin, operand_end) divided by `divisor`.
struct ReshapedDimension {
  int64_t dimension;
  int64_t operand_begin, operand_end;
  int64_t divisor;
};
// Adjacent dimensions are grouped so that each group of the operand has as many elements as one of the result. Of
// each group with a dynamic dimension (`is_dynamic`, one flag per dimension of the operand) one dimension of the result
// is dynamic: the one that the result's shape marks, or else its attribute inferred_dimension, or else the only one
// greater than 1. Errors: Unimplemented if there is no such one.
absl::StatusOr<std::vector<ReshapedDimension>> ReshapedDimensions(const HloInstruction& reshape,
                                                                  const std::vector<bool>& is_dynamic);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_DYNAMIC_DIMENSIONS_H_
