// Kernels of row plans. A thread holds its elements of the row in registers from the first reduction to the last
// result: all code is straight-line, in which the element generators compute nothing twice, so values computed for one
// reduction are available to the next. Lanes combine by butterflies, which leaves the result in all of them; rows of
// several warps synchronize once in shared memory for each level of reductions.
//
// If the columns are not a multiple of the threads' columns per iteration, the last groups of some threads are missing:
// these compute their first group again and discard it. Threads past the last row do the same with the first row of
// their block. So a thread never reads what another one may be writing: if a result shares an operand's memory, only
// leftover rows require a barrier.
//
// With reductions across the rows the kernel is a loop: block b has the rows of iterations b, b + parts ... A thread
// combines its columns of these rows in registers; what the threads of a block have of a column is combined at the end,
// in the order of the threads, and another launch combines what the blocks have (column_parts.h).
#include <map>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/rows/column_parts.h"
#include "backends/gpu/emitters/rows/row_threads.h"
#include "backends/gpu/match/row_plan.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// The types of what the reductions across the rows make of a column.
std::vector<PrimitiveType> ColumnTypes(const RowPlan& plan) {
  std::vector<PrimitiveType> types;
  for (const HloInstruction* reduce : plan.columns) types.push_back(reduce->operand(0)->shape().element_type());
  return types;
}

class RowKernel {
 public:
  RowKernel(KernelEmitter& k, const HloInstruction* instruction, const RowPlan& plan)
      : k_(k), b_(k.b()), instruction_(instruction), plan_(plan), block_rows_(plan.BlockRows()) {}

  absl::Status Emit() {
    ComputeColumns();
    return EmitRows(k_.Block());
  }

  // Of a block that goes through its part of the rows, and leaves what it has of each column.
  absl::Status EmitInParts(const ColumnParts& columns) {
    ComputeColumns();
    Carried start;
    for (const HloInstruction* reduce : plan_.columns) {
      const std::optional<HloOpcode> operation = ReductionOp(*reduce->called_computation());
      const Carried identity =
          codegen::Pack({codegen::EmitLiteral(k_.context(), *IdentityOf(*operation, TypeOf(reduce)))});
      for (int64_t e = 0; e < elements(); ++e) start.insert(start.end(), identity.begin(), identity.end());
    }
    const auto body = [&](llvm::Value* i, const Carried& running) -> absl::StatusOr<Carried> {
      HILO_RETURN_IF_ERROR(EmitRows(i));
      HILO_ASSIGN_OR_RETURN(Carried next, WithRows(running));
      // The next rows are combined in the same shared memory.
      if (plan_.threads > kWarp) k_.Barrier();
      return next;
    };
    HILO_ASSIGN_OR_RETURN(
        Carried own, codegen::EmitLoop(k_.context(), "rows", k_.Block(), Int(CeilDiv(plan_.space.rows, block_rows_)),
                                       instruction_->kernel()->parts, std::move(start), body));
    return StoreColumns(std::move(own), columns);
  }

  static PrimitiveType TypeOf(const HloInstruction* reduce) { return reduce->operand(0)->shape().element_type(); }
  // Returns a value of a column, as components, combined with a later one.
  static absl::StatusOr<Carried> Merge(KernelEmitter& k, const HloInstruction* reduce,
                                       absl::Span<llvm::Value* const> earlier, absl::Span<llvm::Value* const> later) {
    const PrimitiveType types[] = {TypeOf(reduce)};
    HILO_ASSIGN_OR_RETURN(const Elements both, codegen::EmitComputation(k.context(), *reduce->called_computation(),
                                                                        {codegen::Unpack(earlier, types)[0],
                                                                         codegen::Unpack(later, types)[0]}));
    return codegen::Pack(both);
  }

 private:
  int64_t elements() const { return plan_.groups * plan_.group; }
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // Emits iteration `i` of the rows: everything but the reductions across them.
  absl::Status EmitRows(llvm::Value* i) {
    llvm::Value* first = b_.CreateMul(i, Int(block_rows_), "", true, true);
    row_ = b_.CreateAdd(first, row_in_block_, "row", true, true);
    if (plan_.space.rows % block_rows_ != 0) {
      has_row_ = b_.CreateICmpULT(row_, Int(plan_.space.rows));
      row_ = b_.CreateSelect(has_row_, row_, first);
    }
    for (const auto& level : plan_.levels) HILO_RETURN_IF_ERROR(Reduce(level));
    return Store();
  }

