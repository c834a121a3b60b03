// MLIR bytecode (versions 0 to 6) with the dialects builtin, vhlo and sdy, as portable artifacts hold it.
#ifndef HILO_HLO_IMPORT_STABLEHLO_BYTECODE_READER_H_
#define HILO_HLO_IMPORT_STABLEHLO_BYTECODE_READER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// Reads `bytes`, of which `module` keeps views. Takes time and memory linear in them.
// Errors: InvalidArgument with the position of the byte; Unimplemented for an unknown version or operation.
absl::Status ReadBytecode(absl::string_view bytes, MlirModule* module);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_BYTECODE_READER_H_
