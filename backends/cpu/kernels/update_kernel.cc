// Instructions that write a part of an array: dynamic-update-slice and scatter. If the result shares the operand's
// memory, only the part is written; otherwise the operand is copied first. Lanes: update_choice.cc.
#include <algorithm>

#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/elements/scatter_origin.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Returns the sequential instruction that a fused parameter stands for, or `operand` itself.
const HloInstruction* Outside(const HloInstruction* operand, const HloInstruction* instruction) {
  while (operand->IsParameter() && operand->parent()->IsFusion() && operand->parent() != instruction->parent()) {
    operand = operand->parent()->fusion_instruction()->operand(operand->parameter_number());
  }
  return operand;
}

// Indices [first, last) of an array's first dimension; null if they are all.
struct RowRange {
  llvm::Value *first = nullptr, *last = nullptr;
};

// Copies rows of `operand` to result leaf `leaf` before the update, unless they share memory; `width`: lanes, if it is
// computed.
absl::Status CopyOperand(FunctionEmitter& f, const HloInstruction* instruction, int64_t leaf,
                         const HloInstruction* operand, int64_t width, const RowRange& range = {}) {
  llvm::IRBuilder<>& b = f.b();
  const HloInstruction* source = Outside(operand, instruction);
  const codegen::IrArray target = f.ArrayOf(instruction, leaf);
  const bool in_memory = f.program().IsSequential(source->parent()) && !source->IsConstant();
  if (in_memory) {
    llvm::Value* pointer = f.PointerTo(source);
    if (pointer == target.pointer) return absl::OkStatus();
    const int64_t bytes = ShapeUtil::ByteSizeOf(target.shape);
    if (range.first == nullptr) {
      b.CreateMemCpy(target.pointer, llvm::Align(target.alignment), pointer, llvm::Align(16), bytes);
      return absl::OkStatus();
    }
    llvm::Value* row = b.getInt64(bytes / target.shape.dimensions(0));
    llvm::Value *begin = b.CreateMul(range.first, row), *end = b.CreateMul(range.last, row);
    b.CreateMemCpy(b.CreatePtrAdd(target.pointer, begin), llvm::Align(1), b.CreatePtrAdd(pointer, begin),
                   llvm::Align(1), b.CreateSub(end, begin));
    return absl::OkStatus();
  }
  // The operand is computed in the fusion.
  const auto dimensions = target.shape.dimensions();
  const int64_t count = ShapeUtil::ElementsIn(target.shape);
  const int64_t row = dimensions.empty() ? 1 : dimensions.back();
  auto outer = dimensions;
  if (!outer.empty()) outer.remove_suffix(1);
  llvm::Value *first = b.getInt64(0), *last = b.getInt64(count / row);
  if (range.first != nullptr) {
    llvm::Value* rows = b.getInt64(count / row / dimensions[0]);
    first = b.CreateMul(range.first, rows);
    last = b.CreateMul(range.last, rows);
  }
  return ForEach(f, "rows", first, last, [&](llvm::Value* r) -> absl::Status {
    const std::vector<LaneIndex> prefix = f.Delinearize(r, outer);
    return ForEachVector(f, "row", row, static_cast<int>(width), [&](const LaneIndex& i) -> absl::Status {
      std::vector<LaneIndex> index = prefix;
      if (!dimensions.empty()) index.push_back(i);
      HILO_ASSIGN_OR_RETURN(ElementValue value, f.elements().Generate(operand, Index(index)));
      target.Store(f.context(), Index(index), value);
      return absl::OkStatus();
    });
  });
}

