// Arrays of the size of the scores are computed where they are needed, from the dots on:
//
//   s = f32[b,q,k] dot(queries, keys)         rows, dq = fusion(queries, keys, values, gradient)     all along keys
//   g = f32[b,q,k] dot(gradient, values)  =>  dk, dv = fusion(queries, keys, values, gradient, rows) along queries
//   ...  dq, dk, dv = dots
//
// Reductions of rows, as the maxima and sums of a softmax, are results of the first fusion that computes them; others
// read them. Products that need the same scores and do not depend on each other are in one fusion: the forward pass,
// whose result leads to the gradient of the backward pass, is in one of its own. So is each sum over the batch. Where
// reductions are along both sides, as of a contrastive loss, or there are no products, as of the distances that are
// least, all reductions are in kernels of their own, one for each side, before those of the products.
#include "hlo/passes/attention/attention_gradient_fusion.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hilo/status_macros.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/attention/attention_pass.h"
#include "hlo/passes/fusion/fused_members.h"

namespace hilo {
namespace {

// Instructions of a computation that are searched for paths between products.
constexpr size_t kMaxSearched = size_t{1} << 17;

// Products along one side that one kernel computes.
struct ProductGroup {
  GridSide summed;
  FusedGroup scores;  // that they need
  std::vector<HloInstruction*> products;
  int64_t features = 0;  // of all products
};

class GridFuser {
 public:
  GridFuser(const Target& target, HloComputation* computation, ScoreGrid grid, int64_t max_features,
            const PassContext& context)
      : target_(target),
        computation_(computation),
        grid_(std::move(grid)),
        max_features_(max_features),
        context_(context) {
    members_.insert(grid_.members.begin(), grid_.members.end());
  }

  // Divides the products among kernels. What none of the scores is needed for, as the sum of the broadcast of a
  // maximum, is no kernel's. Returns false if paths between them forbid it, or `takes` does not take these.
  absl::StatusOr<bool> Plan(const ScoreGridFilter& takes) {
    std::vector<HloInstruction*> last, others;
    if (!FindLastReductions(&last, &others)) return false;
    // Without others, as of sigmoid attention, any order does.
    const GridSide reduced = grid_.summed.at(others.empty() ? grid_.products[0] : others[0]);
    const bool is_one_side =
        absl::c_all_of(others, [&](const HloInstruction* reduce) { return grid_.summed.at(reduce) == reduced; });
    if (!is_one_side || grid_.products.empty()) {
      HILO_ASSIGN_OR_RETURN(const bool planned, PlanAllReductions(others));
      if (!planned) return false;
    }
    std::vector<ProductGroup> along, across;  // the side of the reductions
    for (HloInstruction* product : grid_.products) {
      HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
      const std::optional<FusedGroup> before = ProductsBefore(product);
      if (!before.has_value()) return false;
      const bool is_along = grid_.summed.at(product) == reduced;
      // Products across read rows of all those along.
      for (const ProductGroup& group : across) {
        if (is_along && DependsOn(*before, group)) return false;
      }
      Add(product, is_along, *before, is_along ? &along : &across);
    }
    for (const ProductGroup& group : along) PlanKernel(MembersOf(group), group.products);
    for (const ProductGroup& group : across) {
      PlanReductions(MembersOf(group));
      PlanKernel(MembersOf(group), group.products);
    }
    for (HloInstruction* reduce : last) {
      HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
      if (!PlanLastReduction(reduce)) return false;
    }
    for (HloInstruction* sum : grid_.batch_sums) {
      PlanReductions(MembersOf({sum->operand(0)}));
      PlanKernel(MembersOf({sum->operand(0)}), {}, sum);
    }
    std::erase_if(kernels_, [](const Kernel& kernel) {
      return absl::c_none_of(kernel.members, [](const HloInstruction* x) { return x->opcode() == HloOpcode::kDot; });
    });
    if (kernels_.empty()) return false;
    std::vector<ScoreGrid> kernels;
    for (const Kernel& kernel : kernels_) {
      HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
      if (WaitsForItself(kernel)) return false;
      kernels.push_back(GridOf({&kernel, 1}));
    }
    return takes(GridOf(kernels_), kernels);
  }

