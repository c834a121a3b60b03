// One C function of several, each for a level of x86-64: the first call finds out which of them the processor has.
#ifndef HILO_BACKENDS_CPU_COMPILE_C_FUNCTION_LEVELS_H_
#define HILO_BACKENDS_CPU_COMPILE_C_FUNCTION_LEVELS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::cpu {

// A function made by WrapInCFunction for a level; it is called as FunctionOfLevel states.
struct LevelFunction {
  std::string level;
  codegen::HostModule module;
};
std::string FunctionOfLevel(const std::string& name, const std::string& level);

// Errors: InvalidArgument unless these are some of x86-64, x86-64-v2, x86-64-v3 and x86-64-v4, in this order.
absl::Status CheckLevels(absl::Span<const std::string> levels);

// Returns one module that defines the function `name`, which calls that of the highest level that the processor has; if
// it has none, the first. To be compiled for the first level. Errors: Internal.
absl::StatusOr<codegen::HostModule> CombineLevels(const std::string& name, std::vector<LevelFunction> functions);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_C_FUNCTION_LEVELS_H_
