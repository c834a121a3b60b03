// State for emitting one LLVM function of the program: its arguments, the addresses of buffer slices, and the values
// that are already in registers.
#ifndef HILO_BACKENDS_CPU_FUNCTIONS_FUNCTION_EMITTER_H_
#define HILO_BACKENDS_CPU_FUNCTIONS_FUNCTION_EMITTER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "backends/cpu/functions/kernel_key.h"
#include "backends/llvm/nest/kernel_function.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

class ProgramEmitter;

class FunctionEmitter : public codegen::KernelFunction {
 public:
  // `function` is empty and has the signature of HiloScopeFunction or HiloChunkFunction. With a table, `buffers` holds
  // the pointers to the table's slices rather than those of the scope.
  FunctionEmitter(ProgramEmitter* program, llvm::Function* function, const KernelTable* table = nullptr);

  ProgramEmitter& program() { return program_; }
  codegen::EmitterContext& context() override { return *context_; }
  codegen::ElementEmitter& elements() override { return *elements_; }
  llvm::Function* function() { return function_; }
  const KernelTable* table() const { return table_; }

  llvm::Value* run_context() { return function_->getArg(0); }
  llvm::Value* frame() { return function_->getArg(1); }
  llvm::Value* buffers() { return function_->getArg(2); }

  // Brackets the emission of one instruction: its operands are in memory and the instruction is about to be emitted.
  // Within the bracket, slices that do not overlap carry LLVM alias metadata that says so.
  void BeginInstruction(const HloInstruction* instruction);
  void EndInstruction();

  // Returns the memory of a leaf of a sequential instruction.
  codegen::IrArray ArrayOf(const HloInstruction* instruction, int64_t leaf = 0) override;
  llvm::Value* PointerTo(const BufferSlice& slice);
  llvm::Value* PointerTo(const HloInstruction* instruction, int64_t leaf = 0);

  // A small leaf of a loop's state whose memory other functions access, too, and which is a local variable meanwhile.
  struct LoopLocal {
    BufferSlice slice;
    llvm::Value* memory;
  };
  // Copies the small leaves of the state into locals, for LLVM to keep in registers, and back after the loop. A run
  // that is stopped in between has no results.
  absl::StatusOr<std::vector<LoopLocal>> BeginLoop(const HloInstruction* loop);
  void EndLoop(absl::Span<const LoopLocal> locals);

  // Returns true if the first leaf is in a local variable of this function, which LLVM may keep in registers.
  bool IsLocal(const HloInstruction* instruction) const;
  // Returns true if the memory of the first leaf was last written as vectors: reading locals as they were written keeps
  // them in registers.
  bool HoldsVectors(const HloInstruction* instruction) const;
  // Returns true if this function last wrote the memory of the first leaf element by element.
  bool HoldsElements(const HloInstruction* instruction) const;
  void SetHoldsVectors(const HloInstruction* instruction, bool holds_vectors);

  // Sets where later reads, until the current instruction ends, find its value or that of an instruction fused into it.
  void SetValue(const HloInstruction* instruction, codegen::Materialized value) {
    values_.insert_or_assign(instruction, std::move(value));
  }

  // Loads the value of a scalar leaf.
  absl::StatusOr<codegen::ElementValue> LoadScalar(const HloInstruction* instruction, int64_t leaf = 0);
  // Loads the instruction's scalar operands here, so that loops around their uses find them in registers.
  absl::Status LoadScalarOperands(const HloInstruction* instruction);

  // Returns a local array of these pointers.
  llvm::Value* PointerTable(absl::Span<llvm::Value* const> pointers);
  // Calls a HiloChunkFunction for parts [begin, end), on threads if `parallel`: then begin is 0. Returns its status.
  llvm::Value* CallChunks(llvm::FunctionCallee function, llvm::Value* buffers, bool parallel, llvm::Value* begin,
                          llvm::Value* end);

  // Returns the pointer stored at `offset` bytes in the run's context.
  llvm::Value* ContextField(int64_t offset, absl::string_view name);

  // Returns `status` (i32, a HiloStatus) from the function if it is not HILO_OK.
  void ReturnIfStopped(llvm::Value* status);
  // Returns from the function if the run has been stopped.
  void PollCancellation();
  void Return(int32_t status);
  // Passes `mark` (runtime/profile/recorder.h) to the profile, if one is recorded.
  void MarkProfile(int64_t mark);

  absl::StatusOr<std::optional<codegen::Materialized>> Find(const HloInstruction* instruction, int64_t leaf) override;

 private:
  // `alignment` is that of the pointee, in bytes.
  llvm::Value* LoadPointer(llvm::Value* table, int64_t index, absl::string_view name, int64_t alignment);
  llvm::Value* MakePointer(const BufferSlice& slice);

  ProgramEmitter& program_;
  const KernelTable* table_;
  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  std::unique_ptr<codegen::EmitterContext> context_;
  std::unique_ptr<codegen::ElementEmitter> elements_;
  llvm::BasicBlock* prologue_;  // holds pointer loads and locals; ends in a branch to the code
  const HloInstruction* current_ = nullptr;
  std::unique_ptr<codegen::RegionScope> region_;
  absl::flat_hash_map<std::pair<int, int64_t>, llvm::Value*> pointers_;  // (kind, index)
  absl::flat_hash_map<int64_t, llvm::Value*> context_fields_;            // by offset
  struct Scopes {
    llvm::MDNode* alias_scope;
    llvm::MDNode* noalias;
  };
  absl::flat_hash_map<int64_t, Scopes> scopes_;       // by buffer, of the current instruction
  absl::flat_hash_map<int64_t, bool> holds_vectors_;  // by buffer: how this function last wrote it
  absl::flat_hash_map<const HloInstruction*, codegen::Materialized> values_;  // of members of the current instruction
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_FUNCTIONS_FUNCTION_EMITTER_H_
