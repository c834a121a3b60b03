// Parses HLO text to HloModule.
#ifndef HILO_HLO_TEXT_HLO_PARSER_H_
#define HILO_HLO_TEXT_HLO_PARSER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo {

struct ParseOptions {
  std::string file_name = "<hlo>";  // for messages
  bool verify = true;               // VerifyHloModule(kInput) after reading
  HloLimits limits = {};
};

// Reads a module in XLA's text syntax, short ("x = f32[2] add(a, b)") or full ("%x = f32[2]{0}
// add(f32[2]{0} %a, ...), metadata=...").
//
// - Computations may be defined after their use; an operand must precede its user.
// - Without ENTRY the entry is the only computation that no other calls. Without ROOT the root is
// the last instruction.
// - Attributes that the opcode does not define, header attributes and tables (FileNames ...) that
// Hilo does not read are kept as
//   text, and printed again by PrintHloModule.
// - Names that two computations share are made unique ("x", "x.1").
//
// Errors: InvalidArgument, or what the verifier returns, with "file:line:column: ", the expected
// and the actual input, the line and a caret under the position; ResourceExhausted beyond the
// limits. Takes time linear in the text, and no stack that grows with it.
absl::StatusOr<std::unique_ptr<HloModule>> ParseHloModule(absl::string_view text, const ParseOptions& options = {});

}  // namespace hilo

#endif  // HILO_HLO_TEXT_HLO_PARSER_H_
