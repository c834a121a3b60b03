#include "hlo/ir/hlo_computation.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

bool HloComputation::IsEntry() const { return parent_->entry_computation() == this; }

ProgramShape HloComputation::ComputeProgramShape() const {
  ProgramShape program;
  for (const HloInstruction* parameter : parameters_) {
    program.parameters.push_back(parameter->shape());
    program.parameter_names.push_back(parameter->name());
  }
  if (root_ != nullptr) program.result = root_->shape();
  return program;
}

std::vector<HloInstruction*> HloComputation::instructions() const {
  std::vector<HloInstruction*> list;
  list.reserve(instruction_count_);
  for (const auto& instruction : instructions_) {
    if (instruction != nullptr) list.push_back(instruction.get());
  }
  return list;
}

std::vector<HloInstruction*> HloComputation::MakePostOrder() const {
  std::vector<HloInstruction*> order;
  order.reserve(instruction_count_);
  absl::flat_hash_map<const HloInstruction*, bool> done;  // false: on the stack
  done.reserve(instruction_count_);
  struct Frame {
    HloInstruction* instruction;
    size_t next;
  };
  std::vector<Frame> stack;
  auto visit = [&](HloInstruction* start) {
    if (!done.try_emplace(start, false).second) return;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const auto operands = frame.instruction->operands();
      const auto predecessors = frame.instruction->control_predecessors();
      if (frame.next < operands.size() + predecessors.size()) {
        HloInstruction* next =
            frame.next < operands.size() ? operands[frame.next] : predecessors[frame.next - operands.size()];
        ++frame.next;
        if (done.try_emplace(next, false).second) stack.push_back({next, 0});
        continue;
      }
      done[frame.instruction] = true;
      order.push_back(frame.instruction);
      stack.pop_back();
    }
  };
  // Parameters first, so that their order does not depend on their uses.
  for (HloInstruction* parameter : parameters_) visit(parameter);
  for (const auto& instruction : instructions_) {
    if (instruction != nullptr) visit(instruction.get());
  }
  return order;
}

HloInstruction* HloComputation::AddInstruction(std::unique_ptr<HloInstruction> instruction, absl::string_view name) {
  HloInstruction* added = instruction.get();
  std::string wanted(name.empty() ? absl::string_view(added->name_) : name);
  if (wanted.empty()) wanted = std::string(HloOpcodeString(added->opcode()));
  added->name_ = parent_->UniqueName(wanted);
  added->unique_id_ = parent_->NextUniqueId();
  added->parent_ = this;
  for (HloInstruction* operand : added->operands_) operand->AddUser(added);
  if (added->IsParameter()) {
    const size_t number = static_cast<size_t>(added->parameter_number());
    if (parameters_.size() <= number) parameters_.resize(number + 1, nullptr);
    parameters_[number] = added;
  }
  positions_[added] = instructions_.size();
  instructions_.push_back(std::move(instruction));
  ++instruction_count_;
  return added;
}

absl::StatusOr<HloInstruction*> HloComputation::AddOp(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                                                      std::unique_ptr<OpAttributes> attributes,
                                                      absl::Span<HloComputation* const> called, const Shape* stated) {
  std::vector<const Shape*> shapes;
  for (const HloInstruction* operand : operands) shapes.push_back(&operand->shape());
  std::vector<ProgramShape> programs;
  for (const HloComputation* computation : called) programs.push_back(computation->ComputeProgramShape());
  std::vector<const ProgramShape*> program_pointers;
  for (const ProgramShape& program : programs) program_pointers.push_back(&program);
  if (attributes == nullptr) attributes = MakeAttributes(opcode);
  HILO_ASSIGN_OR_RETURN(Shape shape, InferShape({.opcode = opcode,
                                                 .operands = shapes,
                                                 .attributes = attributes.get(),
                                                 .called = program_pointers,
                                                 .stated = stated}));
  ShapeUtil::SetToDefaultLayout(&shape);
  return AddInstruction(HloInstruction::Create(opcode, std::move(shape), operands, std::move(attributes), called));
}

HloInstruction* HloComputation::AddConstant(Literal literal, absl::string_view name) {
  if (literal.shape().IsTuple()) {
    std::vector<HloInstruction*> elements;
    std::vector<Shape> shapes;
    for (Literal& element : std::move(literal).DecomposeTuple()) {
      elements.push_back(AddConstant(std::move(element)));
      shapes.push_back(elements.back()->shape());
    }
    return AddInstruction(HloInstruction::Create(HloOpcode::kTuple, ShapeUtil::MakeTupleShape(shapes), elements,
                                                 MakeAttributes(HloOpcode::kTuple)),
                          name);
  }
  auto constant = HloInstruction::CreateConstant(std::make_shared<const Literal>(std::move(literal)));
  ShapeUtil::AddMissingLayouts(constant->mutable_shape());
  return AddInstruction(std::move(constant), name);
}

absl::Status HloComputation::set_root_instruction(HloInstruction* root, bool allow_shape_change) {
  if (root->parent() != this) {
    return InvalidArgument("root ", root->name(), " is not an instruction of computation ", name_);
  }
  if (root_ != nullptr && !allow_shape_change && !ShapeUtil::Compatible(root_->shape(), root->shape())) {
    return InvalidArgument("the new root of ", name_, " has shape ", root->shape().ToString(), ", expected ",
                           root_->shape().ToString());
  }
  root_ = root;
  return absl::OkStatus();
}

