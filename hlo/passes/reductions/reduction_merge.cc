// Reductions that read the same arrays become one of several arrays, which reads them once:
//
//   s = f32[64] reduce(x, 0), dimensions={0}, to_apply=add       t = (f32[64], f32[64]) reduce(x, p, 0, 0),
//   p = f32[999,64] multiply(x, y)                           =>      dimensions={0}, of which each adds up its own
//   q = f32[64] reduce(p, 0), dimensions={0}, to_apply=add       s, q = elements of t
//
// Each joins the earlier ones with which it shares the most arrays, if it does not depend on them: sums of a gradient,
// or a mean and a mean of squares. A reduction may wait for others that way, but no path leads from one to another.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/merged_sets.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Arrays of one reduction: a thread keeps a sum of each for every element of a vector.
constexpr size_t kMaxMerged = 6;
// Instructions between a reduction and what it reads.
constexpr size_t kMaxProducers = 64;

using Instructions = absl::flat_hash_set<const HloInstruction*>;

// Returns the arrays of its operand's size from which a kernel computes the operand. Where there are none, as the
// elements are made from lines of smaller arrays, those that others read too: they are arrays, or computed again.
Instructions ArraysOf(const HloInstruction& reduce) {
  const int64_t size = Elements(*reduce.operand(0));
  std::vector<const HloInstruction*> work = {reduce.operand(0)};
  Instructions visited, arrays, shared;
  while (!work.empty() && visited.size() < kMaxProducers) {
    const HloInstruction* x = work.back();
    work.pop_back();
    if (!x->shape().IsArray() || Elements(*x) != size || x->IsConstant() || !visited.insert(x).second) continue;
    if (IsElementwise(x->opcode()) && !IsExpensiveToRepeat(*x)) {
      if (x->user_count() > 1) shared.insert(x);
      work.insert(work.end(), x->operands().begin(), x->operands().end());
    } else if (!IsFreeToRepeat(*x)) {
      arrays.insert(x);
    }
  }
  return arrays.empty() ? shared : arrays;
}

// Reductions that become one.
struct ReductionSet {
  std::vector<HloInstruction*> reduces;
  Instructions arrays;

  bool TakesShapeOf(const HloInstruction& reduce) const {
    const HloInstruction& first = *reduces[0];
    return reduces.size() < kMaxMerged &&
           ShapeUtil::SameDimensions(first.operand(0)->shape(), reduce.operand(0)->shape()) &&
           first.attrs<ReduceAttrs>().dimensions == reduce.attrs<ReduceAttrs>().dimensions;
  }
  int64_t SharedBytes(const Instructions& others) const {
    int64_t bytes = 0;
    for (const HloInstruction* array : others)
      bytes += arrays.contains(array) ? ShapeUtil::ByteSizeOf(array->shape()) : 0;
    return bytes;
  }
};

class ReductionMerge : public FusionPass {
 public:
  ReductionMerge(bool strict, std::function<bool(const HloInstruction&)> accepts)
      : strict_(strict), accepts_(std::move(accepts)) {}
  absl::string_view name() const override { return "merge-reductions"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    std::vector<ReductionSet> sets;
    MergedSets merged;
    for (HloInstruction* reduce : computation->MakePostOrder()) {
      if (!IsCandidate(*reduce)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      const Instructions arrays = ArraysOf(*reduce);
      std::vector<std::pair<int64_t, size_t>> choices;
      for (size_t i = 0; i < sets.size(); ++i) {
        const int64_t shared = sets[i].TakesShapeOf(*reduce) ? sets[i].SharedBytes(arrays) : 0;
        if (shared > 0) choices.emplace_back(shared, i);
      }
      std::sort(choices.begin(), choices.end(), std::greater<>());
      const Instructions reached = choices.empty() ? Instructions() : merged.DependencesOf(*reduce);
      if (merged.IsExhausted()) break;
      const auto free = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
        return !reached.contains(sets[choice.second].reduces[0]);
      });
      const size_t set = free == choices.end() ? sets.size() : free->second;
      if (set == sets.size()) sets.emplace_back();
      sets[set].reduces.push_back(reduce);
      sets[set].arrays.insert(arrays.begin(), arrays.end());
      merged.Add(reduce, set);
    }
    bool changed = false;
    for (const ReductionSet& set : sets) {
      if (set.reduces.size() == 1) continue;
      HILO_RETURN_IF_ERROR(MergeReductions(set.reduces).status());
      changed = true;
    }
    return changed;
  }

  bool IsCandidate(const HloInstruction& x) const {
    return x.opcode() == HloOpcode::kReduce && x.shape().IsArray() && !x.IsDead() && !x.HasControlDependencies() &&
           MayReorder(x, strict_) && accepts_(x);
  }

  const bool strict_;
  const std::function<bool(const HloInstruction&)> accepts_;
};

}  // namespace

std::unique_ptr<HloPass> MakeReductionMerge(bool strict, std::function<bool(const HloInstruction& reduce)> accepts) {
  return std::make_unique<ReductionMerge>(strict, std::move(accepts));
}

}  // namespace hilo
