// Row groups, a row or a block of short rows at a time: each reduction is a pass over the rows, and the last pass
// writes the results. After the first pass the rows are in a cache. In a block, what has one value a row is computed in
// lanes that are the rows, and read as scalars by the loops over them.
#include <algorithm>
#include <utility>

#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/cpu/kernels/row_plan.h"
#include "backends/cpu/kernels/sums.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

// The terms of reductions of the same dimensions, one after the other; some of what they compute is stored.
class StoringTerms : public codegen::Terms {
 public:
  StoringTerms(FunctionEmitter& f, const HloInstruction* instruction, const RowPhase& phase, std::vector<KeptRow> keeps)
      : StoringTerms(f, instruction, TermsOf(f, phase), std::move(keeps)) {}

  absl::StatusOr<Elements> Start() override {
    return Concatenate([](codegen::ReduceTerms& part, size_t) { return part.Start(); });
  }
  absl::StatusOr<Elements> Identity() override {
    return Concatenate([](codegen::ReduceTerms& part, size_t) { return part.Identity(); });
  }
  absl::StatusOr<Elements> Term(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) override {
    HILO_ASSIGN_OR_RETURN(Elements terms,
                          Concatenate([&](codegen::ReduceTerms& part, size_t) { return part.Term(kept, reduced); }));
    const Index index = parts_[0].IndexOf(kept, reduced);
    for (const KeptRow& keep : keeps_) {
      HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, f_.elements().Generate(keep.member, index));
      f_.ArrayOf(instruction_, keep.leaf).Store(f_.context(), index, value);
    }
    return terms;
  }
  absl::StatusOr<Elements> Merge(const Elements& earlier, const Elements& later) override {
    return Concatenate([&](codegen::ReduceTerms& part, size_t i) { return part.Merge({earlier[i]}, {later[i]}); });
  }
  bool IsFloatExtreme() const override { return parts_.size() == 1 && parts_[0].IsFloatExtreme(); }

 private:
  StoringTerms(FunctionEmitter& f, const HloInstruction* instruction, std::vector<codegen::ReduceTerms> parts,
               std::vector<KeptRow> keeps)
      : Terms(f.elements(), parts[0].kept(), parts[0].reduced(), TypesOf(parts)),
        f_(f),
        instruction_(instruction),
        parts_(std::move(parts)),
        keeps_(std::move(keeps)) {}

  static std::vector<codegen::ReduceTerms> TermsOf(FunctionEmitter& f, const RowPhase& phase) {
    std::vector<codegen::ReduceTerms> parts;
    for (const HloInstruction* reduce : phase.reduces) parts.emplace_back(f.elements(), ReductionOf(*reduce));
    return parts;
  }
  static std::vector<PrimitiveType> TypesOf(const std::vector<codegen::ReduceTerms>& parts) {
    std::vector<PrimitiveType> types;
    for (const codegen::ReduceTerms& part : parts) types.push_back(part.types()[0]);
    return types;
  }

  // Each reduction has one array, and so one value.
  absl::StatusOr<Elements> Concatenate(
      absl::FunctionRef<absl::StatusOr<Elements>(codegen::ReduceTerms& part, size_t i)> make) {
    Elements all;
    for (size_t i = 0; i < parts_.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(const Elements values, make(parts_[i], i));
      all.push_back(values[0]);
    }
    return all;
  }

  FunctionEmitter& f_;
  const HloInstruction* instruction_;
  std::vector<codegen::ReduceTerms> parts_;
  const std::vector<KeptRow> keeps_;
};

class RowKernel {
 public:
  RowKernel(FunctionEmitter& f, const KernelParts& kernel, const CachedRowsPlan& plan)
      : f_(f), kernel_(kernel), plan_(plan), width_(static_cast<int>(kernel.config.width)) {}

