#include "hlo/memory/assigned_evaluator.h"

#include <cstring>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/in_place.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/ir/call_depth.h"

namespace hilo {
namespace {

constexpr uint8_t kPoison = 0xCB;

// Memory of one run of a scope.
struct Memory {
  std::vector<uint8_t*> parameters, outputs;
  std::vector<std::vector<uint8_t>> stack;
  std::vector<uint8_t> frame;
};

class Machine {
 public:
  Machine(const HloModule& module, const BufferAssignment& assignment, EvaluationEnvironment* environment,
          WorkBudget* budget)
      : module_(module), assignment_(assignment), budget_(budget), evaluator_(budget, environment) {}

  absl::Status RunScope(const HloComputation& computation, std::vector<uint8_t*> parameters,
                        std::vector<uint8_t*> outputs) {
    if (++depth_ > kMaxEvaluatedDepth)
      return ResourceExhausted("calls are nested more than ", kMaxEvaluatedDepth, " deep");
    const BufferAssignment::Scope& scope = assignment_.scope(&computation);
    Memory memory{.parameters = std::move(parameters), .outputs = std::move(outputs)};
    memory.frame.assign(scope.frame_bytes, kPoison);
    for (int64_t size : scope.stack_sizes) memory.stack.emplace_back(size, kPoison);
    HILO_RETURN_IF_ERROR(RunComputation(computation, memory));
    --depth_;
    return absl::OkStatus();
  }

  uint8_t* Address(const BufferSlice& slice, Memory& memory) {
    switch (slice.kind) {
      case StorageKind::kNone: return nullptr;
      case StorageKind::kParameter: return memory.parameters[slice.index];
      case StorageKind::kOutput: return memory.outputs[slice.index];
      case StorageKind::kConstant:
        return const_cast<uint8_t*>(assignment_.constants()[slice.index]->untyped_data().data());
      case StorageKind::kStack: return memory.stack[slice.index].data();
      case StorageKind::kFrame: return memory.frame.data() + slice.offset;
    }
    return nullptr;
  }

 private:
  absl::StatusOr<Literal> Read(const HloInstruction& instruction, Memory& memory) {
    int64_t leaf = 0;
    return ReadLeaves(instruction, instruction.shape(), &leaf, memory);
  }

  absl::StatusOr<Literal> ReadLeaves(const HloInstruction& instruction, const Shape& shape, int64_t* leaf,
                                     Memory& memory) {
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.tuple_shapes()) {
        HILO_ASSIGN_OR_RETURN(Literal literal, ReadLeaves(instruction, element, leaf, memory));
        elements.push_back(std::move(literal));
      }
      return Literal::MakeTuple(std::move(elements));
    }
    HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
    const uint8_t* source = Address(assignment_.slice(&instruction, (*leaf)++), memory);
    if (source != nullptr) std::memcpy(literal.untyped_data().data(), source, literal.untyped_data().size());
    return literal;
  }

  void Write(const HloInstruction& instruction, const Literal& literal, int64_t* leaf, Memory& memory) {
    if (literal.shape().IsTuple()) {
      for (int64_t i = 0; i < literal.tuple_size(); ++i) Write(instruction, literal.element(i), leaf, memory);
      return;
    }
    uint8_t* target = Address(assignment_.slice(&instruction, (*leaf)++), memory);
    if (target != nullptr) std::memmove(target, literal.untyped_data().data(), literal.untyped_data().size());
  }

  // Pointers to the leaves of an instruction.
  std::vector<uint8_t*> Pointers(const HloInstruction& instruction, Memory& memory) {
    std::vector<uint8_t*> pointers;
    for (int64_t leaf = 0, leaves = LeafCount(instruction.shape()); leaf < leaves; ++leaf) {
      pointers.push_back(Address(assignment_.slice(&instruction, leaf), memory));
    }
    return pointers;
  }

  absl::Status RunComputation(const HloComputation& computation, Memory& memory) {
    if (budget_ != nullptr) HILO_RETURN_IF_ERROR(budget_->Spend(1));
    for (const HloInstruction* instruction : module_.OrderOf(computation)) {
      HILO_RETURN_IF_ERROR(RunInstruction(*instruction, memory));
    }
    return absl::OkStatus();
  }

  absl::Status RunWhile(const HloInstruction& loop, Memory& memory) {
    while (true) {
      const HloComputation& condition = *loop.called_computation(0);
      HILO_RETURN_IF_ERROR(RunComputation(condition, memory));
      HILO_ASSIGN_OR_RETURN(Literal more, Read(*condition.root_instruction(), memory));
      if (!more.GetFirstElement<bool>()) return absl::OkStatus();
      HILO_RETURN_IF_ERROR(RunComputation(*loop.called_computation(1), memory));
    }
  }

