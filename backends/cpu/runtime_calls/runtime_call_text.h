// The instructions of a program's runtime calls as text, from which another process can recreate the ops.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TEXT_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime/runtime_call.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::cpu {

// Returns a module whose entry contains the instructions, under their names, applied to each other or to parameters of
// their operands' shapes.
std::string RuntimeCallsToText(const HloModule& module, absl::Span<const HloInstruction* const> instructions);

// Creates the image's runtime calls from its text. Errors: the parser's; InvalidArgument if an instruction is missing
// or differs from what the code expects; MakeRuntimeCall's, with the instruction.
absl::StatusOr<std::vector<std::unique_ptr<RuntimeCall>>> MakeRuntimeCalls(const ProgramImage& image,
                                                                           const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TEXT_H_
