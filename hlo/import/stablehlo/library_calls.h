// Custom calls that are XLA's own words for functions of libraries, or for ops with a computation.
#ifndef HILO_HLO_IMPORT_STABLEHLO_LIBRARY_CALLS_H_
#define HILO_HLO_IMPORT_STABLEHLO_LIBRARY_CALLS_H_

#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {

// What a custom call of this target becomes; null if it stays what it is.
//   ApproxTopK                              (values ..., initial values ...) -> (best of the values ...)
//   Eigh                                    (a) -> (eigenvectors, eigenvalues), in ascending order
//   ProductOfElementaryHouseholderReflectors (a, taus) -> (q)
//   Qr                                      (a) -> (r above reflectors, taus)
Converter FindLibraryCall(absl::string_view target);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_LIBRARY_CALLS_H_
