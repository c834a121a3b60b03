// Verification is a list of checks, each relying on the earlier ones: first the structure of the
// graph (nothing null, nothing foreign, no cycle), so that the rest can visit it; then
// the semantics of every instruction, by shape inference; then the header; then the
// invariants of the stage. Computations come callees first, and nothing recurses.
#include "hlo/ir/hlo_verifier.h"

#include <algorithm>
#include <typeinfo>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/semantics.h"

namespace hilo {
namespace {

constexpr size_t kMaxContext = 400;  // characters of an instruction in a message

class Verifier {
 public:
  Verifier(const HloModule& module, HloStage stage, const HloLimits& limits)
      : module_(module), stage_(stage), limits_(limits) {}

  absl::Status Run() {
    HILO_RETURN_IF_ERROR(CheckDevices());
    HILO_RETURN_IF_ERROR(CheckComputations());
    for (const HloComputation* computation : order_) HILO_RETURN_IF_ERROR(CheckGraph(*computation));
    for (const HloComputation* computation : order_) HILO_RETURN_IF_ERROR(CheckUsers(*computation));
    for (const HloComputation* computation : order_) HILO_RETURN_IF_ERROR(CheckMeaning(*computation));
    HILO_RETURN_IF_ERROR(CheckEntryLayout());
    HILO_RETURN_IF_ERROR(CheckAliases());
    if (stage_ >= HloStage::kLaidOut) HILO_RETURN_IF_ERROR(CheckLayouts());
    if (stage_ >= HloStage::kScheduled) HILO_RETURN_IF_ERROR(CheckSchedules());
    return absl::OkStatus();
  }

  const HloInstruction* culprit() const { return culprit_; }

  absl::Status CheckDevices() const {
    const int64_t replicas = module_.replica_count(), partitions = module_.num_partitions();
    if (replicas >= 1 && partitions >= 1 && replicas <= limits_.max_devices &&
        partitions <= limits_.max_devices / replicas) {
      return absl::OkStatus();
    }
    return InvalidArgument("module ", module_.name(), ": expected at least 1 replica and partition, and at most ",
                           limits_.max_devices, " of both together, got ", replicas, " replicas and ", partitions,
                           " partitions");
  }

 private:
  template <typename... Parts>
  absl::Status Fail(const HloInstruction& instruction, const Parts&... parts) {
    culprit_ = &instruction;
    return InvalidArgument(parts..., InstructionContext(instruction));
  }

  absl::Status CheckComputations();
  absl::Status CheckCallDepth();
  absl::Status CheckGraph(const HloComputation& computation);
  absl::Status CheckParts(const HloInstruction& instruction, const HloComputation& computation);
  absl::Status CheckUsers(const HloComputation& computation);
  absl::Status CheckMeaning(const HloComputation& computation);
  absl::Status CheckShape(const HloInstruction& instruction);
  absl::Status CheckEntryLayout();
  absl::Status CheckAliases();
  absl::Status CheckParameterLeaf(absl::string_view what, int64_t number, const ShapeIndex& index);
  absl::Status CheckLayouts();
  absl::Status CheckSchedules();
  absl::Status CheckSchedule(const HloComputation& computation, absl::Span<HloInstruction* const> schedule);

