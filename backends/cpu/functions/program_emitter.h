// A program while it is emitted: its LLVM modules and functions, and the constants that its code reads.
#ifndef HILO_BACKENDS_CPU_FUNCTIONS_PROGRAM_EMITTER_H_
#define HILO_BACKENDS_CPU_FUNCTIONS_PROGRAM_EMITTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/llvm/jit/host_jit.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "hilo/executable.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

// Not thread-safe.
class ProgramEmitter {
 public:
  // All pointers and references must outlive the emitter. `total_code_size`: the operations of all functions together.
  // Errors: those of SequentialComputations.
  static absl::StatusOr<std::unique_ptr<ProgramEmitter>> Create(const HloModule& module,
                                                                const BufferAssignment& assignment,
                                                                int64_t total_code_size, codegen::HostJit* jit,
                                                                const CompileOptions& options);

  const BufferAssignment& assignment() const { return assignment_; }
  const codegen::TargetTraits& target() const { return target_; }
  const codegen::NumericOptions& numerics() const { return numerics_; }
  // Returns true for computations that are executed instruction by instruction.
  bool IsSequential(const HloComputation* computation) const { return sequential_.contains(computation); }

  // The scope being emitted, and the number of its parameter leaves; output pointers follow them.
  void BeginScope(const BufferAssignment::Scope& scope) {
    parameter_leaves_ = scope.parameter_leaves;
    frame_bytes_ = scope.frame_bytes;
  }
  int64_t parameter_leaves() const { return parameter_leaves_; }

  // The constants of the assignment and of fused computations.
  const std::vector<std::shared_ptr<const Literal>>& constants() const { return constants_; }
  int64_t ConstantIndex(std::shared_ptr<const Literal> literal);

  // Creates a function in a module that has room for `code_size` operations. `chunks`: of type HiloChunkFunction.
  absl::StatusOr<llvm::Function*> NewFunction(const std::string& name, int64_t code_size, bool chunks);
  // Returns `function`, or a declaration of it in `module`.
  llvm::Function* DeclareIn(llvm::Module* module, llvm::Function* function);
  // Declares in `module` a runtime function that code calls by name.
  llvm::FunctionCallee Runtime(llvm::Module* module, absl::string_view name, llvm::FunctionType* type);
  // The same of a HiloChunkFunction.
  llvm::FunctionCallee RuntimeChunks(llvm::Module* module, absl::string_view name);
  // Returns the address of a constant of `module` that a runtime function reads.
  static llvm::Constant* Numbers(llvm::Module* module, absl::Span<const uint64_t> numbers);

  // Moves out the LLVM modules of the program.
  std::vector<codegen::HostModule> TakeModules() { return std::move(modules_); }

 private:
  ProgramEmitter(const BufferAssignment& assignment, int64_t total_code_size, codegen::HostJit* jit,
                 const CompileOptions& options);

  const BufferAssignment& assignment_;
  const int64_t total_code_size_;
  codegen::HostJit& jit_;
  const codegen::TargetTraits target_;
  const codegen::NumericOptions numerics_;
  std::vector<codegen::HostModule> modules_;
  int64_t room_ = 0;  // remaining capacity of the last module, in operations
  absl::flat_hash_set<const HloComputation*> sequential_;
  std::vector<std::shared_ptr<const Literal>> constants_;
  absl::flat_hash_map<const Literal*, int64_t> constant_numbers_;
  absl::flat_hash_map<std::string, int64_t> function_names_;
  int64_t parameter_leaves_ = 0;
  int64_t frame_bytes_ = 0;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_FUNCTIONS_PROGRAM_EMITTER_H_
