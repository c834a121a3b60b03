// LLVM IR as text, for tests of the layers below the emitters.
#ifndef HILO_TESTS_SUPPORT_IR_TEXT_H_
#define HILO_TESTS_SUPPORT_IR_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::codegen {

// Errors: InvalidArgument with line and column.
absl::StatusOr<HostModule> ParseIr(absl::string_view text);

// Returns a module that LLVM's verifier rejects (text cannot express one).
HostModule MakeInvalidModule();

// Returns how many instructions the functions of a module have.
int64_t InstructionsOf(const HostModule& module);

}  // namespace hilo::codegen

#endif  // HILO_TESTS_SUPPORT_IR_TEXT_H_
