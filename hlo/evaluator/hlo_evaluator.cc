#include "hlo/evaluator/hlo_evaluator.h"

#include "absl/container/inlined_vector.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/evaluator/dynamic_evaluation.h"
#include "hlo/ir/call_depth.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/collective/async_shapes.h"
#include "hlo/ops/semantics.h"

namespace hilo {
namespace {

// The budget charged for an instruction, and for a call, besides its elements, in units of an element of a large array.
constexpr int64_t kStepOperations = 64;

using LeafList = std::vector<std::shared_ptr<const Literal>>;

// Adds the leaves of a literal that outlives them, without copies.
void Flatten(const Literal& literal, LeafList* leaves) {
  if (!literal.shape().IsTuple()) {
    leaves->push_back(std::shared_ptr<const Literal>(std::shared_ptr<const Literal>(), &literal));
    return;
  }
  for (int64_t i = 0; i < literal.tuple_size(); ++i) Flatten(literal.element(i), leaves);
}

void FlattenMoved(Literal literal, LeafList* leaves) {
  if (!literal.shape().IsTuple()) {
    leaves->push_back(std::make_shared<Literal>(std::move(literal)));
    return;
  }
  for (Literal& element : std::move(literal).DecomposeTuple()) FlattenMoved(std::move(element), leaves);
}

// Returns the leaves from `next` on as a literal of the shape, with copies of them.
Literal Rebuild(const Shape& shape, const LeafList& leaves, size_t* next) {
  if (!shape.IsTuple()) return leaves[(*next)++]->Clone();
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Rebuild(element, leaves, next));
  return Literal::MakeTuple(std::move(elements));
}

int64_t CountLeaves(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.tuple_shapes()) count += CountLeaves(element);
  return count;
}

}  // namespace

const HloEvaluator::Plan& HloEvaluator::PlanOf(const HloComputation& computation) {
  std::unique_ptr<Plan>& slot = plans_[&computation];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<Plan>();
  const std::vector<HloInstruction*> order = computation.parent()->OrderOf(computation);
  absl::flat_hash_map<const HloInstruction*, int> number;
  std::vector<int> last_use;
  for (const HloInstruction* instruction : order) {
    const int step = static_cast<int>(slot->steps.size());
    number[instruction] = step;
    last_use.push_back(step);
    Plan::Step entry{.instruction = instruction};
    for (const HloInstruction* operand : instruction->operands()) {
      entry.operands.push_back(number.at(operand));
      last_use[number.at(operand)] = step;
    }
    slot->steps.push_back(std::move(entry));
  }
  slot->root = number.at(computation.root_instruction());
  for (size_t i = 0; i < last_use.size(); ++i) {
    if (static_cast<int>(i) != slot->root) slot->steps[last_use[i]].last_uses.push_back(static_cast<int>(i));
  }
  return *slot;
}

absl::StatusOr<Literal> HloEvaluator::Evaluate(const HloModule& module, absl::Span<const Literal* const> arguments) {
  return Evaluate(*module.entry_computation(), arguments);
}

absl::StatusOr<Literal> HloEvaluator::Evaluate(const HloComputation& computation,
                                               absl::Span<const Literal* const> arguments) {
  if (static_cast<int64_t>(arguments.size()) != computation.num_parameters()) {
    return InvalidArgument("computation ", computation.name(), " has ", computation.num_parameters(),
                           " parameters, but got ", arguments.size(), " arguments");
  }
  std::vector<Leaves> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& expected = computation.parameter_instruction(i)->shape();
    if (!ShapeUtil::Compatible(expected, arguments[i]->shape())) {
      return InvalidArgument("argument ", i, " of ", computation.name(), ": expected ", expected.ToString(), ", got ",
                             arguments[i]->shape().ToString());
    }
    Flatten(*arguments[i], &values[i]);
  }
  HILO_ASSIGN_OR_RETURN(Leaves result, Run(computation, values));
  const Shape& shape = computation.root_instruction()->shape();
  // A value that nothing else has was computed here (FlattenMoved).
  if (!shape.IsTuple() && result[0].use_count() == 1) return std::move(*std::const_pointer_cast<Literal>(result[0]));
  size_t next = 0;
  return Rebuild(shape, result, &next);
}