  // Computes the thread's columns.
  void ComputeColumns() {
    llvm::Value* thread = k_.Thread();
    lane_ = b_.CreateAnd(thread, Int(plan_.threads - 1), "lane");
    row_in_block_ = b_.CreateUDiv(thread, Int(plan_.threads));
    // Where possible, the thread's first column plus a constant: one address register serves all groups.
    const int64_t columns = plan_.space.columns;
    llvm::Value* own = b_.CreateMul(lane_, Int(plan_.group), "column", true, true);
    const LaneIndex base = LaneIndex::Uniform(own, plan_.group, columns);
    for (int64_t i = 0; i < plan_.groups; ++i) {
      const int64_t before = i * plan_.threads * plan_.group;
      llvm::Value* has = nullptr;
      if (before + plan_.threads * plan_.group > columns) {
        has = b_.CreateICmpULT(own, Int(columns - before));
        llvm::Value* column = b_.CreateSelect(has, b_.CreateAdd(own, Int(before), "", true, true), own);
        first_columns_.push_back(LaneIndex::Uniform(column, plan_.group, columns));
      } else {
        first_columns_.push_back(base.AddConstant(before).WithRange({0, columns - 1}));
      }
      has_group_.push_back(has);
    }
  }

  // Returns the index of element `e` of the thread in a full array.
  const Index& FullIndex(const Shape& shape, int64_t e) {
    std::vector<Index>& known = full_[std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end())];
    if (known.empty()) {
      for (int64_t i = 0; i < elements(); ++i)
        known.push_back(
            FullIndexOf(k_, plan_.space, shape.dimensions(), row_, first_columns_[i / plan_.group], i % plan_.group));
    }
    return known[e];
  }

  // Element `e` of the thread, or the row's.
  absl::StatusOr<ElementValue> Value(const HloInstruction* instruction, int64_t e) {
    return k_.elements().Generate(instruction, plan_.space.IsFull(instruction->shape())
                                                   ? FullIndex(instruction->shape(), e)
                                                   : RowIndexOf(k_, instruction->shape(), row_));
  }

  // Loads what `wanted` reads of full arrays: before any arithmetic, so that adjacent loads become one access.
  absl::Status Load(absl::Span<const HloInstruction* const> wanted) {
    for (const HloInstruction* array : FullArraysOf(instruction_, plan_.space, wanted, &visited_)) {
      for (int64_t e = 0; e < elements(); ++e) HILO_RETURN_IF_ERROR(Value(array, e).status());
    }
    return absl::OkStatus();
  }

  ElementValue Select(llvm::Value* condition, const ElementValue& a, const ElementValue& c) {
    return {b_.CreateSelect(condition, a.re, c.re), a.im == nullptr ? nullptr : b_.CreateSelect(condition, a.im, c.im)};
  }

  // Reduces the thread's elements of the row.
  absl::StatusOr<ElementValue> ReduceOwn(const HloInstruction* reduce) {
    const HloInstruction* operand = reduce->operand(0);
    HILO_ASSIGN_OR_RETURN(ElementValue sum, Value(operand, 0));
    for (int64_t e = 1; e < elements(); ++e) {
      HILO_ASSIGN_OR_RETURN(const ElementValue element, Value(operand, e));
      HILO_ASSIGN_OR_RETURN(const ElementValue next, CombineTerms(k_, reduce, sum, element));
      llvm::Value* has = has_group_[e / plan_.group];
      sum = has == nullptr ? next : Select(has, next, sum);
    }
    return sum;
  }

  // Computes all reductions of a level; every thread of the row gets their results.
  absl::Status Reduce(const std::vector<const HloInstruction*>& level) {
    std::vector<const HloInstruction*> operands;
    for (const HloInstruction* reduce : level) operands.push_back(reduce->operand(0));
    HILO_RETURN_IF_ERROR(Load(operands));
    Elements sums;
    for (const HloInstruction* reduce : level) {
      HILO_ASSIGN_OR_RETURN(sums.emplace_back(), ReduceOwn(reduce));
    }
    return CombineThreads(k_, {plan_.threads, block_rows_, lane_, row_in_block_}, level, std::move(sums));
  }

  bool IsColumns(const HloInstruction* root) const {
    return std::find(plan_.columns.begin(), plan_.columns.end(), root) != plan_.columns.end();
  }

  // Combines the running values of the thread's columns with its elements of the row.
  absl::StatusOr<Carried> WithRows(const Carried& running) {
    Carried next;
    for (const HloInstruction* reduce : plan_.columns) {
      for (int64_t e = 0; e < elements(); ++e) {
        HILO_ASSIGN_OR_RETURN(const ElementValue element, Value(reduce->operand(0), e));
        const Carried term = codegen::Pack({element}),
                      earlier(running.begin() + static_cast<ptrdiff_t>(next.size()),
                              running.begin() + static_cast<ptrdiff_t>(next.size() + term.size()));
        HILO_ASSIGN_OR_RETURN(const Carried both, Merge(k_, reduce, earlier, term));
        llvm::Value* has = And(has_row_, has_group_[e / plan_.group]);
        for (size_t i = 0; i < both.size(); ++i)
          next.push_back(has == nullptr ? both[i] : b_.CreateSelect(has, both[i], earlier[i]));
      }
    }
    return next;
  }

  // Emits `body` for each of the thread's columns: its number, and the components of its running values from `at` on in
  // `running`, which are components from `first` on of a column.
  using OfColumn = absl::FunctionRef<absl::Status(const HloInstruction* reduce, llvm::Value* column, size_t at,
                                                  size_t components, size_t first)>;
  absl::Status ForColumns(OfColumn body) {
    for (int64_t group = 0; group < plan_.groups; ++group) {
      HILO_RETURN_IF_ERROR(When(has_group_[group], [&]() -> absl::Status {
        size_t before = 0, first = 0;
        for (const HloInstruction* reduce : plan_.columns) {
          const size_t components = IsComplexType(TypeOf(reduce)) ? 2 : 1;
          for (int64_t j = 0; j < plan_.group; ++j) {
            const int64_t e = group * plan_.group + j;
            llvm::Value* column = first_columns_[group].AddConstant(j).Value(k_.context());
            HILO_RETURN_IF_ERROR(body(reduce, column, before + static_cast<size_t>(e) * components, components, first));
          }
          before += static_cast<size_t>(elements()) * components;
          first += components;
        }
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

  // A cell for each column, and one in between after every 32, so that groups of adjacent columns are in different
  // banks.
  llvm::Value* CellOf(llvm::Value* column) {
    return b_.CreateAdd(column, b_.CreateUDiv(column, Int(kWarp)), "", true, true);
  }

  // Combines what the threads of the block have of their columns, and stores it.
  absl::Status StoreColumns(Carried own, const ColumnParts& columns) {
    const auto part_of = [](const Carried& all, size_t at, size_t components) {
      return Carried(all.begin() + static_cast<ptrdiff_t>(at), all.begin() + static_cast<ptrdiff_t>(at + components));
    };
    // Lanes of other rows have the same columns.
    for (int distance = static_cast<int>(plan_.threads); distance < kWarp; distance *= 2) {
      Carried both;
      for (const HloInstruction* reduce : plan_.columns) {
        const size_t components = IsComplexType(TypeOf(reduce)) ? 2 : 1;
        for (int64_t e = 0; e < elements(); ++e) {
          const Carried mine = part_of(own, both.size(), components);
          Carried other;
          for (llvm::Value* value : mine) other.push_back(k_.ShuffleAcross(value, distance));
          HILO_ASSIGN_OR_RETURN(const Carried merged, Merge(k_, reduce, mine, other));
          both.insert(both.end(), merged.begin(), merged.end());
        }
      }
      own = std::move(both);
    }
    const int64_t strip_threads = std::max<int64_t>(plan_.threads, kWarp), strips = plan_.block / strip_threads;
    llvm::Value* is_first = plan_.threads >= kWarp
                                ? nullptr
                                : b_.CreateICmpULT(b_.CreateAnd(k_.Thread(), Int(kWarp - 1)), Int(plan_.threads));
    if (strips == 1) {
      return When(is_first, [&] {
        return ForColumns([&](const HloInstruction*, llvm::Value* column, size_t at, size_t components, size_t first) {
          columns.Store(k_, column, k_.Block(), part_of(own, at, components), first);
          return absl::OkStatus();
        });
      });
    }
    std::vector<llvm::Value*> cells;
    const std::vector<llvm::Type*> types = ComponentTypes(b_.getContext(), ColumnTypes(plan_));
    for (llvm::Type* type : types)
      cells.push_back(k_.Shared(type, plan_.space.columns + CeilDiv(plan_.space.columns, kWarp), "columns"));
    llvm::Value* strip = b_.CreateUDiv(k_.Thread(), Int(strip_threads));
    HILO_RETURN_IF_ERROR(When(And(is_first, b_.CreateICmpEQ(strip, Int(0))), [&] {
      return ForColumns([&](const HloInstruction*, llvm::Value* column, size_t at, size_t components, size_t first) {
        for (size_t i = 0; i < components; ++i) k_.StoreCell(cells[first + i], CellOf(column), own[at + i]);
        return absl::OkStatus();
      });
    }));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(k_.ForEach("strips", Int(1), Int(strips), 1, [&](llvm::Value* s) -> absl::Status {
      HILO_RETURN_IF_ERROR(When(And(is_first, b_.CreateICmpEQ(strip, s)), [&] {
        return ForColumns([&](const HloInstruction* reduce, llvm::Value* column, size_t at, size_t components,
                              size_t first) -> absl::Status {
          Carried earlier;
          for (size_t i = 0; i < components; ++i)
            earlier.push_back(k_.LoadCell(cells[first + i], CellOf(column), own[at + i]->getType()));
          HILO_ASSIGN_OR_RETURN(const Carried merged, Merge(k_, reduce, earlier, part_of(own, at, components)));
          for (size_t i = 0; i < components; ++i) k_.StoreCell(cells[first + i], CellOf(column), merged[i]);
          return absl::OkStatus();
        });
      }));
      k_.Barrier();
      return absl::OkStatus();
    }));
    return k_.ForEach("columns", k_.Thread(), Int(plan_.space.columns), plan_.block, [&](llvm::Value* column) {
      Carried all;
      for (size_t i = 0; i < cells.size(); ++i) all.push_back(k_.LoadCell(cells[i], CellOf(column), types[i]));
      columns.Store(k_, column, k_.Block(), all);
      return absl::OkStatus();
    });
  }

  absl::Status Store() {
    // Columns have their terms computed with the results, from the same loads.
    std::vector<const HloInstruction*> wanted;
    for (const HloInstruction* root : plan_.roots) wanted.push_back(IsColumns(root) ? root->operand(0) : root);
    HILO_RETURN_IF_ERROR(Load(wanted));
    std::vector<Elements> values;
    bool row_results = false;
    for (const HloInstruction* root : plan_.roots) {
      Elements& mine = values.emplace_back();
      if (IsColumns(root)) continue;
      const bool full = plan_.space.IsFull(root->shape());
      row_results = row_results || !full;
      for (int64_t e = 0; e < (full ? elements() : 1); ++e) {
        HILO_ASSIGN_OR_RETURN(mine.emplace_back(), Value(root, e));
      }
    }
    // Other threads read the element of a row that one thread writes, and threads without a row read other threads'
    // rows.
    if (SharesMemory(k_, instruction_) && (row_results || has_row_ != nullptr)) k_.Barrier();
    for (int64_t group = 0; group < plan_.groups; ++group)
      HILO_RETURN_IF_ERROR(When(And(has_row_, has_group_[group]), [&] { return StoreGroup(group, values); }));
    if (!row_results) return absl::OkStatus();
    return When(And(has_row_, b_.CreateICmpEQ(lane_, Int(0))), [&] {
      for (size_t leaf = 0; leaf < plan_.roots.size(); ++leaf) {
        const Shape& shape = plan_.roots[leaf]->shape();
        if (!plan_.space.IsFull(shape) && !IsColumns(plan_.roots[leaf]))
          k_.ArrayOf(instruction_, static_cast<int64_t>(leaf))
              .Store(k_.context(), RowIndexOf(k_, shape, row_), values[leaf][0]);
      }
      return absl::OkStatus();
    });
  }

  absl::Status StoreGroup(int64_t group, const std::vector<Elements>& values) {
    for (size_t leaf = 0; leaf < plan_.roots.size(); ++leaf) {
      const Shape& shape = plan_.roots[leaf]->shape();
      if (!plan_.space.IsFull(shape) || IsColumns(plan_.roots[leaf])) continue;
      const codegen::IrArray array = k_.ArrayOf(instruction_, static_cast<int64_t>(leaf));
      for (int64_t e = group * plan_.group; e < (group + 1) * plan_.group; ++e)
        array.Store(k_.context(), FullIndex(shape, e), values[leaf][e]);
    }
    return absl::OkStatus();
  }

  // Null conditions always hold.
  llvm::Value* And(llvm::Value* a, llvm::Value* c) { return a == nullptr ? c : c == nullptr ? a : b_.CreateAnd(a, c); }
  absl::Status When(llvm::Value* condition, absl::FunctionRef<absl::Status()> body) {
    return condition == nullptr ? body() : k_.If("stores", condition, body);
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction* instruction_;
  const RowPlan& plan_;
  const int64_t block_rows_;
  llvm::Value *lane_ = nullptr, *row_in_block_ = nullptr, *row_ = nullptr;
  llvm::Value* has_row_ = nullptr;        // null: always
  std::vector<llvm::Value*> has_group_;   // likewise
  std::vector<LaneIndex> first_columns_;  // of the groups
  std::map<std::vector<int64_t>, std::vector<Index>> full_;
  absl::flat_hash_set<const HloInstruction*> visited_;
};

// A kernel of the parts, and one that combines them.
absl::Status EmitInParts(ProgramEmitter& program, const HloInstruction* instruction, const RowPlan& plan) {
  const ColumnParts columns(program, ColumnTypes(plan), plan.space.columns, instruction->kernel()->parts);
  KernelEmitter k(&program, instruction, columns.memory());
  HILO_RETURN_IF_ERROR(RowKernel(k, instruction, plan).EmitInParts(columns));
  HILO_RETURN_IF_ERROR(k.FinishAndLaunch(instruction, instruction->kernel()->parts, static_cast<int>(plan.block)));

  // Calls `body` for each reduction, with its components of `a` and `b`.
  const auto for_each = [&](const Carried& a, const Carried& b, auto body) -> absl::Status {
    size_t at = 0;
    for (const HloInstruction* reduce : plan.columns) {
      const size_t components = IsComplexType(RowKernel::TypeOf(reduce)) ? 2 : 1;
      HILO_RETURN_IF_ERROR(
          body(reduce, absl::MakeConstSpan(a).subspan(at, components), absl::MakeConstSpan(b).subspan(at, components)));
      at += components;
    }
    return absl::OkStatus();
  };
  using Components = absl::Span<llvm::Value* const>;
  const auto merge = [&](KernelEmitter& combining, const Carried& earlier,
                         const Carried& later) -> absl::StatusOr<Carried> {
    Carried all;
    HILO_RETURN_IF_ERROR(
        for_each(earlier, later, [&](const HloInstruction* reduce, Components a, Components b) -> absl::Status {
          HILO_ASSIGN_OR_RETURN(const Carried both, RowKernel::Merge(combining, reduce, a, b));
          all.insert(all.end(), both.begin(), both.end());
          return absl::OkStatus();
        }));
    return all;
  };
  const auto output = [&](KernelEmitter& combining, llvm::Value* column, const Carried& value) {
    return for_each(value, value, [&](const HloInstruction* reduce, Components sum, Components) -> absl::Status {
      HILO_ASSIGN_OR_RETURN(const ElementValue init, combining.elements().Generate(reduce->operand(1), Index()));
      HILO_ASSIGN_OR_RETURN(const Carried result, RowKernel::Merge(combining, reduce, codegen::Pack({init}), sum));
      const Index at(combining.Delinearize(column, reduce->shape().dimensions()));
      const PrimitiveType types[] = {RowKernel::TypeOf(reduce)};
      for (size_t leaf = 0; leaf < plan.roots.size(); ++leaf) {
        if (plan.roots[leaf] != reduce) continue;
        combining.ArrayOf(instruction, static_cast<int64_t>(leaf))
            .Store(combining.context(), at, codegen::Unpack(result, types)[0]);
      }
      return absl::OkStatus();
    });
  };
  return columns.EmitCombination(program, instruction, merge, output);
}

}  // namespace

absl::Status EmitRegisterRows(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<RowPlan> plan = RowPlanOf(instruction);
  HILO_RET_CHECK(plan.has_value());
  if (plan->IsStreamed()) return EmitStreamedRows(program, instruction, *plan);
  if (!plan->columns.empty()) return EmitInParts(program, instruction, *plan);
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(RowKernel(k, instruction, *plan).Emit());
  return k.FinishAndLaunch(instruction, CeilDiv(plan->space.rows, plan->BlockRows()), static_cast<int>(plan->block));
}

}  // namespace hilo::gpu
