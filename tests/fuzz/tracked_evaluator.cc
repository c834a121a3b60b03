#include "tests/fuzz/tracked_evaluator.h"

#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "base/work_budget.h"
#include "hilo/status_macros.h"
#include "hlo/evaluator/hlo_evaluator.h"

namespace hilo::fuzz {
namespace {

size_t LeafCount(const Shape& shape) { return ShapeUtil::Leaves(shape).size(); }

absl::StatusOr<int64_t> ExactInteger(const TrackedLeaves& leaves, const HloInstruction& instruction) {
  if (leaves[0].error != 0)
    return absl::FailedPreconditionError(absl::StrCat("inexact control of ", instruction.name()));
  return leaves[0].value->GetAsInt64(0);
}

Literal AssembleFrom(const Shape& shape, const Tracked*& next) {
  if (!shape.IsTuple()) return (next++)->value->Clone();
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(AssembleFrom(element, next));
  return Literal::MakeTuple(std::move(elements));
}

// Some three seconds. A window of 20,000 elements at as many positions takes more, and tells no more.
constexpr int64_t kMaxOperations = int64_t{1} << 28;

absl::StatusOr<Literal> Evaluate(const HloInstruction& instruction, absl::Span<const Literal* const> operands) {
  WorkBudget budget(nullptr, "evaluation", kMaxOperations);
  auto value = HloEvaluator(&budget).EvaluateInstruction(instruction, operands);
  if (absl::IsResourceExhausted(value.status()) && budget.left() == 0)
    return absl::FailedPreconditionError(value.status().message());
  return value;
}

}  // namespace

TrackedLeaves ExactLeaves(Literal literal) {
  TrackedLeaves leaves;
  if (!literal.shape().IsTuple()) {
    leaves.push_back({std::make_shared<const Literal>(std::move(literal))});
    return leaves;
  }
  for (Literal& element : std::move(literal).DecomposeTuple()) {
    for (Tracked& leaf : ExactLeaves(std::move(element))) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

Literal Assemble(const Shape& shape, absl::Span<const Tracked> leaves) {
  const Tracked* next = leaves.data();
  return AssembleFrom(shape, next);
}

absl::StatusOr<TrackedLeaves> TrackedEvaluator::Step(const HloInstruction& instruction,
                                                     absl::Span<const TrackedLeaves* const> operands) {
  switch (instruction.opcode()) {
    case HloOpcode::kTuple: {
      TrackedLeaves all;
      for (const TrackedLeaves* operand : operands) all.insert(all.end(), operand->begin(), operand->end());
      return all;
    }
    case HloOpcode::kGetTupleElement: {
      const Shape& tuple = instruction.operand(0)->shape();
      size_t first = 0;
      for (int64_t i = 0; i < instruction.tuple_index(); ++i) first += LeafCount(tuple.tuple_shapes(i));
      const auto begin = operands[0]->begin() + first;
      return TrackedLeaves(begin, begin + LeafCount(instruction.shape()));
    }
    case HloOpcode::kAddDependency:
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kCopy:
    case HloOpcode::kDomain:
    case HloOpcode::kOptimizationBarrier: return *operands[0];
    case HloOpcode::kAfterAll: {
      HILO_ASSIGN_OR_RETURN(Literal token, Evaluate(instruction, {}));
      return ExactLeaves(std::move(token));
    }
    case HloOpcode::kCopyStart:
      return TrackedLeaves{
          operands[0]->front(), operands[0]->front(), {std::make_shared<const Literal>(LiteralUtil::Zero(U32))}};
    case HloOpcode::kCopyDone: return TrackedLeaves{operands[0]->front()};
    case HloOpcode::kAsyncStart: {  // the operands, then the results
      TrackedLeaves state;
      std::vector<TrackedLeaves> arguments;
      for (const TrackedLeaves* operand : operands) {
        arguments.push_back(*operand);
        state.insert(state.end(), operand->begin(), operand->end());
      }
      HILO_ASSIGN_OR_RETURN(const TrackedLeaves results, Run(*instruction.called_computation(), arguments));
      state.insert(state.end(), results.begin(), results.end());
      return state;
    }
    case HloOpcode::kAsyncDone:
      return TrackedLeaves(operands[0]->end() - LeafCount(instruction.shape()), operands[0]->end());
    case HloOpcode::kFusion:
    case HloOpcode::kCall: {
      std::vector<TrackedLeaves> arguments;
      for (const TrackedLeaves* operand : operands) arguments.push_back(*operand);
      return Run(*instruction.called_computation(), arguments);
    }
    case HloOpcode::kConditional: {
      HILO_ASSIGN_OR_RETURN(int64_t index, ExactInteger(*operands[0], instruction));
      const int64_t branches = static_cast<int64_t>(instruction.called_computations().size());
      if (instruction.operand(0)->shape().element_type() == PRED) index = index != 0 ? 0 : 1;
      if (index < 0 || index >= branches) index = branches - 1;
      return Run(*instruction.called_computation(index), {*operands[index + 1]});
    }
    case HloOpcode::kWhile: {
      TrackedLeaves state = *operands[0];
      for (int trip = 0; trip < 1000; ++trip) {
        HILO_ASSIGN_OR_RETURN(TrackedLeaves again, Run(*instruction.called_computation(0), {state}));
        HILO_ASSIGN_OR_RETURN(int64_t go_on, ExactInteger(again, instruction));
        if (go_on == 0) return state;
        HILO_ASSIGN_OR_RETURN(state, Run(*instruction.called_computation(1), {state}));
      }
      return absl::FailedPreconditionError("a long loop");
    }
    default: break;
  }
  std::vector<const Literal*> literals;
  std::vector<const Tracked*> tracked;
  for (const TrackedLeaves* operand : operands) {
    HILO_RET_CHECK(operand->size() == 1) << instruction.ToString();
    tracked.push_back(&operand->front());
    literals.push_back(operand->front().value.get());
  }
  HILO_ASSIGN_OR_RETURN(Literal result, Evaluate(instruction, literals));
  TrackedLeaves leaves = ExactLeaves(std::move(result));
  for (Tracked& leaf : leaves) {
    HILO_ASSIGN_OR_RETURN(leaf.error, ErrorBound(instruction, tracked, *leaf.value, strict_));
    if (std::isnan(leaf.error)) leaf.error = kUnknown;
  }
  return leaves;
}

absl::StatusOr<TrackedLeaves> TrackedEvaluator::Run(const HloComputation& computation,
                                                    absl::Span<const TrackedLeaves> arguments) {
  absl::flat_hash_map<const HloInstruction*, TrackedLeaves> values;
  for (const HloInstruction* instruction : computation.MakePostOrder()) {
    if (instruction->IsParameter()) {
      values[instruction] = arguments[instruction->parameter_number()];
      continue;
    }
    std::vector<const TrackedLeaves*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(&values.at(operand));
    HILO_ASSIGN_OR_RETURN(TrackedLeaves leaves, Step(*instruction, operands));
    values[instruction] = std::move(leaves);
  }
  return values.at(computation.root_instruction());
}

}  // namespace hilo::fuzz
