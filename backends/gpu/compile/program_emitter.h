// Lowers a module at kAliased to thunks and the kernels that they launch.
#ifndef HILO_BACKENDS_GPU_COMPILE_PROGRAM_EMITTER_H_
#define HILO_BACKENDS_GPU_COMPILE_PROGRAM_EMITTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/gpu/compile/kernel_emitter.h"
#include "backends/gpu/compile/kernel_settings.h"
#include "backends/gpu/thunks/program_image.h"
#include "backends/gpu/thunks/thunk.h"
#include "hilo/executable.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::gpu {

class Libraries;

struct EmissionOptions : KernelSettings {
  std::string arch;      // as in sm_90
  std::string platform;  // for custom calls
  int64_t kernels_per_module = 1;
  int64_t graph_thunks_from = 4;   // consecutive thunks that become a graph
  Libraries* libraries = nullptr;  // null: no library calls
};

// Kernels that are compiled together. The context is declared first, so that it is destroyed last.
struct KernelModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::vector<int64_t> kernels;  // indices of its kernels in the program
};

struct EmittedProgram {
  ProgramImage image;  // without code
  std::vector<KernelModule> modules;
};

class ProgramEmitter {
 public:
  ProgramEmitter(const HloModule& module, const BufferAssignment& assignment, const CompileOptions& options,
                 const EmissionOptions& emission);

  // Errors: Unimplemented naming the instruction.
  absl::StatusOr<EmittedProgram> Emit();

  const BufferAssignment& assignment() const { return assignment_; }
  const codegen::NumericOptions& numerics() const { return numerics_; }
  const CompileOptions& options() const { return options_; }
  const EmissionOptions& emission() const { return emission_; }
  bool IsSequential(const HloComputation* computation) const { return sequential_.contains(computation); }
  // Size of the frame of the scope that is being emitted.
  int64_t frame_bytes() const { return frame_bytes_; }
  int64_t ConstantIndex(std::shared_ptr<const Literal> literal);
  // Adds a collective and returns its index.
  int64_t AddCollective(CollectiveSpec spec);
  const std::string& kernel_name(int64_t kernel) const { return result_.image.kernels[kernel].name; }
  // Returns the memory of a scalar, which may be a constant.
  absl::StatusOr<BufferSlice> SliceOf(const HloInstruction* scalar);

  // For the module of the open kernel; only one kernel is open at a time.
  llvm::LLVMContext& llvm_context();
  std::unique_ptr<llvm::Module> NewModule(absl::string_view name, llvm::LLVMContext& context) const;

  // Allocates memory that only the instruction being emitted uses: an offset in the program's scratch memory.
  int64_t AllocateScratch(int64_t bytes);
  // Makes the workspace of library calls at least this large.
  void NeedWorkspace(int64_t bytes);

  // Ends the kernel, whose blocks have `block_size` threads, and returns its index; equal kernels share one.
  absl::StatusOr<int64_t> Finish(KernelEmitter& kernel, int block_size);
  // Adds a launch to the sequence being emitted.
  absl::Status Launch(const HloInstruction* instruction, int64_t kernel, int64_t blocks, int block_size,
                      std::vector<KernelArgument> arguments);
  // Calls Finish and Launch, with the kernel's own arguments.
  absl::Status FinishAndLaunch(const HloInstruction* instruction, KernelEmitter& kernel, int64_t blocks,
                               int block_size);
  void Add(std::unique_ptr<Thunk> thunk) { thunks_->push_back(std::move(thunk)); }
  // The sequence being emitted.
  ThunkSequence* thunks() { return thunks_; }
  void set_thunks(ThunkSequence* thunks) { thunks_ = thunks; }

  std::vector<HloInstruction*> OrderOf(const HloComputation& computation) const { return module_.OrderOf(computation); }

  // Control flow.
  absl::Status EmitCountedLoop(const HloInstruction* loop);
  absl::Status EmitWhile(const HloInstruction* loop);
  absl::Status EmitConditional(const HloInstruction* conditional);
  absl::Status EmitCall(const HloInstruction* call);

 private:
  absl::Status EmitScope(const BufferAssignment::Scope& scope);
  absl::StatusOr<ThunkSequence> EmitComputation(const HloComputation* computation);
  absl::Status EmitInstruction(const HloInstruction* instruction);
  // An instruction that is not control flow.
  absl::Status EmitComputed(const HloInstruction* instruction);
  absl::Status EmitSequence(std::vector<const HloInstruction*>* instructions);

  const HloModule& module_;
  const BufferAssignment& assignment_;
  CompileOptions options_;
  EmissionOptions emission_;
  codegen::NumericOptions numerics_;
  std::string triple_, data_layout_;
  absl::flat_hash_set<const HloComputation*> sequential_;
  absl::flat_hash_map<const HloComputation*, const ThunkScope*> scopes_;
  absl::flat_hash_map<const Literal*, int64_t> constant_numbers_;
  absl::flat_hash_map<std::string, int64_t> kernels_;  // by their code
  absl::flat_hash_map<std::string, int64_t> names_;
  EmittedProgram result_;
  ThunkSequence* thunks_ = nullptr;  // being filled
  int64_t frame_bytes_ = 0;
  bool in_entry_ = false;
  bool for_all_ranks_ = false;  // true for code that all ranks execute equally often, whatever their data
  int64_t scratch_used_ = 0;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_PROGRAM_EMITTER_H_
