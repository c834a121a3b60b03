// Scatter: the operands are copied to the results, unless they share memory, and updates are applied to the
// results.
//
// Three ways. *Atomics*: the computation is one operation on integers that the machine applies atomically, and any
// order gives the same result: one thread per update element. *Independent*: the program promises that no two updates
// overlap. *Owners*: everything else, which must be applied in order, and floating-point sums, which must be
// deterministic. Every result element has one thread that owns it: the owner iterates over all indices in order and
// applies the updates of its elements. Dimensions that windows span fully and batching dimensions divide the elements
// among threads without any search.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/llvm/elements/data_movement.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Threads that iterate over the same indices, each for the elements that it owns.
constexpr int64_t kOwners = 128;

struct Scatter {
  const HloInstruction* instruction;
  const HloInstruction* scatter;
  const ScatterAttrs* attrs;
  int64_t count;  // operands
  Shape operand, updates;
  std::vector<int64_t> window_dims;  // operand dimensions that update windows run over, ascending
  std::vector<int64_t> index_dims;   // update dimensions that select an index vector

  int64_t WindowSize(int64_t operand_dimension) const {
    for (size_t i = 0; i < window_dims.size(); ++i) {
      if (window_dims[i] == operand_dimension) return updates.dimensions(attrs->update_window_dims[i]);
    }
    return 1;
  }
  const HloComputation& computation() const { return *scatter->called_computation(); }
};

Scatter Describe(const HloInstruction* instruction) {
  const HloInstruction* scatter = HeroOf(instruction);
  Scatter s{.instruction = instruction,
            .scatter = scatter,
            .attrs = &scatter->attrs<ScatterAttrs>(),
            .count = scatter->operand_count() / 2};
  s.operand = scatter->operand(0)->shape();
  s.updates = scatter->operand(s.count + 1)->shape();
  for (int64_t d = 0; d < s.operand.rank(); ++d) {
    if (!absl::c_linear_search(s.attrs->inserted_window_dims, d) &&
        !absl::c_linear_search(s.attrs->input_batching_dims, d))
      s.window_dims.push_back(d);
  }
  for (int64_t d = 0; d < s.updates.rank(); ++d) {
    if (!absl::c_linear_search(s.attrs->update_window_dims, d)) s.index_dims.push_back(d);
  }
  return s;
}

class ScatterKernel {
 public:
  ScatterKernel(KernelEmitter& k, const Scatter& s) : k_(k), b_(k.b()), s_(s) {}

  // Returns the origin of an index vector's window, one coordinate per dimension. `batch` has one index per index_dim.
  absl::StatusOr<std::vector<llvm::Value*>> OriginOf(const std::vector<LaneIndex>& batch) {
    const ScatterAttrs& attrs = *s_.attrs;
    const HloInstruction* indices = s_.scatter->operand(s_.count);
    std::vector<llvm::Value*> origin(s_.operand.rank(), b_.getInt64(0));
    const bool is_signed = IsSignedIntegralType(indices->shape().element_type());
    for (size_t j = 0; j < attrs.scatter_dims_to_operand_dims.size(); ++j) {
      std::vector<LaneIndex> at;
      size_t next = 0;
      for (int64_t d = 0; d < indices->shape().rank(); ++d) {
        at.push_back(d == attrs.index_vector_dim ? LaneIndex::Constant(static_cast<int64_t>(j)) : batch[next++]);
      }
      HILO_ASSIGN_OR_RETURN(ElementValue value, k_.elements().Generate(indices, Index(at)));
      origin[attrs.scatter_dims_to_operand_dims[j]] = b_.CreateIntCast(value.re, b_.getInt64Ty(), is_signed);
    }
    for (size_t j = 0; j < attrs.input_batching_dims.size(); ++j) {
      origin[attrs.input_batching_dims[j]] = batch[BatchPosition(j)].Base(k_.context());
    }
    return origin;
  }

  // Returns whether the whole window is inside the operand: a window that is partly outside is dropped entirely.
  llvm::Value* IsInside(const std::vector<llvm::Value*>& origin) {
    llvm::Value* inside = b_.getTrue();
    for (int64_t d = 0; d < s_.operand.rank(); ++d) {
      const int64_t room = s_.operand.dimensions(d) - s_.WindowSize(d);
      if (room < 0) return b_.getFalse();
      inside = b_.CreateAnd(inside, b_.CreateICmpULE(origin[d], b_.getInt64(static_cast<uint64_t>(room))));
    }
    return inside;
  }

  // Position of an input batching dimension among index_dims.
  int64_t BatchPosition(size_t j) const {
    const int64_t dimension = s_.attrs->scatter_indices_batching_dims[j];
    return dimension > s_.attrs->index_vector_dim ? dimension - 1 : dimension;
  }

