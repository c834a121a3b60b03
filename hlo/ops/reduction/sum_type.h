// The type in which dots and convolutions add up.
#ifndef HILO_HLO_OPS_REDUCTION_SUM_TYPE_H_
#define HILO_HLO_OPS_REDUCTION_SUM_TYPE_H_

#include "shape/primitive_type.h"

namespace hilo {

// Both operands are converted to this type, products are added up in it, and the sum is converted to `result` once.
// Floats of fewer than 32 bits are summed up in F32 and everything that meets 64-bit floats in F64 (C64 and C128
// alike); integers in the type of the result, where they wrap.
PrimitiveType SumType(PrimitiveType lhs, PrimitiveType rhs, PrimitiveType result);

}  // namespace hilo

#endif  // HILO_HLO_OPS_REDUCTION_SUM_TYPE_H_
