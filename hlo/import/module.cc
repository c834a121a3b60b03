// hilo/module.h but for protos, which hlo_proto_reader.cc and hlo_proto_writer.cc define.
#include "hilo/module.h"

#include <memory>
#include <string>
#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {

absl::StatusOr<XlaComputation> ParseHloText(absl::string_view text, absl::string_view file_name) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseHloModule(text, {.file_name = std::string(file_name)}));
  return XlaComputation(std::move(module));
}

absl::StatusOr<std::string> ToHloText(const XlaComputation& computation) {
  if (computation.IsNull()) return InvalidArgument("an empty XlaComputation has no text");
  return PrintHloModule(*computation.module());
}

absl::StatusOr<XlaComputation> XlaComputationFromStablehlo(absl::string_view bytes) {
  HILO_ASSIGN_OR_RETURN(StablehloProgram program, ImportStablehlo(bytes));
  return XlaComputation(std::move(program.module));
}

}  // namespace hilo