// A start index, clamped so that the window lies inside the array.
absl::StatusOr<LaneIndex> ClampedStart(FunctionEmitter& f, const HloInstruction* start, int64_t highest) {
  HILO_ASSIGN_OR_RETURN(ElementValue value, f.elements().Generate(start, Index()));
  llvm::IRBuilder<>& b = f.b();
  const bool is_signed = IsSignedIntegralType(start->shape().element_type());
  llvm::Value* wide = b.CreateIntCast(value.re, b.getInt64Ty(), is_signed);
  if (is_signed) {
    wide = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, wide, b.getInt64(0));
    wide = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, wide, b.getInt64(highest));
  } else {
    wide = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::umin, wide, b.getInt64(highest));
  }
  return LaneIndex::Uniform(wide, 1, highest + 1);
}

struct ScatterPlan {
  const HloInstruction* instruction;
  const HloInstruction* scatter;
  int64_t count;  // operands
  const ScatterAttrs* attrs;
  RowRange range;                        // of the parts that are computed: windows at other indices are left out
  std::vector<int64_t> window_dims;      // operand dimensions that update windows run over, ascending
  std::vector<int64_t> batch_positions;  // update dimensions that select an index vector
};

// Returns whether the whole window is inside the operand, and in the range: a window that is partly outside is dropped
// entirely.
llvm::Value* IsInside(FunctionEmitter& f, const ScatterPlan& plan, const std::vector<llvm::Value*>& origin) {
  llvm::IRBuilder<>& b = f.b();
  const Shape& operand = plan.scatter->operand(0)->shape();
  const Shape& updates = plan.scatter->operand(plan.count + 1)->shape();
  llvm::Value* inside = b.getTrue();
  for (int64_t d = 0; d < operand.rank(); ++d) {
    int64_t window = 1;
    for (size_t k = 0; k < plan.window_dims.size(); ++k) {
      if (plan.window_dims[k] == d) window = updates.dimensions(plan.attrs->update_window_dims[k]);
    }
    if (operand.dimensions(d) < window) return b.getFalse();
    inside = b.CreateAnd(inside, b.CreateICmpULE(origin[d], b.getInt64(operand.dimensions(d) - window)));
  }
  if (plan.range.first != nullptr) {
    inside = b.CreateAnd(inside, b.CreateICmpULT(b.CreateSub(origin[0], plan.range.first),
                                                 b.CreateSub(plan.range.last, plan.range.first)));
  }
  return inside;
}

// An element of the result, or one a lane, and that of the updates.
struct UpdatePosition {
  Index to, from;
};

// The element at `window`, one index per dimension of the window, of index number `batch`; the lanes are on the last.
UpdatePosition PositionOf(FunctionEmitter& f, const ScatterPlan& plan, const std::vector<LaneIndex>& batch,
                          const std::vector<llvm::Value*>& origin, const std::vector<LaneIndex>& window) {
  const Shape& operand = plan.scatter->operand(0)->shape();
  std::vector<LaneIndex> target, at(plan.scatter->operand(plan.count + 1)->shape().rank());
  for (int64_t d = 0; d < operand.rank(); ++d)
    target.push_back(LaneIndex::Uniform(origin[d], 1, operand.dimensions(d)));
  for (size_t k = 0; k < window.size(); ++k) {
    LaneIndex& coordinate = target[plan.window_dims[k]];
    coordinate = coordinate.Add(f.context(), window[k]).WithRange({0, operand.dimensions(plan.window_dims[k]) - 1});
    at[plan.attrs->update_window_dims[k]] = window[k];
  }
  for (size_t k = 0; k < batch.size(); ++k) at[plan.batch_positions[k]] = batch[k];
  return {Index(std::move(target)), Index(std::move(at))};
}

// Combines the elements at a position, `arguments`, with the updates, stores the results and returns them.
absl::StatusOr<std::vector<ElementValue>> Combine(FunctionEmitter& f, const ScatterPlan& plan,
                                                  const UpdatePosition& position, std::vector<ElementValue> arguments) {
  for (int64_t i = 0; i < plan.count; ++i) {
    HILO_ASSIGN_OR_RETURN(arguments.emplace_back(),
                          f.elements().Generate(plan.scatter->operand(plan.count + 1 + i), position.from));
  }
  HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> combined,
                        codegen::EmitComputation(f.context(), *plan.scatter->called_computation(), arguments));
  for (int64_t i = 0; i < plan.count; ++i) {
    combined[i] = f.context().Splat(combined[i]);
    f.ArrayOf(plan.instruction, i).Store(f.context(), position.to, combined[i]);
  }
  return combined;
}

