// Instructions as HLO text, from which another process recreates what the host does for them: custom calls, transfers,
// runtime calls.
#ifndef HILO_RUNTIME_INSTRUCTION_TEXT_H_
#define HILO_RUNTIME_INSTRUCTION_TEXT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Returns a module whose entry contains the instructions, under their names, applied to each other or to parameters of
// their operands' shapes; the last one is its root. Empty if there are none.
std::string InstructionsToText(const HloModule& module, absl::Span<const HloInstruction* const> instructions);

// Takes any text. Errors: those of the parser and the verifier.
absl::StatusOr<std::unique_ptr<HloModule>> InstructionsFromText(absl::string_view text);

}  // namespace hilo

#endif  // HILO_RUNTIME_INSTRUCTION_TEXT_H_
