// Rewrites a program with dynamic dimensions as a static one: arrays at their bounds, their sizes as extra s32 scalars,
// and masks where padding would affect results.
#ifndef HILO_HLO_PASSES_DYNAMIC_EXPAND_DYNAMIC_H_
#define HILO_HLO_PASSES_DYNAMIC_EXPAND_DYNAMIC_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/dynamic/dynamic_interface.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Dimensions of the entry's parameters and result are dynamic as in HloModule::EntryProgramShape(). A dimension
// whose size is never set has its bound; an array added to (multiplied with ...) one of other sizes takes those of the
// first operand with sizes; the contents of the padding are unspecified. Errors: Unimplemented naming the instruction;
// ResourceExhausted for calls nested too deep.
absl::StatusOr<DynamicInterface> ExpandDynamicShapes(HloModule* module, const PassContext& context = {});

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DYNAMIC_EXPAND_DYNAMIC_H_
