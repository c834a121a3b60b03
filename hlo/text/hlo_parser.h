// Parses HLO text to HloModule.
#ifndef HILO_HLO_TEXT_HLO_PARSER_H_
#define HILO_HLO_TEXT_HLO_PARSER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo {

struct ParseOptions {
  std::string file_name = "<hlo>";  // for messages
  bool verify = true;               // VerifyHloModule(kInput) after reading
  // What a constant is whose elements the text leaves out ("{...}"), by its shape; null: an error.
  std::function<absl::StatusOr<Literal>(const Shape&)> elided_constant;
  HloLimits limits = {};
};

// Reads a module in XLA's text syntax, short ("x = f32[2] add(a, b)") or full ("%x = f32[2]{0}
// add(f32[2]{0} %a, ...), metadata=...").
//
// - The header may be missing: the module is then called "module".
// - The shape of an instruction may be missing if it follows from the operands and from computations above.
// - An operand may be a definition without a name and attributes ("add(a, f32[2] negate(b))"), and a computation may be
// written where it is called ("to_apply={ ... }").
// - A constant of a tuple is read as a tuple of constants.
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