  absl::Status RunConditional(const HloInstruction& conditional, Memory& memory) {
    HILO_ASSIGN_OR_RETURN(Literal selector, Read(*conditional.operand(0), memory));
    const int64_t branches = static_cast<int64_t>(conditional.called_computations().size());
    int64_t branch = selector.GetAsInt64(0);
    if (selector.shape().element_type() == PRED) branch = branch != 0 ? 0 : 1;
    if (branch < 0 || branch >= branches) branch = branches - 1;
    return RunComputation(*conditional.called_computation(branch), memory);
  }

  absl::Status RunCall(const HloInstruction& call, Memory& memory) {
    std::vector<uint8_t*> parameters;
    for (const HloInstruction* operand : call.operands()) {
      for (uint8_t* pointer : Pointers(*operand, memory)) parameters.push_back(pointer);
    }
    return RunScope(*call.called_computation(), std::move(parameters), Pointers(call, memory));
  }

  absl::Status RunInstruction(const HloInstruction& instruction, Memory& memory) {
    if (instruction.IsParameter() || instruction.IsConstant() || IsForwarding(instruction)) return absl::OkStatus();
    if (instruction.opcode() == HloOpcode::kWhile) return RunWhile(instruction, memory);
    if (instruction.opcode() == HloOpcode::kConditional) return RunConditional(instruction, memory);
    if (instruction.opcode() == HloOpcode::kCall) return RunCall(instruction, memory);
    std::vector<Literal> operands;
    std::vector<const Literal*> pointers;
    for (const HloInstruction* operand : instruction.operands()) {
      HILO_ASSIGN_OR_RETURN(Literal literal, Read(*operand, memory));
      operands.push_back(std::move(literal));
    }
    for (const Literal& operand : operands) pointers.push_back(&operand);
    absl::StatusOr<Literal> result = instruction.opcode() == HloOpcode::kFusion
                                         ? evaluator_.Evaluate(*instruction.called_computation(), pointers)
                                         : evaluator_.EvaluateInstruction(instruction, pointers);
    if (!result.ok()) return result.status();
    int64_t leaf = 0;
    Write(instruction, *result, &leaf, memory);
    return absl::OkStatus();
  }

  const HloModule& module_;
  const BufferAssignment& assignment_;
  WorkBudget* budget_;
  HloEvaluator evaluator_;
  int depth_ = 0;
};

void CollectBytes(const Literal& literal, std::vector<std::vector<uint8_t>>* out) {
  if (literal.shape().IsTuple()) {
    for (int64_t i = 0; i < literal.tuple_size(); ++i) CollectBytes(literal.element(i), out);
    return;
  }
  out->emplace_back(literal.untyped_data().begin(), literal.untyped_data().end());
}

absl::StatusOr<Literal> Assemble(const Shape& shape, const std::vector<std::vector<uint8_t>>& leaves, size_t* next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      HILO_ASSIGN_OR_RETURN(Literal literal, Assemble(element, leaves, next));
      elements.push_back(std::move(literal));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  const std::vector<uint8_t>& bytes = leaves[(*next)++];
  if (!bytes.empty()) std::memcpy(literal.untyped_data().data(), bytes.data(), literal.untyped_data().size());
  return literal;
}

}  // namespace

absl::StatusOr<Literal> EvaluateInAssignedBuffers(const HloModule& module, const BufferAssignment& assignment,
                                                  absl::Span<const Literal* const> arguments,
                                                  EvaluationEnvironment* environment, WorkBudget* budget) {
  const HloComputation& entry = *module.entry_computation();
  if (static_cast<int64_t>(arguments.size()) != entry.num_parameters()) {
    return InvalidArgument("the entry has ", entry.num_parameters(), " parameters, but got ", arguments.size(),
                           " arguments");
  }
  std::vector<std::vector<uint8_t>> parameters, outputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& expected = entry.parameter_instruction(i)->shape();
    if (!ShapeUtil::Compatible(expected, arguments[i]->shape())) {
      return InvalidArgument("argument ", i, ": expected ", expected.ToString(), ", got ",
                             arguments[i]->shape().ToString());
    }
    CollectBytes(*arguments[i], &parameters);
  }
  for (const auto& leaf : ShapeUtil::Leaves(entry.root_instruction()->shape())) {
    outputs.emplace_back(leaf.shape->IsArray() ? ShapeUtil::ByteSizeOf(*leaf.shape) : 0, kPoison);
  }
  for (const auto& [output, parameter] : assignment.scope(&entry).donations) {
    outputs[output] = parameters[parameter];
  }
  std::vector<uint8_t*> parameter_pointers, output_pointers;
  for (auto& bytes : parameters) parameter_pointers.push_back(bytes.data());
  for (auto& bytes : outputs) output_pointers.push_back(bytes.data());
  Machine machine(module, assignment, environment, budget);
  HILO_RETURN_IF_ERROR(machine.RunScope(entry, parameter_pointers, output_pointers));
  size_t next = 0;
  return Assemble(entry.root_instruction()->shape(), outputs, &next);
}

}  // namespace hilo