  // Makes the fusions of the plan.
  absl::Status Fuse() {
    for (const Kernel& kernel : kernels_) HILO_RETURN_IF_ERROR(FuseKernel(kernel));
    return absl::OkStatus();
  }

  const FusedGroup& removed() const { return removed_; }

 private:
  struct Kernel {
    FusedGroup members;
    std::vector<HloInstruction*> products;
    HloInstruction* batch_sum = nullptr;  // null: none

    // Returns what is computed from the members.
    std::vector<HloInstruction*> Results() const {
      std::vector<HloInstruction*> results = products;
      if (batch_sum != nullptr) results.push_back(batch_sum);
      return results;
    }
  };

  static bool DependsOn(const FusedGroup& before, const ProductGroup& group) {
    return absl::c_any_of(group.products, [&](const HloInstruction* product) { return before.contains(product); });
  }

  // Returns the grid's products that `product` depends on; nullopt: it depends on too much to tell.
  std::optional<FusedGroup> ProductsBefore(const HloInstruction* product) const {
    FusedGroup before, seen = {product};
    std::vector<const HloInstruction*> work = {product};
    while (!work.empty()) {
      const HloInstruction* instruction = work.back();
      work.pop_back();
      if (seen.size() > kMaxSearched) return std::nullopt;
      const auto add = [&](const HloInstruction* operand) {
        if (!seen.insert(operand).second) return;
        if (absl::c_linear_search(grid_.products, operand)) before.insert(operand);
        work.push_back(operand);
      };
      absl::c_for_each(instruction->operands(), add);
      absl::c_for_each(instruction->control_predecessors(), add);
    }
    return before;
  }

  // Returns the members that `roots` depend on, without reductions that a kernel of the plan computes.
  FusedGroup MembersOf(const std::vector<const HloInstruction*>& roots) const {
    FusedGroup members;
    std::vector<const HloInstruction*> work = roots;
    while (!work.empty()) {
      const HloInstruction* member = work.back();
      work.pop_back();
      if (!grid_.Has(member) || reduced_.contains(member) || !members.insert(member).second) continue;
      work.insert(work.end(), member->operands().begin(), member->operands().end());
    }
    return members;
  }
  FusedGroup MembersOf(const ProductGroup& group) const {
    std::vector<const HloInstruction*> roots;
    for (const HloInstruction* product : group.products)
      roots.push_back(product->operand(grid_.grid_operands.at(product)));
    return MembersOf(roots);
  }

  // Returns the grid's reductions that the values in `work` depend on, beside those that kernels of the plan compute;
  // nullopt: they depend on too much to tell.
  std::optional<FusedGroup> ReductionsBefore(std::vector<const HloInstruction*> work) const {
    const FusedGroup reductions(grid_.reductions.begin(), grid_.reductions.end());
    FusedGroup before, seen;
    while (!work.empty()) {
      const HloInstruction* instruction = work.back();
      work.pop_back();
      if (reduced_.contains(instruction) || !seen.insert(instruction).second) continue;
      if (seen.size() > kMaxSearched) return std::nullopt;
      if (reductions.contains(instruction)) before.insert(instruction);
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
      const auto predecessors = instruction->control_predecessors();
      work.insert(work.end(), predecessors.begin(), predecessors.end());
    }
    return before;
  }

