// Completes the shardings of a program: those of parameters, results and marks, which the program states, give all
// other arrays theirs, forwards from operands to results and backwards, until nothing changes.
//
//   x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}     y = f32[8,4] sharded as x
//   w = f32[8,4] parameter(1)                               =>   w = f32[8,4] sharded as y
//   ROOT y = f32[8,4] add(x, w)
//
// An array's cut along a dimension only ever becomes finer, along dimensions that are open: those of all arrays but the
// ones whose sharding the program states. The rules by which dimensions correspond are in sharding_rule.h. Where they
// disagree along one dimension, the cut that all have in common is taken; where two dimensions want the same devices,
// the larger array decides. What takes no exchange of data goes first: element-wise ops, then the dimensions that
// others pass through, reductions, and broadcasts last. These are the priorities of Shardy, which XLA has replaced its
// own propagation by, so that a program has the same shardings here as there.
//
// A program may give dimensions of the shardings that it states priorities of its own. Those come before the others:
// all of the above is done for the dimensions with priority 0, then again with those of the next one, and so on. A
// dimension that waits is neither cut nor are the axes that it wants used for another one of its array.
#ifndef HILO_HLO_PASSES_PARTITION_PROPAGATE_SHARDINGS_H_
#define HILO_HLO_PASSES_PARTITION_PROPAGATE_SHARDINGS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/partition/manual_regions.h"
#include "hlo/passes/partition/sharding_marks.h"
#include "hlo/passes/partition/tile_cut.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {

class PropagatedShardings {
 public:
  // Of the leaf of an instruction; whole if there is none. Dimensions may be cut into more parts than they divide into.
  TileAssignment Of(const HloInstruction* instruction, size_t leaf = 0) const;
  // ... of a result of the program.
  TileAssignment OfResult(size_t leaf) const { return CutsOf(results_, leaf); }
  // `tiles` without cuts by parts of mesh axes, for which callers of the program have no name.
  TileAssignment WholeAxes(const TileAssignment& tiles) const;

 private:
  friend class ShardingPropagation;
  TileAssignment CutsOf(const std::vector<int>& leaves, size_t leaf) const;

  int64_t devices_ = 1;
  absl::flat_hash_map<const HloInstruction*, std::vector<int>> leaves_;  // indices into arrays_
  std::vector<int> results_;
  std::vector<std::vector<TileCut>> arrays_;  // by array, by dimension
  std::vector<TileCut> axes_;                 // of the meshes
};

// `meshes`: those of the module. Calls must have been inlined.
// Errors: InvalidArgument if a stated sharding is invalid or does not fit; Cancelled, DeadlineExceeded.
absl::StatusOr<PropagatedShardings> PropagateShardings(const HloModule& module, const ShardingMeshes& meshes,
                                                       const ManualRegions& regions, const OpenValues& open,
                                                       const PassContext& context);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_PROPAGATE_SHARDINGS_H_
