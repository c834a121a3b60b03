// What a program says of shardings in its instructions: marks on arrays, and the edges of manual computations.
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

namespace hilo {

// Of a custom call that says something of its one operand, which it returns.
bool IsShardingMark(const HloInstruction& instruction);
// Whether the mark says how its operand is to be cut from there on.
bool SaysHowToCut(const HloInstruction& mark);
// Of custom calls that cut whole arrays into the local arrays of a manual computation, and that join these.
bool CutsToLocal(const HloInstruction& instruction);
bool CutsOrJoins(const HloInstruction& instruction);

// Of a mark that asks how its operand is cut.
bool AsksHowItIsCut(const HloInstruction& mark);
// The group that a mark puts its operand into; empty for others.
std::string ShardingGroupOf(const HloInstruction& mark);
// The dimensions of which a mark leaves open how they are cut, of `rank` of them.
std::vector<bool> OpenDimensions(const HloInstruction& mark, int64_t rank);
// The device that alone makes a call with effects and results, which all get.
std::optional<int64_t> OnlyDeviceOf(const HloInstruction& call);

// The text of the attribute sharding=; empty if there is none.
absl::string_view ShardingOf(const HloInstruction& instruction);

// Whether a sharding gives partitions tiles or parts of an array.
bool DividesArray(absl::string_view sharding);

// Whether the computation, or one that it calls, has any of these calls, or the instructions of the entry have
// shardings with tiles.
bool HasShardingMarks(const HloComputation& computation);

// Errors: InvalidArgument unless the mark has its operand's shape; unless there are as many results as operands.
absl::Status CheckMark(const HloInstruction& mark);
absl::Status CheckCount(const HloInstruction& call);
// Errors: InvalidArgument unless result `i` of what cuts or joins is `shape`.
absl::Status CheckResult(const HloInstruction& call, int64_t i, const Shape& shape);

// The meshes of a module, by which its marks are read.
class ShardingMeshes {
 public:
  // Errors: InvalidArgument if the module's attribute xla.sdy.meshes has none.
  absl::Status Read(const HloModule& module);

  // How each operand (of what cuts) or result (of what joins) is cut. Errors: InvalidArgument if the call does not say
  // so.
  absl::StatusOr<std::vector<TileAssignment>> TilesOfCall(const HloInstruction& call) const;

 private:
  absl::StatusOr<std::vector<TileAssignment>> FromSdy(const HloInstruction& instruction, absl::string_view key) const;

  absl::flat_hash_map<std::string, Mesh> meshes_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SHARDING_MARKS_H_
