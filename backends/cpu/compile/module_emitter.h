// Emits a module at kAliased as native code: one function per scope, including control flow, split by the plan.
#ifndef HILO_BACKENDS_CPU_COMPILE_MODULE_EMITTER_H_
#define HILO_BACKENDS_CPU_COMPILE_MODULE_EMITTER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/compile/function_partition.h"
#include "backends/cpu/compile/profile_plan.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime/runtime_call.h"
#include "backends/llvm/jit/host_jit.h"
#include "hilo/executable.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

// A runtime call and the memory that the code passes to it.
struct EmittedRuntimeCall {
  const HloInstruction* instruction;
  std::unique_ptr<RuntimeCall> call;
  RuntimeCallFacts facts;
};

struct EmittedProgram {
  std::vector<codegen::HostModule> modules;
  std::vector<std::shared_ptr<const Literal>> constants;  // of the assignment and of fused computations
  std::vector<EmittedRuntimeCall> runtime_calls;          // by the index with which the code calls them
};

// Errors: Unimplemented naming the instruction.
absl::StatusOr<EmittedProgram> EmitModule(const HloModule& module, const BufferAssignment& assignment,
                                          const FunctionPartition& plan, const ProfilePlan& profile,
                                          codegen::HostJit* jit, const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_MODULE_EMITTER_H_
