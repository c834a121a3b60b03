// Sorted scatters of single elements, such as sums of segments, with long runs of updates of one element: one thread
// would add them up for as long as the longest run.
//
// A block has a list of entries, one a thread: updates at first. It combines those of each run in shared memory, in
// their order: after step d of log2 of the block's threads, a thread has the 2d entries up to its own as far as they
// are of its run. The last thread of a run applies them to the element, unless the run began in an earlier block: then
// what there is of it is the block's head. The heads of all blocks are the entries of the next launch, until there is
// one block: an entry without a head is of no run. The order in which updates are combined depends on their number
// alone.
#include <vector>

#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/emitters/scatter/scatter_kernel.h"
#include "backends/llvm/elements/predication.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

// The entries of a launch.
struct RunLevel {
  int64_t count = 0;
  int64_t updates = 1;     // of an entry: entry i begins with update i * updates
  bool has_heads = false;  // entries are heads: the first arguments
  bool has_next = false;   // its heads are the entries of another launch: the last arguments
};

// Register types of the parts of a value.
std::vector<llvm::Type*> ValueParts(llvm::LLVMContext& context, const Scatter& s) {
  const PrimitiveType type = s.operand.element_type();
  return std::vector<llvm::Type*>(IsComplexType(type) ? 2 : 1, codegen::RegisterType(context, type));
}

class RunsKernel {
 public:
  RunsKernel(KernelEmitter& k, const Scatter& s, const RunLevel& level, int64_t block)
      : k_(k), b_(k.b()), s_(s), kernel_(k, s), level_(level), block_(block) {
    types_.push_back(s.operand.element_type());
  }

  absl::Status Emit() {
    llvm::Value *thread = k_.Thread(), *first = b_.CreateMul(k_.Block(), Int(block_), "", true, true);
    llvm::Value* entry = b_.CreateAdd(first, thread, "", true, true);
    llvm::Value* is_entry = b_.CreateICmpULT(entry, Int(level_.count));
    entry = b_.CreateSelect(is_entry, entry, Int(level_.count - 1));
    HILO_ASSIGN_OR_RETURN(const Entry own, EntryAt(entry));
    llvm::Value* key = b_.CreateSelect(is_entry, own.key, Int(kNone));
    HILO_ASSIGN_OR_RETURN(Carried value, ValueAt(entry));

    llvm::Value* keys = k_.Shared(b_.getInt64Ty(), block_, "keys");
    std::vector<llvm::Value*> values;
    for (llvm::Value* part : value) values.push_back(k_.Shared(part->getType(), block_, "values"));
    const auto store = [&] {
      for (size_t i = 0; i < value.size(); ++i) k_.StoreCell(values[i], thread, value[i]);
    };
    k_.StoreCell(keys, thread, key);
    store();
    k_.Barrier();
    for (int64_t distance = 1; distance < block_; distance *= 2) {
      llvm::Value* has = b_.CreateICmpUGE(thread, Int(distance));
      llvm::Value* before = b_.CreateSelect(has, b_.CreateSub(thread, Int(distance)), thread);
      Carried earlier;
      for (size_t i = 0; i < value.size(); ++i) earlier.push_back(k_.LoadCell(values[i], before, value[i]->getType()));
      llvm::Value* same = b_.CreateAnd(has, b_.CreateICmpEQ(k_.LoadCell(keys, before, b_.getInt64Ty()), key));
      HILO_ASSIGN_OR_RETURN(const Elements both,
                            kernel_.Combined(codegen::Unpack(earlier, types_), codegen::Unpack(value, types_)));
      const Carried combined = codegen::Pack(both);
      for (size_t i = 0; i < value.size(); ++i) value[i] = b_.CreateSelect(same, combined[i], value[i]);
      k_.Barrier();
      store();
      k_.Barrier();
    }
    llvm::Value* is_end = b_.CreateICmpEQ(thread, Int(block_ - 1));
    llvm::Value* after = b_.CreateSelect(is_end, thread, b_.CreateAdd(thread, Int(1)));
    llvm::Value* is_last = b_.CreateOr(is_end, b_.CreateICmpNE(k_.LoadCell(keys, after, b_.getInt64Ty()), key));
    llvm::Value* ends_run = b_.CreateAnd(is_last, b_.CreateICmpNE(key, Int(kNone)));
    const auto apply = [&] {
      const Index position(kernel_.PositionOf(own.origin, Window()));
      return kernel_.Apply(position, codegen::Unpack(value, types_));
    };
    if (!level_.has_next) return k_.If("ends", ends_run, apply);

    // Whether the block's first run began in an earlier block.
    llvm::Value* has_before = b_.CreateICmpNE(first, Int(0));
    HILO_ASSIGN_OR_RETURN(const Entry previous,
                          EntryAt(b_.CreateSelect(has_before, b_.CreateSub(first, Int(1)), first)));
    llvm::Value* first_key = k_.LoadCell(keys, Int(0), b_.getInt64Ty());
    llvm::Value* goes_on = b_.CreateAnd(
        has_before, b_.CreateAnd(b_.CreateICmpEQ(previous.key, first_key), b_.CreateICmpNE(first_key, Int(kNone))));
    const int64_t out = level_.has_heads ? 1 + static_cast<int64_t>(value.size()) : 0;
    HILO_RETURN_IF_ERROR(k_.If("flag", b_.CreateICmpEQ(thread, Int(0)), [&] {
      k_.StoreCell(k_.extra(out), k_.Block(), goes_on);
      return absl::OkStatus();
    }));
    llvm::Value* is_head = b_.CreateAnd(goes_on, b_.CreateICmpEQ(key, first_key));
    HILO_RETURN_IF_ERROR(k_.If("ends", b_.CreateAnd(ends_run, b_.CreateNot(is_head)), apply));
    return k_.If("head", b_.CreateAnd(ends_run, is_head), [&] {
      for (size_t i = 0; i < value.size(); ++i)
        k_.StoreCell(k_.extra(out + 1 + static_cast<int64_t>(i)), k_.Block(), value[i]);
      return absl::OkStatus();
    });
  }

