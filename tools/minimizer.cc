#include "tools/minimizer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/passes/inline_computation.h"
#include "hlo/passes/standard_passes.h"
#include "tools/smaller_shapes.h"

namespace hilo::tools {
namespace {

HloInstruction* FindNamed(const HloModule& module, const std::string& name) {
  for (HloInstruction* instruction : module.entry_computation()->instructions()) {
    if (instruction->name() == name) return instruction;
  }
  return nullptr;
}

bool IsCut(const HloInstruction& instruction) {
  return instruction.shape().IsArray() && !instruction.IsParameter() && !instruction.IsConstant();
}

// Removes what is dead, unused parameters of the entry included.
absl::Status Clean(HloModule* module) {
  module->set_entry_computation_layout(std::nullopt);
  module->input_output_aliases().clear();
  module->buffer_donors().clear();
  HILO_RETURN_IF_ERROR(MakeDce()->Run(module, {}).status());
  HloComputation* entry = module->entry_computation();
  for (int64_t i = entry->num_parameters() - 1; i >= 0; --i) {
    if (entry->parameter_instruction(i)->IsDead()) HILO_RETURN_IF_ERROR(entry->RemoveParameter(i));
  }
  HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
  return VerifyHloModule(*module, HloStage::kInput);
}

// Fewer instructions, or as many and fewer elements.
bool IsSmaller(const HloModule& a, const HloModule& b) {
  const int64_t size_a = SizeOf(a), size_b = SizeOf(b);
  return size_a != size_b ? size_a < size_b : ElementsIn(a) < ElementsIn(b);
}

class Search {
 public:
  Search(std::unique_ptr<HloModule> module, const MinimizerOptions& options)
      : smallest_(std::move(module)), options_(options) {}

  absl::StatusOr<std::unique_ptr<HloModule>> Run() {
    bool changed = true;
    while (changed && tries_ < options_.max_tries) {
      changed = false;
      for (const auto step : {&Search::OtherRoots, &Search::EnterComputations, &Search::Cut, &Search::Shrink}) {
        HILO_ASSIGN_OR_RETURN(const bool smaller, (this->*step)());
        changed |= smaller;
      }
    }
    return std::move(smallest_);
  }

 private:
  // Takes the smallest module changed by `edit` if that still fails. `edit` returns false where it does not apply.
  template <typename Edit>
  absl::StatusOr<bool> Try(const Edit& edit) {
    if (tries_ >= options_.max_tries) return false;
    std::unique_ptr<HloModule> candidate = smallest_->Clone();
    if (!edit(candidate.get()) || !Clean(candidate.get()).ok() || !IsSmaller(*candidate, *smallest_)) return false;
    ++tries_;
    HILO_ASSIGN_OR_RETURN(const bool fails, options_.fails(*candidate));
    if (fails) smallest_ = std::move(candidate);
    if (options_.progress) options_.progress(tries_, *smallest_);
    return fails;
  }

  absl::StatusOr<bool> TryRoot(const std::string& name) {
    return Try([&](HloModule* module) {
      HloInstruction* root = FindNamed(*module, name);
      return root != nullptr && module->entry_computation()->set_root_instruction(root, true).ok();
    });
  }

  // First the instructions that need the fewest others: positions of the order, halved towards the beginning.
  absl::StatusOr<bool> OtherRoots() {
    std::vector<std::string> names;
    for (const HloInstruction* instruction : smallest_->entry_computation()->MakePostOrder()) {
      if (!instruction->IsParameter() && !instruction->IsConstant() && !instruction->IsRoot())
        names.push_back(instruction->name());
    }
    // Each single result, then prefixes of doubling length, then each instruction of a short rest.
    std::vector<std::string> order;
    const HloInstruction* root = smallest_->entry_computation()->root_instruction();
    if (root->opcode() == HloOpcode::kTuple) {
      for (const HloInstruction* operand : root->operands()) order.push_back(operand->name());
    }
    for (size_t length = 1; length < names.size(); length *= 2) order.push_back(names[length - 1]);
    constexpr size_t kShort = 64;
    if (names.size() <= kShort) order.insert(order.end(), names.begin(), names.end());
    for (const std::string& name : order) {
      HILO_ASSIGN_OR_RETURN(const bool smaller, TryRoot(name));
      if (smaller) return true;
    }
    return false;
  }

