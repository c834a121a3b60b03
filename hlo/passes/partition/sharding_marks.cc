#include "hlo/passes/partition/sharding_marks.h"

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/custom_call_attributes.h"

namespace hilo {
namespace {

absl::string_view TargetOf(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall ? absl::string_view(instruction.attrs<CustomCallAttrs>().custom_call_target) : "";
}

bool IsMarkTarget(absl::string_view target) {
  return target == "Sharding" || target == "xla.sdy.FuncResultSharding" || target == "xla.sdy.PropagationBarrier" || target == "xla.sdy.ShardingGroup" ||
         target == "xla.sdy.ReshardOp";
}

}  // namespace

bool IsShardingMark(const HloInstruction& instruction) { return instruction.operand_count() == 1 && IsMarkTarget(TargetOf(instruction)); }
bool SaysHowToCut(const HloInstruction& mark) { return TargetOf(mark) == "Sharding"; }
bool CutsToLocal(const HloInstruction& instruction) {
  const absl::string_view target = TargetOf(instruction);
  return target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape";
}
bool CutsOrJoins(const HloInstruction& instruction) {
  const absl::string_view target = TargetOf(instruction);
  return target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape" || CutsToLocal(instruction);
}

absl::string_view ShardingOf(const HloInstruction& instruction) { return ExtraAttribute(instruction.extra_attributes(), "sharding"); }

bool HasShardingMarks(const HloComputation& computation) {
  std::vector<const HloComputation*> reached = {&computation};
  absl::flat_hash_set<const HloComputation*> seen = {&computation};
  while (!reached.empty()) {
    const HloComputation* here = reached.back();
    reached.pop_back();
    for (const HloInstruction* instruction : here->instructions()) {
      if (IsMarkTarget(TargetOf(*instruction)) || CutsOrJoins(*instruction)) return true;
      if (here->IsEntry() && absl::StrContains(ShardingOf(*instruction), "devices=")) return true;
      for (const HloComputation* called : instruction->called_computations()) {
        if (seen.insert(called).second) reached.push_back(called);
      }
    }
  }
  return false;
}

absl::Status CheckMark(const HloInstruction& mark) {
  if (ShapeUtil::Compatible(mark.shape(), mark.operand(0)->shape())) return absl::OkStatus();
  return AddContext(InvalidArgument("a mark of a sharding has the shape of its operand"), InstructionContext(mark));
}

absl::Status CheckCount(const HloInstruction& call) {
  const int64_t results = call.shape().IsTuple() ? call.shape().tuple_shapes_size() : 1;
  if (results == call.operand_count()) return absl::OkStatus();
  return InvalidArgument(TargetOf(call), ": expected as many results as operands, got ", results, " and ", call.operand_count());
}

absl::Status CheckResult(const HloInstruction& call, int64_t i, const Shape& shape) {
  const bool is_tuple = call.shape().IsTuple();
  if (is_tuple ? i < call.shape().tuple_shapes_size() && ShapeUtil::Compatible(shape, call.shape().tuple_shapes(i))
               : i == 0 && ShapeUtil::Compatible(shape, call.shape())) {
    return absl::OkStatus();
  }
  return InvalidArgument(TargetOf(call), ": the shardings give ", shape.ToString(), ", but the call states ", call.shape().ToString());
}

absl::Status ShardingMeshes::Read(const HloModule& module) {
  meshes_.clear();
  const std::string meshes = FrontendAttribute(ExtraAttribute(module.extra_attributes(), "frontend_attributes"), "xla.sdy.meshes");
  if (meshes.empty()) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(meshes_, MeshesFromText(meshes));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TileAssignment>> ShardingMeshes::FromSdy(const HloInstruction& instruction, absl::string_view key) const {
  const absl::string_view attributes = ExtraAttribute(instruction.extra_attributes(), "frontend_attributes");
  std::optional<std::vector<std::string>> manual;
  if (const std::string axes = FrontendAttribute(attributes, "xla.sdy.manual_axes"); !axes.empty()) {
    HILO_ASSIGN_OR_RETURN(manual, ManualAxesFromText(axes));
  }
  return TileAssignmentsFromSdy(FrontendAttribute(attributes, key), meshes_, manual);
}

absl::StatusOr<std::vector<TileAssignment>> ShardingMeshes::TilesOfCall(const HloInstruction& call) const {
  const absl::string_view target = TargetOf(call);
  const bool cuts = CutsToLocal(call);
  std::vector<TileAssignment> tiles;
  if (absl::StartsWith(target, "xla.sdy.")) {
    HILO_ASSIGN_OR_RETURN(tiles, FromSdy(call, cuts ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"));
  } else {
    // What cuts an array reads the mark on its operand.
    const absl::string_view sharding = ShardingOf(cuts && call.operand_count() == 1 ? *call.operand(0) : call);
    HILO_ASSIGN_OR_RETURN(tiles, TileAssignmentsFromHlo(sharding, 1));
  }
  if (static_cast<int64_t>(tiles.size()) != call.operand_count()) {
    return InvalidArgument(target, ": expected a sharding for each of ", call.operand_count(), " operands, got ", tiles.size());
  }
  return tiles;
}

}  // namespace hilo
