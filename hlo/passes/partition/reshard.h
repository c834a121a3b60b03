// The way from one sharding of an array to another: the steps by which tiles become others, and what they cost.
//
//   f32[8,8] cut along 0 by 4  ->  along 1 by 4:    one all-to-all; gathering it whole would move four times as much
//
#ifndef HILO_HLO_PASSES_PARTITION_RESHARD_H_
#define HILO_HLO_PASSES_PARTITION_RESHARD_H_

#include <cstdint>
#include <vector>

#include "hilo/shape.h"
#include "hlo/ir/tile_assignment.h"

namespace hilo {

struct ReshardStep {
  enum class Kind {
    kSlice,     // cuts tiles into smaller ones, which every device has
    kPermute,   // gets another tile of the same size from one device
    kAllToAll,  // cuts along `split_dimension` by `parts` and joins along `join_dimension`
    kGather,    // joins tiles
  };
  Kind kind;
  TileAssignment to;
  int64_t split_dimension = 0, join_dimension = 0, parts = 1;
};

// The steps from tiles `from` to `to`, which both fit `shape`. Neither has parts.
std::vector<ReshardStep> PlanReshard(const Shape& shape, const TileAssignment& from, const TileAssignment& to,
                                     int64_t devices);

// The bytes that a device receives.
double ReshardBytes(const Shape& shape, const TileAssignment& from, const TileAssignment& to, int64_t devices);

// Of a tile, the last of which may reach beyond the array.
double TileBytes(const Shape& shape, const TileAssignment& tiles);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_RESHARD_H_
