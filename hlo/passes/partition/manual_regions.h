// Regions of a program that are manual along some axes of a mesh, while the others may still divide the arrays there.
//
//   l = f32[8,2] GlobalToLocalShape(x), manual_axes={"y"}      x = f32[8,4] is cut along 1 by y
//   m = f32[8,2] sine(l)                                       l and m may be cut along 0 by x
//   ROOT r = f32[8,4] LocalToGlobalShape(m), manual_axes={"y"}
//
// Devices that differ along the manual axes have different arrays. Those that differ along the others, the members of
// a region, share each array of it: it is divided among them as an array of the program is among all devices, and what
// they exchange they exchange once for each coordinate along the manual axes. A manual computation within a region, by
// other axes, is a region that is manual along the axes of both.
#ifndef HILO_HLO_PASSES_PARTITION_MANUAL_REGIONS_H_
#define HILO_HLO_PASSES_PARTITION_MANUAL_REGIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/partition/op_factors.h"
#include "hlo/passes/partition/sharding_marks.h"
#include "hlo/passes/partition/tile_cut.h"

namespace hilo {

struct ManualRegion {
  const ManualRegion* parent = nullptr;       // the region that it is in
  TileCut manual;                             // the coordinate of each device along the manual axes
  std::vector<TileCut> axes;                  // ... along each of those that are not manual in the parent
  std::vector<std::vector<int64_t>> devices;  // [coordinate][member]

  // Whether it is in `other`; every region is in null, the program.
  bool IsWithin(const ManualRegion* other) const;

  int64_t members() const { return static_cast<int64_t>(devices[0].size()); }
  // The tiles of the members, of those of the devices. Whole unless all coordinates have the same.
  TileAssignment OfMembers(const TileAssignment& tiles) const;
  // Groups of members, or pairs, as devices: for each coordinate.
  std::vector<std::vector<int64_t>> OfDevices(const std::vector<std::vector<int64_t>>& groups) const;
  // The member that each device is.
  std::vector<int64_t> MemberOfDevice() const;
  // The factors of a collective of the region, whose groups have the same member of every coordinate, in addition to
  // those of FactorsOf. nullopt for other collectives.
  std::optional<OpFactors> FactorsOf(const HloInstruction& op) const;
};

class ManualRegions {
 public:
  // Of all computations of the module. Errors: InvalidArgument if manual axes or meshes are invalid.
  static absl::StatusOr<ManualRegions> Find(const HloModule& module, const ShardingMeshes& meshes);

  // The innermost region that the instruction is in, or null if that is the one that its computation is called in. The
  // call that begins a region is in it, the one that ends it is not.
  const ManualRegion* Of(const HloInstruction* instruction) const;
  // Whether it is in a manual computation within that region whose arrays are not divided.
  bool IsNested(const HloInstruction* instruction) const;
  // The region that a call begins or ends; null for calls that leave no axes to divide arrays by.
  const ManualRegion* OfEdge(const HloInstruction* call) const;

 private:
  struct Position {
    const ManualRegion* region = nullptr;
    bool is_nested = false;
  };

  absl::Status AddEdges(const HloComputation& computation, const ShardingMeshes& meshes, int64_t devices);
  void AddComputation(const HloComputation& computation);
  // The region of the call's manual axes within `parent`; null if it has no members that share arrays.
  const ManualRegion* RegionWithin(const ManualRegion* parent, const HloInstruction* call);
  Position PositionOf(const HloInstruction* user, const ManualRegion* context) const;

  std::map<std::string, ManualRegion> regions_;                              // by the meshes and axes of all parents
  std::map<const ManualRegion*, std::string> names_;                         // the keys
  absl::flat_hash_map<const HloInstruction*, ManualAxes> axes_;              // of calls
  absl::flat_hash_map<const HloComputation*, const ManualRegion*> context_;  // the region of what calls it
  absl::flat_hash_map<const HloInstruction*, const ManualRegion*> edges_;
  absl::flat_hash_map<const HloInstruction*, Position> positions_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_MANUAL_REGIONS_H_
