// Operations that are converted to a call of a computation built with XlaBuilder.
#ifndef HILO_HLO_IMPORT_STABLEHLO_BUILT_CALL_H_
#define HILO_HLO_IMPORT_STABLEHLO_BUILT_CALL_H_

#include <vector>

#include "hilo/xla_builder.h"
#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {

// A parameter for each of `values`.
std::vector<XlaOp> ParametersFor(absl::Span<HloInstruction* const> values, XlaBuilder* builder);

// Calls the built computation on `values`; its elements if it is a tuple. Errors: those of the ops built,
// InvalidArgument unless the operation has as many results.
absl::StatusOr<Results> CallBuilt(OpConversion& c, absl::Span<HloInstruction* const> values, XlaBuilder* builder);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_BUILT_CALL_H_