  // Returns the position in the operand of `window` (one index per window dimension).
  std::vector<LaneIndex> PlaceOf(const std::vector<llvm::Value*>& origin, const std::vector<LaneIndex>& window) {
    std::vector<LaneIndex> place;
    for (int64_t d = 0; d < s_.operand.rank(); ++d)
      place.push_back(LaneIndex::Uniform(origin[d], 1, s_.operand.dimensions(d)));
    for (size_t i = 0; i < window.size(); ++i) {
      LaneIndex& coordinate = place[s_.window_dims[i]];
      coordinate = coordinate.Add(k_.context(), window[i]).WithRange({0, s_.operand.dimensions(s_.window_dims[i]) - 1});
    }
    return place;
  }

  absl::StatusOr<Elements> UpdatesAt(const std::vector<LaneIndex>& batch, const std::vector<LaneIndex>& window) {
    std::vector<LaneIndex> at(s_.updates.rank());
    for (size_t i = 0; i < window.size(); ++i) at[s_.attrs->update_window_dims[i]] = window[i];
    for (size_t i = 0; i < batch.size(); ++i) at[s_.index_dims[i]] = batch[i];
    Elements updates;
    for (int64_t i = 0; i < s_.count; ++i) {
      HILO_ASSIGN_OR_RETURN(updates.emplace_back(),
                            k_.elements().Generate(s_.scatter->operand(s_.count + 1 + i), Index(at)));
    }
    return updates;
  }

  absl::StatusOr<Elements> Combined(const Index& place, const Elements& updates) {
    Elements arguments;
    for (int64_t i = 0; i < s_.count; ++i) arguments.push_back(k_.ArrayOf(s_.instruction, i).Load(k_.context(), place));
    arguments.insert(arguments.end(), updates.begin(), updates.end());
    return codegen::EmitComputation(k_.context(), s_.computation(), arguments);
  }
  void Store(const Index& place, const Elements& values) {
    for (int64_t i = 0; i < s_.count; ++i) k_.ArrayOf(s_.instruction, i).Store(k_.context(), place, values[i]);
  }
  absl::Status Apply(const Index& place, const Elements& updates) {
    HILO_ASSIGN_OR_RETURN(const Elements combined, Combined(place, updates));
    Store(place, combined);
    return absl::OkStatus();
  }
  // Applies to `group` adjacent elements along the minor-most dimension, reading all before writing any.
  absl::Status ApplyToGroup(const std::vector<llvm::Value*>& origin, const std::vector<LaneIndex>& batch,
                            const std::vector<LaneIndex>& window, int64_t group) {
    std::vector<Index> places;
    std::vector<Elements> values;
    for (int64_t j = 0; j < group; ++j) {
      std::vector<LaneIndex> at = window;
      at.back() = at.back().AddConstant(j).WithRange({0, s_.operand.dimensions().back() - 1});
      places.emplace_back(PlaceOf(origin, at));
      HILO_ASSIGN_OR_RETURN(const Elements updates, UpdatesAt(batch, at));
      HILO_ASSIGN_OR_RETURN(values.emplace_back(), Combined(places.back(), updates));
    }
    for (int64_t j = 0; j < group; ++j) Store(places[j], values[j]);
    return absl::OkStatus();
  }

  absl::Status ApplyAtomically(llvm::AtomicRMWInst::BinOp operation, const Index& place, const ElementValue& update) {
    const codegen::IrArray array = k_.ArrayOf(s_.instruction);
    llvm::Value* at = place.Linear(k_.context(), s_.operand.dimensions()).Base(k_.context());
    llvm::Type* type = codegen::MemoryType(k_.module().getContext(), s_.operand.element_type());
    const int64_t bytes = PrimitiveTypeByteSize(s_.operand.element_type());
    b_.CreateAtomicRMW(operation, b_.CreateInBoundsGEP(type, array.pointer, at), update.re, llvm::Align(bytes),
                       llvm::AtomicOrdering::Monotonic);
    return absl::OkStatus();
  }

 private:
  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Scatter& s_;
};