// Applies the updates of index number `batch` at `window`.
absl::Status ScatterAt(FunctionEmitter& f, const ScatterPlan& plan, const std::vector<LaneIndex>& batch,
                       const std::vector<llvm::Value*>& origin, const std::vector<LaneIndex>& window) {
  const UpdatePosition position = PositionOf(f, plan, batch, origin, window);
  std::vector<ElementValue> arguments;
  for (int64_t i = 0; i < plan.count; ++i)
    arguments.push_back(f.ArrayOf(plan.instruction, i).Load(f.context(), position.to));
  return Combine(f, plan, position, std::move(arguments)).status();
}

// All updates of index number `batch`.
absl::Status ScatterWindow(FunctionEmitter& f, const ScatterPlan& plan, int width,
                           const std::vector<LaneIndex>& batch) {
  llvm::IRBuilder<>& b = f.b();
  HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin,
                        codegen::EmitScatterOrigin(f.elements(), f.context(), *plan.scatter, batch));
  std::vector<int64_t> outer;
  for (int64_t dimension : plan.attrs->update_window_dims) {
    outer.push_back(plan.scatter->operand(plan.count + 1)->shape().dimensions(dimension));
  }
  const int64_t row = outer.empty() ? 1 : outer.back();
  if (!outer.empty()) outer.pop_back();
  int64_t rows = 1;
  for (int64_t size : outer) rows *= size;
  auto apply = [&]() -> absl::StatusOr<Carried> {
    HILO_RETURN_IF_ERROR(ForEach(f, "window", b.getInt64(0), b.getInt64(rows), [&](llvm::Value* r) {
      const std::vector<LaneIndex> prefix = f.Delinearize(r, outer);
      return ForEachVector(f, "row", row, width, [&](const LaneIndex& i) {
        std::vector<LaneIndex> window = prefix;
        if (!plan.window_dims.empty()) window.push_back(i);
        return ScatterAt(f, plan, batch, origin, window);
      });
    }));
    return Carried();
  };
  return codegen::EmitBranches(f.context(), "inside", IsInside(f, plan, origin), apply,
                               []() -> absl::StatusOr<Carried> { return Carried(); })
      .status();
}