void HloComputation::ReplaceOperand(HloInstruction* user, int64_t operand, HloInstruction* replacement) {
  HloInstruction* old_operand = user->operands_[operand];
  if (old_operand == replacement) return;
  user->operands_[operand] = replacement;
  bool still_used = false;
  for (const HloInstruction* other : user->operands_) still_used |= other == old_operand;
  if (!still_used) old_operand->RemoveUser(user);
  replacement->AddUser(user);
}

absl::Status HloComputation::ReplaceAllUsesWith(HloInstruction* old_instruction, HloInstruction* replacement) {
  return ReplaceAllUses({{old_instruction, replacement}});
}

absl::Status HloComputation::ReplaceAllUses(
    absl::Span<const std::pair<HloInstruction*, HloInstruction*>> replacements) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> replacement_of;
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<HloInstruction*> users;
  for (const auto& [old_instruction, replacement] : replacements) {
    if (old_instruction == replacement) continue;
    if (!ShapeUtil::Compatible(old_instruction->shape(), replacement->shape())) {
      return Internal("cannot replace ", old_instruction->ToString(), " by ", replacement->ToString(),
                      ": the shapes differ");
    }
    replacement_of[old_instruction] = replacement;
    for (HloInstruction* user : old_instruction->users()) {
      if (seen.insert(user).second) users.push_back(user);
    }
  }
  for (const auto& [old_instruction, replacement] : replacements) {
    if (old_instruction != replacement && replacement_of.contains(replacement)) {
      return Internal("cannot replace ", old_instruction->name(), " by ", replacement->name(), ", which is replaced");
    }
  }
  for (HloInstruction* user : users) {
    for (HloInstruction*& operand : user->operands_) {
      const auto it = replacement_of.find(operand);
      if (it == replacement_of.end() || it->second == user) continue;  // it may depend on what it replaces
      operand->RemoveUser(user);
      operand = it->second;
      operand->AddUser(user);
    }
  }
  if (const auto it = replacement_of.find(root_); it != replacement_of.end()) root_ = it->second;
  return absl::OkStatus();
}

absl::Status HloComputation::ReplaceInstruction(HloInstruction* old_instruction, HloInstruction* replacement) {
  const bool is_ordered =
      !old_instruction->control_predecessors_.empty() || !old_instruction->control_successors_.empty();
  if (is_ordered && replacement->user_count() != 0) {
    // For example an operand, which the predecessors may depend on: it cannot be ordered after them itself.
    replacement =
        AddInstruction(HloInstruction::Create(HloOpcode::kOptimizationBarrier, replacement->shape(), {replacement}));
  }
  HILO_RETURN_IF_ERROR(ReplaceAllUsesWith(old_instruction, replacement));
  if (!replacement->IsParameter()) replacement->CopyOriginFrom(*old_instruction);
  for (HloInstruction* predecessor : old_instruction->control_predecessors_) {
    predecessor->AddControlDependencyTo(replacement);
  }
  for (HloInstruction* successor : old_instruction->control_successors_) {
    replacement->AddControlDependencyTo(successor);
  }
  old_instruction->DropControlDependencies();
  if (!old_instruction->IsDead() || old_instruction->IsParameter()) return absl::OkStatus();
  return RemoveInstructionAndUnusedOperands(old_instruction);
}

absl::Status HloComputation::RemoveInstruction(HloInstruction* instruction) {
  if (instruction->user_count() != 0 || instruction == root_) {
    return Internal("cannot remove ", instruction->name(), ": it is still used");
  }
  auto it = positions_.find(instruction);
  if (it == positions_.end()) return Internal("cannot remove ", instruction->name(), ": not in ", name_);
  instruction->DropControlDependencies();
  for (HloInstruction* operand : instruction->operands_) operand->RemoveUser(instruction);
  const int64_t position = it->second;
  positions_.erase(it);
  instructions_[position].reset();
  --instruction_count_;
  if (instructions_.size() > 64 && static_cast<int64_t>(instructions_.size()) > 2 * instruction_count_) {
    std::vector<std::unique_ptr<HloInstruction>> kept;
    kept.reserve(instruction_count_);
    for (auto& entry : instructions_) {
      if (entry == nullptr) continue;
      positions_[entry.get()] = kept.size();
      kept.push_back(std::move(entry));
    }
    instructions_ = std::move(kept);
  }
  return absl::OkStatus();
}

absl::Status HloComputation::RemoveInstructionAndUnusedOperands(HloInstruction* instruction) {
  std::vector<HloInstruction*> work = {instruction};
  while (!work.empty()) {
    HloInstruction* next = work.back();
    work.pop_back();
    if (!positions_.contains(next) || !next->IsDead() || next->IsParameter()) continue;
    if (next != instruction && next->HasSideEffect()) continue;
    const std::vector<HloInstruction*> operands(next->operands().begin(), next->operands().end());
    HILO_RETURN_IF_ERROR(RemoveInstruction(next));
    work.insert(work.end(), operands.begin(), operands.end());
  }
  return absl::OkStatus();
}

absl::Status HloComputation::RemoveParameter(int64_t number) {
  HloInstruction* parameter = parameters_[number];
  parameters_.erase(parameters_.begin() + number);
  for (size_t i = number; i < parameters_.size(); ++i) {
    parameters_[i]->mutable_attrs<ParameterAttrs>().number = static_cast<int64_t>(i);
  }
  return RemoveInstruction(parameter);
}

void HloComputation::RemoveOperand(HloInstruction* instruction, int64_t operand) {
  HloInstruction* removed = instruction->operands_[operand];
  instruction->operands_.erase(instruction->operands_.begin() + operand);
  for (const HloInstruction* other : instruction->operands_) {
    if (other == removed) return;
  }
  removed->RemoveUser(instruction);
}

}  // namespace hilo
