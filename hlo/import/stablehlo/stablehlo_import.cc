#include "hlo/import/stablehlo/stablehlo_import.h"

#include "absl/strings/match.h"
#include "base/errors.h"

namespace hilo {

bool LooksLikeMlirBytecode(absl::string_view bytes) { return absl::StartsWith(bytes, "ML\xefR"); }

bool LooksLikeMlirText(absl::string_view) { return false; }

absl::StatusOr<StablehloProgram> ImportStablehlo(absl::string_view, const StablehloOptions&) { return Unimplemented("StableHLO programs"); }

}  // namespace hilo
