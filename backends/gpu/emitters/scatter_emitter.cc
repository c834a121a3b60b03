// Scatter: the operands are copied to the results, unless they share memory, and updates are applied to the
// results.
//
// Four ways. *Atomics*: the computation is one operation on integers that the machine applies atomically, and any
// order gives the same result: one thread per update element. *Independent*: the program promises that no two updates
// overlap. *Sorted*: the updates of an element follow each other; the thread of the first applies them all, or blocks
// combine long runs (scatter_runs.cc). Many updates are sorted to be so (hlo/passes/expand/scatter.cc). *Owners*:
// everything else, which must be applied in order, and floating-point sums, which must be deterministic. Every result
// element has one thread that owns it: the owner iterates over all indices in order and applies the updates of its
// elements. Dimensions that windows span fully and batching dimensions divide the elements among threads without any
// search.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/scatter_kernel.h"
#include "backends/gpu/match/scatter_match.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

using BinOp = llvm::AtomicRMWInst::BinOp;
constexpr OpcodeMap<std::optional<BinOp>> kSignedAtomics = {
    {HloOpcode::kAdd, BinOp::Add}, {HloOpcode::kAnd, BinOp::And},     {HloOpcode::kMaximum, BinOp::Max},
    {HloOpcode::kOr, BinOp::Or},   {HloOpcode::kMinimum, BinOp::Min}, {HloOpcode::kXor, BinOp::Xor},
};
constexpr OpcodeMap<std::optional<BinOp>> kUnsignedAtomics = {
    {HloOpcode::kAdd, BinOp::Add}, {HloOpcode::kAnd, BinOp::And},      {HloOpcode::kMaximum, BinOp::UMax},
    {HloOpcode::kOr, BinOp::Or},   {HloOpcode::kMinimum, BinOp::UMin}, {HloOpcode::kXor, BinOp::Xor},
};

BinOp MachineOperation(HloOpcode operation, PrimitiveType type) {
  return (IsSignedIntegralType(type) ? kSignedAtomics : kUnsignedAtomics)[operation].value_or(BinOp::Add);
}

// One thread per update element, or per group of them.
absl::Status EmitParallel(ProgramEmitter& program, const Scatter& s, std::optional<llvm::AtomicRMWInst::BinOp> atomic) {
  const std::vector<int64_t> batch_sizes = s.BatchSizes(), window_sizes = s.WindowSizes();
  const int64_t group = s.instruction->kernel()->width;
  std::vector<int64_t> sizes = batch_sizes;
  sizes.insert(sizes.end(), window_sizes.begin(), window_sizes.end());
  const codegen::NestDim nest = PerThread(std::move(sizes), s.instruction->kernel()->tile[0], group);
  KernelEmitter k(&program, s.instruction);
  ScatterKernel kernel(k, s);
  return EmitNestKernel(k, s.instruction, nest, [&](absl::Span<const Index> indices) -> absl::Status {
    const std::vector<LaneIndex> at = indices[0].Dims(k.context());
    const auto window_begin = at.begin() + static_cast<int64_t>(batch_sizes.size());
    const std::vector<LaneIndex> batch(at.begin(), window_begin), offset(window_begin, at.end());
    HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel.OriginOf(batch));
    return k.If("inside", kernel.IsInside(origin), [&]() -> absl::Status {
      if (group > 1) return kernel.ApplyToGroup(origin, batch, offset, group);
      HILO_ASSIGN_OR_RETURN(const Elements updates, kernel.UpdatesAt(batch, offset));
      const Index position(kernel.PositionOf(origin, offset));
      return atomic ? kernel.ApplyAtomically(*atomic, position, updates[0]) : kernel.Apply(position, updates);
    });
  });
}

