// The sizes that a program with dynamic dimensions takes and returns once it is static.
#ifndef HILO_HLO_PASSES_DYNAMIC_DYNAMIC_INTERFACE_H_
#define HILO_HLO_PASSES_DYNAMIC_DYNAMIC_INTERFACE_H_

#include <compare>
#include <cstdint>
#include <vector>

namespace hilo {

// Dimension `dimension` of leaf `leaf`, counted depth first.
struct DynamicDimension {
  int64_t leaf, dimension;
  auto operator<=>(const DynamicDimension&) const = default;
};

// Additional parameters and results of the entry computation after the existing leaves, in this order: one s32[] each.
struct DynamicInterface {
  std::vector<DynamicDimension> parameters;  // additional parameters; leaves are counted over all parameters
  std::vector<DynamicDimension> results;     // if there are any, the result is a tuple of the former one and these
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DYNAMIC_DYNAMIC_INTERFACE_H_
