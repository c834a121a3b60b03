#include "hlo/passes/partition/sharding_marks.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo {
namespace {

absl::string_view TargetOf(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall
             ? absl::string_view(instruction.attrs<CustomCallAttrs>().custom_call_target)
             : "";
}

constexpr absl::string_view kInShardings = "xla.sdy.in_shardings", kOutShardings = "xla.sdy.out_shardings",
                            kManualAxes = "xla.sdy.manual_axes";

bool IsMarkTarget(absl::string_view target) {
  return target == "Sharding" || target == "xla.sdy.FuncResultSharding" || target == "xla.sdy.PropagationBarrier" ||
         target == "xla.sdy.ShardingGroup" || target == "xla.sdy.ReshardOp" || target == "InspectSharding" ||
         target == "LayoutConstraint" || target == "ShardBarrierFrom" || target == "ShardBarrierTo";
}

}  // namespace

bool IsShardingMark(const HloInstruction& instruction) {
  return instruction.operand_count() == 1 && IsMarkTarget(TargetOf(instruction));
}
bool StatesSharding(const HloInstruction& mark) { return TargetOf(mark) == "Sharding"; }
bool CutsToLocal(const HloInstruction& instruction) {
  const absl::string_view target = TargetOf(instruction);
  return target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape";
}
bool CutsOrJoins(const HloInstruction& instruction) {
  const absl::string_view target = TargetOf(instruction);
  return target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape" || CutsToLocal(instruction);
}

PropagationDirection AllowedDirection(const HloInstruction& mark) {
  if (TargetOf(mark) == "xla.sdy.PropagationBarrier") {
    const std::string direction =
        FrontendAttribute(ExtraAttribute(mark.extra_attributes(), "frontend_attributes"), "xla.sdy.allowed_direction");
    if (absl::StartsWith(direction, "0")) return PropagationDirection::kNone;
    if (absl::StartsWith(direction, "1")) return PropagationDirection::kForward;
    if (absl::StartsWith(direction, "2")) return PropagationDirection::kBackward;
  }
  if (TargetOf(mark) == "ShardBarrierFrom") return PropagationDirection::kBackward;
  return TargetOf(mark) == "ShardBarrierTo" ? PropagationDirection::kForward : PropagationDirection::kBoth;
}

bool QueriesSharding(const HloInstruction& mark) { return TargetOf(mark) == "InspectSharding"; }

std::string ShardingGroupOf(const HloInstruction& mark) {
  if (TargetOf(mark) != "xla.sdy.ShardingGroup" || mark.operand_count() != 1) return "";
  return FrontendAttribute(ExtraAttribute(mark.extra_attributes(), "frontend_attributes"), "xla.sdy.sharding_group_id");
}

absl::Status ReadThroughGroupMarks(HloModule* module) {
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* mark : computation->MakePostOrder()) {
      if (ShardingGroupOf(*mark).empty() || !mark->operand(0)->shape().IsArray()) continue;
      HloInstruction* const operand = mark->mutable_operand(0);
      HloInstruction* const through =
          computation->AddInstruction(mark->CloneWithNewOperands(operand->shape(), {operand}));
      through->add_extra_attribute("frontend_attributes",
                                   std::string(ExtraAttribute(mark->extra_attributes(), "frontend_attributes")));
      HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(operand, through));
      computation->ReplaceOperand(through, 0, operand);
      if (mark->shape().IsArray()) HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(mark, through));
      if (mark->users().empty() && mark != computation->root_instruction())
        HILO_RETURN_IF_ERROR(computation->RemoveInstruction(mark));
    }
  }
  return absl::OkStatus();
}

std::string ShardGroupOf(const HloInstruction& instruction) {
  const absl::string_view sharding = ShardingOf(instruction);
  for (const absl::string_view kind : {" shard_as ", " shard_like "}) {
    const size_t at = sharding.find(kind);
    if (at == absl::string_view::npos) continue;
    const absl::string_view rest = sharding.substr(at + kind.size());
    return absl::StrCat(kind, rest.substr(0, rest.find_first_not_of("0123456789")));
  }
  return "";
}