  const HloModule& module_;
  const HloStage stage_;
  const HloLimits& limits_;
  const HloInstruction* culprit_ = nullptr;
  std::vector<HloComputation*> order_;  // callees first
  absl::flat_hash_map<const HloComputation*, ProgramShape> programs_;
};

// The attributes must be of the opcode's struct, as attrs<T>() takes that for granted.
bool AttributesFit(const HloInstruction& instruction) {
  static const auto* const prototypes = [] {
    auto* list = new std::vector<std::unique_ptr<OpAttributes>>();
    for (int i = 0; i < kHloOpcodeCount; ++i) list->push_back(MakeAttributes(static_cast<HloOpcode>(i)));
    return list;
  }();
  const OpAttributes* prototype = (*prototypes)[static_cast<int>(instruction.opcode())].get();
  const OpAttributes* attributes = instruction.attributes();
  if (prototype == nullptr || attributes == nullptr) return prototype == attributes;
  return typeid(*prototype) == typeid(*attributes);
}

// Returns true if some backend has a kernel for the instruction.
bool MayHaveKernel(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  return !instruction.IsParameter() && !instruction.IsConstant() && opcode != HloOpcode::kTuple &&
         opcode != HloOpcode::kGetTupleElement && !instruction.parent()->IsFusion();
}

absl::Status Verifier::CheckComputations() {
  if (module_.entry_computation() == nullptr)
    return InvalidArgument("module ", module_.name(), " has no entry computation");
  if (module_.instruction_count() > limits_.max_instructions) {
    return ResourceExhausted("module ", module_.name(), " has ", module_.instruction_count(),
                             " instructions; the limit is ", limits_.max_instructions);
  }
  const std::vector<HloComputation*> computations = module_.computations();
  const absl::flat_hash_set<const HloComputation*> known(computations.begin(), computations.end());
  if (!known.contains(module_.entry_computation())) {
    return InvalidArgument("the entry computation is not of module ", module_.name());
  }
  absl::flat_hash_set<absl::string_view> names;
  for (const HloComputation* computation : computations) {
    if (!names.insert(computation->name()).second) {
      return InvalidArgument("two computations or instructions are called ", computation->name());
    }
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!names.insert(instruction->name()).second) {
        return Fail(*instruction, "two computations or instructions are called ", instruction->name());
      }
      for (const HloComputation* called : instruction->called_computations()) {
        if (!known.contains(called)) return Fail(*instruction, "a called computation is not of this module");
        if (called == module_.entry_computation()) return Fail(*instruction, "the entry computation may not be called");
      }
    }
  }
  HILO_ASSIGN_OR_RETURN(order_, module_.MakeComputationPostOrder());
  return CheckCallDepth();
}

