// Emits instructions that split whole arrays into the tiles of the partitions, and join tiles.
#ifndef HILO_HLO_PASSES_PARTITION_TILE_EMITTER_H_
#define HILO_HLO_PASSES_PARTITION_TILE_EMITTER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/partition/manual_regions.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_cut.h"
#include "hlo/passes/partition/tile_shift.h"

namespace hilo {

// Emits into one computation of a program. Partitions are those of the program, or the members of a manual region.
class TileEmitter {
 public:
  // `region` is null outside of manual regions; `next_channel` is incremented for every channel used.
  TileEmitter(HloComputation* computation, const ManualRegion* region, int64_t* next_channel)
      : computation_(computation),
        region_(region),
        partitions_(region != nullptr ? region->members() : computation->parent()->num_partitions()),
        next_channel_(next_channel) {}

  // Errors: InvalidArgument unless every partition has a tile, or the whole.
  absl::Status Check(const TileAssignment& tiles) const;
  // This partition's tile of `whole`. Errors of both: InvalidArgument if the sharding does not fit the array or the
  // program; Unimplemented as TileShape.
  absl::StatusOr<HloInstruction*> Cut(HloInstruction* whole, const TileAssignment& tiles);
  // Cut as a dynamic-slice.
  absl::StatusOr<HloInstruction*> Slice(HloInstruction* whole, const TileAssignment& tiles);
  // The array split into the larger tiles `to`, or the whole array, of which every partition has its tile `tile` of the
  // sharding `from`.
  absl::StatusOr<HloInstruction*> Join(HloInstruction* tile, const TileAssignment& from, const TileAssignment& to = {});
  // The tile of which the partitions have parts according to `tiles`; and a partition's part of a tile. Both
  // return their operand if `tiles` are not unreduced. Errors of both: InvalidArgument if the partitions do not have
  // equally many of each part.
  absl::StatusOr<HloInstruction*> Reduce(HloInstruction* part, const TileAssignment& tiles);
  absl::StatusOr<HloInstruction*> PartOf(HloInstruction* tile, const TileAssignment& tiles);
  // From one sharding of an array of the shape `whole` to another, by PlanReshard's steps. Errors: as TileShape and
  // Check.
  absl::StatusOr<HloInstruction*> Reshard(HloInstruction* tile, const Shape& whole, const TileAssignment& from,
                                          const TileAssignment& to);
  // Combines the values of the partitions of each group by `combiner`, a binary op.
  absl::StatusOr<HloInstruction*> Combine(HloInstruction* part, HloOpcode combiner,
                                          const std::vector<std::vector<int64_t>>& groups);

  // The value of the first partition of each group.
  absl::StatusOr<HloInstruction*> Broadcast(HloInstruction* value, const std::vector<std::vector<int64_t>>& groups);
  // The values of the partitions of each group, along a new first dimension.
  absl::StatusOr<HloInstruction*> Gather(HloInstruction* value, const std::vector<std::vector<int64_t>>& groups);
  // `value` on the first partition of each group, the scalar `other` on the rest.
  absl::StatusOr<HloInstruction*> OnFirst(HloInstruction* value, HloInstruction* other,
                                          const std::vector<std::vector<int64_t>>& groups);

  // As Combine, but each partition keeps its part along the dimension alone: the i-th of a group the i-th part.
  absl::StatusOr<HloInstruction*> ReduceScatter(HloInstruction* part, HloOpcode combiner,
                                                const std::vector<std::vector<int64_t>>& groups, int64_t dimension);

  // The tile of the result of a shift (tile_shift.h) of tiles, `count` of which are along the dimension; `fill`, a
  // scalar, is where no source is.
  absl::StatusOr<HloInstruction*> Shift(const std::vector<HloInstruction*>& tiles, HloInstruction* fill,
                                        const TileShift& shift, const std::vector<ShiftRound>& rounds, int64_t count);
  // The indices of a scatter into a tile, or a gather from one, that is cut along dimensions that they index: less the
  // first index of the tile. Component i, along `vector_dimension`, indexes dimension `indexed`[i].
  absl::StatusOr<HloInstruction*> IndicesWithin(HloInstruction* indices, const Shape& whole,
                                                const TileAssignment& tiles, int64_t vector_dimension,
                                                const std::vector<int64_t>& indexed);
  // `tile`, of an array of the shape `whole`, with the scalar `fill` where it reaches beyond the array along one of the
  // dimensions.
  absl::StatusOr<HloInstruction*> FilledBeyond(HloInstruction* tile, const Shape& whole, const TileAssignment& tiles,
                                               const std::vector<int64_t>& dimensions, HloInstruction* fill);
  // This partition's element of `table`, a scalar.
  absl::StatusOr<HloInstruction*> ElementOfPartition(Literal table);
  absl::StatusOr<HloInstruction*> CutIota(HloInstruction* iota, const TileAssignment& tiles);
  // `size` elements from this partition's element of `starts`, along one dimension.
  absl::StatusOr<HloInstruction*> SliceAlong(HloInstruction* value, int64_t dimension, int64_t size,
                                             const std::vector<int64_t>& starts);

 private:
  absl::StatusOr<HloInstruction*> PieceOf(HloInstruction* tile, const ShiftSource& source, int64_t dimension,
                                          const ShiftRound& round);
  absl::StatusOr<HloInstruction*> PadAlong(HloInstruction* value, int64_t dimension, int64_t low, int64_t high,
                                           int64_t interior = 0);
  absl::StatusOr<HloInstruction*> Permute(HloInstruction* tile, const TileAssignment& from, const TileAssignment& to);
  absl::StatusOr<HloInstruction*> AllToAll(HloInstruction* tile, const TileAssignment& from, const ReshardStep& step);
  absl::StatusOr<HloComputation*> CombinerComputation(HloOpcode combiner, PrimitiveType type);
  absl::Status CheckDevices(const TileAssignment& tiles) const;
  absl::StatusOr<HloInstruction*> Reshape(HloInstruction* value, const std::vector<int64_t>& sizes);
  // Partitions that have the parts of one tile, one of each.
  absl::StatusOr<std::vector<std::vector<int64_t>>> GroupsToReduce(const TileAssignment& tiles) const;
  absl::StatusOr<std::vector<std::vector<int64_t>>> GroupsToJoin(const TileAssignment& from, const TileAssignment& to,
                                                                 const std::vector<int64_t>& apart) const;
  // The groups of partitions as those of the program, and within each replica as global numbers of devices.
  std::vector<std::vector<int64_t>> OfProgram(const std::vector<std::vector<int64_t>>& groups) const {
    return region_ == nullptr ? groups : region_->OfDevices(groups);
  }
  std::vector<std::vector<int64_t>> OfAllReplicas(const std::vector<std::vector<int64_t>>& groups) const;
  absl::StatusOr<HloInstruction*> CollectivePermute(HloInstruction* value,
                                                    absl::Span<const std::pair<int64_t, int64_t>> pairs);
  absl::StatusOr<HloInstruction*> Lookup(Literal table, HloInstruction* index);

  HloComputation* computation_;
  const ManualRegion* region_;
  int64_t partitions_;
  int64_t* next_channel_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_TILE_EMITTER_H_
