#include "hlo/import/program_reader.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "base/phase_times.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/import/stablehlo/stablehlo_import.h"

namespace hilo {
namespace {

// What a file is, judged by its first bytes; empty: HLO text, or nothing that is known.
absl::string_view ForeignKind(absl::string_view bytes) {
  if (absl::StartsWith(bytes, "PK")) return "a zip archive (arrays are given with --inputs=FILE)";
  if (absl::StartsWith(bytes, "\x93NUMPY")) return "a NumPy array (arrays are given with --input=@FILE)";
  if (absl::StartsWith(bytes,
                       "\x7f"
                       "ELF"))
    return "machine code";
  const absl::string_view head = bytes.substr(0, 65536);
  if (absl::StrContains(head, "stablehlo.") || absl::StrContains(head, "func.func"))
    return "MLIR text that does not begin with a module";
  if (head.find('\0') != absl::string_view::npos) return "a binary file of no known kind";
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> ReadProgram(absl::string_view bytes, absl::string_view file_name,
                                                       ParseOptions options) {
  const PhaseTimer timer("read", "program");
  absl::ConsumePrefix(&bytes, "\xEF\xBB\xBF");  // the byte order mark that some editors put before UTF-8
  if (bytes.empty()) return InvalidArgument(file_name, " is empty; expected a module in HLO text");
  if (LooksLikeHloProto(bytes)) {
    absl::StatusOr<std::unique_ptr<HloModule>> module = HloModuleFromProto(bytes);
    if (!module.ok()) return AddContext(module.status(), absl::StrCat("; in ", file_name));
    return module;
  }
  if (LooksLikeMlirBytecode(bytes) || LooksLikeMlirText(bytes)) {
    absl::StatusOr<StablehloProgram> program = ImportStablehlo(bytes, {.file_name = file_name});
    if (!program.ok() && !absl::StartsWith(program.status().message(), file_name))
      return AddContext(program.status(), absl::StrCat("; in ", file_name));
    HILO_RETURN_IF_ERROR(program.status());
    return std::move(program->module);
  }
  const absl::string_view kind = ForeignKind(bytes);
  if (!kind.empty())
    return Unimplemented(file_name, " is ", kind, "; modules are read as HLO text, HloModuleProto or StableHLO");
  options.file_name = std::string(file_name);
  return ParseHloModule(bytes, options);
}

}  // namespace hilo