// One thread per owner.
absl::Status EmitOwners(ProgramEmitter& program, const Scatter& s) {
  KernelEmitter k(&program, s.instruction);
  llvm::IRBuilder<>& b = k.b();
  ScatterKernel kernel(k, s);
  const ScatterDivision division = DivisionOf(s);
  const int64_t owners = s.instruction->kernel()->tile[1];
  std::vector<int64_t> thread_sizes = division.thread_sizes;
  thread_sizes[division.owner_position] = owners;
  const int64_t iterations = Product(division.iteration_sizes);
  const codegen::NestDim nest = PerThread(std::move(thread_sizes), s.instruction->kernel()->tile[0]);
  return EmitNestKernel(k, s.instruction, nest, [&](absl::Span<const Index> indices) -> absl::Status {
    const std::vector<LaneIndex> thread = indices[0].Dims(k.context());
    return k.ForEach("updates", b.getInt64(0), b.getInt64(static_cast<uint64_t>(iterations)), 1,
                     [&](llvm::Value* t) -> absl::Status {
                       const std::vector<LaneIndex> iteration = k.Delinearize(t, division.iteration_sizes);
                       std::vector<LaneIndex> batch, window;
                       size_t next_thread = 0, next_iteration = 0;
                       for (bool batching : division.is_batching)
                         batch.push_back(batching ? thread[next_thread++] : iteration[next_iteration++]);
                       ++next_thread;
                       for (bool filled : division.fills)
                         window.push_back(filled ? thread[next_thread++] : iteration[next_iteration++]);
                       HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel.OriginOf(batch));
                       return k.If("inside", kernel.IsInside(origin), [&]() -> absl::Status {
                         const std::vector<LaneIndex> position = kernel.PositionOf(origin, window);
                         auto apply = [&]() -> absl::Status {
                           HILO_ASSIGN_OR_RETURN(const Elements updates, kernel.UpdatesAt(batch, window));
                           return kernel.Apply(Index(position), updates);
                         };
                         if (owners == 1) return apply();
                         std::vector<LaneIndex> coordinates;
                         for (int64_t d = 0; d < s.operand.rank(); ++d) {
                           if (division.shared[d]) coordinates.push_back(position[d]);
                         }
                         llvm::Value* linear =
                             Index(std::move(coordinates)).Linear(k.context(), division.shared_sizes).Base(k.context());
                         llvm::Value* owner = b.CreateURem(linear, b.getInt64(static_cast<uint64_t>(owners)));
                         return k.If("own", b.CreateICmpEQ(owner, thread[division.owner_position].Base(k.context())),
                                     apply);
                       });
                     });
  });
}

// One thread per update element, or per group of them, of which those of first updates apply all that follow.
class SortedKernel {
 public:
  SortedKernel(KernelEmitter& k, const Scatter& s)
      : k_(k), b_(k.b()), s_(s), kernel_(k, s), group_(s.instruction->kernel()->width), updates_(s.BatchSizes()[0]) {
    for (int64_t i = 0; i < s.count; ++i) types_.push_back(s.scatter->operand(i)->shape().element_type());
  }

  absl::Status Emit(const std::vector<LaneIndex>& at) {
    llvm::Value* first = at[0].Value(k_.context());
    window_.assign(at.begin() + 1, at.end());
    HILO_ASSIGN_OR_RETURN(origin_, kernel_.OriginOf({At(first)}));
    llvm::Value* has_previous = b_.CreateICmpNE(first, b_.getInt64(0));
    llvm::Value* previous = b_.CreateSelect(has_previous, b_.CreateSub(first, b_.getInt64(1)), first);
    HILO_ASSIGN_OR_RETURN(llvm::Value * follows, HasOrigin(previous));
    llvm::Value* is_first = b_.CreateNot(b_.CreateAnd(has_previous, follows));
    return k_.If("first", b_.CreateAnd(is_first, kernel_.IsInside(origin_)), [&] { return ApplyAllFrom(first); });
  }

 private:
  LaneIndex At(llvm::Value* update) { return LaneIndex::Uniform(update, 1, updates_); }

