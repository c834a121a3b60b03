#include "hlo/passes/partition/constraints.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/partition/tile_cut.h"

namespace hilo {
namespace {

// Users of a value among which other constraints are looked for.
constexpr size_t kMaxUsers = 256;

// Results of these have one sharding with what flows into them.
constexpr OpcodeSet kFlowing = {HloOpcode::kConditional, HloOpcode::kOptimizationBarrier, HloOpcode::kWhile};

// Whether a manual computation requires these tiles wherever it takes the value.
bool Requires(const HloInstruction& call, const HloInstruction& value, const TileAssignment& tiles,
              const ShardingMeshes& meshes) {
  if (!CutsToLocal(call)) return false;
  const absl::StatusOr<std::vector<StatedSharding>> stated = meshes.StatedByCall(call);
  if (!stated.ok() || static_cast<int64_t>(stated->size()) != call.operand_count()) return false;
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    const StatedSharding& one = (*stated)[i];
    if (call.operand(i) == &value && !(IsClosed(one) && SameTiles(one.tiles.Reduced(), tiles))) return false;
  }
  return true;
}

}  // namespace

bool IsClosed(const StatedSharding& stated) {
  return !absl::c_linear_search(stated.is_open, true) &&
         absl::c_all_of(stated.priorities, [](int64_t priority) { return priority == 0; });
}

absl::StatusOr<std::optional<TileAssignment>> ClosedBy(const HloInstruction& mark, const ShardingMeshes& meshes) {
  const absl::string_view sharding = ShardingOf(mark);
  if (!IsShardingMark(mark) || !StatesSharding(mark) || !mark.shape().IsArray() ||
      (!DividesArray(sharding) && !absl::StrContains(sharding, "replicated")))
    return std::optional<TileAssignment>();
  HILO_ASSIGN_OR_RETURN(const std::vector<StatedSharding> stated, meshes.StatedBy(mark, 1));
  if (!IsClosed(stated[0])) return std::optional<TileAssignment>();
  return std::optional<TileAssignment>(stated[0].tiles.Reduced());
}

bool AllRequire(const HloInstruction& value, const TileAssignment& tiles, const ShardingMeshes& meshes) {
  if (value.users().size() > kMaxUsers) return false;
  return absl::c_all_of(value.users(), [&](const HloInstruction* user) {
    if (CutsOrJoins(*user)) return Requires(*user, value, tiles, meshes);
    if (!IsShardingMark(*user) || !StatesSharding(*user)) return true;
    const absl::StatusOr<std::optional<TileAssignment>> closed = ClosedBy(*user, meshes);
    return closed.ok() && closed->has_value() && SameTiles(**closed, tiles);
  });
}

absl::Status RemoveOpenMarks(HloComputation* computation, const ShardingMeshes& meshes) {
  for (HloInstruction* mark : computation->MakePostOrder()) {
    if (!IsShardingMark(*mark) || !StatesSharding(*mark) || !ShardGroupOf(*mark).empty() ||
        mark->HasControlDependencies() || !mark->shape().IsArray() || !CheckMark(*mark).ok())
      continue;
    // One that is invalid is an error where the mark is divided.
    const absl::StatusOr<std::vector<StatedSharding>> stated = meshes.StatedBy(*mark, 1);
    if (!stated.ok()) continue;
    const StatedSharding& one = (*stated)[0];
    const bool is_open =
        mark->shape().rank() == 0 || (!one.is_open.empty() && !absl::c_linear_search(one.is_open, false));
    if (!is_open || !one.tiles.IsWhole() || one.tiles.reduction.has_value() || !one.replicated.IsWhole()) continue;
    HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(mark, mark->mutable_operand(0)));
  }
  return absl::OkStatus();
}

void ReadThroughConstraints(HloModule* module, const ShardingMeshes& meshes) {
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* mark : computation->MakePostOrder()) {
      if (!IsShardingMark(*mark) || !StatesSharding(*mark)) continue;
      HloInstruction* const value = mark->mutable_operand(0);
      const HloInstruction* const source = value->opcode() == HloOpcode::kGetTupleElement ? value->operand(0) : value;
      if (!kFlowing.contains(source->opcode()) || value->users().size() < 2) continue;
      // One that is invalid is an error where the mark is divided.
      const absl::StatusOr<std::optional<TileAssignment>> tiles = ClosedBy(*mark, meshes);
      if (!tiles.ok() || !tiles->has_value() || !AllRequire(*value, **tiles, meshes)) continue;
      const std::vector<HloInstruction*> users(value->users().begin(), value->users().end());
      for (HloInstruction* user : users) {
        for (int64_t i = 0; i < user->operand_count(); ++i) {
          if (user != mark && user->operand(i) == value) computation->ReplaceOperand(user, i, mark);
        }
      }
    }
  }
}

}  // namespace hilo
