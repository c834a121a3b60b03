#include "hlo/import/stablehlo/stablehlo_import.h"

#include "absl/strings/match.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/bytecode_reader.h"
#include "hlo/import/stablehlo/graph_conversion.h"
#include "hlo/import/stablehlo/mlir_cursor.h"
#include "hlo/import/stablehlo/mlir_text_reader.h"

namespace hilo {

bool LooksLikeMlirBytecode(absl::string_view bytes) { return absl::StartsWith(bytes, "ML\xefR"); }

bool LooksLikeMlirText(absl::string_view bytes) {
  stablehlo::MlirCursor cursor(bytes.substr(0, 1 << 16));
  // The alias of an attribute or a type.
  for (const char sign : {'#', '!'}) {
    if (cursor.Peek() == sign) return cursor.Sigil(sign).ok() && cursor.Take("=");
  }
  for (const absl::string_view word : {"module", "builtin.module", "func.func"}) {
    if (cursor.TakeWord(word)) return true;
  }
  return cursor.At("\"builtin.module\"") || cursor.At("\"func.func\"");
}

absl::StatusOr<StablehloProgram> ImportStablehlo(absl::string_view bytes, const StablehloOptions& options) {
  stablehlo::MlirModule program;
  if (LooksLikeMlirBytecode(bytes)) {
    HILO_RETURN_IF_ERROR(stablehlo::ReadBytecode(bytes, &program));
  } else {
    HILO_RETURN_IF_ERROR(stablehlo::MlirTextReader(bytes, options.file_name, &program).Read());
  }
  return stablehlo::ConvertProgram(program, options);
}

}  // namespace hilo
