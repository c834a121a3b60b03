// Emits a module at kAliased as native code: one function per scope, including control flow, split by the plan.
#ifndef HILO_BACKENDS_CPU_COMPILE_PROGRAM_EMITTER_H_
#define HILO_BACKENDS_CPU_COMPILE_PROGRAM_EMITTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/cpu/compile/function_emitter.h"
#include "backends/cpu/compile/function_partition.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime/runtime_call.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::cpu {

// A runtime call and the memory that the code passes to it.
struct EmittedRuntimeCall {
  const HloInstruction* instruction;
  std::unique_ptr<RuntimeCall> op;
  RuntimeCallFacts facts;
};

class ProgramEmitter {
 public:
  ProgramEmitter(const HloModule& module, const BufferAssignment& assignment, const FunctionPartition& plan,
                 codegen::HostJit* jit, const CompileOptions& options);

  // Returns the LLVM modules of the program. Errors: Unimplemented naming the instruction.
  absl::StatusOr<std::vector<codegen::HostModule>> Emit();

  // The constants of the assignment and of fused computations.
  const std::vector<std::shared_ptr<const Literal>>& constants() const { return constants_; }
  int64_t ConstantIndex(std::shared_ptr<const Literal> literal);

  // Moves out the program's runtime calls, ordered by the index with which the code calls them.
  std::vector<EmittedRuntimeCall> TakeRuntimeCalls() { return std::move(runtime_calls_); }

  const BufferAssignment& assignment() const { return assignment_; }
  const FunctionPartition& plan() const { return plan_; }
  const codegen::TargetTraits& target() const { return target_; }
  const codegen::NumericOptions& numerics() const { return numerics_; }
  // Returns true for computations that are executed instruction by instruction.
  bool IsSequential(const HloComputation* computation) const { return sequential_.contains(computation); }
  // The number of parameter leaves of the scope being emitted; output pointers follow them.
  int64_t parameter_leaves() const { return parameter_leaves_; }

  // Creates a function in a module that has room for `code_size` operations. `chunks`: of type HiloChunkFunction.
  absl::StatusOr<llvm::Function*> NewFunction(const std::string& name, int64_t code_size, bool chunks);
  // Returns `function`, or a declaration of it in `module`.
  llvm::Function* DeclareIn(llvm::Module* module, llvm::Function* function);
  // Declares in `module` a runtime function that code calls by name.
  llvm::FunctionCallee Runtime(llvm::Module* module, absl::string_view name, llvm::FunctionType* type);

  // Emits instructions in order into `f`.
  absl::Status EmitInstruction(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitWhole(FunctionEmitter& f, const HloComputation* computation);

 private:
  absl::Status EmitScope(const BufferAssignment::Scope& scope);
  // Emits the segments of a split computation, each as an outlined function that `f` calls.
  absl::Status EmitSegments(FunctionEmitter& f, const HloComputation* computation);
  // Calls EmitWhole or EmitSegments, as the plan states.
  absl::Status EmitComputation(FunctionEmitter& f, const HloComputation* computation);
  absl::Status EmitWhile(FunctionEmitter& f, const HloInstruction* loop);
  absl::Status EmitConditional(FunctionEmitter& f, const HloInstruction* conditional);
  absl::Status EmitCall(FunctionEmitter& f, const HloInstruction* call);
  absl::Status EmitComputed(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitParallel(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitRuntimeCall(FunctionEmitter& f, const HloInstruction* instruction);
  // Returns a kernel as a function over ranges of its parts; equal kernels share one function.
  absl::StatusOr<llvm::Function*> ChunkFunctionOf(const KernelTable& table, const HloInstruction* instruction);

  const HloModule& module_;
  const BufferAssignment& assignment_;
  const FunctionPartition& plan_;
  codegen::HostJit& jit_;
  codegen::TargetTraits target_;
  CompileOptions options_;
  codegen::NumericOptions numerics_;
  std::vector<codegen::HostModule> modules_;
  int64_t room_ = 0;  // remaining capacity of the last module, in operations
  absl::flat_hash_set<const HloComputation*> sequential_;
  absl::flat_hash_map<const HloComputation*, llvm::Function*> scope_functions_;
  std::vector<std::shared_ptr<const Literal>> constants_;
  absl::flat_hash_map<const Literal*, int64_t> constant_numbers_;
  absl::flat_hash_map<std::string, int64_t> function_names_;
  absl::flat_hash_map<std::string, llvm::Function*> chunk_functions_;
  std::vector<EmittedRuntimeCall> runtime_calls_;
  int64_t parameter_leaves_ = 0;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_PROGRAM_EMITTER_H_
