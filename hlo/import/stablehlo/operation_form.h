// The constraints that StableHLO puts on an operation and that inference of HLO's shapes does not check.
#ifndef HILO_HLO_IMPORT_STABLEHLO_OPERATION_FORM_H_
#define HILO_HLO_IMPORT_STABLEHLO_OPERATION_FORM_H_

#include "absl/status/status.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// Errors: InvalidArgument for a missing attribute or one of another kind, for regions of an operation that has none,
// for element types that an operation does not take, and for elements that are moved to an array of other scales.
absl::Status CheckForm(const Operation& op);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_OPERATION_FORM_H_