// Returns the atomic operation that implements the computation.
std::optional<llvm::AtomicRMWInst::BinOp> AtomicOperation(const Scatter& s) {
  const PrimitiveType type = s.operand.element_type();
  if (s.count != 1 || !IsIntegralType(type) || PrimitiveTypeByteSize(type) < 4) return std::nullopt;
  const HloComputation& computation = s.computation();
  const HloInstruction* root = computation.root_instruction();
  if (root->operand_count() != 2 || !root->operand(0)->IsParameter() || !root->operand(1)->IsParameter() ||
      root->operand(0) == root->operand(1)) {
    return std::nullopt;
  }
  const bool is_signed = IsSignedIntegralType(type);
  switch (root->opcode()) {
    case HloOpcode::kAdd: return llvm::AtomicRMWInst::Add;
    case HloOpcode::kAnd: return llvm::AtomicRMWInst::And;
    case HloOpcode::kOr: return llvm::AtomicRMWInst::Or;
    case HloOpcode::kXor: return llvm::AtomicRMWInst::Xor;
    case HloOpcode::kMaximum: return is_signed ? llvm::AtomicRMWInst::Max : llvm::AtomicRMWInst::UMax;
    case HloOpcode::kMinimum: return is_signed ? llvm::AtomicRMWInst::Min : llvm::AtomicRMWInst::UMin;
    default: return std::nullopt;
  }
}

// True if no two updates overlap: indices are unique, and windows either fill a dimension or are one wide.
bool AreIndependent(const Scatter& s) {
  if (!s.attrs->unique_indices) return false;
  for (int64_t d : s.window_dims) {
    const int64_t size = s.WindowSize(d);
    if (size != 1 && size != s.operand.dimensions(d)) return false;
  }
  return true;
}

std::vector<int64_t> SizesOf(const Shape& shape, const std::vector<int64_t>& dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(d));
  return sizes;
}

// Adjacent elements that a thread processes together: they are adjacent in updates and operand, as windows fill the
// minor-most dimension of both.
int64_t GroupOf(const Scatter& s, const EmissionOptions& emission) {
  const int64_t minor = s.operand.rank() - 1;
  if (ShapeUtil::ElementsIn(s.updates) < emission.group_elements_from || s.window_dims.empty() ||
      s.window_dims.back() != minor)
    return 1;
  if (s.attrs->update_window_dims.back() != s.updates.rank() - 1 || s.WindowSize(minor) != s.operand.dimensions(minor))
    return 1;
  if (absl::c_linear_search(s.attrs->scatter_dims_to_operand_dims, minor)) return 1;
  int64_t group = 8;
  for (int64_t i = 0; i < s.count; ++i) {
    group =
        std::min(group, emission.group_bytes /
                            std::max<int64_t>(1, PrimitiveTypeByteSize(s.scatter->operand(i)->shape().element_type())));
  }
  while (group > 1 && s.operand.dimensions(minor) % group != 0) group /= 2;
  return std::max<int64_t>(group, 1);
}

// One thread per update element, or per group of them.
absl::Status EmitParallel(ProgramEmitter& program, const Scatter& s, std::optional<llvm::AtomicRMWInst::BinOp> atomic) {
  const std::vector<int64_t> batch_sizes = SizesOf(s.updates, s.index_dims),
                             window_sizes = SizesOf(s.updates, s.attrs->update_window_dims);
  const int64_t group = atomic ? 1 : GroupOf(s, program.emission());
  const int64_t window = Product(window_sizes), count = window * Product(batch_sizes) / group;
  const int block = BlockFor(count);
  KernelEmitter k(&program, s.instruction);
  llvm::IRBuilder<>& b = k.b();
  ScatterKernel kernel(k, s);
  llvm::Value* i = k.GlobalThread(block);
  HILO_RETURN_IF_ERROR(
      k.If("in_range", b.CreateICmpULT(i, b.getInt64(static_cast<uint64_t>(count))), [&]() -> absl::Status {
        llvm::Value* const size = b.getInt64(static_cast<uint64_t>(window / group));
        const std::vector<LaneIndex> batch = k.Delinearize(b.CreateUDiv(i, size), batch_sizes);
        std::vector<int64_t> group_sizes = window_sizes;
        if (group > 1) group_sizes.back() /= group;
        std::vector<LaneIndex> offset = k.Delinearize(b.CreateURem(i, size), group_sizes);
        if (group > 1) {
          llvm::Value* first =
              b.CreateMul(offset.back().Base(k.context()), b.getInt64(static_cast<uint64_t>(group)), "", true, true);
          offset.back() = LaneIndex::Uniform(first, group, window_sizes.back());
        }
        HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel.OriginOf(batch));
        return k.If("inside", kernel.IsInside(origin), [&]() -> absl::Status {
          if (group > 1) return kernel.ApplyToGroup(origin, batch, offset, group);
          HILO_ASSIGN_OR_RETURN(const Elements updates, kernel.UpdatesAt(batch, offset));
          const Index place(kernel.PlaceOf(origin, offset));
          return atomic ? kernel.ApplyAtomically(*atomic, place, updates[0]) : kernel.Apply(place, updates);
        });
      }));
  return program.FinishAndLaunch(s.instruction, k, CeilDiv(count, block), block);
}

