// State for emitting one kernel: its arguments, thread indices, shared memory, and the locations of the values that it
// reads.
//
// Each kernel has a module of its own. Its arguments are the memory of an instruction's operands and results, one
// pointer per buffer, and any others that the emitter adds. No two arguments overlap; those not written are read-only.
#ifndef HILO_BACKENDS_GPU_EMITTERS_KERNEL_EMITTER_H_
#define HILO_BACKENDS_GPU_EMITTERS_KERNEL_EMITTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/thunks/thunk.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/nest/kernel_function.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::gpu {

class ProgramEmitter;

using Elements = codegen::ElementValues;

class KernelEmitter : public codegen::KernelFunction {
 public:
  // Arguments: the memory of `instruction` (null: none), then `more`.
  KernelEmitter(ProgramEmitter* program, const HloInstruction* instruction, std::vector<KernelArgument> more = {});
  // A kernel that runs `instructions` sequentially in one thread: its frame memory may overlap.
  static std::unique_ptr<KernelEmitter> ForSequence(ProgramEmitter* program,
                                                    absl::Span<const HloInstruction* const> instructions,
                                                    std::vector<KernelArgument> more = {});

  // A kernel whose blocks have one of `instructions` each: none waits for another.
  static std::unique_ptr<KernelEmitter> ForGroup(ProgramEmitter* program,
                                                 absl::Span<const HloInstruction* const> instructions);

  ProgramEmitter& program() { return program_; }
  codegen::EmitterContext& context() override { return *context_; }
  codegen::ElementEmitter& elements() override { return *elements_; }
  const std::vector<KernelArgument>& arguments() const { return arguments_; }
  llvm::Module& module() { return *module_; }
  llvm::Function* function() { return function_; }

  // Returns argument `i` of `more`.
  llvm::Value* extra(int64_t i);
  // Returns the memory of a leaf of the instruction or of an operand.
  codegen::IrArray ArrayOf(const HloInstruction* instruction, int64_t leaf = 0) override;
  // Returns true if `a` and `b` share memory.
  bool SameMemory(const HloInstruction* a, int64_t a_leaf, const HloInstruction* b, int64_t b_leaf);

  // The indices of this thread in its block, of its block, and of this thread among all (blocks of `block_size`
  // threads), i64.
  llvm::Value* Thread();
  llvm::Value* Block();
  llvm::Value* GlobalThread(int64_t block_size);
  // The index of a block is from now on its distance from this one.
  void set_first_block(int64_t first) { first_block_ = first; }

  // Returns the indices in `dimensions` of `count` elements that are adjacent along the last of them; the first is at
  // row-major index `linear`, a multiple of `count`, as is the size of that dimension.
  std::vector<std::vector<codegen::LaneIndex>> Adjacent(llvm::Value* linear, absl::Span<const int64_t> dimensions,
                                                        int64_t count);

