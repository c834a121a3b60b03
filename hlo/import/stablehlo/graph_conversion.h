// Converts an MLIR program to an HloModule.
#ifndef HILO_HLO_IMPORT_STABLEHLO_GRAPH_CONVERSION_H_
#define HILO_HLO_IMPORT_STABLEHLO_GRAPH_CONVERSION_H_

#include "absl/status/statusor.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/import/stablehlo/stablehlo_program.h"

namespace hilo::stablehlo {

// The part of ImportStablehlo after the reading. The HloModule keeps no references into `program`.
absl::StatusOr<StablehloProgram> ConvertProgram(const MlirModule& program, const StablehloOptions& options);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_GRAPH_CONVERSION_H_
