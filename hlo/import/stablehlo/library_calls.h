// Custom calls that XLA defines for ops.
#ifndef HILO_HLO_IMPORT_STABLEHLO_LIBRARY_CALLS_H_
#define HILO_HLO_IMPORT_STABLEHLO_LIBRARY_CALLS_H_

#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {

// The converter of a custom call of this target; null if it is kept as a custom call.
//   ApproxTopK   (values ..., initial values ...) -> (best of the values ...)
Converter FindLibraryCall(absl::string_view target);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_LIBRARY_CALLS_H_