absl::StatusOr<HloEvaluator::Leaves> HloEvaluator::Run(const HloComputation& computation,
                                                       const std::vector<Leaves>& arguments) {
  if (depth_ >= kMaxEvaluatedDepth) {
    return ResourceExhausted("computation ", computation.name(), " is nested more than ", kMaxEvaluatedDepth, " deep");
  }
  HILO_RETURN_IF_ERROR(Spend(kStepOperations));
  ++depth_;
  const Plan& plan = PlanOf(computation);
  std::vector<Leaves> values(plan.steps.size());
  std::vector<const Leaves*> operands;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Plan::Step& step = plan.steps[i];
    if (step.instruction->IsParameter()) {
      operands.clear();
      values[i] = arguments[step.instruction->parameter_number()];
    } else {
      operands.clear();
      for (int operand : step.operands) operands.push_back(&values[operand]);
      auto result = RunStep(*step.instruction, operands);
      if (!result.ok()) {
        --depth_;
        return result.status();
      }
      values[i] = *std::move(result);
    }
    if (observer_ && (depth_ == 1 || !step.instruction->IsParameter())) {
      if (absl::Status seen = observer_(*step.instruction, operands, values[i]); !seen.ok()) {
        --depth_;
        return seen;
      }
    }
    for (int dead : step.last_uses) Leaves().swap(values[dead]);
  }
  --depth_;
  return std::move(values[plan.root]);
}

absl::StatusOr<HloEvaluator::Leaves> HloEvaluator::RunStep(const HloInstruction& instruction,
                                                           const std::vector<const Leaves*>& operands) {
  switch (instruction.opcode()) {
    case HloOpcode::kTuple: {
      Leaves leaves;
      for (const Leaves* operand : operands) leaves.insert(leaves.end(), operand->begin(), operand->end());
      return leaves;
    }
    case HloOpcode::kGetTupleElement: {
      int64_t first = 0;
      const Shape& tuple = instruction.operand(0)->shape();
      for (int64_t i = 0; i < instruction.tuple_index(); ++i) first += CountLeaves(tuple.tuple_shapes(i));
      const auto begin = operands[0]->begin() + first;
      return Leaves(begin, begin + CountLeaves(instruction.shape()));
    }
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kAddDependency: return *operands[0];
    case HloOpcode::kConstant: return Leaves{instruction.shared_literal()};
    case HloOpcode::kWhile: return RunWhile(instruction, *operands[0]);
    case HloOpcode::kConditional: return RunConditional(instruction, operands);
    case HloOpcode::kCall:
    case HloOpcode::kFusion: {
      std::vector<Leaves> arguments;
      for (const Leaves* operand : operands) arguments.push_back(*operand);
      return Run(*instruction.called_computation(), arguments);
    }
    default: break;
  }
  std::vector<Literal> tuples;
  tuples.reserve(operands.size());
  std::vector<const Literal*> literals;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    if (!shape.IsTuple()) {
      literals.push_back((*operands[i])[0].get());
      continue;
    }
    size_t next = 0;
    tuples.push_back(Rebuild(shape, *operands[i], &next));
    literals.push_back(&tuples.back());
  }
  HILO_ASSIGN_OR_RETURN(Literal result, EvaluateInstruction(instruction, literals));
  Leaves leaves;
  FlattenMoved(std::move(result), &leaves);
  return leaves;
}

