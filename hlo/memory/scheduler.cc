// The order is a depth-first post order with one refinement. An array that an instruction U may overwrite in place
// (dynamic-update-slice, scatter) is better read by its other users before U runs: then U needs no copy. The same holds
// for the array that a loop carries and the instruction that computes its next value. So extra edges "other readers
// before U" are added where they close no cycle; small arrays are not worth the search.
#include "hlo/memory/scheduler.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "base/work_budget.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/in_place.h"
#include "hlo/ir/call_depth.h"

namespace hilo {
namespace {

// Arrays below this size are copied rather than reordered for.
constexpr int64_t kWorthOrdering = 1024;
// A search for a cycle stops, dropping the edge, after this many instructions; all searches of a computation, and those
// for the readers of arrays, after so many.
constexpr int64_t kReachLimit = 2000;
constexpr int64_t kTotalReachLimit = 5'000'000;
// Of a budget that polls: an instruction of a search.
constexpr int64_t kSearchStep = 16;

using Edges =
    absl::flat_hash_map<const HloInstruction*, std::vector<HloInstruction*>>;  // instruction -> extra predecessors

// True if `from` is computed (directly or not) from `to`, or if that could not be decided cheaply. Takes what it costs
// from `budget`.
bool Reaches(const HloInstruction* from, const HloInstruction* to, const Edges& extra, int64_t& budget) {
  absl::flat_hash_set<const HloInstruction*> seen = {from};
  std::vector<const HloInstruction*> work = {from};
  while (!work.empty()) {
    const HloInstruction* next = work.back();
    work.pop_back();
    if (next == to) return true;
    if (static_cast<int64_t>(seen.size()) > kReachLimit || --budget < 0) return true;
    auto visit = [&](const HloInstruction* predecessor) {
      if (seen.insert(predecessor).second) work.push_back(predecessor);
    };
    for (const HloInstruction* operand : next->operands()) visit(operand);
    for (const HloInstruction* predecessor : next->control_predecessors()) visit(predecessor);
    if (auto it = extra.find(next); it != extra.end()) {
      for (const HloInstruction* predecessor : it->second) visit(predecessor);
    }
  }
  return false;
}

// The instructions that read the memory of `array`, views included. Takes what it costs from `budget`.
std::vector<HloInstruction*> Readers(const HloInstruction* array, int64_t& budget) {
  std::vector<HloInstruction*> readers;
  absl::flat_hash_set<const HloInstruction*> seen = {array};
  std::vector<const HloInstruction*> work = {array};
  while (!work.empty()) {
    const HloInstruction* next = work.back();
    work.pop_back();
    budget -= static_cast<int64_t>(next->users().size());
    for (HloInstruction* user : next->users()) {
      if (!seen.insert(user).second) continue;
      if (user->opcode() == HloOpcode::kTuple) continue;  // read where the tuple is taken apart or carried on
      if (IsForwarding(*user)) {
        work.push_back(user);
      } else {
        readers.push_back(user);
      }
    }
  }
  return readers;
}

void ReadersFirst(const HloInstruction* array, HloInstruction* writer, Edges& extra, int64_t& budget) {
  if (!array->shape().IsArray() || ShapeUtil::ByteSizeOf(array->shape()) < kWorthOrdering || budget < 0) return;
  for (HloInstruction* reader : Readers(array, budget)) {
    if (budget < 0) return;
    if (reader == writer || Reaches(reader, writer, extra, budget)) continue;
    extra[writer].push_back(reader);
  }
}

absl::StatusOr<Edges> OrderingEdges(const HloComputation& computation, WorkBudget& polls) {
  Edges extra;
  int64_t budget = kTotalReachLimit;
  for (HloInstruction* instruction : computation.instructions()) {
    const int64_t before = budget;
    for (const InPlacePair& pair : InPlacePairs(*instruction)) {
      if (pair.updates_part) ReadersFirst(instruction->operand(pair.operand), instruction, extra, budget);
    }
    HILO_RETURN_IF_ERROR(polls.Spend(kSearchStep * (1 + before - budget)));
  }
  // A loop body: what reads the carried array comes before what computes its next value.
  const HloInstruction* root = computation.root_instruction();
  if (computation.num_parameters() != 1 || root->opcode() != HloOpcode::kTuple) return extra;
  const HloInstruction* parameter = computation.parameter_instruction(0);
  if (!parameter->shape().IsTuple()) return extra;
  for (const HloInstruction* element : parameter->users()) {
    if (element->opcode() != HloOpcode::kGetTupleElement || element->tuple_index() >= root->operand_count()) continue;
    HloInstruction* next = root->operand(element->tuple_index());
    const int64_t before = budget;
    if (!IsForwarding(*next) && !next->IsParameter()) ReadersFirst(element, next, extra, budget);
    HILO_RETURN_IF_ERROR(polls.Spend(kSearchStep * (1 + before - budget)));
  }
  return extra;
}

// A post order over operands, control predecessors and extra edges.
absl::StatusOr<std::vector<HloInstruction*>> Order(const HloComputation& computation, WorkBudget& polls) {
  HILO_ASSIGN_OR_RETURN(const Edges extra, OrderingEdges(computation, polls));
  if (extra.empty()) return computation.MakePostOrder();
  std::vector<HloInstruction*> order;
  absl::flat_hash_set<const HloInstruction*> seen;
  struct Frame {
    HloInstruction* instruction;
    std::vector<HloInstruction*> predecessors;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  auto open = [&](HloInstruction* instruction) {
    if (!seen.insert(instruction).second) return;
    Frame frame{instruction, {instruction->operands().begin(), instruction->operands().end()}};
    for (HloInstruction* predecessor : instruction->control_predecessors()) frame.predecessors.push_back(predecessor);
    if (auto it = extra.find(instruction); it != extra.end()) {
      frame.predecessors.insert(frame.predecessors.end(), it->second.begin(), it->second.end());
    }
    stack.push_back(std::move(frame));
  };
  auto visit = [&](HloInstruction* start) {
    open(start);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next < frame.predecessors.size()) {
        open(frame.predecessors[frame.next++]);
        continue;
      }
      order.push_back(frame.instruction);
      stack.pop_back();
    }
  };
  for (HloInstruction* parameter : computation.parameter_instructions()) visit(parameter);
  for (HloInstruction* instruction : computation.instructions()) visit(instruction);
  return order;
}

}  // namespace

