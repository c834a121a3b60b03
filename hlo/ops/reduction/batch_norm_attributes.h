// Attributes of the three batch normalizations.
#ifndef HILO_HLO_OPS_REDUCTION_BATCH_NORM_ATTRIBUTES_H_
#define HILO_HLO_OPS_REDUCTION_BATCH_NORM_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ops/table/attributes.h"

namespace hilo {

struct BatchNormAttrs : Attributes<BatchNormAttrs> {
  double epsilon = 0;
  int64_t feature_index = 0;
  static constexpr auto Fields() {
    return std::make_tuple(Field("epsilon", &BatchNormAttrs::epsilon),
                           Field("feature_index", &BatchNormAttrs::feature_index));
  }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_REDUCTION_BATCH_NORM_ATTRIBUTES_H_
