#include "hlo/import/stablehlo/built_call.h"

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {

std::vector<XlaOp> ParametersFor(absl::Span<HloInstruction* const> values, XlaBuilder* builder) {
  std::vector<XlaOp> parameters;
  for (size_t i = 0; i < values.size(); ++i) {
    parameters.push_back(Parameter(builder, static_cast<int64_t>(i), values[i]->shape(), absl::StrCat("x", i)));
  }
  return parameters;
}

absl::StatusOr<Results> CallBuilt(OpConversion& c, absl::Span<HloInstruction* const> values, XlaBuilder* builder) {
  HILO_ASSIGN_OR_RETURN(const XlaComputation built, builder->Build());
  HloComputation* computation = c.state.module->CloneComputation(*built.module()->entry_computation(), "");
  return c.Split(c.Add(HloOpcode::kCall, values, nullptr, {computation}));
}

}  // namespace hilo::stablehlo
