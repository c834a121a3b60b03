// Row groups, a row at a time: each reduction is a pass over the row, and the last pass writes the results. After the
// first pass the row is in a cache.
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

// The terms of a reduction, some of whose members are stored as they are computed.
class StoringTerms : public codegen::ReduceTerms {
 public:
  StoringTerms(FunctionEmitter& f, const HloInstruction& reduce, const HloInstruction* instruction,
               std::vector<KeptRow> keeps)
      : ReduceTerms(f.elements(), ReductionOf(reduce)), f_(f), instruction_(instruction), keeps_(std::move(keeps)) {}

  absl::StatusOr<Elements> Add(const Elements& running, absl::Span<const LaneIndex> kept,
                               absl::Span<const LaneIndex> reduced) override {
    HILO_ASSIGN_OR_RETURN(Elements sum, ReduceTerms::Add(running, kept, reduced));
    const Index index = IndexOf(kept, reduced);
    for (const KeptRow& keep : keeps_) {
      HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, f_.elements().Generate(keep.member, index));
      f_.ArrayOf(instruction_, keep.leaf).Store(f_.context(), index, value);
    }
    return sum;
  }

 private:
  FunctionEmitter& f_;
  const HloInstruction* instruction_;
  const std::vector<KeptRow> keeps_;
};

class RowKernel {
 public:
  RowKernel(FunctionEmitter& f, const KernelParts& kernel, const CachedRowsPlan& plan)
      : f_(f), kernel_(kernel), plan_(plan), width_(static_cast<int>(kernel.config.width)) {}

  // Emits the row with index `row`.
  absl::Status Emit(const LaneIndex& row) {
    row_ = row;
    for (size_t p = 0; p < plan_.phases.size(); ++p) {
      const RowPhase& phase = plan_.phases[p];
      HILO_RETURN_IF_ERROR(LoadRowValues(phase));
      if (phase.reduce == nullptr) return Store();
      std::vector<KeptRow> keeps;
      for (const KeptRow& keep : phase.keeps) {
        if (MayKeep(keep, p)) keeps.push_back(keep);
      }
      StoringTerms terms(f_, *phase.reduce, kernel_.instruction, keeps);
      HILO_ASSIGN_OR_RETURN(const Elements sum, SumInLanes(f_, terms, width_, kernel_.config.tile[0],
                                                           kernel_.config.tile[1], RowIndices(terms.kept())));
      f_.SetValue(phase.reduce, {.value = sum[0]});
      for (const KeptRow& keep : keeps) f_.SetValue(keep.member, {.array = f_.ArrayOf(kernel_.instruction, keep.leaf)});
    }
    return absl::OkStatus();
  }

 private:
  // Returns the indices of the row in dimensions that have as many elements as there are rows.
  std::vector<LaneIndex> RowIndices(absl::Span<const int64_t> dimensions) {
    return f_.Delinearize(row_.Base(f_.context()), dimensions);
  }

  // Computes the row arrays that the phase reads, so that its loop finds them in registers.
  absl::Status LoadRowValues(const RowPhase& phase) {
    for (const HloInstruction* member : plan_.group.members) {
      if (!plan_.group.space.IsRow(member->shape()) || !phase.evaluated.contains(member)) continue;
      HILO_RETURN_IF_ERROR(f_.elements().Generate(member, Index(RowIndices(member->shape().dimensions()))).status());
    }
    return absl::OkStatus();
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

  absl::Status Store() {
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
    bool has_full = false;
    for (const HloInstruction* root : roots) has_full = has_full || plan_.group.space.IsFull(root->shape());
    if (has_full) HILO_RETURN_IF_ERROR(ForEachVector(f_, "row", plan_.group.space.columns, width_, full));
    for (size_t leaf = 0; leaf < roots.size(); ++leaf) {
      if (plan_.group.space.IsFull(roots[leaf]->shape())) continue;
      const Index at(RowIndices(roots[leaf]->shape().dimensions()));
      HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, f_.elements().Generate(roots[leaf], at));
      f_.ArrayOf(kernel_.instruction, static_cast<int64_t>(leaf)).Store(f_.context(), at, value);
    }
    return absl::OkStatus();
  }

  FunctionEmitter& f_;
  const KernelParts& kernel_;
  const CachedRowsPlan& plan_;
  const int width_;
  LaneIndex row_;
};

}  // namespace

absl::Status EmitCachedRows(FunctionEmitter& f, const KernelParts& kernel) {
  const std::optional<CachedRowsPlan> plan =
      PlanCachedRows(*kernel.instruction, f.context().target(), f.context().numerics().strict);
  HILO_RET_CHECK(plan.has_value()) << "a kernel of rows for another instruction";
  const codegen::LoopNest nest = {{.sizes = {plan->group.space.rows}}};
  return EmitNest(f, kernel, nest, [&](absl::Span<const codegen::Position> positions) {
    return RowKernel(f, kernel, *plan).Emit(positions[0][0].Dims(f.context())[0]);
  });
}

}  // namespace hilo::cpu