  // Emits part `number`, an i64, of the kernel.
  absl::Status Emit(llvm::Value* number) {
    if (kernel_.config.tile[2] > 1)
      return EmitBlock(RowBlock(f_, number, kernel_.config.tile[2], plan_.group.space.rows));
    row_ = number;
    for (size_t p = 0; p < plan_.phases.size(); ++p) {
      const RowPhase& phase = plan_.phases[p];
      HILO_RETURN_IF_ERROR(LoadRowValues(phase));
      if (phase.reduces.empty()) {
        HILO_RETURN_IF_ERROR(StoreFull());
        return StoreRowResults([&](absl::Span<const int64_t> dimensions) { return Index(RowIndices(dimensions)); });
      }
      const std::vector<KeptRow> keeps = KeepsOf(p);
      StoringTerms terms(f_, kernel_.instruction, phase, keeps);
      HILO_ASSIGN_OR_RETURN(const Elements sum, SumInLanes(f_, terms, width_, Accumulators(phase), Section(phase),
                                                           RowIndices(terms.kept())));
      for (size_t i = 0; i < sum.size(); ++i) f_.SetValue(phase.reduces[i], {.value = sum[i]});
      ReadKept(keeps);
    }
    return absl::OkStatus();
  }

 private:
  // A value of each row of a block: a lane each, and the memory from which loops over the rows load it.
  struct RowValue {
    const HloInstruction* member;
    codegen::ElementValue lanes;
    std::vector<llvm::AllocaInst*> memory;  // of each component
  };

  int64_t Accumulators(const RowPhase& phase) const { return plan_.Accumulators(phase, kernel_.config.tile[0]); }
  // Elements of a partial sum, which has as many terms of each lane however many accumulators there are.
  int64_t Section(const RowPhase& phase) const {
    return kernel_.config.tile[1] / kernel_.config.tile[0] * Accumulators(phase);
  }

  absl::Status EmitBlock(const RowBlock& block) {
    for (size_t p = 0; p < plan_.phases.size(); ++p) {
      const RowPhase& phase = plan_.phases[p];
      HILO_RETURN_IF_ERROR(ComputeRowValues(phase, block));
      if (phase.reduces.empty()) break;
      const std::vector<KeptRow> keeps = KeepsOf(p);
      StoringTerms terms(f_, kernel_.instruction, phase, keeps);
      const auto position = [&](llvm::Value* i) -> absl::StatusOr<std::vector<LaneIndex>> {
        HILO_RETURN_IF_ERROR(EnterRow(phase, block, i));
        return RowIndices(terms.kept());
      };
      HILO_ASSIGN_OR_RETURN(const Elements sum,
                            SumBlockInLanes(f_, terms, width_, Accumulators(phase), Section(phase), block, position));
      LeaveRows();
      for (size_t i = 0; i < sum.size(); ++i) AddRowValue(phase.reduces[i], sum[i], block);
      ReadKept(keeps);
    }
    if (HasFull()) {
      HILO_RETURN_IF_ERROR(ForEach(
          f_, "rows", f_.b().getInt64(0), block.count,
          [&](llvm::Value* i) -> absl::Status {
            HILO_RETURN_IF_ERROR(EnterRow(plan_.phases.back(), block, i));
            return StoreFull();
          },
          1, block.lanes));
      LeaveRows();
    }
    codegen::RegionScope region(f_.context());
    f_.context().lanes = {.width = static_cast<int>(block.lanes), .mask = block.mask};
    return StoreRowResults([&](absl::Span<const int64_t> dimensions) { return block.Lanes(dimensions); });
  }

  // Makes `lanes` the value of a row array, for all rows of the block.
  void AddRowValue(const HloInstruction* member, codegen::ElementValue lanes, const RowBlock& block) {
    RowValue& value = row_values_.emplace_back(RowValue{.member = member, .lanes = lanes, .memory = {}});
    for (llvm::Value* vector : {lanes.re, lanes.im}) {
      if (vector == nullptr) continue;
      // Vectors of i1 have packed bits in memory.
      if (vector->getType()->isIntOrIntVectorTy(1))
        vector = f_.b().CreateZExt(vector, vector->getType()->getWithNewBitWidth(8));
      llvm::Type* type = vector->getType()->getScalarType();
      value.memory.push_back(f_.context().EntryAlloca(type, block.lanes, 64, "row_values"));
      f_.b().CreateStore(vector, value.memory.back());
    }
    f_.SetValue(member, {.value = lanes});
  }

