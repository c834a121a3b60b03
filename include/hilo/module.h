// HLO programs as text and bytes. XlaComputation holds a module; what is in it is Hilo's own.
#ifndef HILO_MODULE_H_
#define HILO_MODULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/export.h"
#include "hilo/xla_builder.h"

namespace hilo {

// Reads HLO text in XLA's syntax, short ("x = f32[2] add(a, b)") or full ("%x = f32[2]{0} add(f32[2]{0} %a, ...)").
// Errors: InvalidArgument with file_name, line, column, the line and a caret; ResourceExhausted beyond the limits.
HILO_EXPORT absl::StatusOr<XlaComputation> ParseHloText(absl::string_view text, absl::string_view file_name = "<hlo>");
// The computation as HLO text, which ParseHloText reads back as the same module. Errors: InvalidArgument if it is null.
HILO_EXPORT absl::StatusOr<std::string> ToHloText(const XlaComputation& computation);

// A serialized HloModuleProto; reading also takes an HloProto, as dumps have it. Errors: InvalidArgument if the
// computation is null or the bytes are no module, naming the instruction; Unimplemented naming what the message cannot
// represent; ResourceExhausted beyond the limits.
HILO_EXPORT absl::StatusOr<std::string> SerializeAsHloModuleProto(const XlaComputation& computation);
HILO_EXPORT absl::StatusOr<XlaComputation> XlaComputationFromProto(absl::string_view bytes);

// Reads a StableHLO program: a portable artifact (MLIR bytecode) or MLIR text. Errors: InvalidArgument with the
// position; Unimplemented naming the operation.
HILO_EXPORT absl::StatusOr<XlaComputation> XlaComputationFromStablehlo(absl::string_view bytes);

}  // namespace hilo

#endif  // HILO_MODULE_H_
