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

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Arrays of one reduction: a thread keeps a sum of each for every element of a vector.
constexpr size_t kMostMerged = 6;
// Instructions between a reduction and what it reads, and those that the search for paths visits in a computation.
constexpr size_t kMostProducers = 64;
constexpr int64_t kMostVisits = int64_t{1} << 22;

using Instructions = absl::flat_hash_set<const HloInstruction*>;

// Returns the arrays of its operand's size from which a kernel computes the operand.
Instructions ArraysOf(const HloInstruction& reduce) {
  const int64_t size = Elements(*reduce.operand(0));
  std::vector<const HloInstruction*> work = {reduce.operand(0)};
  Instructions visited, arrays;
  while (!work.empty() && visited.size() < kMostProducers) {
    const HloInstruction* x = work.back();
    work.pop_back();
    if (!x->shape().IsArray() || Elements(*x) != size || x->IsConstant() || !visited.insert(x).second) continue;
    if (IsElementwise(x->opcode()) && !IsExpensiveToRepeat(*x)) {
      work.insert(work.end(), x->operands().begin(), x->operands().end());
    } else if (!IsFreeToRepeat(*x)) {
      arrays.insert(x);
    }
  }
  return arrays;
}

// Reductions that become one.
struct ReductionSet {
  std::vector<HloInstruction*> reduces;
  Instructions arrays;

  bool TakesShapeOf(const HloInstruction& reduce) const {
    const HloInstruction& first = *reduces[0];
    return reduces.size() < kMostMerged &&
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
    absl::flat_hash_map<const HloInstruction*, size_t> set_of;
    int64_t visits = 0;
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
      const Instructions reached = choices.empty() ? Instructions() : DependencesOf(*reduce, sets, set_of, &visits);
      if (visits > kMostVisits) break;
      const auto free = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
        return !reached.contains(sets[choice.second].reduces[0]);
      });
      const size_t set = free == choices.end() ? sets.size() : free->second;
      if (set == sets.size()) sets.emplace_back();
      sets[set].reduces.push_back(reduce);
      sets[set].arrays.insert(arrays.begin(), arrays.end());
      set_of[reduce] = set;
    }
    bool changed = false;
    for (const ReductionSet& set : sets) {
      if (set.reduces.size() == 1) continue;
      HILO_RETURN_IF_ERROR(Merge(computation, set.reduces));
      changed = true;
    }
    return changed;
  }

  bool IsCandidate(const HloInstruction& x) const {
    return x.opcode() == HloOpcode::kReduce && x.shape().IsArray() && !x.IsDead() && !x.HasControlDependencies() &&
           MayReorder(x, strict_) && accepts_(x);
  }

  // Returns all that the instruction waits for, if each set is one instruction: with a member of a set all of them.
  // Only instructions before it in the order are among them, so none of a set waits for it.
  static Instructions DependencesOf(const HloInstruction& reduce, const std::vector<ReductionSet>& sets,
                                    const absl::flat_hash_map<const HloInstruction*, size_t>& set_of, int64_t* visits) {
    Instructions reached;
    std::vector<const HloInstruction*> work = {&reduce};
    while (!work.empty() && ++*visits <= kMostVisits) {
      const HloInstruction* x = work.back();
      work.pop_back();
      const auto add = [&](const HloInstruction* other) {
        if (reached.insert(other).second) work.push_back(other);
      };
      for (const HloInstruction* operand : x->operands()) add(operand);
      for (const HloInstruction* before : x->control_predecessors()) add(before);
      if (const auto it = set_of.find(x); it != set_of.end()) {
        for (const HloInstruction* member : sets[it->second].reduces) add(member);
      }
    }
    return reached;
  }

  static absl::Status Merge(HloComputation* computation, const std::vector<HloInstruction*>& reduces) {
    const auto count = static_cast<int64_t>(reduces.size());
    HloComputation* combine = computation->parent()->AddComputation("combine");
    std::vector<HloInstruction*> parameters, results, operands;
    for (int64_t i = 0; i < 2 * count; ++i) {
      const Shape scalar = ShapeUtil::MakeScalarShape(reduces[i % count]->operand(0)->shape().element_type());
      parameters.push_back(combine->AddInstruction(HloInstruction::CreateParameter(i, scalar, "x")));
    }
    for (int64_t i = 0; i < count; ++i) {
      const HloOpcode op = *ReductionOp(*reduces[i]->called_computation());
      HILO_ASSIGN_OR_RETURN(results.emplace_back(), MakeBinary(op, parameters[i], parameters[count + i]));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction* const root, combine->AddOp(HloOpcode::kTuple, results));
    HILO_RETURN_IF_ERROR(combine->set_root_instruction(root));
    for (const int64_t number : {0, 1}) {
      for (HloInstruction* reduce : reduces) operands.push_back(reduce->operand(number));
    }
    auto attributes = std::make_unique<ReduceAttrs>();
    attributes->dimensions = reduces[0]->attrs<ReduceAttrs>().dimensions;
    HILO_ASSIGN_OR_RETURN(HloInstruction* const merged,
                          computation->AddOp(HloOpcode::kReduce, operands, std::move(attributes), {&combine, 1}));
    for (int64_t i = 0; i < count; ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction* const result, MakeTupleElement(merged, i));
      HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(reduces[i], result));
    }
    return absl::OkStatus();
  }

  const bool strict_;
  const std::function<bool(const HloInstruction&)> accepts_;
};

}  // namespace

std::unique_ptr<HloPass> MakeReductionMerge(bool strict, std::function<bool(const HloInstruction& reduce)> accepts) {
  return std::make_unique<ReductionMerge>(strict, std::move(accepts));
}

}  // namespace hilo
