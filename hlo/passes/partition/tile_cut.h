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

// That of a dimension of `tiles`.
TileCut CutOfDimension(const TileAssignment& tiles, int64_t dimension);
// The inverse; whole if no dimension is cut.
TileAssignment TilesOfCuts(absl::Span<const TileCut> cuts, int64_t devices);

// The first `count` of cut.count, which `count` must divide.
TileCut PrefixOf(const TileCut& cut, int64_t count);
// The rest of `cut` without its first `count`: a cut of each tile of the prefix.
TileCut RestOf(const TileCut& cut, int64_t count);
// `minor` within the tiles of `major`.
TileCut Nested(const TileCut& major, const TileCut& minor);
// The count of the longest prefix that both have.
int64_t CommonPrefix(const TileCut& a, const TileCut& b);
// Whether `cut` is a prefix of `longer`, perhaps all of it.
inline bool IsPrefix(const TileCut& cut, const TileCut& longer) {
  return longer.count % cut.count == 0 && CommonPrefix(cut, longer) == cut.count;
}

// Whether the cuts can be those of dimensions of one array: equally many devices have each combination of tiles.
bool AreIndependent(absl::Span<const TileCut> cuts, int64_t devices);

// The tile's shape. Errors: InvalidArgument if the sharding has another rank; Unimplemented if the tiles are not equal.
absl::StatusOr<Shape> TileShape(Shape shape, const TileAssignment& tiles);
// The shape of tiles that need not be equal: the last ones reach beyond the array.
Shape PaddedTileShape(Shape shape, const TileAssignment& tiles);
// The part of `tiles` that divides the array into equal tiles: of each cut the finest prefix that does.
TileAssignment DividingTiles(const Shape& shape, const TileAssignment& tiles, int64_t devices);
bool SameTiles(const TileAssignment& a, const TileAssignment& b);
// The finest sharding that both of these refine or equal: a conversion from one to the other joins tiles up to
// it, and splits these.
TileAssignment CommonTiles(const TileAssignment& from, const TileAssignment& to);
// How the tiles of `coarse` are split into those of `fine`.
TileAssignment TilesWithin(const TileAssignment& coarse, const TileAssignment& fine);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_TILE_CUT_H_
