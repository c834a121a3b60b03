// The accumulator type of dots and convolutions.
#ifndef HILO_HLO_OPS_REDUCTION_SUM_TYPE_H_
#define HILO_HLO_OPS_REDUCTION_SUM_TYPE_H_

#include "hilo/primitive_type.h"

namespace hilo {

// Both operands are converted to this type, products are accumulated in it, and the sum is converted to `result` once.
// Floats of fewer than 32 bits are accumulated in F32 and all products with a 64-bit float in F64 (C64 and C128
// alike); integers in the type of the result, where they wrap.
PrimitiveType SumType(PrimitiveType lhs, PrimitiveType rhs, PrimitiveType result);

}  // namespace hilo

#endif  // HILO_HLO_OPS_REDUCTION_SUM_TYPE_H_