  // Finds the reductions that no product, batch sum or other reduction depends on, as the gradient of a bias for each
  // key, beside the others: without products all. Returns false if there is too much to tell.
  bool FindLastReductions(std::vector<HloInstruction*>* last, std::vector<HloInstruction*>* others) const {
    std::vector<const HloInstruction*> operands;
    for (const auto* results : {&grid_.products, &grid_.batch_sums, &grid_.reductions}) {
      for (const HloInstruction* result : *results)
        operands.insert(operands.end(), result->operands().begin(), result->operands().end());
    }
    const std::optional<FusedGroup> needed = ReductionsBefore(std::move(operands));
    if (!needed.has_value()) return false;
    for (HloInstruction* reduce : grid_.reductions)
      (needed->contains(reduce) || grid_.products.empty() ? others : last)->push_back(reduce);
    return true;
  }

  // Adds a reduction that nothing of the grid depends on to a kernel with its scores, whose products are along the same
  // side, or to a new one. Returns false if it depends on too much to tell.
  bool PlanLastReduction(HloInstruction* reduce) {
    const FusedGroup members = MembersOf({reduce});
    const std::optional<FusedGroup> before = ProductsBefore(reduce);
    if (!before.has_value()) return false;
    const auto kernel = absl::c_find_if(kernels_, [&](const Kernel& kernel) {
      return !kernel.products.empty() && grid_.summed.at(kernel.products[0]) == grid_.summed.at(reduce) &&
             absl::c_none_of(kernel.products, [&](const HloInstruction* x) { return before->contains(x); }) &&
             absl::c_all_of(members, [&](const HloInstruction* x) {
               return x->opcode() != HloOpcode::kDot || kernel.members.contains(x);
             });
    });
    if (kernel == kernels_.end()) {
      PlanReductions(members);
      return true;
    }
    kernel->members.insert(members.begin(), members.end());
    for (const HloInstruction* x : grid_.reductions) {
      if (members.contains(x)) reduced_.insert(x);
    }
    return true;
  }

  // Returns the operands of the members that a reduction depends on which are no members.
  std::vector<const HloInstruction*> ReadBy(const HloInstruction& reduce) const {
    std::vector<const HloInstruction*> read;
    for (const HloInstruction* member : MembersOf({&reduce})) {
      absl::c_copy_if(member->operands(), std::back_inserter(read),
                      [&](const HloInstruction* operand) { return !grid_.Has(operand); });
    }
    return read;
  }

  // Adds kernels of the reductions. Each has those of one side that wait for none of the other one. Returns false if
  // some wait for each other, or for too much to tell.
  absl::StatusOr<bool> PlanAllReductions(const std::vector<HloInstruction*>& reductions) {
    while (reduced_.size() < reductions.size()) {
      std::vector<const HloInstruction*> ready;
      for (const HloInstruction* reduce : reductions) {
        if (reduced_.contains(reduce) || (!ready.empty() && grid_.summed.at(ready[0]) != grid_.summed.at(reduce)))
          continue;
        HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
        const std::optional<FusedGroup> before = ReductionsBefore({reduce->operand(0)}),
                                        outside = ReductionsBefore(ReadBy(*reduce));
        if (!before.has_value() || !outside.has_value()) return false;
        // What the kernel reads is known before it begins.
        if (outside->empty() &&
            absl::c_all_of(*before, [&](const HloInstruction* x) { return absl::c_linear_search(ready, x); }))
          ready.push_back(reduce);
      }
      if (ready.empty()) return false;
      PlanKernel(MembersOf(ready), {});
    }
    return true;
  }

  // Returns true if a kernel reads what depends on one of its reductions, or too much to tell.
  bool WaitsForItself(const Kernel& kernel) const {
    FusedGroup own, seen;
    std::vector<const HloInstruction*> work;
    for (const HloInstruction* reduce : grid_.reductions) {
      if (kernel.members.contains(reduce)) own.insert(reduce);
    }
    if (own.empty()) return false;
    for (const HloInstruction* member : kernel.members) {
      for (const HloInstruction* operand : member->operands()) {
        if (!kernel.members.contains(operand)) work.push_back(operand);
      }
    }
    while (!work.empty()) {
      const HloInstruction* instruction = work.back();
      work.pop_back();
      if (own.contains(instruction) || seen.size() > kMaxSearched) return true;
      if (!seen.insert(instruction).second) continue;
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
      const auto predecessors = instruction->control_predecessors();
      work.insert(work.end(), predecessors.begin(), predecessors.end());
    }
    return false;
  }

