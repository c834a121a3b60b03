// Sizes of dynamic dimensions. Included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_DYNAMIC_SHAPE_OPS_H_
#define HILO_HLO_BUILDER_DYNAMIC_SHAPE_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hilo {

class XlaOp;

// The size of the dimension at run time, s32[].
XlaOp GetDimensionSize(XlaOp operand, int64_t dimension);
// The operand, of which only the first `val` (s32[]) elements along the dimension are valid from here on.
XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension);
// All elements up to the bound are valid again; the dimension is static.
XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension);
// The valid elements, in order, under the sizes `dim_sizes` (s32[] each) within the bounds `new_size_bounds`;
// sizes of dimensions that are not `dims_are_dynamic` are the bounds.
XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes, absl::Span<const int64_t> new_size_bounds,
                     const std::vector<bool>& dims_are_dynamic);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_DYNAMIC_SHAPE_OPS_H_
