// Attributes of get-dimension-size and set-dimension-size.
#ifndef HILO_HLO_OPS_MOVEMENT_DIMENSION_SIZE_ATTRIBUTES_H_
#define HILO_HLO_OPS_MOVEMENT_DIMENSION_SIZE_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ops/table/attributes.h"

namespace hilo {

struct DimensionSizeAttrs : Attributes<DimensionSizeAttrs> {
  std::vector<int64_t> dimensions;  // exactly one
  static constexpr auto Fields() { return std::make_tuple(Field("dimensions", &DimensionSizeAttrs::dimensions)); }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_MOVEMENT_DIMENSION_SIZE_ATTRIBUTES_H_