  // Returns whether the window of an update is the thread's.
  absl::StatusOr<llvm::Value*> HasOrigin(llvm::Value* update) {
    HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel_.OriginOf({At(update)}));
    llvm::Value* same = b_.getTrue();
    for (int64_t d : s_.attrs->scatter_dims_to_operand_dims)
      same = b_.CreateAnd(same, b_.CreateICmpEQ(origin[d], origin_[d]));
    return same;
  }

  std::vector<LaneIndex> InWindow(int64_t j) const {
    std::vector<LaneIndex> at = window_;
    if (j > 0) at.back() = at.back().AddConstant(j).WithRange({0, s_.operand.dimensions().back() - 1});
    return at;
  }

  absl::Status ApplyAllFrom(llvm::Value* first) {
    std::vector<Index> positions;
    Carried values;
    for (int64_t j = 0; j < group_; ++j) {
      positions.emplace_back(kernel_.PositionOf(origin_, InWindow(j)));
      const Carried packed = codegen::Pack(kernel_.Load(positions.back()));
      values.insert(values.end(), packed.begin(), packed.end());
    }
    HILO_ASSIGN_OR_RETURN(const Carried applied, ApplyWhileSame(first, std::move(values)));
    const size_t parts = applied.size() / group_;
    for (int64_t j = 0; j < group_; ++j)
      kernel_.Store(positions[j], codegen::Unpack(absl::MakeSpan(applied).subspan(j * parts, parts), types_));
    return absl::OkStatus();
  }

  // do { apply `update` } while (++update is one of the same window)
  absl::StatusOr<Carried> ApplyWhileSame(llvm::Value* update, Carried values) {
    llvm::LLVMContext& context = b_.getContext();
    llvm::BasicBlock *before = b_.GetInsertBlock(),
                     *body = llvm::BasicBlock::Create(context, "update", before->getParent()),
                     *after = llvm::BasicBlock::Create(context, "updated", before->getParent());
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    codegen::RegionScope region(k_.context());
    std::vector<llvm::PHINode*> phis;
    values.push_back(update);
    for (llvm::Value* value : values) {
      phis.push_back(b_.CreatePHI(value->getType(), 2));
      phis.back()->addIncoming(value, before);
    }
    llvm::Value* number = phis.back();
    Carried next;
    const size_t parts = (phis.size() - 1) / group_;
    for (int64_t j = 0; j < group_; ++j) {
      const Carried now(phis.begin() + j * parts, phis.begin() + (j + 1) * parts);
      HILO_ASSIGN_OR_RETURN(const Elements updates, kernel_.UpdatesAt({At(number)}, InWindow(j)));
      HILO_ASSIGN_OR_RETURN(const Elements combined, kernel_.Combined(codegen::Unpack(now, types_), updates));
      const Carried packed = codegen::Pack(combined);
      next.insert(next.end(), packed.begin(), packed.end());
    }
    next.push_back(b_.CreateAdd(number, b_.getInt64(1), "", true, true));
    llvm::Value* last = b_.getInt64(static_cast<uint64_t>(updates_ - 1));
    llvm::Value* has_next = b_.CreateICmpNE(number, last);
    HILO_ASSIGN_OR_RETURN(llvm::Value * same, HasOrigin(b_.CreateSelect(has_next, next.back(), last)));
    for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateAnd(has_next, same), body, after);
    b_.SetInsertPoint(after);
    next.pop_back();
    return next;
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Scatter& s_;
  ScatterKernel kernel_;
  const int64_t group_, updates_;
  std::vector<PrimitiveType> types_;
  std::vector<LaneIndex> window_;     // of the thread
  std::vector<llvm::Value*> origin_;  // of its window
};

absl::Status EmitSorted(ProgramEmitter& program, const Scatter& s) {
  std::vector<int64_t> sizes = s.BatchSizes();
  for (int64_t size : s.WindowSizes()) sizes.push_back(size);
  const codegen::NestDim nest =
      PerThread(std::move(sizes), s.instruction->kernel()->tile[0], s.instruction->kernel()->width);
  KernelEmitter k(&program, s.instruction);
  SortedKernel kernel(k, s);
  return EmitNestKernel(k, s.instruction, nest,
                        [&](absl::Span<const Index> indices) { return kernel.Emit(indices[0].Dims(k.context())); });
}

// Copies the operands to the results; returns false if there is nothing else to do.
absl::StatusOr<bool> EmitOperands(ProgramEmitter& program, const Scatter& s) {
  const std::vector<int64_t>& tile = s.instruction->kernel()->tile;
  for (int64_t i = 0; i < s.count; ++i) {
    HILO_RETURN_IF_ERROR(
        EmitCopyOfOperand(program, s.instruction, i, s.scatter->operand(i), tile[2 * i + 3], tile[2 * i + 2]));
  }
  return !ShapeUtil::IsZeroElementArray(s.updates) && !ShapeUtil::IsZeroElementArray(s.operand);
}

}  // namespace

absl::Status EmitScatterAtomic(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  if (!has_updates) return absl::OkStatus();
  return EmitParallel(program, s, MachineOperation(*AtomicOperation(s), s.operand.element_type()));
}

absl::Status EmitScatterIndependent(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  return has_updates ? EmitParallel(program, s, std::nullopt) : absl::OkStatus();
}

absl::Status EmitScatterSorted(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  if (!has_updates) return absl::OkStatus();
  const std::vector<int64_t>& tile = instruction->kernel()->tile;
  return tile[1] > 1 ? EmitScatterRuns(program, s, tile[1]) : EmitSorted(program, s);
}

absl::Status EmitScatterInOrder(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  return has_updates ? EmitOwners(program, s) : absl::OkStatus();
}

}  // namespace hilo::gpu
