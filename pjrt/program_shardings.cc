#include "pjrt/program_shardings.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/numbers.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "runtime/dynamic_program.h"

namespace hilo::pjrt {
namespace {

std::atomic<ShardingInspector> sharding_inspector = nullptr;

bool QueriesShardings(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall &&
          instruction->attrs<CustomCallAttrs>().custom_call_target == "InspectSharding")
        return true;
    }
  }
  return false;
}

// Which of the values that have no sharding stated, or one that may be cut more, are open.
template <typename Info>
std::vector<bool> OpenAmong(const std::vector<Info>& values, const std::vector<bool>& open) {
  std::vector<bool> among;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_open = values[i].sharding.empty() || values[i].is_open;
    among.push_back(is_open && (open.size() == 1 ? open[0] : i < open.size() && open[i]));
  }
  return among;
}

}  // namespace

absl::StatusOr<std::string> ShardingToProto(absl::string_view text) {
  if (text.empty()) text = "{replicated}";
  WireWriter writer;
  HILO_RETURN_IF_ERROR(kShardingCodec.encode(text, 1, &writer));
  HILO_ASSIGN_OR_RETURN(const WireMessage message, WireMessage::Parse(writer.bytes()));
  return std::string(message.Bytes(1));
}

absl::Status ChooseResultShardings(const PluginCompileOptions& options, StablehloProgram* program,
                                   std::vector<ShardingNote>* notes) {
  HloModule* module = program->module.get();
  OpenValues open = {.parameters = OpenAmong(program->arguments, options.open_parameters),
                     .results = OpenAmong(program->results, options.open_results)};
  const std::vector<bool> chosen = open.results, parameters = open.parameters;
  if (module->num_partitions() <= 1 ||
      (std::find(chosen.begin(), chosen.end(), true) == chosen.end() &&
       std::find(parameters.begin(), parameters.end(), true) == parameters.end() && !QueriesShardings(*module)))
    return absl::OkStatus();
  HILO_RETURN_IF_ERROR(PartitionModule(module, options.compile, std::move(open), notes));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const HloInstruction* parameter = module->entry_computation()->parameter_instruction(static_cast<int64_t>(i));
    if (parameters[i])
      program->arguments[i].sharding = std::string(ExtraAttribute(parameter->extra_attributes(), "sharding"));
  }
  const absl::string_view text = ExtraAttribute(module->extra_attributes(), "spmd_output_sharding");
  if (text.empty()) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles,
                        TileAssignmentsFromHlo(text, static_cast<int64_t>(chosen.size())));
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) program->results[i].sharding = TileAssignmentToHlo(tiles[i]);
  }
  return absl::OkStatus();
}

absl::Status NotifyInspector(const std::vector<ShardingNote>& notes) {
  const ShardingInspector inspector = sharding_inspector;
  for (const ShardingNote& note : notes) {
    uint64_t number;
    if (inspector == nullptr || !absl::SimpleAtoi(note.name, &number)) continue;
    HILO_ASSIGN_OR_RETURN(const std::string sharding, ShardingToProto(TileAssignmentToHlo(note.tiles)));
    inspector(number, sharding.data(), sharding.size());
  }
  return absl::OkStatus();
}

void SetShardingInspector(ShardingInspector inspector) { sharding_inspector = inspector; }

}  // namespace hilo::pjrt