  // Replaces a call, loop or conditional by one run of a computation that it calls.
  absl::StatusOr<bool> EnterComputations() {
    std::vector<std::pair<std::string, int64_t>> calls;
    for (const HloInstruction* instruction : smallest_->entry_computation()->MakePostOrder()) {
      const bool enters = HasTrait(instruction->opcode(), kControlFlow) || instruction->opcode() == HloOpcode::kFusion;
      if (!enters) continue;
      for (size_t i = 0; i < instruction->called_computations().size(); ++i)
        calls.emplace_back(instruction->name(), static_cast<int64_t>(i));
    }
    bool changed = false;
    for (const auto& [name, number] : calls) {
      HILO_ASSIGN_OR_RETURN(const bool smaller, Try([&, &name = name, &number = number](HloModule* module) {
                              return Enter(module, name, number);
                            }));
      changed |= smaller;
    }
    return changed;
  }

  static bool Enter(HloModule* module, const std::string& name, int64_t number) {
    HloInstruction* call = FindNamed(*module, name);
    if (call == nullptr || number >= static_cast<int64_t>(call->called_computations().size())) return false;
    const HloComputation& target = *call->called_computation(number);
    if (!ShapeUtil::Compatible(target.root_instruction()->shape(), call->shape())) return false;
    std::vector<HloInstruction*> arguments(call->operands().begin(), call->operands().end());
    if (call->opcode() == HloOpcode::kConditional) arguments = {call->mutable_operand(number + 1)};
    if (static_cast<int64_t>(arguments.size()) != target.num_parameters()) return false;
    HloInstruction* value = InlineComputation(target, arguments, module->entry_computation());
    return module->entry_computation()->ReplaceInstruction(call, value).ok();
  }

  // Replaces groups of instructions by parameters.
  absl::StatusOr<bool> Cut() {
    std::vector<std::string> names;
    for (const HloInstruction* instruction : smallest_->entry_computation()->MakePostOrder()) {
      if (IsCut(*instruction) && !instruction->IsRoot()) names.push_back(instruction->name());
    }
    bool changed = false;
    for (size_t length = names.size(); length > 0; length /= 2) {
      for (size_t begin = 0; begin < names.size(); begin += length) {
        const std::vector<std::string> group(names.begin() + begin,
                                             names.begin() + std::min(begin + length, names.size()));
        HILO_ASSIGN_OR_RETURN(const bool smaller, Try([&](HloModule* module) { return CutGroup(module, group); }));
        changed |= smaller;
      }
    }
    return changed;
  }

  static bool CutGroup(HloModule* module, const std::vector<std::string>& names) {
    HloComputation* entry = module->entry_computation();
    const absl::flat_hash_set<std::string> group(names.begin(), names.end());
    bool changed = false;
    for (HloInstruction* instruction : entry->MakePostOrder()) {
      if (!group.contains(instruction->name())) continue;
      HloInstruction* parameter = entry->AddInstruction(
          HloInstruction::CreateParameter(entry->num_parameters(), instruction->shape(), "cut"), "cut");
      if (!entry->ReplaceAllUsesWith(instruction, parameter).ok()) return false;
      changed = true;
    }
    return changed;
  }

  // Makes dimensions smaller, each size wherever the module has it.
  absl::StatusOr<bool> Shrink() {
    bool changed = false;
    for (const int64_t from : SizesIn(*smallest_)) {
      HILO_ASSIGN_OR_RETURN(const bool smaller, ShrinkSize(from));
      changed |= smaller;
    }
    return changed;
  }

  absl::StatusOr<bool> ShrinkSize(int64_t from) {
    for (const int64_t to : {int64_t{1}, int64_t{2}, from / 4, from / 2, from - 1}) {
      if (to <= 0 || to >= from) continue;
      for (const bool multiples : {true, false}) {
        HILO_ASSIGN_OR_RETURN(const bool smaller,
                              Try([&](HloModule* module) { return ChangeSizes({from, to, multiples}, module).ok(); }));
        if (smaller) return true;
      }
    }
    return false;
  }

  std::unique_ptr<HloModule> smallest_;
  const MinimizerOptions& options_;
  int64_t tries_ = 0;
};

}  // namespace

int64_t SizeOf(const HloModule& module) {
  int64_t size = 0;
  for (const HloComputation* computation : module.computations())
    size += computation->instruction_count() - computation->num_parameters();
  return size;
}

absl::StatusOr<std::unique_ptr<HloModule>> Minimize(const HloModule& module, const MinimizerOptions& options) {
  HILO_ASSIGN_OR_RETURN(const bool fails, options.fails(module));
  if (!fails) return InvalidArgument("the module does not show the failure: the check succeeds on it");
  return Search(module.Clone(), options).Run();
}

}  // namespace hilo::tools
