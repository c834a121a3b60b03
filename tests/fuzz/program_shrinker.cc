#include "tests/fuzz/program_shrinker.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/passes/standard_passes.h"
#include "tests/fuzz/random_shardings.h"

namespace hilo::fuzz {
namespace {

HloInstruction* Find(const RandomProgram& program, absl::string_view name) {
  for (HloInstruction* instruction : program.module->entry_computation()->instructions()) {
    if (instruction->name() == name) return instruction;
  }
  return nullptr;
}

}  // namespace

void Shrinker::Run() {
  for (bool smaller = true; smaller && tries_ < 400;) smaller = Prefix() || Enter() || CutOperands() || RemoveDead();
  DropParameters();
}

RandomProgram Shrinker::Copy() const {
  RandomProgram copy{.module = program_.module->Clone()};
  copy.module->set_entry_computation_layout(std::nullopt);  // of the parameters and the result as they were
  copy.module->input_output_aliases().clear();
  for (const Literal& argument : program_.arguments) copy.arguments.push_back(argument.Clone());
  return copy;
}

// Takes `candidate` if it is valid and still fails.
bool Shrinker::Try(RandomProgram candidate) {
  // Where dead code is what fails, it stays, and goes instruction by instruction (RemoveDead).
  if (configuration_.disabled_pass != "dce") (void)MakeDce()->Run(candidate.module.get(), {});
  (void)candidate.module->RemoveUnusedComputations();
  ++tries_;
  if (!VerifyHloModule(*candidate.module, HloStage::kInput).ok()) return false;
  std::string failure = FailureOf(candidate, configuration_);
  if (failure.empty()) return false;
  program_ = std::move(candidate);
  failure_ = std::move(failure);
  return true;
}

// The first instruction that is wrong becomes the root.
bool Shrinker::Prefix() {
  for (HloInstruction* instruction : program_.module->entry_computation()->MakePostOrder()) {
    if (instruction->IsRoot() || instruction->IsParameter()) continue;
    RandomProgram candidate = Copy();
    HloComputation* entry = candidate.module->entry_computation();
    if (!entry->set_root_instruction(Find(candidate, instruction->name()), true).ok()) continue;
    if (Try(std::move(candidate))) return true;
  }
  return false;
}

absl::StatusOr<TrackedLeaves> Shrinker::ValueOf(const std::string& name) const {
  RandomProgram copy = Copy();
  if (copy.module->num_partitions() > 1) {
    HILO_ASSIGN_OR_RETURN(copy.module, WithoutShardings(*copy.module));
  }
  HloInstruction* instruction = Find(copy, name);
  if (instruction == nullptr) return absl::NotFoundError(name);
  HILO_RETURN_IF_ERROR(copy.module->entry_computation()->set_root_instruction(instruction, true));
  std::vector<TrackedLeaves> arguments;
  for (const Literal& argument : copy.arguments) arguments.push_back(ExactLeaves(argument.Clone()));
  return TrackedEvaluator(configuration_.strict).Run(*copy.module->entry_computation(), arguments);
}

// A parameter that holds its value takes the place of an operand.
bool Shrinker::CutOperands() {
  if (program_.module->replica_count() > 1) return false;
  for (HloInstruction* instruction : program_.module->entry_computation()->MakePostOrder()) {
    if (instruction->IsRoot() || instruction->IsParameter()) continue;
    auto value = ValueOf(instruction->name());
    if (!value.ok()) continue;
    RandomProgram candidate = Copy();
    HloComputation* entry = candidate.module->entry_computation();
    const int64_t number = entry->num_parameters();
    HloInstruction* parameter = entry->AddInstruction(
        HloInstruction::CreateParameter(number, instruction->shape(), "cut"), absl::StrCat("cut", number));
    if (!entry->ReplaceAllUsesWith(Find(candidate, instruction->name()), parameter).ok()) continue;
    candidate.arguments.push_back(Assemble(instruction->shape(), *value));
    if (Try(std::move(candidate))) return true;
  }
  return false;
}

// A called computation becomes the entry, on the operands that it is first called with.
bool Shrinker::Enter() {
  if (program_.module->replica_count() > 1) return false;
  const HloInstruction* root = program_.module->entry_computation()->root_instruction();
  if (!HasTrait(root->opcode(), kControlFlow)) return false;
  for (size_t i = 0; i < root->called_computations().size(); ++i) {
    RandomProgram candidate = Copy();
    const HloInstruction* call = candidate.module->entry_computation()->root_instruction();
    HloComputation* callee = call->called_computation(i);
    std::vector<Literal> arguments;
    for (int64_t p = 0; p < callee->num_parameters(); ++p) {
      const int64_t operand = call->opcode() == HloOpcode::kConditional ? i + 1 : p;
      auto value = ValueOf(call->operand(operand)->name());
      if (!value.ok()) return false;
      arguments.push_back(Assemble(call->operand(operand)->shape(), *value));
    }
    candidate.module->set_entry_computation(callee);
    candidate.arguments = std::move(arguments);
    (void)candidate.module->RemoveUnusedComputations();
    if (Try(std::move(candidate))) return true;
  }
  return false;
}

// An instruction without users goes.
bool Shrinker::RemoveDead() {
  for (const HloComputation* computation : program_.module->computations()) {
    for (const HloInstruction* dead : computation->instructions()) {
      if (!dead->IsDead() || dead->IsParameter()) continue;
      RandomProgram candidate = Copy();
      HloComputation* copy = candidate.module->GetComputation(computation->name());
      for (HloInstruction* instruction : copy->instructions()) {
        if (instruction->name() == dead->name()) (void)copy->RemoveInstruction(instruction);
      }
      if (Try(std::move(candidate))) return true;
    }
  }
  return false;
}

void Shrinker::DropParameters() {
  if (program_.module->replica_count() > 1) return;
  for (int64_t p = program_.module->entry_computation()->num_parameters() - 1; p >= 0; --p) {
    RandomProgram candidate = Copy();
    HloComputation* entry = candidate.module->entry_computation();
    if (!entry->parameter_instruction(p)->users().empty() || entry->parameter_instruction(p)->IsRoot()) continue;
    if (!entry->RemoveParameter(p).ok()) continue;
    candidate.arguments.erase(candidate.arguments.begin() + p);
    Try(std::move(candidate));
  }
}

}  // namespace hilo::fuzz
