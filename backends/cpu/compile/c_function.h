// A program as a function that C calls, in an object file that needs no library of Hilo's: one thread, no memory but
// the caller's and the stack, constants in the object. Calls go to libm and to memcpy, memmove and memset alone.
#ifndef HILO_BACKENDS_CPU_COMPILE_C_FUNCTION_H_
#define HILO_BACKENDS_CPU_COMPILE_C_FUNCTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/jit/host_jit.h"
#include "hilo/executable.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::cpu {

// Whether a function cannot have this name: keywords of C and C++, `main`, and the functions that the object may call.
bool IsReservedInC(absl::string_view name);

// The name of the function of a module: the module's, with '_' for what an identifier in C cannot have, and behind a
// reserved one.
std::string CFunctionName(const HloModule& module);

// Replaces the kernels of a module at kAliased that call the libraries of the runtime by generated ones. Errors:
// Unimplemented naming the first instruction that has none.
absl::Status ChooseSelfContainedKernels(HloModule* module, const CompileOptions& options);

// Links modules into the first of them. Errors: Internal.
absl::StatusOr<codegen::HostModule> LinkModules(std::vector<codegen::HostModule> modules);

// Returns one module that defines the function and nothing else for the linker. `modules` define kEntrySymbol.
// Parameters of the function: a pointer for each leaf of the program's parameters and of its result that has memory,
// and the scratch memory. Errors: Internal.
absl::StatusOr<codegen::HostModule> WrapInCFunction(const std::string& name, const ProgramShape& shape,
                                                    std::vector<codegen::HostModule> modules,
                                                    const std::vector<std::shared_ptr<const Literal>>& constants);

// The header that declares the function and the size of its scratch memory, in C and C++.
std::string CFunctionHeader(const HloModule& module, const ProgramShape& shape, int64_t scratch_bytes,
                            const std::string& cpu);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_C_FUNCTION_H_