std::optional<int64_t> OnlyDeviceOf(const HloInstruction& call) {
  if (call.opcode() != HloOpcode::kCustomCall || !call.HasSideEffect()) return std::nullopt;
  bool has_arrays = false;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(call.shape())) {
    has_arrays |= leaf.shape->IsArray();
    if (leaf.index.size() > 1 || !(leaf.shape->IsToken() || (leaf.shape->IsArray() && leaf.shape->is_static())))
      return std::nullopt;
  }
  std::optional<int64_t> only;
  for (absl::string_view one : absl::StrSplit(ShardingOf(call), ',')) {
    one = absl::StripAsciiWhitespace(one);
    while (absl::ConsumePrefix(&one, "{") || absl::ConsumeSuffix(&one, "}")) {
    }
    int64_t device;
    if (!absl::ConsumePrefix(&one, "maximal device=") || !absl::SimpleAtoi(one, &device) ||
        only.value_or(device) != device)
      return std::nullopt;
    only = device;
  }
  return has_arrays ? only : std::nullopt;
}

absl::string_view ShardingOf(const HloInstruction& instruction) {
  return ExtraAttribute(instruction.extra_attributes(), "sharding");
}

bool DividesArray(absl::string_view sharding) {
  return absl::StrContains(sharding, "devices=") || absl::StrContains(sharding, "unreduced") ||
         (absl::StrContains(sharding, "mesh[") && absl::StrContains(sharding, ", [{"));
}

