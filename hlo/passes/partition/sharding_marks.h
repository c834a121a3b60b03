// Sharding annotations in instructions: marks on arrays, and the boundaries of manual computations.
#ifndef HILO_HLO_PASSES_PARTITION_SHARDING_MARKS_H_
#define HILO_HLO_PASSES_PARTITION_SHARDING_MARKS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/partition/tile_cut.h"

namespace hilo {

// True for a custom call that annotates its only operand, which it returns.
bool IsShardingMark(const HloInstruction& instruction);
// Whether the mark specifies the sharding of its operand from there on.
bool StatesSharding(const HloInstruction& mark);
// True for custom calls that split whole arrays into the local arrays of a manual computation, and that join these.
bool CutsToLocal(const HloInstruction& instruction);
bool CutsOrJoins(const HloInstruction& instruction);

// The ways in which shardings may be propagated, as a set: forward to results, backward to operands.
enum class PropagationDirection { kNone = 0, kForward = 1, kBackward = 2, kBoth = 3 };
// The ways past a mark: of ShardBarrierFrom backward only, of ShardBarrierTo forward only, of
// xla.sdy.PropagationBarrier as its frontend attribute xla.sdy.allowed_direction states ("0 : i32" for none).
PropagationDirection AllowedDirection(const HloInstruction& mark);

// True for a mark that queries the sharding of its operand.
bool QueriesSharding(const HloInstruction& mark);
// The group that a mark puts its operand into; empty for others.
std::string ShardingGroupOf(const HloInstruction& mark);
// The group of values that are sharded alike into which an instruction's sharding puts it, as {unknown shard_as 3}
// does; empty if there is none.
std::string ShardGroupOf(const HloInstruction& instruction);
// Makes each mark of a group return its operand to all that uses the operand: that may have a sharding of its own, a
// parameter's say, which is not the group's.
absl::Status ReadThroughGroupMarks(HloModule* module);
// The only device that makes a call with effects and results, which all devices receive.
std::optional<int64_t> OnlyDeviceOf(const HloInstruction& call);

// The text of the attribute sharding=; empty if there is none.
absl::string_view ShardingOf(const HloInstruction& instruction);

// Whether a sharding assigns tiles or parts of an array to partitions.
bool DividesArray(absl::string_view sharding);

// Whether the computation, or one that it calls, has any of these calls, or the instructions of the entry have
// shardings with tiles.
bool HasShardingMarks(const HloComputation& computation);

// Errors: InvalidArgument unless the mark has its operand's shape; unless there are as many results as operands, all
// arrays or tokens.
absl::Status CheckMark(const HloInstruction& mark);
absl::Status CheckCount(const HloInstruction& call);
// Errors: InvalidArgument unless result `i` of the split or join is `shape`.
absl::Status CheckResult(const HloInstruction& call, int64_t i, const Shape& shape);

// How the axes of a mesh that a manual computation makes manual number the devices, and how its other axes do.
struct ManualAxes {
  std::string name;  // the mesh and its manual axes
  TileCut manual, others;
  std::vector<TileCut> each;  // of the manual axes
};

// The meshes of a module, by which its marks are read.
class ShardingMeshes {
 public:
  // Errors: InvalidArgument if the module's attribute xla.sdy.meshes has none.
  absl::Status Read(const HloModule& module);

  // The sharding of each operand (of a split) or result (of a join). Errors: InvalidArgument if the call does not state
  // it, or one has other dimensions than its operand.
  absl::StatusOr<std::vector<TileAssignment>> TilesOfCall(const HloInstruction& call) const;

  // The same with what propagation may make of it, along axes that are not manual too.
  absl::StatusOr<std::vector<StatedSharding>> StatedByCall(const HloInstruction& call) const;
  // The axes that such a call makes manual; nullopt if it does not name them, or its mesh has other devices.
  absl::StatusOr<std::optional<ManualAxes>> ManualAxesOf(const HloInstruction& call, int64_t devices) const;

  // The shardings that an instruction states for its `leaves`, with what propagation may make of them: those of Shardy
  // beside sharding= if it has such, which tell more. Errors: InvalidArgument if there are fewer or more than leaves,
  // or the text is invalid.
  absl::StatusOr<std::vector<StatedSharding>> StatedBy(const HloInstruction& instruction, int64_t leaves) const;

  // How each axis of more than one device cuts a dimension, of the meshes of all `devices`.
  std::vector<TileCut> Axes(int64_t devices) const;

 private:
  absl::StatusOr<TileCut> CutOfAxis(absl::string_view mesh, absl::string_view axis) const;
  absl::StatusOr<std::vector<TileAssignment>> FromSdy(const HloInstruction& instruction, absl::string_view key) const;

  absl::flat_hash_map<std::string, Mesh> meshes_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SHARDING_MARKS_H_
