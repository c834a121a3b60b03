// The type in which a scaled dot multiplies an operand by its scale.
#ifndef HILO_HLO_OPS_LINALG_SCALED_TYPE_H_
#define HILO_HLO_OPS_LINALG_SCALED_TYPE_H_

#include "hilo/primitive_type.h"

namespace hilo {

// BF16 if both have fewer than 16 bits; else the wider of the two, and F32 for two different ones of one width.
PrimitiveType ScaledType(PrimitiveType operand, PrimitiveType scale);

}  // namespace hilo

#endif  // HILO_HLO_OPS_LINALG_SCALED_TYPE_H_
