// Reductions of arrays with an element for each pair of lines of two smaller arrays compute these elements themselves:
//
//   d = f32[8000,9000] ... of broadcast(x), broadcast(y)           m = f32[8000] fusion(x, y), of d and its reduction
//   m = f32[8000] reduce(d), dimensions={1}, to_apply=minimum  =>  n, s = fusion(x, y), of d and both others
//   n = f32[9000] reduce(d), dimensions={0}, to_apply=minimum
//   s = f32[9000] reduce(exponential(d)), dimensions={0}
//
// as of distances and forces between points, and of kernels (in the statistical sense). Reductions along the same
// dimensions that share elements are one, with a result for each; those along others compute the elements again, where
// that takes less time than an array's write and reads. Slices of the smaller arrays are read where they are.
//
// Reductions of which one leads to another one of the same elements, as a maximum and a sum of exponentials, are left
// to kernels of rows (row_fusion.h).
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/fusion/fused_members.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/merged_sets.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

using PairMembers = absl::flat_hash_set<const HloInstruction*>;

// Smaller arrays are as fast in several kernels.
constexpr int64_t kMinPairs = int64_t{1} << 14;
// What is repeated, and a result, have at most this part of the elements.
constexpr int64_t kMinPairRepeats = 8;
// Arrays of one reduction: a thread keeps a value of each.
constexpr size_t kMaxPairReductions = 6;
constexpr int kMaxViews = 4;
// Each set is compared with all others: reductions behind the last one stay as they are.
constexpr size_t kMaxPairSets = 256;

// Reductions that become one.
struct PairSet {
  std::vector<HloInstruction*> reduces;
  PairMembers members;   // with an element for each pair
  PairMembers views;     // slices and reshapes of smaller arrays
  PairMembers computed;  // members whose elements cost something

  bool Shares(const PairSet& other) const {
    return absl::c_any_of(other.computed, [&](const HloInstruction* x) { return computed.contains(x); });
  }
  bool TakesShapeOf(const PairSet& other) const {
    const HloInstruction &first = *reduces[0], &reduce = *other.reduces[0];
    return first.shape().IsArray() && reduce.shape().IsArray() &&
           reduces.size() + other.reduces.size() <= kMaxPairReductions &&
           members.size() + other.members.size() <= kRowLimits.members &&
           ShapeUtil::SameDimensions(first.operand(0)->shape(), reduce.operand(0)->shape()) &&
           first.attrs<ReduceAttrs>().dimensions == reduce.attrs<ReduceAttrs>().dimensions;
  }
};