absl::StatusOr<Literal> HloEvaluator::RunOutside(const HloInstruction& instruction, Operands operands) {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kReplicaId) return LiteralUtil::CreateR0(static_cast<uint32_t>(environment_->replica_id()));
  if (opcode == HloOpcode::kPartitionId)
    return LiteralUtil::CreateR0(static_cast<uint32_t>(environment_->partition_id()));
  HILO_ASSIGN_OR_RETURN(Literal result, environment_->Run(instruction, operands, CallbacksOf(instruction)));
  if (opcode != HloOpcode::kAllGatherStart && opcode != HloOpcode::kCollectivePermuteStart) return result;
  return StartedLiteral(instruction.shape(), operands, std::move(result));
}

absl::StatusOr<Literal> HloEvaluator::EvaluateInstruction(const HloInstruction& instruction, Operands operands) {
  const bool outside = ReachesOutside(instruction.opcode()) || instruction.opcode() == HloOpcode::kReplicaId ||
                       instruction.opcode() == HloOpcode::kPartitionId;
  if (outside && AnyDynamic(operands)) {
    return Unimplemented(HloOpcodeString(instruction.opcode()), " does not take arrays with dynamic dimensions",
                         InstructionContext(instruction));
  }
  if (outside && environment_ != nullptr) {
    auto result = RunOutside(instruction, operands);
    if (!result.ok()) return AddContext(result.status(), InstructionContext(instruction));
    return result;
  }
  // Ops with more work than this charge the rest themselves.
  HILO_RETURN_IF_ERROR(
      Spend(kStepOperations + (instruction.shape().IsArray() ? ShapeUtil::ElementsIn(instruction.shape()) : 0)));
  absl::InlinedVector<const Shape*, 4> shapes;
  for (const HloInstruction* operand : instruction.operands()) shapes.push_back(&operand->shape());
  OpView op{.opcode = instruction.opcode(),
            .operands = shapes,
            .attributes = instruction.attributes(),
            .stated = &instruction.shape(),
            .budget = budget_};
  if (!instruction.called_computations().empty()) op.computations = CallbacksOf(instruction);
  auto result =
      AnyDynamic(operands) ? EvaluateDynamic(instruction, op, operands) : EvaluateOp(op, instruction.shape(), operands);
  if (!result.ok()) return AddContext(result.status(), InstructionContext(instruction));
  return result;
}

const std::vector<ComputationFn>& HloEvaluator::CallbacksOf(const HloInstruction& instruction) {
  std::unique_ptr<std::vector<ComputationFn>>& slot = callbacks_[&instruction];
  if (slot == nullptr) {
    slot = std::make_unique<std::vector<ComputationFn>>();
    for (const HloComputation* computation : instruction.called_computations()) {
      slot->push_back([this, computation](Operands arguments) { return Evaluate(*computation, arguments); });
    }
  }
  return *slot;
}

absl::StatusOr<HloEvaluator::Leaves> HloEvaluator::RunWhile(const HloInstruction& loop, const Leaves& init) {
  std::vector<Leaves> state = {init};
  while (true) {
    HILO_ASSIGN_OR_RETURN(Leaves more, Run(*loop.called_computation(0), state));
    if (!more[0]->GetFirstElement<bool>()) return std::move(state[0]);
    HILO_ASSIGN_OR_RETURN(state[0], Run(*loop.called_computation(1), state));
  }
}

absl::StatusOr<HloEvaluator::Leaves> HloEvaluator::RunConditional(const HloInstruction& conditional,
                                                                  const std::vector<const Leaves*>& operands) {
  const Literal& selector = *(*operands[0])[0];
  const int64_t branches = static_cast<int64_t>(conditional.called_computations().size());
  int64_t branch;
  if (selector.shape().element_type() == PRED) {
    branch = selector.GetFirstElement<bool>() ? 0 : 1;
  } else {
    branch = selector.GetAsInt64(0);
    if (branch < 0 || branch >= branches) branch = branches - 1;
  }
  return Run(*conditional.called_computation(branch), {*operands[branch + 1]});
}

}  // namespace hilo
