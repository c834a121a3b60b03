// Imports StableHLO programs as HloModule: portable artifacts (MLIR bytecode with VHLO, as PJRT plugins get them from
// JAX and as jax.export serializes them) and MLIR text.
#ifndef HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_IMPORT_H_
#define HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_IMPORT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/stablehlo_program.h"

namespace hilo {

// Reads bytecode or text, detected by content.
//
// - Functions become computations and calls of them; regions become computations. Values that the regions of while, if
//   and case capture are passed as tuple elements; constants are copied in.
// - Composites become calls of their decomposition, except those that are an HLO opcode.
// - Shapes that depend on sizes computed in the program must be computable from constants.
//
// Errors: InvalidArgument for a malformed program, with the position (byte, line, operation); Unimplemented naming the
// operation, type or attribute that HLO or Hilo lacks; the verifier's; ResourceExhausted beyond the limits. Any bytes
// may be given.
absl::StatusOr<StablehloProgram> ImportStablehlo(absl::string_view bytes, const StablehloOptions& options = {});

// True for bytes that begin like MLIR bytecode, and for text that begins like an MLIR module.
bool LooksLikeMlirBytecode(absl::string_view bytes);
bool LooksLikeMlirText(absl::string_view bytes);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_IMPORT_H_
