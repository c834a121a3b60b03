// A program while it is emitted: its kernels, constants and scratch memory, and the sequence of thunks to which the
// emitter of an instruction adds.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PROGRAM_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_PROGRAM_EMITTER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/gpu/choice/kernel_settings.h"
#include "backends/gpu/thunks/program_image.h"
#include "backends/gpu/thunks/thunk.h"
#include "backends/llvm/lanes/emitter_context.h"
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

// Not thread-safe.
class ProgramEmitter {
 public:
  // All arguments must outlive the emitter. Errors: InvalidArgument for an unknown architecture.
  static absl::StatusOr<std::unique_ptr<ProgramEmitter>> Create(const HloModule& module,
                                                                const BufferAssignment& assignment,
                                                                const CompileOptions& options,
                                                                const EmissionOptions& emission);

  const HloModule& module() const { return module_; }
  const BufferAssignment& assignment() const { return assignment_; }
  const codegen::NumericOptions& numerics() const { return numerics_; }
  const CompileOptions& options() const { return options_; }
  const EmissionOptions& emission() const { return emission_; }
  std::vector<HloInstruction*> OrderOf(const HloComputation& computation) const { return module_.OrderOf(computation); }
  bool IsSequential(const HloComputation* computation) const { return sequential_.contains(computation); }

  // The scope that is being emitted, and the size of its frame.
  void BeginScope(const BufferAssignment::Scope& scope) { frame_bytes_ = scope.frame_bytes; }
  int64_t frame_bytes() const { return frame_bytes_; }
  // Scratch memory of earlier instructions can be used again.
  void BeginInstruction() { scratch_used_ = 0; }

  // Whether all ranks execute the code that is being emitted equally often, whatever their data.
  bool is_for_all_ranks() const { return is_for_all_ranks_; }
  // Sets that, and returns what it was.
  bool set_for_all_ranks(bool value) { return std::exchange(is_for_all_ranks_, value); }

  // Returns the memory of a scalar, which may be a constant.
  absl::StatusOr<BufferSlice> SliceOf(const HloInstruction* scalar);
  int64_t ConstantIndex(std::shared_ptr<const Literal> literal);
  // Allocates memory that only the instruction being emitted uses: an offset in the program's scratch memory.
  int64_t AllocateScratch(int64_t bytes);
  // Makes the workspace of library calls at least this large.
  void NeedWorkspace(int64_t bytes);
  // Adds a collective and returns its index.
  int64_t AddCollective(CollectiveSpec spec);

  // For the module of the open kernel; only one kernel is open at a time.
  llvm::LLVMContext& llvm_context();
  std::unique_ptr<llvm::Module> NewModule(absl::string_view name, llvm::LLVMContext& context) const;
  // Adds the kernel that `function`, the only one of `module`, is the code of, and returns its index; equal kernels
  // share one. Called by KernelEmitter.
  absl::StatusOr<int64_t> AddKernel(absl::string_view name, std::unique_ptr<llvm::Module> module,
                                    llvm::Function* function, size_t arguments, int block_size);
  const std::string& kernel_name(int64_t kernel) const { return result_.image.kernels[kernel].name; }

  // Adds a launch to the sequence being emitted, with this much shared memory besides what the kernel declares.
  absl::Status Launch(const HloInstruction* instruction, int64_t kernel, int64_t blocks, int block_size,
                      std::vector<KernelArgument> arguments, int64_t shared_bytes = 0);
  void Add(std::unique_ptr<Thunk> thunk) { thunks_->push_back(std::move(thunk)); }
  // The sequence being emitted.
  ThunkSequence* thunks() { return thunks_; }
  void set_thunks(ThunkSequence* thunks) { thunks_ = thunks; }

  // Adds the thunks of a scope, callees first.
  void AddScope(std::unique_ptr<ThunkScope> scope) { result_.image.scopes.push_back(std::move(scope)); }
  // Ends the program.
  EmittedProgram Take() { return std::move(result_); }

 private:
  ProgramEmitter(const HloModule& module, const BufferAssignment& assignment, const CompileOptions& options,
                 const EmissionOptions& emission);

  const HloModule& module_;
  const BufferAssignment& assignment_;
  const CompileOptions options_;
  const EmissionOptions emission_;
  const codegen::NumericOptions numerics_;
  std::string triple_, data_layout_;
  absl::flat_hash_set<const HloComputation*> sequential_;
  absl::flat_hash_map<const Literal*, int64_t> constant_numbers_;
  absl::flat_hash_map<std::string, int64_t> kernels_;  // by their code
  absl::flat_hash_map<std::string, int64_t> names_;
  EmittedProgram result_;
  ThunkSequence* thunks_ = nullptr;  // being filled
  int64_t frame_bytes_ = 0;
  int64_t scratch_used_ = 0;
  bool is_for_all_ranks_ = false;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PROGRAM_EMITTER_H_
