// Scatter: the operands are copied to the results, unless they share memory, and updates are applied to the
// results.
//
// Four ways. *Atomics*: the computation is one operation that the machine applies atomically, or the maximum or minimum
// of floats, which compares and exchanges, and any order gives the same result: one thread per update element; of few
// elements with many updates blocks have their own first (scatter_parts.cc). *Independent*: the program promises that
// no two updates overlap. *Sorted*: the updates of an element follow each other; the thread of the first applies them
// all (scatter_sorted.cc), or blocks combine long runs (scatter_runs.cc). Many updates are sorted to be so
// (hlo/passes/expand/scatter.cc). *Owners*: everything else, which must be applied in order, and floating-point sums,
// which must be deterministic. Every result element has one thread that owns it: the owner iterates over all indices in
// order and applies the updates of its elements. Dimensions that windows span fully and batching dimensions divide the
// elements among threads without any search.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/scatter/scatter_kernel.h"
#include "backends/gpu/match/scatter_match.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

// How threads apply updates of the same element.
enum class Sharing { kNone, kAtomic, kExchange };

// One thread per update element, or per group of them.
absl::Status EmitParallel(ProgramEmitter& program, const Scatter& s, Sharing sharing) {
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
      if (sharing == Sharing::kNone) return kernel.Apply(position, updates);
      if (sharing == Sharing::kExchange) return kernel.ApplyByExchange(position, updates[0]);
      return kernel.ApplyAtomically(MachineOperation(s), position, updates[0]);
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
  if (instruction->kernel()->parts > 1) return EmitScatterParts(program, s);
  return EmitParallel(program, s, AtomicOperation(s).has_value() ? Sharing::kAtomic : Sharing::kExchange);
}

absl::Status EmitScatterIndependent(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  return has_updates ? EmitParallel(program, s, Sharing::kNone) : absl::OkStatus();
}

absl::Status EmitScatterSorted(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  if (!has_updates) return absl::OkStatus();
  const int64_t together = instruction->kernel()->tile[1];
  return together == kBlockSize ? EmitScatterRuns(program, s, together) : EmitSortedUpdates(program, s, together);
}

absl::Status EmitScatterInOrder(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = ScatterOf(*instruction);
  HILO_ASSIGN_OR_RETURN(const bool has_updates, EmitOperands(program, s));
  return has_updates ? EmitOwners(program, s) : absl::OkStatus();
}

}  // namespace hilo::gpu
