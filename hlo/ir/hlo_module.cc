#include "hlo/ir/hlo_module.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/kernel_config.h"

namespace hilo {
namespace {

using ComputationMap = absl::flat_hash_map<const HloComputation*, HloComputation*>;

// Copies the instructions of `from` into the empty `to`; called computations go through `computations` where they are
// in it.
void CopyInstructions(const HloComputation& from, HloComputation* to, const ComputationMap& computations) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* instruction : from.MakePostOrder()) {
    operands.clear();
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    HloInstruction* copy = to->AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
    if (instruction->kernel() != nullptr) copy->set_kernel(*instruction->kernel());
    for (size_t i = 0; i < instruction->called_computations().size(); ++i) {
      auto it = computations.find(instruction->called_computations()[i]);
      if (it == computations.end()) continue;
      copy->set_called_computation(i, it->second);
      if (it->second->IsFusion() || instruction->opcode() == HloOpcode::kFusion) {
        it->second->set_fusion_instruction(copy);
      }
    }
    for (const HloInstruction* predecessor : instruction->control_predecessors()) {
      copies.at(predecessor)->AddControlDependencyTo(copy);
    }
    copies[instruction] = copy;
  }
  if (from.root_instruction() != nullptr) {
    to->set_root_instruction(copies.at(from.root_instruction())).IgnoreError();
  }
}

}  // namespace

absl::string_view HloStageName(HloStage stage) {
  switch (stage) {
    case HloStage::kInput: return "input";
    case HloStage::kCore: return "core";
    case HloStage::kLaidOut: return "laidout";
    case HloStage::kFused: return "fused";
    case HloStage::kScheduled: return "scheduled";
    case HloStage::kAliased: return "aliased";
  }
  return "";
}

std::vector<HloComputation*> HloModule::computations() const {
  std::vector<HloComputation*> list;
  list.reserve(computations_.size());
  for (const auto& computation : computations_) list.push_back(computation.get());
  return list;
}

HloComputation* HloModule::GetComputation(absl::string_view name) const {
  for (const auto& computation : computations_) {
    if (computation->name() == name) return computation.get();
  }
  return nullptr;
}

absl::StatusOr<std::vector<HloComputation*>> HloModule::MakeComputationPostOrder() const {
  std::vector<HloComputation*> order;
  enum class State { kOpen, kDone };
  absl::flat_hash_map<const HloComputation*, State> states;
  struct Frame {
    HloComputation* computation;
    std::vector<HloComputation*> callees;
    size_t next;
  };
  std::vector<Frame> stack;
  auto open = [&](HloComputation* computation) {
    std::vector<HloComputation*> callees;
    for (const HloInstruction* instruction : computation->instructions()) {
      for (HloComputation* called : instruction->called_computations()) callees.push_back(called);
    }
    states[computation] = State::kOpen;
    stack.push_back({computation, std::move(callees), 0});
  };
  for (const auto& start : computations_) {
    if (states.contains(start.get())) continue;
    open(start.get());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.callees.size()) {
        states[frame.computation] = State::kDone;
        order.push_back(frame.computation);
        stack.pop_back();
        continue;
      }
      HloComputation* callee = frame.callees[frame.next++];
      auto it = states.find(callee);
      if (it == states.end()) {
        open(callee);
      } else if (it->second == State::kOpen) {
        return InvalidArgument("computation ", callee->name(), " calls itself, directly or through others");
      }
    }
  }
  return order;
}

HloComputation* HloModule::AddComputation(absl::string_view name) {
  computations_.push_back(std::unique_ptr<HloComputation>(new HloComputation(this, UniqueName(name))));
  return computations_.back().get();
}

HloComputation* HloModule::CloneComputation(const HloComputation& computation, absl::string_view suffix) {
  ComputationMap copies;
  // Callees of another module come along, callees first; within this module only fused computations are copied, as they
  // belong to one fusion.
  std::vector<const HloComputation*> work = {&computation};
  std::vector<const HloComputation*> needed;
  absl::flat_hash_set<const HloComputation*> seen = {&computation};
  while (!work.empty()) {
    const HloComputation* next = work.back();
    work.pop_back();
    needed.push_back(next);
    for (const HloInstruction* instruction : next->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        const bool copy = called->parent() != this || instruction->opcode() == HloOpcode::kFusion;
        if (copy && seen.insert(called).second) work.push_back(called);
      }
    }
  }
  for (const HloComputation* original : needed) {
    copies[original] = AddComputation(suffix.empty() ? original->name() : absl::StrCat(original->name(), ".", suffix));
  }
  for (const HloComputation* original : needed) CopyInstructions(*original, copies[original], copies);
  return copies[&computation];
}

absl::StatusOr<int64_t> HloModule::RemoveUnusedComputations() {
  absl::flat_hash_set<const HloComputation*> reached = {entry_};
  std::vector<const HloComputation*> work = {entry_};
  while (!work.empty()) {
    const HloComputation* next = work.back();
    work.pop_back();
    for (const HloInstruction* instruction : next->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        if (reached.insert(called).second) work.push_back(called);
      }
    }
  }
  std::vector<std::unique_ptr<HloComputation>> kept;
  int64_t removed = 0;
  for (auto& computation : computations_) {
    if (reached.contains(computation.get())) {
      kept.push_back(std::move(computation));
    } else {
      schedule_.erase(computation.get());
      ++removed;
    }
  }
  computations_ = std::move(kept);
  return removed;
}

int64_t HloModule::instruction_count() const {
  int64_t count = 0;
  for (const auto& computation : computations_) count += computation->instruction_count();
  return count;
}

std::unique_ptr<HloModule> HloModule::Clone() const {
  auto clone = std::make_unique<HloModule>(name_);
  ComputationMap copies;
  for (const auto& computation : computations_) {
    copies[computation.get()] = clone->AddComputation(computation->name());
  }
  for (const auto& computation : computations_) {
    CopyInstructions(*computation, copies[computation.get()], copies);
  }
  clone->entry_ = copies[entry_];
  clone->entry_layout_ = entry_layout_;
  clone->aliases_ = aliases_;
  clone->donors_ = donors_;
  clone->replica_count_ = replica_count_;
  clone->num_partitions_ = num_partitions_;
  clone->is_scheduled_ = is_scheduled_;
  clone->extra_attributes_ = extra_attributes_;
  return clone;
}

ProgramShape HloModule::EntryProgramShape() const {
  ProgramShape program = entry_layout_.has_value() ? *entry_layout_ : entry_->ComputeProgramShape();
  for (Shape& parameter : program.parameters) ShapeUtil::AddMissingLayouts(&parameter);
  ShapeUtil::AddMissingLayouts(&program.result);
  return program;
}

std::vector<HloInstruction*> HloModule::OrderOf(const HloComputation& computation) const {
  auto it = schedule_.find(&computation);
  return it == schedule_.end() ? computation.MakePostOrder() : it->second;
}

std::string HloModule::UniqueName(absl::string_view wanted) {
  std::string name(wanted);
  if (names_.insert(name).second) return name;
  // "add.3" requests another "add.N".
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot + 1 < name.size() &&
      name.find_first_not_of("0123456789", dot + 1) == std::string::npos) {
    name.resize(dot);
  }
  int64_t& counter = name_counters_[name];
  while (true) {
    std::string candidate = absl::StrCat(name, ".", ++counter);
    if (names_.insert(candidate).second) return candidate;
  }
}

}  // namespace hilo