  // A block barrier: all threads of the block must reach it.
  void Barrier();
  // Allocates block-shared memory: `count` cells for values of register type `type`; i1 is stored in bytes.
  llvm::Value* Shared(llvm::Type* type, int64_t count, absl::string_view name);
  // The same, aligned to 1024 bytes: all that a multiprocessor has, with Shared memory.
  llvm::Value* LargeShared(llvm::Type* type, int64_t count);
  // Move values between registers and such cells, or cells in scratch memory.
  static int64_t CellBytes(llvm::Type* type);
  void StoreCell(llvm::Value* cells, llvm::Value* index, llvm::Value* value);
  llvm::Value* LoadCell(llvm::Value* cells, llvm::Value* index, llvm::Type* type);
  // Starts an asynchronous copy of `bytes` (4, 8 or 16) from global to shared memory, to addresses that are multiples
  // of them; of zeros if `inside` is false (null: it is true). Architectures from sm_80 on.
  absl::Status StartCopy(llvm::Value* shared, llvm::Value* global, int64_t bytes, llvm::Value* inside);
  // Makes a group of the copies that the thread has started since the last group.
  void CommitCopies();
  // Waits for the thread's copies but those of its `newest` newest groups. Other threads see them after a barrier.
  void WaitForCopies(int64_t newest);
  // Orders the thread's accesses to shared memory before those by asynchronous multiplications (warp_group.h) that
  // follow, of other threads after a barrier.
  void ProxyFence();
  // Emits an instruction without operands.
  void Assembly(absl::string_view text);
  // The kernel has instructions of this architecture alone: its code is for sm_90a, say, rather than for sm_90.
  void NeedExactArchitecture();
  // Orders memory accesses of the warp's threads. All lanes take part.
  void WarpBarrier();
  // Lets a thread that has to look again for what another block stores wait for about `ns`.
  void WaitForBlocks(uint32_t ns);
  // Returns the lanes whose value, an i32, is that of this lane, as bits. All lanes take part.
  llvm::Value* MatchLanes(llvm::Value* value);
  // Returns the value of the lane `distance` after this one, or the lane's own if there is none. All lanes take part.
  llvm::Value* ShuffleDown(llvm::Value* value, int distance);
  // Returns the value of the lane whose index differs in the bit `distance`. All lanes take part.
  llvm::Value* ShuffleAcross(llvm::Value* value, int distance);
  // Returns the value of the lane `distance` before this one, or the lane's own if there is none. All lanes take part.
  llvm::Value* ShuffleUp(llvm::Value* value, int distance);
  // Returns the value of lane `lane`, an i32. All lanes take part.
  llvm::Value* ShuffleFrom(llvm::Value* value, llvm::Value* lane);
  // Returns the value of the last lane of this lane's group of `lanes` lanes (a power of two; groups start at its
  // multiples). All lanes take part.
  llvm::Value* ShuffleLast(llvm::Value* value, int lanes);

  absl::Status If(absl::string_view name, llvm::Value* condition, absl::FunctionRef<absl::Status()> body);
  absl::Status ForEach(absl::string_view name, llvm::Value* begin, llvm::Value* end, int64_t step,
                       absl::FunctionRef<absl::Status(llvm::Value*)> body);

  // Sets the value of `instruction` for all later reads: an array of which this thread needs one element.
  void SetValue(const HloInstruction* instruction, const codegen::ElementValue& value) { values_[instruction] = value; }

  // Later reads compute `instruction` again.
  void ClearValue(const HloInstruction* instruction) { values_.erase(instruction); }

  // Brackets the emission of one instruction of a sequence.
  void BeginInstruction(const HloInstruction* instruction);

  // Ends the kernel, whose blocks have `block_size` threads, adds it to the program and returns its index there.
  absl::StatusOr<int64_t> Finish(int block_size);
  // The same, and adds a launch with the kernel's own arguments.
  absl::Status FinishAndLaunch(const HloInstruction* instruction, int64_t blocks, int block_size);

  absl::StatusOr<std::optional<codegen::Materialized>> Find(const HloInstruction* instruction, int64_t leaf) override;

 private:
  KernelEmitter(ProgramEmitter* program, absl::string_view name);
  void NoteKernel(const HloInstruction* instruction);
  void Note(const HloInstruction* instruction, bool written);
  void NoteConstantsIn(const HloComputation* computation);
  void NoteSlice(const BufferSlice& slice, bool written);
  void NoteSequence(const HloInstruction* instruction);
  void CreateFunction();
  llvm::Value* PointerTo(const BufferSlice& slice);
  llvm::Value* Shuffle(unsigned intrinsic, llvm::Value* value, llvm::Value* lane, int clamp);
  std::optional<BufferSlice> ConstantSlice(const HloInstruction* constant);

  ProgramEmitter& program_;
  std::string name_;
  const HloInstruction* current_ = nullptr;
  bool needs_memory_ = false;  // of all constants
  bool overlaps_ = false;      // frame slices are offsets from one pointer
  std::vector<KernelArgument> arguments_;
  size_t first_extra_ = 0;
  int64_t first_block_ = 0;
  absl::flat_hash_map<const HloInstruction*, codegen::ElementValue> values_;
  absl::flat_hash_map<std::pair<int, int64_t>, size_t> positions_;  // of slices in the arguments
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::IRBuilder<>> builder_;
  llvm::Function* function_ = nullptr;
  int64_t large_shared_bytes_ = 0;
  llvm::DISubprogram* lines_ = nullptr;  // null: code has no locations
  std::unique_ptr<codegen::EmitterContext> context_;
  std::unique_ptr<codegen::ElementEmitter> elements_;
  std::unique_ptr<codegen::RegionScope> region_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_KERNEL_EMITTER_H_
