// Loops and branches on tiles.
//
// A loop's state has the sharding that propagation gives it (propagate_shardings.h). An element that passes through
// unchanged while the body needs all of it, or larger tiles, is gathered once, before the loop; one of which the body
// needs other tiles only is exchanged there. That shows when a copy of the body has been partitioned; then another copy
// is, with the state as it should be:
//
//   w = f32[8,4] cut:   while (c, w) { c' = dot(c, w) }    first try:   w cut, gathered in the body
//                                                          second try:  w whole
//
// All partitions run the same number of iterations, as the condition is computed from values that all of them have, or
// have reduced together. Otherwise, as if the state is local to a manual computation, the loop is not partitioned;
// likewise branches.
#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/passes/partition/divider.h"

namespace hilo {
namespace {

// Loops within loops, copies of a body, and instructions of all copies of a program up to which loops are divided: a
// loop in a loop is tried in each try.
constexpr int kDeepest = 8;
constexpr int kMaxTries = 8;
constexpr int64_t kMaxTried = 500000;
// Iterations that a loop is assumed to have if they cannot be counted: what is gathered before it counts for less than
// what each iteration gathers.
constexpr int64_t kIterations = 8;

TileAssignment CutOf(const DividedValue& value) { return value.tile != nullptr ? value.tiles : TileAssignment(); }

bool IsLocal(const std::shared_ptr<DividedValue>& leaf) { return leaf->is_local; }

bool IsCut(const DividedValue& value) {
  return value.tile != nullptr ||
         absl::c_any_of(value.elements, [](const auto& element) { return element->tile != nullptr; });
}

// How the leaves of a loop's state are cut, try by try.
class StateCuts {
 public:
  explicit StateCuts(std::vector<TileAssignment> wanted) : tiles_(std::move(wanted)), is_exchanged_(tiles_.size()) {}
  const std::vector<TileAssignment>& tiles() const { return tiles_; }

  // False if the state may stay as it is. Values that pass through, and would be gathered in each iteration, are
  // gathered before the loop.
  bool Change(const Leaves& before, const Leaves& after, const Leaves& tested) {
    bool changed = false;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      const DividedValue &value = *after[i], &in_condition = *tested[i];
      if (tiles_[i].IsWhole() || after[i] != before[i]) continue;
      const bool needs_whole = value.whole != nullptr || in_condition.whole != nullptr;
      const bool needs_other = !is_exchanged_[i] && value.more.size() == 1 && !value.uses_own_tile &&
                               in_condition.more.empty() && !in_condition.uses_own_tile;
      if (needs_whole) {
        tiles_[i] = TileAssignment();
      } else if (needs_other) {
        tiles_[i] = value.more[0].first;
        is_exchanged_[i] = true;
      } else if (!value.joined.IsWhole() || !in_condition.joined.IsWhole()) {
        tiles_[i] = value.joined.IsWhole() ? in_condition.joined : value.joined;
      } else {
        continue;
      }
      changed = true;
    }
    return changed;
  }

 private:
  std::vector<TileAssignment> tiles_;
  std::vector<bool> is_exchanged_;  // whether it is one that the body needed instead: only once
};

}  // namespace

bool Divider::DiffersAmongPartitions(const HloInstruction& control_flow) {
  std::vector<const HloComputation*> reached(control_flow.called_computations().begin(),
                                             control_flow.called_computations().end());
  absl::flat_hash_set<const HloComputation*> seen(reached.begin(), reached.end());
  while (!reached.empty()) {
    const HloComputation* here = reached.back();
    reached.pop_back();
    for (const HloInstruction* instruction : here->instructions()) {
      if (TileWalk::IsSourceOfLocals(*instruction)) return true;
      for (const HloComputation* called : instruction->called_computations()) {
        if (seen.insert(called).second) reached.push_back(called);
      }
    }
  }
  return false;
}

absl::StatusOr<Divider::Body> Divider::Divide(const HloComputation& computation,
                                              const std::vector<TileAssignment>& tiles, const ManualRegion* region,
                                              double iterations, int depth) {
  HloComputation* copy = computation.parent()->CloneComputation(computation, "divided");
  tried_ += copy->instruction_count();
  Body body{.walk = std::make_unique<TileWalk>(copy, region, next_channel_, wanted_, computation)};
  HILO_RETURN_IF_ERROR(CutParameter(body.walk.get(), copy->parameter_instruction(0), tiles));
  HILO_ASSIGN_OR_RETURN(body.parameter, body.walk->LeavesOf(copy->parameter_instruction(0)));
  // What passes through the body of a loop is the same in all iterations.
  const HloInstruction* root = copy->root_instruction();
  for (int64_t i = 0; root->opcode() == HloOpcode::kTuple && i < root->operand_count(); ++i) {
    const HloInstruction* element = root->operand(i);
    if (element->opcode() == HloOpcode::kGetTupleElement && element->operand(0)->IsParameter() &&
        element->tuple_index() == i && i < static_cast<int64_t>(body.parameter.size()))
      body.parameter[i]->iterations = iterations;
  }
  HILO_ASSIGN_OR_RETURN(body.visited, Visit(body.walk.get(), depth));
  HILO_ASSIGN_OR_RETURN(body.result, body.walk->LeavesOf(copy->root_instruction()));
  return body;
}

absl::StatusOr<HloComputation*> Divider::Finish(const Body& body, const std::vector<TileAssignment>& tiles) {
  HloComputation* computation = body.walk->computation();
  HILO_ASSIGN_OR_RETURN(HloInstruction * root,
                        body.walk->Pack(body.result, tiles, computation->root_instruction()->shape().IsTuple()));
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(root, true));
  HILO_RETURN_IF_ERROR(RemoveReplaced(*body.walk, body.visited));
  return computation;
}