 private:
  // Of entries that are of no run.
  static constexpr int64_t kNone = -1;

  struct Entry {
    std::vector<llvm::Value*> origin;
    llvm::Value* key;  // the element's number
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  std::vector<LaneIndex> Window() const { return std::vector<LaneIndex>(s_.window_dims.size()); }
  LaneIndex Update(llvm::Value* entry) {
    llvm::Value* update = b_.CreateMul(entry, Int(level_.updates), "", true, true);
    return LaneIndex::Uniform(update, level_.updates, s_.BatchSizes()[0]);
  }

  absl::StatusOr<Entry> EntryAt(llvm::Value* entry) {
    HILO_ASSIGN_OR_RETURN(std::vector<llvm::Value*> origin, kernel_.OriginOf({Update(entry)}));
    llvm::Value* exists = level_.has_heads ? k_.LoadCell(k_.extra(0), entry, b_.getInt1Ty()) : kernel_.IsInside(origin);
    llvm::Value* number = Int(0);
    for (int64_t d = 0; d < s_.operand.rank(); ++d)
      number = b_.CreateAdd(b_.CreateMul(number, Int(s_.operand.dimensions(d))), origin[d]);
    return Entry{std::move(origin), b_.CreateSelect(exists, number, Int(kNone))};
  }

  absl::StatusOr<Carried> ValueAt(llvm::Value* entry) {
    if (!level_.has_heads) {
      HILO_ASSIGN_OR_RETURN(const Elements updates, kernel_.UpdatesAt({Update(entry)}, Window()));
      return codegen::Pack(updates);
    }
    Carried value;
    for (llvm::Type* type : ValueParts(b_.getContext(), s_))
      value.push_back(k_.LoadCell(k_.extra(1 + static_cast<int64_t>(value.size())), entry, type));
    return value;
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Scatter& s_;
  ScatterKernel kernel_;
  const RunLevel level_;
  const int64_t block_;
  std::vector<PrimitiveType> types_;
};

// Returns scratch memory for the heads of blocks: whether there is one, and the parts of its value.
std::vector<KernelArgument> BlockHeads(ProgramEmitter& program, const Scatter& s, int64_t blocks) {
  std::vector<KernelArgument> heads;
  const auto add = [&](int64_t bytes) {
    heads.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
  };
  add(blocks);
  for (llvm::Type* type : ValueParts(program.llvm_context(), s)) add(blocks * KernelEmitter::CellBytes(type));
  return heads;
}

}  // namespace

absl::Status EmitScatterRuns(ProgramEmitter& program, const Scatter& s, int64_t block) {
  RunLevel level{.count = s.BatchSizes()[0]};
  std::vector<KernelArgument> heads;
  while (true) {
    const int64_t blocks = CeilDiv(level.count, block);
    level.has_next = blocks > 1;
    std::vector<KernelArgument> next = level.has_next ? BlockHeads(program, s, blocks) : std::vector<KernelArgument>(),
                                arguments = heads;
    arguments.insert(arguments.end(), next.begin(), next.end());
    KernelEmitter k(&program, s.instruction, arguments);
    HILO_RETURN_IF_ERROR(RunsKernel(k, s, level, block).Emit());
    HILO_RETURN_IF_ERROR(k.FinishAndLaunch(s.instruction, blocks, static_cast<int>(block)));
    if (!level.has_next) return absl::OkStatus();
    for (KernelArgument& argument : next) argument.written = false;
    heads = std::move(next);
    level = {.count = blocks, .updates = level.updates * block, .has_heads = true};
  }
}

}  // namespace hilo::gpu
