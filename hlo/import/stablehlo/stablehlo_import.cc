#include "hlo/import/stablehlo/stablehlo_import.h"

#include "absl/strings/match.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/import/stablehlo/bytecode_reader.h"
#include "hlo/import/stablehlo/graph_conversion.h"

namespace hilo {

bool LooksLikeMlirBytecode(absl::string_view bytes) { return absl::StartsWith(bytes, "ML\xefR"); }

bool LooksLikeMlirText(absl::string_view) { return false; }

absl::StatusOr<StablehloProgram> ImportStablehlo(absl::string_view bytes, const StablehloOptions& options) {
  stablehlo::MlirModule program;
  if (LooksLikeMlirBytecode(bytes)) {
    HILO_RETURN_IF_ERROR(stablehlo::ReadBytecode(bytes, &program));
  } else {
    return InvalidArgument("expected MLIR bytecode");
  }
  return stablehlo::ConvertProgram(program, options);
}

}  // namespace hilo
