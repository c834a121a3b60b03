// Shardings: the distribution of an array over the devices of a partitioned program.
//
// Two notations are read. HLO's `sharding=` attribute lays the devices out over the dimensions of the array; Shardy's
// axes (#sdy.sharding) name a mesh and state which of its axes shard which dimension. Both denote the same, a tile for
// every device.
#ifndef HILO_HLO_IR_TILE_ASSIGNMENT_H_
#define HILO_HLO_IR_TILE_ASSIGNMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// How the parts of an unreduced array are combined. The numbers are Shardy's.
enum class PartReduction { kSum, kMax, kMin };

// An array split into counts[0] x counts[1] x ... tiles of equal sizes. Devices with equal tiles hold identical copies.
struct TileAssignment {
  std::vector<int64_t> counts;                // tiles along each dimension; empty: every device has the whole array
  std::vector<std::vector<int64_t>> tile_of;  // [device][dimension]: the tile index of the device
  // Of an unreduced array. Each device has a part of its tile, and combining the parts of a tile gives the tile.
  std::optional<PartReduction> reduction = std::nullopt;
  std::vector<int64_t> part_of = {};  // [device]: index of its part; empty: a separate part each

  // Whether the tiles are the whole array. Ignores parts.
  bool IsWhole() const;
  // The same tiles, reduced.
  TileAssignment Reduced() const;
};

// A sharding as the program states it: beside the tiles, what propagation may add to them, and when.
struct StatedSharding {
  TileAssignment tiles;
  std::vector<bool> is_open = {};        // by dimension: may be cut more; empty: no dimension may
  std::vector<int64_t> priorities = {};  // by dimension: 0 is propagated first; empty: all 0
  // The axes along which the array must not be cut, as if each cut a dimension of its own.
  TileAssignment replicated = {};
};
std::vector<TileAssignment> TilesOf(std::vector<StatedSharding> stated);

// One sharding of HLO text for each of `leaf_count` leaves: "{replicated}", "{devices=[2,1,2]<=[4]
// last_tile_dim_replicate}",
// "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}", "{unreduced}",
// "{devices=[2,2]0,1,2,3}", "{maximal device=0}", "{manual}", "{unknown}", "{mesh['x'=2,'y'=4], [{'x'}, {'y', ?}]}",
// "{mesh['x'=2], replicated}", "{maximal_mesh[device_id=0]}", or a tuple of them. One without tiles is whole. Errors:
// InvalidArgument if the text is invalid, or there are fewer or more shardings than leaves.
absl::StatusOr<std::vector<StatedSharding>> StatedShardingsFromHlo(absl::string_view text, int64_t leaf_count);
absl::StatusOr<std::vector<TileAssignment>> TileAssignmentsFromHlo(absl::string_view text, int64_t leaf_count);

// The inverse: "{replicated}" or "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}": devices in the order of their
// tiles; devices that share a tile are adjacent. Of unreduced arrays "{devices=[2,1,2]0,1,2,3
// last_tile_dims={unreduced} metadata={...}}" with the reduction, as XLA writes it.
std::string TileAssignmentToHlo(const TileAssignment& tiles);

// Named axes of devices, in the order of their numbers unless `devices` permutes them.
struct Mesh {
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
  std::vector<int64_t> devices;
};
// "{mesh = #sdy.mesh<["a"=2, "b"=2]>, other = ...}", as the module's attribute xla.sdy.meshes has it.
absl::StatusOr<absl::flat_hash_map<std::string, Mesh>> MeshesFromText(absl::string_view text);

// "#sdy.sharding<@mesh, [{"a"}, {"b", ?}p1]>" or "#sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>, ...]>". Only the axes
// in `manual_axes` shard, unless it is nullopt.
absl::StatusOr<std::vector<StatedSharding>> StatedShardingsFromSdy(
    absl::string_view text, const absl::flat_hash_map<std::string, Mesh>& meshes,
    const std::optional<std::vector<std::string>>& manual_axes);
absl::StatusOr<std::vector<TileAssignment>> TileAssignmentsFromSdy(
    absl::string_view text, const absl::flat_hash_map<std::string, Mesh>& meshes,
    const std::optional<std::vector<std::string>>& manual_axes);
// "#sdy<manual_axes{"a", "b"}>".
absl::StatusOr<std::vector<std::string>> ManualAxesFromText(absl::string_view text);

// The attribute `name` among an instruction's or module's extra attributes; empty if missing.
absl::string_view ExtraAttribute(const AttributeText& attributes, absl::string_view name);
// The entry `key` of frontend attributes "{key="...",other={...}}", unquoted; empty if missing.
std::string FrontendAttribute(absl::string_view frontend_attributes, absl::string_view key);

}  // namespace hilo

#endif  // HILO_HLO_IR_TILE_ASSIGNMENT_H_