bool HasShardingMarks(const HloComputation& computation) {
  std::vector<const HloComputation*> reached = {&computation};
  absl::flat_hash_set<const HloComputation*> seen = {&computation};
  while (!reached.empty()) {
    const HloComputation* here = reached.back();
    reached.pop_back();
    for (const HloInstruction* instruction : here->instructions()) {
      if (IsMarkTarget(TargetOf(*instruction)) || CutsOrJoins(*instruction) || OnlyDeviceOf(*instruction).has_value())
        return true;
      if (here->IsEntry() && DividesArray(ShardingOf(*instruction))) return true;
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
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    if (call.operand(i)->shape().IsTuple())
      return InvalidArgument(TargetOf(call), ": expected arrays, got operand ", i, ", a tuple");
  }
  if (results == call.operand_count()) return absl::OkStatus();
  return InvalidArgument(TargetOf(call), ": expected as many results as operands, got ", results, " and ",
                         call.operand_count());
}

absl::Status CheckResult(const HloInstruction& call, int64_t i, const Shape& shape) {
  const bool is_tuple = call.shape().IsTuple();
  if (is_tuple ? i < call.shape().tuple_shapes_size() && ShapeUtil::Compatible(shape, call.shape().tuple_shapes(i))
               : i == 0 && ShapeUtil::Compatible(shape, call.shape())) {
    return absl::OkStatus();
  }
  return InvalidArgument(TargetOf(call), ": the shardings give ", shape.ToString(), ", but the call states ",
                         call.shape().ToString());
}

absl::Status ShardingMeshes::Read(const HloModule& module) {
  meshes_.clear();
  const std::string meshes =
      FrontendAttribute(ExtraAttribute(module.extra_attributes(), "frontend_attributes"), "xla.sdy.meshes");
  if (meshes.empty()) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(meshes_, MeshesFromText(meshes));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TileAssignment>> ShardingMeshes::FromSdy(const HloInstruction& instruction,
                                                                    absl::string_view key) const {
  const absl::string_view attributes = ExtraAttribute(instruction.extra_attributes(), "frontend_attributes");
  std::optional<std::vector<std::string>> manual;
  if (const std::string axes = FrontendAttribute(attributes, kManualAxes); !axes.empty()) {
    HILO_ASSIGN_OR_RETURN(manual, ManualAxesFromText(axes));
  }
  return TileAssignmentsFromSdy(FrontendAttribute(attributes, key), meshes_, manual);
}

absl::StatusOr<std::vector<TileAssignment>> ShardingMeshes::TilesOfCall(const HloInstruction& call) const {
  const absl::string_view target = TargetOf(call);
  const bool cuts = CutsToLocal(call);
  std::vector<TileAssignment> tiles;
  if (absl::StartsWith(target, "xla.sdy.")) {
    HILO_ASSIGN_OR_RETURN(tiles, FromSdy(call, cuts ? kInShardings : kOutShardings));
  } else {
    // What cuts an array reads the mark on its operand.
    const HloInstruction& stating = cuts && call.operand_count() == 1 ? *call.operand(0) : call;
    const absl::string_view sharding = ShardingOf(stating);
    if (sharding.empty()) {
      return InvalidArgument(target, ": expected the attribute sharding of ", cuts ? "its operand " : "the call ",
                             stating.name(), ", by which the array is ", cuts ? "cut" : "joined", "; it is missing");
    }
    HILO_ASSIGN_OR_RETURN(tiles, TileAssignmentsFromHlo(sharding, 1));
  }
  if (static_cast<int64_t>(tiles.size()) != call.operand_count()) {
    return InvalidArgument(target, ": expected a sharding for each of ", call.operand_count(), " operands, got ",
                           tiles.size());
  }
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    const Shape& shape = call.operand(i)->shape();
    if (tiles[i].IsWhole() || (shape.IsArray() && static_cast<int64_t>(tiles[i].counts.size()) == shape.rank()))
      continue;
    return InvalidArgument(target, ": operand ", i, " is ", shape.ToString(), ", but its sharding is of ",
                           tiles[i].counts.size(), " dimensions");
  }
  return tiles;
}

absl::StatusOr<std::vector<StatedSharding>> ShardingMeshes::StatedByCall(const HloInstruction& call) const {
  const std::string text = FrontendAttribute(ExtraAttribute(call.extra_attributes(), "frontend_attributes"),
                                             CutsToLocal(call) ? kInShardings : kOutShardings);
  return StatedShardingsFromSdy(text, meshes_, std::nullopt);
}

absl::StatusOr<TileCut> ShardingMeshes::CutOfAxis(absl::string_view mesh, absl::string_view axis) const {
  HILO_ASSIGN_OR_RETURN(
      const std::vector<TileAssignment> tiles,
      TileAssignmentsFromSdy(absl::StrCat("#sdy.sharding<@", mesh, ", [{\"", axis, "\"}]>"), meshes_, std::nullopt));
  return tiles.size() == 1 ? CutOfDimension(tiles[0], 0) : TileCut();
}

absl::StatusOr<std::optional<ManualAxes>> ShardingMeshes::ManualAxesOf(const HloInstruction& call,
                                                                       int64_t devices) const {
  const absl::string_view attributes = ExtraAttribute(call.extra_attributes(), "frontend_attributes");
  const std::string names = FrontendAttribute(attributes, kManualAxes);
  const std::string shardings = FrontendAttribute(attributes, CutsToLocal(call) ? kInShardings : kOutShardings);
  const size_t begin = shardings.find("<@");
  if (names.empty() || begin == std::string::npos) return std::optional<ManualAxes>();
  const std::string mesh_name = shardings.substr(begin + 2, shardings.find_first_of(",>", begin) - begin - 2);
  const auto mesh = meshes_.find(mesh_name);
  if (mesh == meshes_.end()) return std::optional<ManualAxes>();
  HILO_ASSIGN_OR_RETURN(const std::vector<std::string> manual, ManualAxesFromText(names));
  ManualAxes axes{.name = absl::StrCat(mesh_name, " ", names)};
  for (const bool is_manual : {true, false}) {
    TileCut& cut = is_manual ? axes.manual : axes.others;
    for (const std::string& axis : mesh->second.axes) {
      if (absl::c_linear_search(manual, axis) != is_manual) continue;
      HILO_ASSIGN_OR_RETURN(const TileCut one, CutOfAxis(mesh_name, axis));
      if (one.count > 1 && static_cast<int64_t>(one.tile_of.size()) != devices) return std::optional<ManualAxes>();
      cut = Nested(cut, one);
      if (is_manual && one.count > 1) axes.each.push_back(one);
    }
  }
  if (axes.manual.count * axes.others.count != devices) return std::optional<ManualAxes>();
  return std::optional<ManualAxes>(std::move(axes));
}

absl::StatusOr<std::vector<StatedSharding>> ShardingMeshes::StatedBy(const HloInstruction& instruction,
                                                                     int64_t leaves) const {
  const std::string sdy =
      FrontendAttribute(ExtraAttribute(instruction.extra_attributes(), "frontend_attributes"), "xla.sdy.sharding");
  // Its meshes may be gone: the partitioner's own output may keep the attributes of instructions.
  if (sdy.empty() || (meshes_.empty() && absl::StrContains(sdy, "<@"))) {
    if (ShardingOf(instruction).empty()) return std::vector<StatedSharding>(leaves);
    return StatedShardingsFromHlo(ShardingOf(instruction), leaves);
  }
  HILO_ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, StatedShardingsFromSdy(sdy, meshes_, std::nullopt));
  if (static_cast<int64_t>(stated.size()) == leaves) return stated;
  return InvalidArgument("xla.sdy.sharding: expected ", leaves, " shardings, got ", stated.size(), ": ", sdy);
}

std::vector<TileCut> ShardingMeshes::Axes(int64_t devices) const {
  std::vector<TileCut> axes;
  for (const auto& [name, mesh] : meshes_) {
    for (const std::string& axis : mesh.axes) {
      const absl::StatusOr<TileCut> cut = CutOfAxis(name, axis);
      if (cut.ok() && static_cast<int64_t>(cut->tile_of.size()) == devices) axes.push_back(*cut);
    }
  }
  return axes;
}

}  // namespace hilo
