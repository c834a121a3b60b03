// Rewrites a program with dynamic dimensions as a static one: arrays at their bounds, their sizes as extra s32 scalars,
// and masks where padding would affect results.
#ifndef HILO_HLO_PASSES_DYNAMIC_EXPAND_DYNAMIC_H_
#define HILO_HLO_PASSES_DYNAMIC_EXPAND_DYNAMIC_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/hlo_pass.h"

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

// Dimensions of the entry's parameters and result are dynamic as in HloModule::EntryProgramShape(). A dimension
// whose size is never set has its bound; an array added to (multiplied with ...) one of other sizes takes those of the
// first operand with sizes; the contents of the padding are unspecified. Errors: Unimplemented naming the instruction;
// ResourceExhausted for calls nested too deep.
absl::StatusOr<DynamicInterface> ExpandDynamicShapes(HloModule* module, const PassContext& context = {});

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DYNAMIC_EXPAND_DYNAMIC_H_
