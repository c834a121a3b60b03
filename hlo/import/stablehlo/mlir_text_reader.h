// MLIR text with the dialects builtin, func, stablehlo, chlo and sdy: as JAX prints it, and in the generic form.
#ifndef HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_READER_H_
#define HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_READER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// Reads `text`, of which `module` keeps views. Locations are skipped; operations store their lines instead.
// Errors: InvalidArgument with line and column.
absl::Status ReadMlirText(absl::string_view text, MlirModule* module);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_READER_H_
