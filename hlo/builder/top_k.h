// The largest or smallest elements of rows. Included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_TOP_K_H_
#define HILO_HLO_BUILDER_TOP_K_H_

#include <cstdint>

#include "shape/primitive_type.h"

namespace hilo {

class XlaOp;

// A tuple: the k largest (or smallest) elements along the last dimension in order, and their indices, as S32.
XlaOp TopK(XlaOp operand, int64_t k, bool largest);
// The largest, with indices of `index_type`, an integer type.
XlaOp TopK(XlaOp operand, int64_t k, PrimitiveType index_type = S32);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_TOP_K_H_