  // Adds the product to the last group, if it may be computed with it, or to a new one.
  void Add(HloInstruction* product, bool same_scores, const FusedGroup& before, std::vector<ProductGroup>* groups) {
    ProductGroup own{.summed = grid_.summed.at(product),
                     .scores = {},
                     .products = {product},
                     .features = FeaturesOf(ProductOperand(grid_, product))};
    for (const HloInstruction* member : MembersOf(own)) {
      if (member->opcode() == HloOpcode::kDot) own.scores.insert(member);
    }
    if (groups->empty() || (same_scores && groups->back().scores != own.scores) ||
        groups->back().features + own.features > max_features_ || DependsOn(before, groups->back())) {
      groups->push_back(std::move(own));
      return;
    }
    groups->back().products.push_back(product);
    groups->back().features += own.features;
  }

  // Adds a kernel of the reductions among members that are needed, as far as none computes them yet.
  void PlanReductions(const FusedGroup& needed) {
    std::vector<const HloInstruction*> reductions;
    for (const HloInstruction* reduce : grid_.reductions) {
      if (needed.contains(reduce)) reductions.push_back(reduce);
    }
    if (!reductions.empty()) PlanKernel(MembersOf(reductions), {});
  }

  void PlanKernel(FusedGroup members, const std::vector<HloInstruction*>& products,
                  HloInstruction* batch_sum = nullptr) {
    for (const HloInstruction* reduce : grid_.reductions) {
      if (members.contains(reduce)) reduced_.insert(reduce);
    }
    kernels_.push_back({std::move(members), products, batch_sum});
  }

  // Returns the part of the grid that the kernels compute.
  ScoreGrid GridOf(absl::Span<const Kernel> kernels) const {
    FusedGroup members, results;
    for (const Kernel& kernel : kernels) {
      members.insert(kernel.members.begin(), kernel.members.end());
      for (const HloInstruction* result : kernel.Results()) results.insert(result);
    }
    ScoreGrid grid = grid_;
    const auto keep = [](const FusedGroup& some, std::vector<HloInstruction*>* instructions) {
      std::erase_if(*instructions, [&](const HloInstruction* x) { return !some.contains(x); });
    };
    for (auto* instructions : {&grid.members, &grid.scores, &grid.reductions}) keep(members, instructions);
    for (auto* instructions : {&grid.products, &grid.batch_sums}) keep(results, instructions);
    return grid;
  }

  // Makes the fusion of a kernel, whose results are its products or batch sum, and reductions that others
  // read.
  absl::Status FuseKernel(const Kernel& kernel) {
    FusedGroup inside = kernel.members;
    const std::vector<HloInstruction*> results = kernel.Results();
    const std::string name(results.empty() ? "rows" : results[0]->name());
    std::vector<HloInstruction*> outputs;
    std::vector<const HloInstruction*> producers;
    for (const HloInstruction* member : inside) {
      if (member->opcode() == HloOpcode::kDot) continue;
      producers.insert(producers.end(), member->operands().begin(), member->operands().end());
    }
    FusedGroup views;
    const auto add_views = [&](const GridOperand& side) { views.insert(side.views.begin(), side.views.end()); };
    for (const HloInstruction* score : grid_.scores) {
      if (!inside.contains(score)) continue;
      add_views(ScoreOperand(grid_, score, GridSide::kLeft));
      add_views(ScoreOperand(grid_, score, GridSide::kRight));
    }
    for (const HloInstruction* product : kernel.products) add_views(ProductOperand(grid_, product));
    for (HloInstruction* result : results) {
      inside.insert(result);
      outputs.push_back(result);
      while (const HloInstruction* user = StoredAs(*outputs.back())) {
        inside.insert(user);
        outputs.back() = const_cast<HloInstruction*>(user);
      }
    }
    for (HloInstruction* reduce : grid_.reductions) {
      if (inside.contains(reduce) && IsReadBesides(results, *reduce)) outputs.push_back(reduce);
    }
    AddAttentionProducers(target_, kAttentionGradientLimits, std::move(producers), &inside);
    inside.insert(views.begin(), views.end());
    FusedMembers fused(computation_, "fused_attention_gradient");
    FusedGroup added;
    for (HloInstruction* output : outputs) {
      for (HloInstruction* member : PostOrderWithin(output, [&](const auto& x) { return inside.contains(&x); })) {
        if (added.insert(member).second) fused.Add(member);
      }
    }
    HILO_RETURN_IF_ERROR(
        fused.Replace(outputs, FusionKind::kInput, absl::StrCat(name, "_attention_gradient")).status());
    for (const HloInstruction* removed : fused.removed()) {
      removed_.insert(removed);
      members_.erase(removed);
    }
    return absl::OkStatus();
  }

