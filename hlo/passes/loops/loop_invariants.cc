// Values that are the same in every iteration of a loop are computed before it:
//
//   body { p = (f32[100,200], ...)  w = f32[100,200] get-tuple-element(p), index=0  t = f32[200,100] transpose(w) ... }
//     =>  t = f32[200,100] transpose(w), before the loop, is an element of its state
//
// A value is worth an element if it is expensive to compute again, or if it is no larger than what it is computed of;
// otherwise it stays in the loop, where it is computed in registers: reading a broadcast costs more than reading its
// operand. What devices exchange is always worth one. The loop may run no iteration; then the work is wasted, and a
// custom call, which may fail, stays in it.
// Nested loops are visited from the inside out, so that a value leaves all loops in which it does not change.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/single_caller_loops.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/loops/loop_state.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Bytes of a value that is larger than what it is computed of.
constexpr int64_t kMaxBytes = int64_t{64} << 20;
// Instructions that one value is computed of.
constexpr size_t kMaxCone = 256;

// Ops without a value of their own: what reads them reads their operands.
constexpr OpcodeSet kTransparent = {HloOpcode::kBitcast, HloOpcode::kConstant, HloOpcode::kCopy, HloOpcode::kReshape};

// What devices compute together. All those of a group run the loop, so that they also meet before it.
constexpr OpcodeSet kExchanges = {HloOpcode::kAllGather,         HloOpcode::kAllReduce,
                                  HloOpcode::kAllToAll,          HloOpcode::kCollectiveBroadcast,
                                  HloOpcode::kCollectivePermute, HloOpcode::kReduceScatter};

bool IsFree(const HloInstruction& x) { return kTransparent.contains(x.opcode()) || IsFreeToRepeat(x); }

class LoopInvariants {
 public:
  // `runs`: the loop is known to run an iteration.
  LoopInvariants(const LoopState& loop, bool runs, const PassContext& context)
      : loop_(loop), runs_(runs), context_(context) {}

