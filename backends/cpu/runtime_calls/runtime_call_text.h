// The runtime calls of a serialized program, from the text of their instructions (runtime/instruction_text.h).
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TEXT_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TEXT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

// Creates the image's runtime calls from its text. Errors: the parser's; InvalidArgument if an instruction is missing
// or differs from what the code expects; MakeRuntimeCall's, with the instruction.
absl::StatusOr<std::vector<std::unique_ptr<RuntimeCall>>> MakeRuntimeCalls(const ProgramImage& image,
                                                                           const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_RUNTIME_CALL_TEXT_H_