class PairFusion : public FusionPass {
 public:
  PairFusion(const Target* target, bool strict, double instructions_per_byte, size_t min_reductions)
      : target_(*target),
        strict_(strict),
        instructions_per_byte_(instructions_per_byte),
        min_reductions_(min_reductions) {}
  absl::string_view name() const override { return "fuse-pairs"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    std::vector<PairSet> sets;
    PairMembers in_chains;  // reductions
    MergedSets merged;
    for (HloInstruction* reduce : computation->MakePostOrder()) {
      std::optional<PairSet> own = SetOf(reduce);
      if (!own.has_value()) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      const PairMembers reached = merged.DependencesOf(*reduce);
      if (merged.IsExhausted() || sets.size() == kMaxPairSets) break;
      size_t number = sets.size();
      for (size_t i = 0; i < sets.size(); ++i) {
        if (!sets[i].Shares(*own)) continue;
        if (reached.contains(sets[i].reduces[0])) {
          in_chains.insert(reduce);
          in_chains.insert(sets[i].reduces.begin(), sets[i].reduces.end());
        } else if (number == sets.size() && sets[i].TakesShapeOf(*own)) {
          number = i;
        }
      }
      merged.Add(reduce, number);
      if (number == sets.size()) {
        sets.push_back(*std::move(own));
        continue;
      }
      sets[number].reduces.push_back(reduce);
      sets[number].members.insert(own->members.begin(), own->members.end());
      sets[number].views.insert(own->views.begin(), own->views.end());
      sets[number].computed.insert(own->computed.begin(), own->computed.end());
    }
    std::erase_if(sets, [&](const PairSet& set) {
      return absl::c_any_of(set.reduces, [&](const HloInstruction* x) { return in_chains.contains(x); });
    });
    std::vector<const PairSet*> taken;
    for (const PairSet& set : sets) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      if (IsFaster(set, sets)) taken.push_back(&set);
    }
    for (const PairSet* set : taken) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      HILO_RETURN_IF_ERROR(Fuse(computation, *set));
    }
    return !taken.empty();
  }

  // Returns a reduction and what its elements are computed from; nullopt if they are not those of pairs.
  std::optional<PairSet> SetOf(HloInstruction* reduce) const {
    if (reduce->opcode() != HloOpcode::kReduce || reduce->IsDead() || reduce->HasControlDependencies())
      return std::nullopt;
    const bool is_array = reduce->shape().IsArray();
    if (is_array && !MayReorder(*reduce, strict_)) return std::nullopt;
    const int64_t pairs = Elements(reduce->operand(0)),
                  results = ShapeUtil::ElementsIn(is_array ? reduce->shape() : reduce->shape().tuple_shapes(0));
    if (pairs < kMinPairs || results * kMinPairRepeats > pairs) return std::nullopt;
    PairSet set{.reduces = {reduce}, .members = {}, .views = {}, .computed = {}};
    std::vector<HloInstruction*> work(reduce->operands().begin(),
                                      reduce->operands().begin() + reduce->operand_count() / 2);
    bool has_pairs = false;
    while (!work.empty()) {
      HloInstruction* x = work.back();
      work.pop_back();
      if (x->shape().IsScalar() || !set.members.insert(x).second) continue;
      if (!x->shape().IsArray() || Elements(x) != pairs || x->HasControlDependencies() || !target_.IsFusible(*x) ||
          set.members.size() > kRowLimits.members)
        return std::nullopt;
      if (x->opcode() == HloOpcode::kBroadcast) {
        if (Elements(x->operand(0)) * kMinPairRepeats > pairs) return std::nullopt;
        has_pairs |= !x->operand(0)->shape().IsScalar();
        AddViews(x->operand(0), &set);
      } else if (x->opcode() == HloOpcode::kTranspose ||
                 (IsElementwise(x->opcode()) && x->called_computations().empty())) {
        set.computed.insert(x);
        work.insert(work.end(), x->operands().begin(), x->operands().end());
      } else if (x->opcode() != HloOpcode::kIota) {
        return std::nullopt;
      }
    }
    return has_pairs && !set.computed.empty() ? std::make_optional(std::move(set)) : std::nullopt;
  }

  void AddViews(HloInstruction* x, PairSet* set) const {
    for (int i = 0; i < kMaxViews; ++i) {
      const bool is_view = x->opcode() == HloOpcode::kSlice || x->opcode() == HloOpcode::kReshape;
      if (!is_view || x->HasControlDependencies() || !target_.IsFusible(*x)) return;
      set->views.insert(x);
      x = x->operand(0);
    }
  }

  // Returns true if the set gains by a kernel of its own, and computing what it shares with others takes less time than
  // an array which all of them read.
  bool IsFaster(const PairSet& set, const std::vector<PairSet>& sets) const {
    const auto is_inside = [&](const PairSet& other, const HloInstruction* x) {
      return other.members.contains(x) || absl::c_linear_search(other.reduces, x);
    };
    const bool are_enough = absl::c_any_of(
        sets, [&](const PairSet& other) { return other.reduces.size() >= min_reductions_ && other.Shares(set); });
    if (!are_enough) return false;
    double shared = 0, own = 0, copies = 0;  // instructions, and sets that have the shared ones
    for (const PairSet& other : sets) copies += other.Shares(set) ? 1 : 0;
    bool is_read_besides = false;
    for (const HloInstruction* x : set.computed) {
      const bool is_besides =
          x->IsRoot() || absl::c_any_of(x->users(), [&](const HloInstruction* user) {
            return absl::c_none_of(sets, [&](const PairSet& other) { return is_inside(other, user); });
          });
      const bool is_shared = is_besides || absl::c_any_of(sets, [&](const PairSet& other) {
                               return &other != &set && other.computed.contains(x);
                             });
      (is_shared ? shared : own) += WorkOf(*x).instructions;
      is_read_besides |= is_besides;
    }
    // A set alone is as well with the passes that fuse reductions and their producers in general.
    if (copies == 1 && !is_read_besides && set.reduces.size() == 1 && set.views.empty()) return false;
    PairMembers arrays;
    for (const HloInstruction* reduce : set.reduces) arrays.insert(reduce->operand(0));
    double bytes = 0;
    for (const HloInstruction* array : arrays) bytes += static_cast<double>(ShapeUtil::ByteSizeOf(array->shape()));
    // A kernel takes the time of its bytes or of its instructions.
    const auto time_of = [&](double instructions) { return std::max(bytes * instructions_per_byte_, instructions); };
    const double stored = time_of(shared) + copies * time_of(own),
                 again = copies * (shared + own) + (is_read_besides ? time_of(shared) : 0);
    return again <= stored;
  }

  static absl::Status Fuse(HloComputation* computation, const PairSet& set) {
    HloInstruction* result = set.reduces[0];
    const auto name = absl::StrCat(result->name(), "_pairs");
    if (set.reduces.size() > 1) {
      HILO_ASSIGN_OR_RETURN(result, MergeReductions(set.reduces));
    }
    FusedMembers fused(computation, "fused_pairs");
    const auto is_inside = [&](const HloInstruction& x) {
      return &x == result || set.members.contains(&x) || set.views.contains(&x);
    };
    for (HloInstruction* member : PostOrderWithin(result, is_inside)) fused.Add(member);
    return fused.Replace({result}, FusionKind::kInput, name).status();
  }

  const Target& target_;
  const bool strict_;
  const double instructions_per_byte_;
  const size_t min_reductions_;
};

}  // namespace

std::unique_ptr<HloPass> MakePairFusion(const Target* target, bool strict, double instructions_per_byte,
                                        size_t min_reductions) {
  return std::make_unique<PairFusion>(target, strict, instructions_per_byte, min_reductions);
}

}  // namespace hilo