  absl::StatusOr<bool> Move() {
    HILO_RETURN_IF_ERROR(FindInvariants());
    // From the values that the rest of the loop reads down to those that are worth an element.
    std::vector<HloInstruction*> worth;
    for (HloInstruction* x : loop_.body()->MakePostOrder()) {
      const bool is_read = std::any_of(x->users().begin(), x->users().end(),
                                       [&](const HloInstruction* user) { return !invariants_.contains(user); });
      if (is_read) HILO_RETURN_IF_ERROR(Choose(x, &worth));
    }
    if (worth.empty()) return false;
    std::vector<HloInstruction*> outside;
    for (HloInstruction* x : worth) outside.push_back(Outside(x));
    HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> elements, loop_.Add(outside));
    for (size_t i = 0; i < worth.size(); ++i)
      HILO_RETURN_IF_ERROR(loop_.body()->ReplaceInstruction(worth[i], elements[i]));
    return true;
  }

 private:
  bool IsLeaf(const HloInstruction* x) const { return loop_.ElementOf(x) >= 0; }

  absl::Status FindInvariants() {
    for (const HloInstruction* x : loop_.body()->MakePostOrder()) {
      HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
      if (x->IsParameter() || x->HasSideEffect() || x->IsRoot() || HasTrait(x->opcode(), kControlFlow) ||
          (HasTrait(x->opcode(), kCollective) && !kExchanges.contains(x->opcode())) ||
          (x->opcode() == HloOpcode::kCustomCall && !runs_))
        continue;
      if (x->HasControlDependencies()) continue;
      const bool invariant = IsLeaf(x) ? loop_.IsUnchanged(x)
                                       : std::all_of(x->operands().begin(), x->operands().end(),
                                                     [&](const HloInstruction* o) { return invariants_.contains(o); });
      if (invariant) invariants_.insert(x);
    }
    return absl::OkStatus();
  }

  // Adds `x`, or what it is computed of, to `worth`.
  absl::Status Choose(HloInstruction* x, std::vector<HloInstruction*>* worth) {
    std::vector<HloInstruction*> work = {x};
    while (!work.empty()) {
      HILO_RETURN_IF_ERROR(context_.CheckNotCancelled());
      HloInstruction* next = work.back();
      work.pop_back();
      if (!invariants_.contains(next) || IsLeaf(next) || !seen_.insert(next).second) continue;
      if (IsWorthAnElement(next)) {
        worth->push_back(next);
      } else {
        work.insert(work.end(), next->operands().begin(), next->operands().end());
      }
    }
    return absl::OkStatus();
  }

  bool IsWorthAnElement(const HloInstruction* x) const {
    if (IsFree(*x) || !x->shape().IsArray() || !x->shape().is_static()) return false;
    const int64_t bytes = ShapeUtil::ByteSizeOf(x->shape());
    if (kExchanges.contains(x->opcode()) && bytes <= kMaxBytes) return true;
    // The instructions that x is computed of, up to the loop's state.
    std::vector<const HloInstruction*> cone = {x};
    absl::flat_hash_set<const HloInstruction*> seen = {x};
    int64_t leaf_bytes = 0, max_elements = 0;
    for (size_t i = 0; i < cone.size() && cone.size() <= kMaxCone; ++i) {
      if (cone[i]->shape().IsArray()) {
        const int64_t elements = ShapeUtil::ElementsIn(cone[i]->shape());
        max_elements = std::max(max_elements, elements);
        if (IsLeaf(cone[i]) || cone[i]->IsConstant()) leaf_bytes += ShapeUtil::ByteSizeOf(cone[i]->shape());
      }
      if (IsLeaf(cone[i])) continue;
      for (const HloInstruction* operand : cone[i]->operands()) {
        if (seen.insert(operand).second) cone.push_back(operand);
      }
    }
    // The code generator finds what is invariant among values in registers.
    if (max_elements < kRegisterElements) return false;
    return bytes <= leaf_bytes || (IsExpensiveToRepeat(*x) && bytes <= kMaxBytes);
  }

  // `x` computed before the loop.
  HloInstruction* Outside(HloInstruction* x) {
    std::vector<std::pair<HloInstruction*, bool>> work = {{x, false}};  // and whether the operands are there
    while (!work.empty()) {
      const auto [next, ready] = work.back();
      work.pop_back();
      if (outside_.contains(next)) continue;
      if (IsLeaf(next)) {
        outside_[next] = loop_.init(loop_.ElementOf(next));
      } else if (!ready) {
        work.emplace_back(next, true);
        for (HloInstruction* operand : next->operands()) work.emplace_back(operand, false);
      } else {
        std::vector<HloInstruction*> operands;
        for (const HloInstruction* operand : next->operands()) operands.push_back(outside_.at(operand));
        outside_[next] =
            loop_.loop()->parent()->AddInstruction(next->CloneWithNewOperands(next->shape(), operands), next->name());
      }
    }
    return outside_.at(x);
  }

  LoopState loop_;
  const bool runs_;
  const PassContext& context_;
  absl::flat_hash_set<const HloInstruction*> invariants_, seen_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> outside_;
};

class LoopInvariantMotion : public HloPass {
 public:
  absl::string_view name() const override { return "hoist-invariants"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    absl::flat_hash_map<const HloComputation*, std::vector<HloInstruction*>> loops;
    for (HloInstruction* loop : SingleCallerLoops(module)) loops[loop->parent()].push_back(loop);
    if (loops.empty()) return false;
    bool changed = false;
    HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> callees_first, module->MakeComputationPostOrder());
    for (const HloComputation* computation : callees_first) {
      const auto found = loops.find(computation);
      if (found == loops.end()) continue;
      for (HloInstruction* loop : found->second) {
        const std::optional<LoopState> state = LoopState::Of(loop);
        const std::optional<int64_t> iterations = TripCount(*loop);
        if (!state || iterations.value_or(2) < 2) continue;
        HILO_ASSIGN_OR_RETURN(const bool moved, LoopInvariants(*state, iterations.has_value(), context).Move());
        changed |= moved;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeLoopInvariantMotion() { return std::make_unique<LoopInvariantMotion>(); }

}  // namespace hilo
