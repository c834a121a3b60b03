// One kernel while it is being emitted: its arguments, the threads, shared memory, and where the values are that it
// reads.
//
// A kernel has a module of its own. Its arguments are the memory of an instruction's operands and results, one pointer
// a buffer, and whatever else the emitter asks for. No two arguments overlap; those that are not written are only read.
#ifndef HILO_BACKENDS_GPU_COMPILE_KERNEL_EMITTER_H_
#define HILO_BACKENDS_GPU_COMPILE_KERNEL_EMITTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "backends/gpu/thunks/thunk.h"
#include "backends/llvm/elements/element_emitter.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::gpu {

class ProgramEmitter;

using Elements = std::vector<codegen::ElementValue>;

// Threads of a block where nothing else is wanted.
inline constexpr int kBlockSize = 256;
inline constexpr int kWarp = 32;

class KernelEmitter : public codegen::OperandSource {
 public:
  // Over the memory of `instruction` (null: none), then `more`.
  KernelEmitter(ProgramEmitter* program, const HloInstruction* instruction, std::vector<KernelArgument> more = {});
  // Code that runs `instructions` one after the other in one thread: frame memory that it uses may overlap.
  static std::unique_ptr<KernelEmitter> ForSequence(ProgramEmitter* program,
                                                    absl::Span<const HloInstruction* const> instructions,
                                                    std::vector<KernelArgument> more = {});

  ProgramEmitter& program() { return program_; }
  codegen::EmitterContext& context() { return *context_; }
  llvm::IRBuilder<>& b() { return *builder_; }
  codegen::ElementEmitter& elements() { return *elements_; }
  const std::vector<KernelArgument>& arguments() const { return arguments_; }
  const std::string& name() const { return name_; }
  llvm::Module& module() { return *module_; }
  llvm::Function* function() { return function_; }

  // Calling convention and the rest of what makes a kernel of the function. For ProgramEmitter.
  void MarkAsKernel(int block_size);

  // Argument `i` of `more`.
  llvm::Value* extra(int64_t i);
  // Memory of a leaf of the instruction or of an operand.
  codegen::IrArray ArrayOf(const HloInstruction* instruction, int64_t leaf = 0);
  // Whether `a` and `b` are one memory.
  bool SameMemory(const HloInstruction* a, int64_t a_leaf, const HloInstruction* b, int64_t b_leaf);

  // Numbers of this thread in its block and of its block, and of this thread among all (blocks of `block_size`
  // threads), i64.
  llvm::Value* Thread();
  llvm::Value* Block();
  llvm::Value* GlobalThread(int64_t block_size);

  // All threads of the block must come by.
  void Barrier();
  // A block's own memory: `count` cells for values of register type `type`; i1 is kept in bytes.
  llvm::Value* Shared(llvm::Type* type, int64_t count, absl::string_view name);
  // Values in registers to and from such cells, or cells in scratch memory.
  static int64_t CellBytes(llvm::Type* type);
  void StoreCell(llvm::Value* cells, llvm::Value* index, llvm::Value* value);
  llvm::Value* LoadCell(llvm::Value* cells, llvm::Value* index, llvm::Type* type);
  // The value of the lane `distance` further on in the warp; all lanes take part. Beyond the last lane: the lane's own.
  llvm::Value* ShuffleDown(llvm::Value* value, int distance);
  // The value of the lane whose number differs in the bit `distance`; all lanes take part.
  llvm::Value* ShuffleAcross(llvm::Value* value, int distance);
  // The value of the lane `distance` before this one; of the first lanes: their own. All lanes take part.
  llvm::Value* ShuffleUp(llvm::Value* value, int distance);
  // The value of the last of the `lanes` lanes (a power of two, beginning at a multiple) that this one is among; all
  // lanes take part.
  llvm::Value* ShuffleLast(llvm::Value* value, int lanes);

  absl::Status If(absl::string_view name, llvm::Value* condition, absl::FunctionRef<absl::Status()> body);
  absl::Status ForEach(absl::string_view name, llvm::Value* begin, llvm::Value* end, int64_t step,
                       absl::FunctionRef<absl::Status(llvm::Value*)> body);
  // Row-major `linear` as an index a dimension.
  std::vector<codegen::LaneIndex> Delinearize(llvm::Value* linear, absl::Span<const int64_t> dimensions);

  // From here on `instruction` has this value, wherever it is read: an array of which this thread needs one element.
  void SetValue(const HloInstruction* instruction, const codegen::ElementValue& value) { values_[instruction] = value; }

  // Brackets the emission of one of a sequence of instructions.
  void BeginInstruction(const HloInstruction* instruction);

  absl::StatusOr<std::optional<codegen::Materialized>> Find(const HloInstruction* instruction, int64_t leaf) override;

 private:
  friend class ProgramEmitter;
  KernelEmitter(ProgramEmitter* program, absl::string_view name);
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
  absl::flat_hash_map<const HloInstruction*, codegen::ElementValue> values_;
  absl::flat_hash_map<std::pair<int, int64_t>, size_t> positions_;  // of slices among the arguments
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::IRBuilder<>> builder_;
  llvm::Function* function_ = nullptr;
  llvm::DISubprogram* lines_ = nullptr;  // null: code has no locations
  std::unique_ptr<codegen::EmitterContext> context_;
  std::unique_ptr<codegen::ElementEmitter> elements_;
  std::unique_ptr<codegen::RegionScope> region_;
};

// The instruction that says what a fusion does: its root; of other instructions, itself.
const HloInstruction* HeroOf(const HloInstruction* instruction);
// What `operand` stands for, if it is a parameter of a computation inside the fusion `instruction`; otherwise
// `operand`.
const HloInstruction* FusedOperand(const HloInstruction* operand, const HloInstruction* instruction);

int64_t Product(absl::Span<const int64_t> sizes);
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_KERNEL_EMITTER_H_