// One thread per owner.
absl::Status EmitOwners(ProgramEmitter& program, const Scatter& s) {
  KernelEmitter k(&program, s.instruction);
  llvm::IRBuilder<>& b = k.b();
  ScatterKernel kernel(k, s);
  // Dimensions that divide the elements: batching ones and those that windows fill; the others share the owners.
  std::vector<bool> is_batching(s.index_dims.size(), false), fills(s.window_dims.size(), false),
      shared(s.operand.rank(), true);
  std::vector<int64_t> thread_sizes, turn_sizes;
  for (size_t j = 0; j < s.attrs->input_batching_dims.size(); ++j) {
    is_batching[kernel.BatchPosition(j)] = true;
    shared[s.attrs->input_batching_dims[j]] = false;
  }
  const std::vector<int64_t> batch_sizes = SizesOf(s.updates, s.index_dims),
                             window_sizes = SizesOf(s.updates, s.attrs->update_window_dims);
  for (size_t i = 0; i < batch_sizes.size(); ++i)
    (is_batching[i] ? thread_sizes : turn_sizes).push_back(batch_sizes[i]);
  const size_t owner_position = thread_sizes.size();
  thread_sizes.push_back(1);
  for (size_t i = 0; i < window_sizes.size(); ++i) {
    fills[i] = window_sizes[i] == s.operand.dimensions(s.window_dims[i]);
    if (fills[i]) shared[s.window_dims[i]] = false;
    (fills[i] ? thread_sizes : turn_sizes).push_back(window_sizes[i]);
  }
  std::vector<int64_t> shared_sizes;
  for (int64_t d = 0; d < s.operand.rank(); ++d) {
    if (shared[d]) shared_sizes.push_back(s.operand.dimensions(d));
  }
  const int64_t turns = Product(turn_sizes);
  const int64_t owners = std::min({kOwners, Product(shared_sizes), turns});
  thread_sizes[owner_position] = owners;
  const int64_t threads = Product(thread_sizes);
  const int block = BlockFor(threads);

  llvm::Value* i = k.GlobalThread(block);
  HILO_RETURN_IF_ERROR(
      k.If("in_range", b.CreateICmpULT(i, b.getInt64(static_cast<uint64_t>(threads))), [&]() -> absl::Status {
        const std::vector<LaneIndex> thread = k.Delinearize(i, thread_sizes);
        return k.ForEach("updates", b.getInt64(0), b.getInt64(static_cast<uint64_t>(turns)), 1,
                         [&](llvm::Value* t) -> absl::Status {
                           const std::vector<LaneIndex> turn = k.Delinearize(t, turn_sizes);
                           std::vector<LaneIndex> batch, window;
                           size_t next_thread = 0, next_turn = 0;
                           for (bool batching : is_batching)
                             batch.push_back(batching ? thread[next_thread++] : turn[next_turn++]);
                           ++next_thread;
                           for (bool filled : fills)
                             window.push_back(filled ? thread[next_thread++] : turn[next_turn++]);
                           HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel.OriginOf(batch));
                           return k.If("inside", kernel.IsInside(origin), [&]() -> absl::Status {
                             const std::vector<LaneIndex> place = kernel.PlaceOf(origin, window);
                             auto apply = [&]() -> absl::Status {
                               HILO_ASSIGN_OR_RETURN(const Elements updates, kernel.UpdatesAt(batch, window));
                               return kernel.Apply(Index(place), updates);
                             };
                             if (owners == 1) return apply();
                             std::vector<LaneIndex> coordinates;
                             for (int64_t d = 0; d < s.operand.rank(); ++d) {
                               if (shared[d]) coordinates.push_back(place[d]);
                             }
                             llvm::Value* position =
                                 Index(std::move(coordinates)).Linear(k.context(), shared_sizes).Base(k.context());
                             llvm::Value* owner = b.CreateURem(position, b.getInt64(static_cast<uint64_t>(owners)));
                             return k.If("own", b.CreateICmpEQ(owner, thread[owner_position].Base(k.context())), apply);
                           });
                         });
      }));
  return program.FinishAndLaunch(s.instruction, k, CeilDiv(threads, block), block);
}

}  // namespace

absl::Status EmitScatter(ProgramEmitter& program, const HloInstruction* instruction) {
  const Scatter s = Describe(instruction);
  for (int64_t i = 0; i < s.count; ++i)
    HILO_RETURN_IF_ERROR(EmitCopyOfOperand(program, instruction, i, s.scatter->operand(i)));
  if (ShapeUtil::IsZeroElementArray(s.updates) || ShapeUtil::IsZeroElementArray(s.operand)) return absl::OkStatus();
  if (const auto atomic = AtomicOperation(s)) return EmitParallel(program, s, atomic);
  return AreIndependent(s) ? EmitParallel(program, s, std::nullopt) : EmitOwners(program, s);
}

}  // namespace hilo::gpu
