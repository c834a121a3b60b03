// How one dimension of an array is cut: the arithmetic of shardings without the names of mesh axes.
//
// A dimension is cut into `count` tiles, and device p has tile number tile_of[p]. The major part of a cut, its first c
// of count tiles' worth, is a prefix: mesh axes ["x", "y"] of sizes 2 and 4 have the prefixes 2 (x), 4 (x and half
// of y) and 8.
#ifndef HILO_HLO_PASSES_PARTITION_TILE_CUT_H_
#define HILO_HLO_PASSES_PARTITION_TILE_CUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/shape.h"
#include "hlo/ir/tile_assignment.h"

namespace hilo {

struct TileCut {
  int64_t count = 1;
  std::vector<int64_t> tile_of;  // of each device; empty if count is 1

  bool operator==(const TileCut& other) const = default;
};

// Returns how `tiles` cuts a dimension.
TileCut CutOfDimension(const TileAssignment& tiles, int64_t dimension);
// Returns the sharding that cuts each dimension as given; whole if none is cut.
TileAssignment TilesOfCuts(absl::Span<const TileCut> cuts, int64_t devices);

// Returns the coarser cut into `count` tiles, each of which joins cut.count / count adjacent ones. `count` must divide
// cut.count.
TileCut PrefixOf(const TileCut& cut, int64_t count);
// Returns how `cut` cuts each tile of PrefixOf(cut, count).
TileCut RestOf(const TileCut& cut, int64_t count);
// Returns the cut by `major` whose tiles are cut by `minor`.
TileCut Nested(const TileCut& major, const TileCut& minor);
// Returns the number of tiles of the finest cut that is a prefix of both.
int64_t CommonPrefix(const TileCut& a, const TileCut& b);
// Returns true if `cut` is a prefix of `longer`, or equal to it.
inline bool IsPrefix(const TileCut& cut, const TileCut& longer) {
  return longer.count % cut.count == 0 && CommonPrefix(cut, longer) == cut.count;
}

// Returns true if dimensions of one array can have these cuts: equally many devices have each combination of tiles.
bool AreIndependent(absl::Span<const TileCut> cuts, int64_t devices);

// Returns the tile's shape. Errors: InvalidArgument if the sharding has another rank; Unimplemented if the tiles are
// not equal.
absl::StatusOr<Shape> TileShape(Shape shape, const TileAssignment& tiles);
// Returns the shape of tiles that need not divide the array: the last ones reach beyond it.
Shape PaddedTileShape(Shape shape, const TileAssignment& tiles);
// Returns the part of `tiles` that divides the array into equal tiles: of each cut the finest prefix that does.
TileAssignment DividingTiles(const Shape& shape, const TileAssignment& tiles, int64_t devices);
// Returns true if every device has the same tile under both shardings.
bool SameTiles(const TileAssignment& a, const TileAssignment& b);
// Returns the finest sharding that both refine or equal: a conversion from one to the other joins tiles up to this one,
// and splits its tiles.
TileAssignment CommonTiles(const TileAssignment& from, const TileAssignment& to);
// Returns how the tiles of `coarse` are split into those of `fine`.
TileAssignment TilesWithin(const TileAssignment& coarse, const TileAssignment& fine);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_TILE_CUT_H_