absl::Status Verifier::CheckCallDepth() {
  absl::flat_hash_map<const HloComputation*, int64_t> depths;
  for (const HloComputation* computation : order_) {
    int64_t depth = 1;
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        depth = std::max(depth, depths[called] + 1);
      }
    }
    if (depth > limits_.max_call_depth) {
      return ResourceExhausted("computations call each other deeper than ", limits_.max_call_depth, " levels, at ",
                               computation->name());
    }
    depths[computation] = depth;
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckGraph(const HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr || root->parent() != &computation) {
    return InvalidArgument("computation ", computation.name(), " has no root of its own");
  }
  if (computation.num_parameters() > limits_.max_parameters) {
    return ResourceExhausted("computation ", computation.name(), " has ", computation.num_parameters(),
                             " parameters; the limit is ", limits_.max_parameters);
  }
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    const HloInstruction* parameter = computation.parameter_instruction(i);
    if (parameter == nullptr) return InvalidArgument("computation ", computation.name(), " lacks parameter ", i);
  }
  int64_t parameters = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    HILO_RETURN_IF_ERROR(CheckParts(*instruction, computation));
    if (!instruction->IsParameter()) continue;
    ++parameters;
    const int64_t number = instruction->parameter_number();
    if (number < 0 || number >= computation.num_parameters() ||
        computation.parameter_instruction(number) != instruction) {
      return Fail(*instruction, "expected one parameter of each number from 0 to ", computation.num_parameters() - 1,
                  "; got a second or misplaced ", number);
    }
  }
  HILO_RET_CHECK(parameters == computation.num_parameters()) << "parameters of " << computation.name();

  // A walk from operands to users visits everything once, unless there is a cycle.
  absl::flat_hash_set<const HloInstruction*> seen;
  seen.reserve(computation.instruction_count());
  for (const HloInstruction* instruction : computation.MakePostOrder()) {
    auto is_later = [&](const HloInstruction* before) { return !seen.contains(before); };
    if (std::any_of(instruction->operands().begin(), instruction->operands().end(), is_later) ||
        std::any_of(instruction->control_predecessors().begin(), instruction->control_predecessors().end(), is_later)) {
      return Fail(*instruction, "the instruction needs its own result, through its operands or control predecessors");
    }
    seen.insert(instruction);
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckParts(const HloInstruction& instruction, const HloComputation& computation) {
  for (const HloInstruction* operand : instruction.operands()) {
    if (operand == nullptr || operand->parent() != &computation) {
      culprit_ = &instruction;  // which cannot be shown with an operand that may not exist
      return InvalidArgument("an operand of ", instruction.name(), " is not in computation ", computation.name());
    }
  }
  for (const HloInstruction* predecessor : instruction.control_predecessors()) {
    if (predecessor->parent() != &computation) {
      return Fail(instruction, "control predecessor ", predecessor->name(), " is in another computation");
    }
  }
  if (!AttributesFit(instruction)) {
    culprit_ = &instruction;
    return InvalidArgument("the attributes of ", instruction.name(), " are not those of ",
                           HloOpcodeString(instruction.opcode()));
  }
  if (instruction.IsConstant() && instruction.shared_literal() == nullptr) {
    culprit_ = &instruction;
    return InvalidArgument("constant ", instruction.name(), " has no value");
  }
  if (instruction.kernel() != nullptr && !MayHaveKernel(instruction))
    return Fail(instruction, "the instruction has no code of its own, and so no kernel");
  if (instruction.opcode() == HloOpcode::kFusion) {
    const auto called = instruction.called_computations();
    if (called.size() != 1 || called[0]->fusion_instruction() != &instruction) {
      return Fail(instruction, "expected a fused computation that no other fusion calls");
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckUsers(const HloComputation& computation) {
  using Edge = std::pair<const HloInstruction*, const HloInstruction*>;  // operand, user
  absl::flat_hash_set<Edge> edges;
  size_t users = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    for (const HloInstruction* operand : instruction->operands()) edges.insert({operand, instruction});
    users += instruction->users().size();
  }
  for (const HloInstruction* instruction : computation.instructions()) {
    for (const HloInstruction* user : instruction->users()) {
      HILO_RET_CHECK(edges.contains({instruction, user})) << "users of " << instruction->name();
    }
  }
  HILO_RET_CHECK(users == edges.size()) << "users in " << computation.name();
  return absl::OkStatus();
}

absl::Status Verifier::CheckShape(const HloInstruction& instruction) {
  if (absl::Status valid = ShapeUtil::Validate(instruction.shape()); !valid.ok()) {
    return Fail(instruction, valid.message());
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape())) {
    if (ShapeUtil::ByteSizeOf(*leaf.shape) > limits_.max_array_bytes) {
      culprit_ = &instruction;
      return ResourceExhausted("an array of ", ShapeUtil::ByteSizeOf(*leaf.shape), " bytes; the limit is ",
                               limits_.max_array_bytes, InstructionContext(instruction));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> Infer(const HloInstruction& instruction, absl::Span<const ProgramShape* const> called) {
  std::vector<const Shape*> operands;
  operands.reserve(instruction.operand_count());
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(&operand->shape());
  return InferShape({.opcode = instruction.opcode(),
                     .operands = operands,
                     .attributes = instruction.attributes(),
                     .called = called,
                     .stated = &instruction.shape()});
}

absl::Status Verifier::CheckMeaning(const HloComputation& computation) {
  std::vector<const ProgramShape*> called;
  for (const HloInstruction* instruction : computation.instructions()) {
    HILO_RETURN_IF_ERROR(CheckShape(*instruction));
    called.clear();
    for (const HloComputation* callee : instruction->called_computations()) called.push_back(&programs_.at(callee));
    absl::StatusOr<Shape> inferred = Infer(*instruction, called);
    if (!inferred.ok()) {
      culprit_ = instruction;
      return AddContext(inferred.status(), InstructionContext(*instruction));
    }
    if (!ShapeUtil::Compatible(*inferred, instruction->shape())) {
      return Fail(*instruction, HloOpcodeString(instruction->opcode()), ": expected the shape ", inferred->ToString(),
                  "; got ", instruction->shape().ToString());
    }
  }
  programs_.emplace(&computation, computation.ComputeProgramShape());
  return absl::OkStatus();
}

absl::Status Verifier::CheckEntryLayout() {
  if (!module_.entry_computation_layout().has_value()) return absl::OkStatus();
  const ProgramShape& layout = *module_.entry_computation_layout();
  const ProgramShape& entry = programs_.at(module_.entry_computation());
  if (layout.parameters.size() != entry.parameters.size()) {
    return InvalidArgument("entry_computation_layout: expected ", entry.parameters.size(), " parameters; got ",
                           layout.parameters.size());
  }
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    HILO_RETURN_IF_ERROR(ShapeUtil::Validate(layout.parameters[i]));
    if (!ShapeUtil::Compatible(layout.parameters[i], entry.parameters[i])) {
      return InvalidArgument("entry_computation_layout: expected ", entry.parameters[i].ToString(), " for parameter ",
                             i, "; got ", layout.parameters[i].ToString());
    }
  }
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(layout.result));
  if (!ShapeUtil::Compatible(layout.result, entry.result)) {
    return InvalidArgument("entry_computation_layout: expected ", entry.result.ToString(), " for the result; got ",
                           layout.result.ToString());
  }
  return absl::OkStatus();
}

std::string LeafText(int64_t number, const ShapeIndex& index) {
  return absl::StrCat("(", number, ", {", absl::StrJoin(index, ","), "})");
}

absl::Status Verifier::CheckParameterLeaf(absl::string_view what, int64_t number, const ShapeIndex& index) {
  const ProgramShape& entry = programs_.at(module_.entry_computation());
  if (number < 0 || number >= static_cast<int64_t>(entry.parameters.size())) {
    return InvalidArgument(what, ": expected a parameter number below ", entry.parameters.size(), "; got ", number);
  }
  if (!ShapeUtil::IndexIsValid(entry.parameters[number], index) ||
      ShapeUtil::GetSubshape(entry.parameters[number], index).IsTuple()) {
    return InvalidArgument(what, ": expected an array of the parameters; got ", LeafText(number, index));
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckAliases() {
  const ProgramShape& entry = programs_.at(module_.entry_computation());
  absl::flat_hash_set<std::pair<int64_t, ShapeIndex>> given;
  absl::flat_hash_set<ShapeIndex> outputs;
  for (const InputOutputAlias& alias : module_.input_output_aliases()) {
    HILO_RETURN_IF_ERROR(CheckParameterLeaf("input_output_alias", alias.parameter_number, alias.parameter_index));
    const std::string output_text = absl::StrCat("{", absl::StrJoin(alias.output_index, ","), "}");
    if (!ShapeUtil::IndexIsValid(entry.result, alias.output_index) ||
        ShapeUtil::GetSubshape(entry.result, alias.output_index).IsTuple()) {
      return InvalidArgument("input_output_alias: expected an array of the result; got ", output_text);
    }
    if (!outputs.insert(alias.output_index).second) {
      return InvalidArgument("input_output_alias: output ", output_text, " has two parameters");
    }
    if (!given.insert({alias.parameter_number, alias.parameter_index}).second) {
      return InvalidArgument("input_output_alias: parameter ", LeafText(alias.parameter_number, alias.parameter_index),
                             " has two outputs");
    }
    const int64_t output_bytes = ShapeUtil::ByteSizeOf(ShapeUtil::GetSubshape(entry.result, alias.output_index));
    const int64_t parameter_bytes =
        ShapeUtil::ByteSizeOf(ShapeUtil::GetSubshape(entry.parameters[alias.parameter_number], alias.parameter_index));
    if (output_bytes != parameter_bytes) {
      return InvalidArgument("input_output_alias: expected a parameter of the ", output_bytes, " bytes of output ",
                             output_text, "; got ", parameter_bytes, " bytes");
    }
  }
  for (const BufferDonor& donor : module_.buffer_donors()) {
    HILO_RETURN_IF_ERROR(CheckParameterLeaf("buffer_donor", donor.parameter_number, donor.parameter_index));
    if (!given.insert({donor.parameter_number, donor.parameter_index}).second) {
      return InvalidArgument("buffer_donor: parameter ", LeafText(donor.parameter_number, donor.parameter_index),
                             " is given up twice");
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckLayouts() {
  for (const HloComputation* computation : order_) {
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction->shape())) {
        if (!leaf.shape->IsArray()) continue;
        if (!leaf.shape->has_layout() || !LayoutUtil::IsDefault(leaf.shape->layout())) {
          return Fail(*instruction, "expected the default layout at stage ", HloStageName(stage_), "; got ",
                      leaf.shape->ToString(/*print_layout=*/true));
        }
      }
    }
  }
  return absl::OkStatus();
}

// What control flow runs has a schedule: from the entry on, through control-flow ops.
absl::Status Verifier::CheckSchedules() {
  std::vector<const HloComputation*> work = {module_.entry_computation()};
  absl::flat_hash_set<const HloComputation*> seen = {module_.entry_computation()};
  while (!work.empty()) {
    const HloComputation* computation = work.back();
    work.pop_back();
    auto schedule = module_.schedule().find(computation);
    if (schedule == module_.schedule().end()) {
      return InvalidArgument("computation ", computation->name(), " has no schedule at stage ", HloStageName(stage_));
    }
    HILO_RETURN_IF_ERROR(CheckSchedule(*computation, schedule->second));
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!HasTrait(instruction->opcode(), kControlFlow)) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        if (seen.insert(called).second) work.push_back(called);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckSchedule(const HloComputation& computation, absl::Span<HloInstruction* const> schedule) {
  if (static_cast<int64_t>(schedule.size()) != computation.instruction_count()) {
    return InvalidArgument("the schedule of ", computation.name(), " has ", schedule.size(), " instructions; expected ",
                           computation.instruction_count());
  }
  const std::vector<HloInstruction*> list = computation.instructions();
  const absl::flat_hash_set<const HloInstruction*> members(list.begin(), list.end());
  absl::flat_hash_set<const HloInstruction*> done;
  for (const HloInstruction* instruction : schedule) {
    if (!members.contains(instruction)) {  // may not exist any more
      return InvalidArgument("the schedule of ", computation.name(), " holds an instruction that is not in it");
    }
    auto is_later = [&](const HloInstruction* before) { return !done.contains(before); };
    if (std::any_of(instruction->operands().begin(), instruction->operands().end(), is_later) ||
        std::any_of(instruction->control_predecessors().begin(), instruction->control_predecessors().end(), is_later)) {
      return Fail(*instruction, "scheduled before an operand or control predecessor");
    }
    if (!done.insert(instruction).second) return Fail(*instruction, "scheduled twice");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyHloModule(const HloModule& module, HloStage stage, const HloLimits& limits,
                             const HloInstruction** culprit) {
  Verifier verifier(module, stage, limits);
  absl::Status status = verifier.Run();
  if (culprit != nullptr) *culprit = verifier.culprit();
  return status;
}

std::string InstructionContext(const HloInstruction& instruction) {
  std::string text = instruction.ToString();
  if (text.size() > kMaxContext) text = absl::StrCat(text.substr(0, kMaxContext), " ...");
  absl::StrAppend(&text, instruction.source_text_line() == 0 ? "" : ", line ");
  if (instruction.source_text_line() != 0) absl::StrAppend(&text, instruction.source_text_line());
  return absl::StrCat("; in ", text);
}

}  // namespace hilo