bool Divider::MayDivide(const TileWalk& walk, const HloInstruction& instruction, int depth) const {
  if (instruction.opcode() != HloOpcode::kWhile && instruction.opcode() != HloOpcode::kConditional) return false;
  if (depth >= kDeepest || instruction.HasControlDependencies()) return false;
  // The tiles of a state are those of the elements of one tuple.
  const auto is_nested = [](const HloInstruction* x) {
    return x->shape().IsTuple() &&
           absl::c_any_of(x->shape().tuple_shapes(), [](const Shape& element) { return element.IsTuple(); });
  };
  if (is_nested(&instruction) || absl::c_any_of(instruction.operands(), is_nested)) return false;
  const auto any = [&](bool (*is)(const DividedValue&)) {
    return absl::c_any_of(instruction.operands(), [&](const HloInstruction* operand) { return is(walk.Get(operand)); });
  };
  if (any([](const DividedValue& value) { return value.is_local; })) return false;
  for (size_t leaf = 0; leaf < ShapeUtil::Leaves(instruction.shape()).size(); ++leaf) {
    if (!walk.Wanted(instruction, leaf).IsWhole()) return true;
  }
  return any(IsCut) || absl::c_any_of(instruction.called_computations(),
                                      [](const HloComputation* called) { return HasShardingMarks(*called); });
}

absl::StatusOr<bool> Divider::VisitLoop(TileWalk* walk, HloInstruction* loop, int depth) {
  const HloComputation& condition = *loop->called_computation(0);
  const HloComputation& body = *loop->called_computation(1);
  HILO_ASSIGN_OR_RETURN(const Leaves first, walk->LeavesOf(loop->operand(0)));
  std::vector<TileAssignment> wanted;
  for (size_t i = 0; i < first.size(); ++i) wanted.push_back(walk->Wanted(*loop, i));
  StateCuts state(std::move(wanted));
  const std::optional<int64_t> trips = TripCount(*loop);
  if (trips == 0) {
    walk->SetAlias(loop, loop->operand(0));
    return true;
  }
  const auto iterations = static_cast<double>(trips.value_or(kIterations));
  for (int tries = 1;; ++tries) {
    if (tried_ > kMaxTried) return false;
    HILO_ASSIGN_OR_RETURN(const Body divided, Divide(body, state.tiles(), walk->region(), iterations, depth + 1));
    HILO_ASSIGN_OR_RETURN(const Body test, Divide(condition, state.tiles(), walk->region(), iterations, depth + 1));
    if (absl::c_any_of(divided.result, IsLocal) || IsLocal(test.result[0])) return false;
    if (tries < kMaxTries && state.Change(divided.parameter, divided.result, test.parameter)) continue;
    HILO_ASSIGN_OR_RETURN(HloComputation * new_body, Finish(divided, state.tiles()));
    HILO_ASSIGN_OR_RETURN(HloComputation * new_condition, Finish(test, {TileAssignment()}));
    HILO_ASSIGN_OR_RETURN(HloInstruction * operand, walk->Pack(first, state.tiles(), loop->shape().IsTuple()));
    HloInstruction* value =
        walk->computation()->AddInstruction(loop->CloneWithNewOperands(operand->shape(), {operand}), loop->name());
    value->set_called_computation(0, new_condition);
    value->set_called_computation(1, new_body);
    walk->TakeNotes(*divided.walk);
    walk->TakeNotes(*test.walk);
    HILO_RETURN_IF_ERROR(walk->SetDivided(loop, value, state.tiles()));
    return true;
  }
}

absl::StatusOr<bool> Divider::VisitBranches(TileWalk* walk, HloInstruction* conditional, int depth) {
  std::vector<Body> branches;
  std::vector<HloInstruction*> operands(1);
  for (int64_t i = 1; i < conditional->operand_count(); ++i) {
    if (tried_ > kMaxTried) return false;
    HILO_ASSIGN_OR_RETURN(const Leaves leaves, walk->LeavesOf(conditional->operand(i)));
    std::vector<TileAssignment> tiles;
    for (const auto& leaf : leaves) tiles.push_back(CutOf(*leaf));
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(),
                          walk->Pack(leaves, tiles, conditional->operand(i)->shape().IsTuple()));
    HILO_ASSIGN_OR_RETURN(branches.emplace_back(),
                          Divide(*conditional->called_computation(i - 1), tiles, walk->region(), 1, depth + 1));
    if (absl::c_any_of(branches.back().result, IsLocal)) return false;
  }
  std::vector<TileAssignment> tiles;
  for (size_t leaf = 0; leaf < branches[0].result.size(); ++leaf) tiles.push_back(walk->Wanted(*conditional, leaf));
  HILO_ASSIGN_OR_RETURN(operands[0], walk->Whole(conditional->operand(0)));
  std::vector<HloComputation*> finished;
  for (const Body& branch : branches) {
    HILO_ASSIGN_OR_RETURN(finished.emplace_back(), Finish(branch, tiles));
    walk->TakeNotes(*branch.walk);
  }
  HloInstruction* value = walk->computation()->AddInstruction(
      conditional->CloneWithNewOperands(finished[0]->root_instruction()->shape(), operands), conditional->name());
  for (size_t i = 0; i < finished.size(); ++i) value->set_called_computation(static_cast<int64_t>(i), finished[i]);
  HILO_RETURN_IF_ERROR(walk->SetDivided(conditional, value, tiles));
  return true;
}

}  // namespace hilo
