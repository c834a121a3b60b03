#include "backends/cpu/compile/profile_plan.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/memory/scheduler.h"
#include "hlo/text/hlo_printer.h"

namespace hilo::cpu {
namespace {

// A mark takes 15 ns while a profile is recorded, and less than 1 ns otherwise.
constexpr double kStepNanoseconds = 2000;
constexpr size_t kMaxTextBytes = 500;

bool HasCode(const HloInstruction& instruction) {
  return KernelOf(instruction) != nullptr || HasTrait(instruction.opcode(), kControlFlow);
}

// The work of executions, with that of called computations; nullopt if it depends on the data.
class WorkInside {
 public:
  explicit WorkInside(const HloModule& module) : module_(module) {}

  std::optional<Work> Of(const HloInstruction& instruction) {
    if (!HasTrait(instruction.opcode(), kControlFlow)) return WorkOf(instruction);
    double trips = 1;
    if (instruction.opcode() == HloOpcode::kWhile) {
      const std::optional<int64_t> count = TripCount(instruction);
      if (!count.has_value()) return std::nullopt;
      trips = static_cast<double>(*count);
    } else if (instruction.opcode() == HloOpcode::kConditional) {
      return std::nullopt;
    }
    Work total;
    for (const HloComputation* called : instruction.called_computations()) {
      const std::optional<Work> work = Of(*called);
      if (!work.has_value()) return std::nullopt;
      total += *work * trips;
    }
    return total;
  }

 private:
  std::optional<Work> Of(const HloComputation& computation) {
    if (const auto known = known_.find(&computation); known != known_.end()) return known->second;
    std::optional<Work> total = Work();
    for (const HloInstruction* instruction : module_.OrderOf(computation)) {
      const std::optional<Work> work = Of(*instruction);
      if (!work.has_value()) {
        total = std::nullopt;
        break;
      }
      *total += *work;
    }
    return known_[&computation] = total;
  }

  const HloModule& module_;
  absl::flat_hash_map<const HloComputation*, std::optional<Work>> known_;  // a computation may be called many times
};

// The metadata of the instruction or, of a fusion without, of what it computes last.
const OpMetadata& MetadataOf(const HloInstruction& instruction) {
  const HloInstruction* source = &instruction;
  while (source->metadata().empty() && source->opcode() == HloOpcode::kFusion)
    source = source->called_computation()->root_instruction();
  return source->metadata();
}

profile::Step Describe(const HloInstruction& instruction) {
  profile::Step step{.name = instruction.name(), .category = std::string(HloOpcodeString(instruction.opcode()))};
  if (const KernelConfig* kernel = KernelOf(instruction); kernel != nullptr && step.category == "fusion")
    step.category = absl::StrCat(KernelKindString(kernel->kind), " fusion");
  step.text = PrintHloInstruction(instruction, PrintOptions::Short());
  if (step.text.size() > kMaxTextBytes) step.text = absl::StrCat(step.text.substr(0, kMaxTextBytes), "...");
  const OpMetadata& metadata = MetadataOf(instruction);
  step.op_name = metadata.op_name;
  step.source_file = metadata.source_file;
  step.source_line = metadata.source_line;
  return step;
}

// Collects instructions into one step.
struct OpenStep {
  std::vector<const HloInstruction*> instructions;
  const HloInstruction* longest = nullptr;
  double longest_nanoseconds = 0, total_nanoseconds = 0;
  bool has_steps_inside = false;

  bool Fits(double nanoseconds) const {
    return total_nanoseconds + nanoseconds - std::max(longest_nanoseconds, nanoseconds) < kStepNanoseconds;
  }
  void Add(const HloInstruction* instruction, double nanoseconds) {
    instructions.push_back(instruction);
    if (longest == nullptr || nanoseconds > longest_nanoseconds) {
      longest = instruction;
      longest_nanoseconds = nanoseconds;
    }
    total_nanoseconds += nanoseconds;
  }
};

profile::Step Close(WorkInside& work_inside, const OpenStep& open) {
  profile::Step step = Describe(*open.longest);
  step.instruction_count = static_cast<int64_t>(open.instructions.size());
  if (open.has_steps_inside) {  // these state the work
    step.flops = step.bytes = 0;
    return step;
  }
  Work total;
  for (const HloInstruction* instruction : open.instructions) {
    const std::optional<Work> work = work_inside.Of(*instruction);
    if (!work.has_value()) return step;
    total += *work;
  }
  step.flops = total.flops + total.transcendentals;
  step.bytes = total.bytes();
  return step;
}

}  // namespace

absl::StatusOr<ProfilePlan> ProfilePlan::Create(const HloModule& module, const FunctionPartition& partition) {
  ProfilePlan plan;
  auto table = std::make_shared<profile::StepTable>(profile::StepTable{.program = module.name()});
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> computations, SequentialComputations(module));
  // Callers come last; the entry's steps are the first.
  std::reverse(computations.begin(), computations.end());
  for (const HloComputation* computation : computations) {
    if (computation->IsEntry() || partition.NanosecondsOf(computation) >= kStepNanoseconds)
      plan.marked_.insert(computation);
  }
  WorkInside work_inside(module);
  for (const HloComputation* computation : computations) {
    if (!plan.marked_.contains(computation)) continue;
    OpenStep open;
    const auto close = [&] {
      if (open.instructions.empty()) return;
      if (!table->steps.empty()) plan.step_at_[open.instructions[0]] = static_cast<int64_t>(table->steps.size());
      table->steps.push_back(Close(work_inside, open));
      open = OpenStep();
    };
    for (const HloInstruction* instruction : module.OrderOf(*computation)) {
      if (!HasCode(*instruction)) continue;
      const bool has_steps_inside = plan.HasStepsInside(*instruction);
      const KernelConfig* kernel = KernelOf(*instruction);
      // The time of calls is not known.
      const bool is_call = kernel != nullptr && kernel->kind == KernelKind::kRuntimeCall;
      const double nanoseconds = std::max(partition.NanosecondsOf(*instruction), is_call ? kStepNanoseconds : 0);
      if (has_steps_inside || !open.Fits(nanoseconds)) close();
      open.Add(instruction, nanoseconds);
      open.has_steps_inside = has_steps_inside;
      if (has_steps_inside) close();
    }
    close();
  }
  plan.steps_ = std::move(table);
  return plan;
}

int64_t ProfilePlan::StepAt(const HloInstruction* instruction) const {
  const auto found = step_at_.find(instruction);
  return found == step_at_.end() ? -1 : found->second;
}

bool ProfilePlan::HasStepsInside(const HloInstruction& instruction) const {
  if (!HasTrait(instruction.opcode(), kControlFlow)) return false;
  const auto called = instruction.called_computations();
  return std::any_of(called.begin(), called.end(),
                     [&](const HloComputation* computation) { return marked_.contains(computation); });
}

}  // namespace hilo::cpu