// All updates, where a window is one row of `vectors` full vectors: what was last written stays in registers, and is
// not loaded where the next index is the same. A load would wait for the store before it.
absl::Status ScatterRuns(FunctionEmitter& f, const ScatterPlan& plan, int width, int64_t vectors, int64_t count,
                         const std::vector<int64_t>& dimensions) {
  llvm::IRBuilder<>& b = f.b();
  const Shape& operand = plan.scatter->operand(0)->shape();
  const auto window_at = [&](int64_t vector) {
    std::vector<LaneIndex> window(plan.window_dims.size());
    if (!window.empty()) window.back() = LaneIndex::Strided(b.getInt64(vector * width), 1, width, vectors * width);
    return window;
  };
  const auto load = [&](const std::vector<LaneIndex>& batch, const std::vector<llvm::Value*>& origin) {
    Carried row;
    for (int64_t v = 0; v < vectors; ++v) {
      const UpdatePosition position = PositionOf(f, plan, batch, origin, window_at(v));
      for (int64_t i = 0; i < plan.count; ++i)
        row.push_back(f.context().Splat(f.ArrayOf(plan.instruction, i).Load(f.context(), position.to)).re);
    }
    return row;
  };
  // Carried: the first element of the row, and its vectors. The first row is that at the origin.
  const std::vector<llvm::Value*> zeros(operand.rank(), b.getInt64(0));
  if (IsInside(f, plan, zeros) == b.getFalse()) return absl::OkStatus();
  codegen::RegionScope region(f.context());
  f.context().lanes = {.width = width};
  Carried initial = load(std::vector<LaneIndex>(plan.batch_positions.size()), zeros);
  initial.insert(initial.begin(), b.getInt64(0));
  f.context().lanes = {};
  return codegen::EmitLoop(
             f.context(), "updates", b.getInt64(0), b.getInt64(count), 1, std::move(initial),
             [&](llvm::Value* n, const Carried& carried) -> absl::StatusOr<Carried> {
               const std::vector<LaneIndex> batch = f.Delinearize(n, dimensions);
               HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin,
                                     codegen::EmitScatterOrigin(f.elements(), f.context(), *plan.scatter, batch));
               const auto apply = [&]() -> absl::StatusOr<Carried> {
                 llvm::Value* first = b.getInt64(0);  // the first element of the row
                 for (int64_t d = 0; d < operand.rank(); ++d)
                   first = b.CreateAdd(b.CreateMul(first, b.getInt64(operand.dimensions(d))), origin[d]);
                 codegen::RegionScope lanes(f.context());
                 f.context().lanes = {.width = width};
                 HILO_ASSIGN_OR_RETURN(
                     const Carried row,
                     codegen::EmitBranches(
                         f.context(), "same", b.CreateICmpEQ(first, carried[0]),
                         [&]() -> absl::StatusOr<Carried> { return Carried(carried.begin() + 1, carried.end()); },
                         [&]() -> absl::StatusOr<Carried> { return load(batch, origin); }));
                 Carried next = {first};
                 for (int64_t v = 0; v < vectors; ++v) {
                   std::vector<ElementValue> arguments;
                   for (int64_t i = 0; i < plan.count; ++i) arguments.push_back({row[v * plan.count + i]});
                   const UpdatePosition position = PositionOf(f, plan, batch, origin, window_at(v));
                   HILO_ASSIGN_OR_RETURN(const std::vector<ElementValue> combined,
                                         Combine(f, plan, position, std::move(arguments)));
                   for (const ElementValue& value : combined) next.push_back(value.re);
                 }
                 return next;
               };
               return codegen::EmitBranches(
                   f.context(), "inside", IsInside(f, plan, origin), apply,
                   [&]() -> absl::StatusOr<Carried> { return carried; }, /*is_likely=*/true);
             })
      .status();
}

}  // namespace

absl::Status EmitUpdate(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction *instruction = kernel.instruction, *root = HeroOf(instruction);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(instruction));
  const Shape& shape = root->shape();
  const HloInstruction* update = root->operand(1);
  std::vector<LaneIndex> starts;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    HILO_ASSIGN_OR_RETURN(LaneIndex start,
                          ClampedStart(f, root->operand(2 + d), shape.dimensions(d) - update->shape().dimensions(d)));
    starts.push_back(start);
  }
  HILO_RETURN_IF_ERROR(CopyOperand(f, instruction, 0, root->operand(0), kernel.config.tile[2]));
  const codegen::IrArray target = f.ArrayOf(instruction);
  const int64_t rank = kernel.config.tile[0], columns = kernel.config.tile[1];
  const int width = static_cast<int>(kernel.config.width);
  const auto dimensions = update->shape().dimensions().first(rank);
  const int64_t count = ShapeUtil::ElementsIn(update->shape());
  if (count == 0) return absl::OkStatus();
  auto outer = dimensions;
  if (columns > 1) outer.remove_suffix(1);
  const int64_t row = outer.empty() ? 1 : outer.back();
  if (!outer.empty()) outer.remove_suffix(1);
  return ForEach(f, "rows", f.b().getInt64(0), f.b().getInt64(count / columns / row),
                 [&](llvm::Value* r) -> absl::Status {
                   const std::vector<LaneIndex> prefix = f.Delinearize(r, outer);
                   return ForEachVector(f, "row", row, width, [&](const LaneIndex& i) -> absl::Status {
                     std::vector<LaneIndex> from = prefix;
                     if (!dimensions.empty()) from.push_back(i);
                     from.resize(shape.rank(), LaneIndex::Constant(0));
                     std::vector<LaneIndex> to;
                     for (size_t d = 0; d < from.size(); ++d) to.push_back(starts[d].Add(f.context(), from[d]));
                     std::vector<ElementValue> values;
                     for (int64_t column = 0; column < columns; ++column) {
                       if (columns > 1) from.back() = LaneIndex::Constant(column);
                       HILO_ASSIGN_OR_RETURN(values.emplace_back(), f.elements().Generate(update, Index(from)));
                     }
                     if (columns > 1) {
                       target.StoreColumns(f.context(), Index(std::move(to)), values);
                     } else {
                       target.Store(f.context(), Index(std::move(to)), values[0]);
                     }
                     return absl::OkStatus();
                   });
                 });
}