absl::StatusOr<std::vector<HloComputation*>> SequentialComputations(const HloModule& module) {
  absl::flat_hash_set<const HloComputation*> sequential = {module.entry_computation()};
  std::vector<const HloComputation*> work = {module.entry_computation()};
  while (!work.empty()) {
    const HloComputation* next = work.back();
    work.pop_back();
    for (const HloInstruction* instruction : next->instructions()) {
      if (!HasTrait(instruction->opcode(), kControlFlow)) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        if (sequential.insert(called).second) work.push_back(called);
      }
    }
  }
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> order, module.MakeComputationPostOrder());
  std::vector<HloComputation*> result;
  for (HloComputation* computation : order) {
    if (sequential.contains(computation)) result.push_back(computation);
  }
  return result;
}

absl::StatusOr<std::vector<HloComputation*>> ScopesOf(const HloModule& module) {
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> sequential, SequentialComputations(module));
  absl::flat_hash_set<const HloComputation*> called = {module.entry_computation()};
  for (const HloComputation* computation : sequential) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCall) called.insert(instruction->called_computation());
    }
  }
  std::vector<HloComputation*> scopes;
  for (HloComputation* computation : sequential) {
    if (called.contains(computation)) scopes.push_back(computation);
  }
  return scopes;
}

namespace {

absl::Status CheckNesting(absl::Span<HloComputation* const> callees_first) {
  absl::flat_hash_map<const HloComputation*, int64_t> depths;
  for (const HloComputation* computation : callees_first) {
    int64_t depth = 0;
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kWhile && instruction->opcode() != HloOpcode::kConditional) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        depth = std::max(depth, depths.at(called) + 1);
      }
    }
    if (depth > kMaxScheduledDepth) {
      return ResourceExhausted("loops and conditionals are nested more than ", kMaxScheduledDepth, " deep, at ",
                               computation->name());
    }
    depths[computation] = depth;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ScheduleModule(HloModule* module, const CancellationToken* cancellation) {
  module->schedule().clear();
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> computations, SequentialComputations(*module));
  HILO_RETURN_IF_ERROR(CheckNesting(computations));
  WorkBudget polls(cancellation, "compilation");
  for (HloComputation* computation : computations) {
    HILO_ASSIGN_OR_RETURN(module->schedule()[computation], Order(*computation, polls));
  }
  return absl::OkStatus();
}

}  // namespace hilo
