#include "pjrt/program_import.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/text/hlo_parser.h"
#include "pjrt/python_callback.h"

namespace hilo::pjrt {
namespace {

// As StableHLO states it; of the other formats the module has all but the memories.
StablehloProgram FromHlo(std::unique_ptr<HloModule> module) {
  StablehloProgram program;
  const HloComputation& entry = *module->entry_computation();
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    StablehloArgumentInfo info;
    info.sharding = std::string(ExtraAttribute(entry.parameter_instruction(i)->extra_attributes(), "sharding"));
    program.arguments.push_back(info);
  }
  program.module = std::move(module);
  return program;
}

}  // namespace

absl::StatusOr<StablehloProgram> Import(const ProgramSource& source) {
  if (source.format == "mlir") return ImportStablehlo(source.code);
  std::unique_ptr<HloModule> module;
  if (source.format == "hlo") {
    HILO_ASSIGN_OR_RETURN(module, HloModuleFromProto(source.code));
  } else if (source.format == "hlo_text") {
    HILO_ASSIGN_OR_RETURN(module, ParseHloModule(source.code, {}));
  } else {
    return InvalidArgument("there are no programs of format '", source.format, "'; there are mlir, hlo and hlo_text");
  }
  return FromHlo(std::move(module));
}

void PairDonors(HloModule* module) {
  if (module->buffer_donors().empty()) return;
  const ProgramShape shape = module->EntryProgramShape();
  std::vector<InputOutputAlias>& aliases = module->input_output_aliases();
  absl::flat_hash_set<ShapeIndex> taken;
  for (const InputOutputAlias& alias : aliases) taken.insert(alias.output_index);
  // The free results of a shape, the first one last.
  absl::flat_hash_map<std::string, std::vector<ShapeIndex>> free;
  const std::vector<ShapeUtil::Leaf> results = ShapeUtil::Leaves(shape.result);
  for (auto leaf = results.rbegin(); leaf != results.rend(); ++leaf) {
    if (!taken.contains(leaf->index)) free[leaf->shape->ToString(/*print_layout=*/true)].push_back(leaf->index);
  }
  std::vector<BufferDonor> unpaired;
  for (const BufferDonor& donor : module->buffer_donors()) {
    const Shape& given = ShapeUtil::GetSubshape(shape.parameters[donor.parameter_number], donor.parameter_index);
    std::vector<ShapeIndex>& fitting = free[given.ToString(/*print_layout=*/true)];
    if (fitting.empty()) {
      unpaired.push_back(donor);
      continue;
    }
    aliases.push_back({.output_index = fitting.back(),
                       .parameter_number = donor.parameter_number,
                       .parameter_index = donor.parameter_index});
    fitting.pop_back();
  }
  module->buffer_donors() = std::move(unpaired);
}

std::vector<int64_t> DonatedLeaves(const HloModule& module) {
  absl::flat_hash_set<std::pair<int64_t, ShapeIndex>> given;
  for (const InputOutputAlias& alias : module.input_output_aliases())
    given.emplace(alias.parameter_number, alias.parameter_index);
  for (const BufferDonor& donor : module.buffer_donors()) given.emplace(donor.parameter_number, donor.parameter_index);
  std::vector<int64_t> donated;
  int64_t number = 0;
  const ProgramShape shape = module.EntryProgramShape();
  for (size_t parameter = 0; parameter < shape.parameters.size(); ++parameter) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.parameters[parameter])) {
      if (given.contains({parameter, leaf.index})) donated.push_back(number);
      ++number;
    }
  }
  return donated;
}

absl::Status CheckIsServed(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kInfeed)
        return Unimplemented("%", instruction->name(),
                             " would wait for ever: an infeed, and the PJRT API has no call that feeds one");
    }
  }
  return absl::OkStatus();
}

bool CallsPython(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall &&
          instruction->attrs<CustomCallAttrs>().custom_call_target == kPythonCallback)
        return true;
    }
  }
  return false;
}

}  // namespace hilo::pjrt