absl::Status EmitScatter(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction *instruction = kernel.instruction, *scatter = HeroOf(instruction);
  ScatterPlan plan{.instruction = instruction, .scatter = scatter, .count = scatter->operand_count() / 2};
  plan.attrs = &scatter->attrs<ScatterAttrs>();
  auto contains = [](const std::vector<int64_t>& list, int64_t item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  for (int64_t d = 0; d < scatter->operand(0)->shape().rank(); ++d) {
    if (!contains(plan.attrs->inserted_window_dims, d) && !contains(plan.attrs->input_batching_dims, d)) {
      plan.window_dims.push_back(d);
    }
  }
  const Shape& updates = scatter->operand(plan.count + 1)->shape();
  for (int64_t d = 0; d < updates.rank(); ++d) {
    if (!contains(plan.attrs->update_window_dims, d)) plan.batch_positions.push_back(d);
  }
  const int width = static_cast<int>(kernel.config.width);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(plan.instruction));
  if (kernel.config.parallel) {
    llvm::IRBuilder<>& b = f.b();
    llvm::Value* rows = b.getInt64(kernel.config.tile[plan.count + 2]);
    llvm::Value* all = b.getInt64(scatter->operand(0)->shape().dimensions(0));
    plan.range = {b.CreateMul(kernel.begin, rows),
                  codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, b.CreateMul(kernel.end, rows), all)};
  }
  for (int64_t i = 0; i < plan.count; ++i) {
    HILO_RETURN_IF_ERROR(
        CopyOperand(f, plan.instruction, i, plan.scatter->operand(i), kernel.config.tile[i], plan.range));
  }
  // Index by index, with each index's whole window: where windows overlap, the last index wins.
  if (ShapeUtil::IsZeroElementArray(updates)) return absl::OkStatus();
  std::vector<int64_t> dimensions;
  int64_t count = 1;
  for (int64_t position : plan.batch_positions) {
    dimensions.push_back(updates.dimensions(position));
    count *= updates.dimensions(position);
  }
  if (kernel.config.tile[plan.count] > 0)
    return ScatterRuns(f, plan, width, kernel.config.tile[plan.count], count, dimensions);
  const auto updates_of = [&](llvm::Value* i) { return ScatterWindow(f, plan, width, f.Delinearize(i, dimensions)); };
  llvm::IRBuilder<>& b = f.b();
  const int64_t together = kernel.config.tile[plan.count + 1], rest = count % together;
  HILO_RETURN_IF_ERROR(ForEach(
      f, "updates", b.getInt64(0), b.getInt64(count - rest),
      [&](llvm::Value* i) -> absl::Status {
        for (int64_t k = 0; k < together; ++k) HILO_RETURN_IF_ERROR(updates_of(b.CreateAdd(i, b.getInt64(k))));
        return absl::OkStatus();
      },
      together));
  if (rest == 0) return absl::OkStatus();
  return ForEach(f, "updates.rest", b.getInt64(count - rest), b.getInt64(count), updates_of);
}

}  // namespace hilo::cpu
