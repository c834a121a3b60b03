// Partitions computations: visits the instructions (tile_walk.h) and handles sharding marks,
// manual computations, loops and branches.
#ifndef HILO_HLO_PASSES_PARTITION_DIVIDER_H_
#define HILO_HLO_PASSES_PARTITION_DIVIDER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/passes/hlo_pass.h"
#include "hlo/passes/partition/manual_regions.h"
#include "hlo/passes/partition/sharding_marks.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {

class Divider {
 public:
  // `next_channel` is incremented for every channel used.
  Divider(const ShardingMeshes& meshes, const ManualRegions& regions, const PropagatedShardings& wanted,
          int64_t partitions, int64_t* next_channel, const PassContext& context)
      : meshes_(meshes),
        regions_(regions),
        wanted_(wanted),
        partitions_(partitions),
        next_channel_(next_channel),
        context_(context) {}

  // Inlines calls, which hide how arrays are related. False if there are none.
  static bool InlineCalls(HloComputation* computation);

  // Gives each loop and branch computations of its own, as what they compute is sharded as it is used there. Those of
  // very large programs may remain shared. False if all have been their own.
  static bool SeparateBodies(HloModule* module);

  // Replaces each leaf of a parameter by the tile that `tiles` names; its users use the whole array until
  // RemoveReplaced removes it.
  static absl::Status CutParameter(TileWalk* walk, HloInstruction* parameter, const std::vector<TileAssignment>& tiles);

  // Visits all instructions that `walk` has not visited, in an order that is returned. Errors: also Cancelled and
  // DeadlineExceeded.
  absl::StatusOr<std::vector<HloInstruction*>> Visit(TileWalk* walk) { return Visit(walk, 0); }

  // Removes, of the instructions that were visited, those that are replaced, and those without users.
  static absl::Status RemoveReplaced(const TileWalk& walk, const std::vector<HloInstruction*>& visited);

 private:
  // A copy of the body of a loop or a branch, with the tiles of its parameter and of its result, leaf by leaf.
  struct Body {
    std::unique_ptr<TileWalk> walk;
    std::vector<HloInstruction*> visited;
    Leaves parameter, result;
  };

  absl::StatusOr<std::vector<HloInstruction*>> Visit(TileWalk* walk, int depth);
  absl::Status Visit(TileWalk* walk, HloInstruction* instruction, int depth);
  absl::Status VisitMark(TileWalk* walk, HloInstruction* mark) const;
  absl::Status VisitEdge(TileWalk* walk, HloInstruction* call) const;
  // The edge of a region whose arrays may be divided.
  absl::Status VisitRegionEdge(TileWalk* walk, HloInstruction* call, const ManualRegion& region) const;
  absl::Status VisitOnOneDevice(TileWalk* walk, HloInstruction* call, int64_t device);
  // Whether a call without arrays as results states by its frontend attribute on_tiles="true" that each partition makes
  // it, of its own tiles, whatever these are.
  static bool IsOnTiles(const HloInstruction& call);
  static absl::Status VisitOnTiles(TileWalk* walk, HloInstruction* call);
  static absl::Status VisitBarrier(TileWalk* walk, HloInstruction* barrier);

  // These two return false for control flow that stays whole.
  absl::StatusOr<bool> VisitLoop(TileWalk* walk, HloInstruction* loop, int depth);
  absl::StatusOr<bool> VisitBranches(TileWalk* walk, HloInstruction* conditional, int depth);
  // Whether a loop or branch that stays whole may have different values on different partitions.
  static bool DiffersAmongPartitions(const HloInstruction& control_flow);
  bool MayDivide(const TileWalk& walk, const HloInstruction& control_flow, int depth) const;
  // `iterations`: of the loop whose body or condition it is; 1 for others.
  absl::StatusOr<Body> Divide(const HloComputation& computation, const std::vector<TileAssignment>& tiles,
                              const ManualRegion* region, double iterations, int depth);
  // Finishes the copy, which returns the leaves with the shardings `tiles`.
  static absl::StatusOr<HloComputation*> Finish(const Body& body, const std::vector<TileAssignment>& tiles);

  const ShardingMeshes& meshes_;
  const ManualRegions& regions_;
  const PropagatedShardings& wanted_;
  int64_t partitions_;
  int64_t* next_channel_;
  const PassContext& context_;
  int64_t tried_ = 0;  // instructions of copies
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_DIVIDER_H_
