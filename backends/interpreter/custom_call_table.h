// The functions that a module's custom calls refer to, looked up when it is compiled.
#ifndef HILO_BACKENDS_INTERPRETER_CUSTOM_CALL_TABLE_H_
#define HILO_BACKENDS_INTERPRETER_CUSTOM_CALL_TABLE_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hilo/executable.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/custom_call/custom_call.h"

namespace hilo {

// Contains the calls that call functions; XLA's own built-in ops are omitted (hlo/ops/structure/custom_call.h).
using CustomCallTable = absl::flat_hash_map<const HloInstruction*, std::unique_ptr<ffi::CustomCall>>;
// Errors: those of ffi::CustomCall::Create, with the instruction.
absl::StatusOr<CustomCallTable> FindCustomCalls(const HloModule& module, const CompileOptions& options);

}  // namespace hilo

#endif  // HILO_BACKENDS_INTERPRETER_CUSTOM_CALL_TABLE_H_