  // Returns true if anything but the given results depends on the rows.
  bool IsReadBesides(const std::vector<HloInstruction*>& results, const HloInstruction& rows) const {
    FusedGroup seen = {&rows};
    std::vector<const HloInstruction*> work = {&rows};
    while (!work.empty()) {
      const HloInstruction* member = work.back();
      work.pop_back();
      for (const HloInstruction* user : member->users()) {
        if (!seen.insert(user).second) continue;
        if (members_.contains(user)) {
          work.push_back(user);
        } else if (!absl::c_linear_search(results, user)) {
          return true;
        }
      }
    }
    return false;
  }

  // Returns the instruction that is all that reads a result, or what it is stored as so far, if it moves or converts
  // elements one by one; else null.
  static const HloInstruction* StoredAs(const HloInstruction& result) {
    if (result.IsRoot() || result.user_count() != 1 || !result.control_successors().empty()) return nullptr;
    const HloInstruction* user = result.users()[0];
    const bool moves = user->opcode() == HloOpcode::kTranspose || user->opcode() == HloOpcode::kReshape ||
                       user->opcode() == HloOpcode::kConvert;
    return moves && !user->HasControlDependencies() ? user : nullptr;
  }

  const Target& target_;
  HloComputation* const computation_;
  const ScoreGrid grid_;
  const int64_t max_features_;
  const PassContext& context_;
  std::vector<Kernel> kernels_;
  FusedGroup reduced_;  // the reductions that kernels of the plan compute
  FusedGroup members_;  // that are still there
  FusedGroup removed_;
};

class AttentionGradientFusion : public AttentionPass {
 public:
  AttentionGradientFusion(const Target* target, ScoreGridFilter takes, int64_t max_features)
      : target_(*target), takes_(std::move(takes)), max_features_(max_features) {}
  absl::string_view name() const override { return "fuse-attention-gradient"; }

 private:
  absl::StatusOr<FusedGroup> FuseDot(HloComputation* computation, HloInstruction* dot,
                                     const PassContext& context) override {
    std::optional<ScoreGrid> grid = ScoreGridOf(dot);
    if (!grid.has_value()) return FusedGroup();
    GridFuser fuser(target_, computation, *std::move(grid), max_features_, context);
    HILO_ASSIGN_OR_RETURN(const bool planned, fuser.Plan(takes_));
    if (planned) HILO_RETURN_IF_ERROR(fuser.Fuse());
    return fuser.removed();
  }

  const Target& target_;
  const ScoreGridFilter takes_;
  const int64_t max_features_;
};

}  // namespace

std::unique_ptr<HloPass> MakeAttentionGradientFusion(const Target* target, ScoreGridFilter takes,
                                                     int64_t max_features) {
  return std::make_unique<AttentionGradientFusion>(target, std::move(takes), max_features);
}

}  // namespace hilo