  bool IsRowValue(const HloInstruction* member) const {
    return std::any_of(row_values_.begin(), row_values_.end(),
                       [&](const RowValue& value) { return value.member == member; });
  }

  // Computes the row arrays that the phase reads, depend on reductions, and were in no earlier phase. Others need not
  // be arrays of the rows: if there are as many columns as rows, they may be repeated along these.
  absl::Status ComputeRowValues(const RowPhase& phase, const RowBlock& block) {
    codegen::RegionScope region(f_.context());
    f_.context().lanes = {.width = static_cast<int>(block.lanes), .mask = block.mask};
    for (const HloInstruction* member : plan_.group.members) {
      if (!plan_.group.space.IsRow(member->shape()) || !phase.evaluated.contains(member)) continue;
      const bool depends = std::any_of(member->operands().begin(), member->operands().end(),
                                       [&](const HloInstruction* operand) { return IsRowValue(operand); });
      if (!depends || IsRowValue(member)) continue;
      HILO_ASSIGN_OR_RETURN(const codegen::ElementValue lanes,
                            f_.elements().Generate(member, block.Lanes(member->shape().dimensions())));
      AddRowValue(member, f_.context().Splat(lanes), block);
    }
    return absl::OkStatus();
  }

  // Makes row `i` of the block the current one, in a loop over the rows, for the phase to compute.
  absl::Status EnterRow(const RowPhase& phase, const RowBlock& block, llvm::Value* i) {
    row_ = f_.b().CreateNSWAdd(block.first, i);
    // All of them: what was not kept (MayKeep) is computed again, and with it reads what the phase itself does not.
    for (const RowValue& value : row_values_) {
      codegen::ElementValue scalar;
      for (size_t c = 0; c < value.memory.size(); ++c) {
        llvm::Type* type = value.memory[c]->getAllocatedType();
        llvm::Value* loaded = f_.b().CreateLoad(type, f_.b().CreateGEP(type, value.memory[c], i));
        llvm::Type* scalar_type = (c == 0 ? value.lanes.re : value.lanes.im)->getType()->getScalarType();
        (c == 0 ? scalar.re : scalar.im) = scalar_type == type ? loaded : f_.b().CreateTrunc(loaded, scalar_type);
      }
      f_.SetValue(value.member, {.value = scalar});
    }
    return LoadRowValues(phase);
  }
  void LeaveRows() {
    for (const RowValue& value : row_values_) f_.SetValue(value.member, {.value = value.lanes});
  }

  // Returns the indices of the row in dimensions that have as many elements as there are rows.
  std::vector<LaneIndex> RowIndices(absl::Span<const int64_t> dimensions) { return f_.Delinearize(row_, dimensions); }

  // Computes the row arrays that the phase reads, so that its loop finds them in registers.
  absl::Status LoadRowValues(const RowPhase& phase) {
    for (const HloInstruction* member : plan_.group.members) {
      if (!plan_.group.space.IsRow(member->shape()) || !phase.evaluated.contains(member)) continue;
      HILO_RETURN_IF_ERROR(f_.elements().Generate(member, Index(RowIndices(member->shape().dimensions()))).status());
    }
    return absl::OkStatus();
  }

  // Returns what the phase keeps.
  std::vector<KeptRow> KeepsOf(size_t phase) {
    std::vector<KeptRow> keeps;
    for (const KeptRow& keep : plan_.phases[phase].keeps) {
      if (MayKeep(keep, phase)) keeps.push_back(keep);
    }
    return keeps;
  }
  void ReadKept(const std::vector<KeptRow>& keeps) {
    for (const KeptRow& keep : keeps) f_.SetValue(keep.member, {.array = f_.ArrayOf(kernel_.instruction, keep.leaf)});
  }

