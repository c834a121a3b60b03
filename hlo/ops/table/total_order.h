// The total order of floats: -NaN < -Inf < ... < -0 < +0 < ... < +Inf < +NaN.
#ifndef HILO_HLO_OPS_TABLE_TOTAL_ORDER_H_
#define HILO_HLO_OPS_TABLE_TOTAL_ORDER_H_

#include "hilo/primitive_type.h"

namespace hilo {

// Whether NaNs of the type are first in the order, whatever they become in a wider type: the one NaN of the fnuz types
// has the pattern that is -0 in others.
constexpr bool NanIsFirst(PrimitiveType type) {
  return type == F8E4M3FNUZ || type == F8E5M2FNUZ || type == F8E4M3B11FNUZ;
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_TOTAL_ORDER_H_