  // Returns true if no later phase reads an operand in the memory of the result that keeps a member.
  bool MayKeep(const KeptRow& keep, size_t phase) {
    const BufferAssignment& assignment = f_.program().assignment();
    const BufferSlice& kept = assignment.slice(kernel_.instruction, keep.leaf);
    const HloComputation& fused = *kernel_.instruction->called_computation();
    for (int64_t i = 0; i < kernel_.instruction->operand_count(); ++i) {
      if (!assignment.slice(kernel_.instruction->operand(i)).SameMemory(kept)) continue;
      for (size_t later = phase + 1; later < plan_.phases.size(); ++later) {
        if (plan_.phases[later].evaluated.contains(fused.parameter_instruction(i))) return false;
      }
    }
    return true;
  }

  bool HasFull() {
    const std::vector<const HloInstruction*>& roots = plan_.group.roots;
    return std::any_of(roots.begin(), roots.end(),
                       [&](const HloInstruction* root) { return plan_.group.space.IsFull(root->shape()); });
  }

  // Stores the current row of all results that have rows.
  absl::Status StoreFull() {
    if (!HasFull()) return absl::OkStatus();
    const std::vector<const HloInstruction*>& roots = plan_.group.roots;
    auto full = [&](const LaneIndex& column) -> absl::Status {
      std::vector<std::pair<Index, codegen::ElementValue>> values(roots.size());
      for (size_t leaf = 0; leaf < roots.size(); ++leaf) {
        const Shape& shape = roots[leaf]->shape();
        if (!plan_.group.space.IsFull(shape)) continue;
        std::vector<LaneIndex> at = RowIndices(shape.dimensions().first(shape.rank() - 1));
        at.push_back(column);
        values[leaf].first = Index(std::move(at));
        HILO_ASSIGN_OR_RETURN(values[leaf].second, f_.elements().Generate(roots[leaf], values[leaf].first));
      }
      for (size_t leaf = 0; leaf < roots.size(); ++leaf) {
        if (!plan_.group.space.IsFull(roots[leaf]->shape())) continue;
        f_.ArrayOf(kernel_.instruction, static_cast<int64_t>(leaf))
            .Store(f_.context(), values[leaf].first, values[leaf].second);
      }
      return absl::OkStatus();
    };
    return ForEachVector(f_, "row", plan_.group.space.columns, width_, full);
  }

  // Stores the results that have a value a row, at the position that `index` returns for their dimensions.
  absl::Status StoreRowResults(absl::FunctionRef<Index(absl::Span<const int64_t> dimensions)> index) {
    const std::vector<const HloInstruction*>& roots = plan_.group.roots;
    for (size_t leaf = 0; leaf < roots.size(); ++leaf) {
      if (plan_.group.space.IsFull(roots[leaf]->shape())) continue;
      const Index at = index(roots[leaf]->shape().dimensions());
      HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, f_.elements().Generate(roots[leaf], at));
      f_.ArrayOf(kernel_.instruction, static_cast<int64_t>(leaf)).Store(f_.context(), at, value);
    }
    return absl::OkStatus();
  }

  FunctionEmitter& f_;
  const KernelParts& kernel_;
  const CachedRowsPlan& plan_;
  const int width_;
  llvm::Value* row_ = nullptr;        // the current row
  std::vector<RowValue> row_values_;  // of the block
};

}  // namespace

absl::Status EmitCachedRows(FunctionEmitter& f, const KernelParts& kernel) {
  const std::optional<CachedRowsPlan> plan =
      PlanCachedRows(*kernel.instruction, f.context().target(), f.context().numerics().strict);
  HILO_RET_CHECK(plan.has_value()) << "a kernel of rows for another instruction";
  const codegen::LoopNest nest = {{.sizes = {kernel.config.parts}}};
  return EmitNest(f, kernel, nest, [&](absl::Span<const codegen::Position> positions) {
    return RowKernel(f, kernel, *plan).Emit(positions[0][0].Dims(f.context())[0].Base(f.context()));
  });
}

}  // namespace hilo::cpu
