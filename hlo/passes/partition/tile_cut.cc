#include "hlo/passes/partition/tile_cut.h"

#include <numeric>

#include "absl/algorithm/container.h"
#include "base/errors.h"
#include "base/math.h"

namespace hilo {

TileCut CutOfDimension(const TileAssignment& tiles, int64_t dimension) {
  TileCut cut;
  if (tiles.IsWhole() || tiles.counts[dimension] == 1) return cut;
  cut.count = tiles.counts[dimension];
  for (const std::vector<int64_t>& tile : tiles.tile_of) cut.tile_of.push_back(tile[dimension]);
  return cut;
}

TileAssignment TilesOfCuts(absl::Span<const TileCut> cuts, int64_t devices) {
  TileAssignment tiles;
  if (absl::c_all_of(cuts, [](const TileCut& cut) { return cut.count == 1; })) return tiles;
  tiles.tile_of.resize(devices);
  for (const TileCut& cut : cuts) {
    tiles.counts.push_back(cut.count);
    for (int64_t p = 0; p < devices; ++p) tiles.tile_of[p].push_back(cut.count == 1 ? 0 : cut.tile_of[p]);
  }
  return tiles;
}

TileCut PrefixOf(const TileCut& cut, int64_t count) {
  if (count == 1) return TileCut();
  TileCut prefix{.count = count, .tile_of = cut.tile_of};
  for (int64_t& tile : prefix.tile_of) tile /= cut.count / count;
  return prefix;
}

TileCut RestOf(const TileCut& cut, int64_t count) {
  if (count == cut.count) return TileCut();
  TileCut rest{.count = cut.count / count, .tile_of = cut.tile_of};
  for (int64_t& tile : rest.tile_of) tile %= rest.count;
  return rest;
}

TileCut Nested(const TileCut& major, const TileCut& minor) {
  if (major.count == 1) return minor;
  if (minor.count == 1) return major;
  TileCut nested{.count = major.count * minor.count, .tile_of = major.tile_of};
  for (size_t p = 0; p < nested.tile_of.size(); ++p)
    nested.tile_of[p] = major.tile_of[p] * minor.count + minor.tile_of[p];
  return nested;
}

int64_t CommonPrefix(const TileCut& a, const TileCut& b) {
  const int64_t most = std::gcd(a.count, b.count);
  for (int64_t count = most; count > 1; --count) {
    if (most % count != 0) continue;
    const int64_t of_a = a.count / count, of_b = b.count / count;
    bool same = true;
    for (size_t p = 0; same && p < a.tile_of.size(); ++p) same = a.tile_of[p] / of_a == b.tile_of[p] / of_b;
    if (same) return count;
  }
  return 1;
}

bool AreIndependent(absl::Span<const TileCut> cuts, int64_t devices) {
  int64_t combinations = 1;
  for (const TileCut& cut : cuts) {
    combinations *= cut.count;
    if (combinations > devices) return false;
  }
  if (devices % combinations != 0) return false;
  std::vector<int64_t> owners(combinations, 0);
  for (int64_t p = 0; p < devices; ++p) {
    int64_t combination = 0;
    for (const TileCut& cut : cuts) {
      if (cut.count != 1) combination = combination * cut.count + cut.tile_of[p];
    }
    ++owners[combination];
  }
  return absl::c_all_of(owners, [&](int64_t count) { return count == devices / combinations; });
}

absl::StatusOr<Shape> TileShape(Shape shape, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return shape;
  if (!shape.IsArray() || shape.rank() != static_cast<int64_t>(tiles.counts.size())) {
    return InvalidArgument("a sharding of ", tiles.counts.size(), " dimensions does not fit ", shape.ToString());
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) % tiles.counts[d] != 0) {
      return Unimplemented("dimension ", d, " of ", shape.ToString(), " is not a multiple of the ", tiles.counts[d],
                           " parts it is cut into");
    }
    shape.set_dimensions(d, shape.dimensions(d) / tiles.counts[d]);
  }
  return shape;
}

Shape PaddedTileShape(Shape shape, const TileAssignment& tiles) {
  for (int64_t d = 0; d < shape.rank() && !tiles.IsWhole(); ++d)
    shape.set_dimensions(d, CeilDiv(shape.dimensions(d), tiles.counts[d]));
  return shape;
}

TileAssignment DividingTiles(const Shape& shape, const TileAssignment& tiles, int64_t devices) {
  if (tiles.IsWhole() || static_cast<int64_t>(tiles.counts.size()) != shape.rank()) return TileAssignment();
  std::vector<TileCut> cuts;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const TileCut cut = CutOfDimension(tiles, d);
    int64_t count = shape.dimensions(d) == 0 ? 1 : cut.count;
    while (cut.count % count != 0 || shape.dimensions(d) % count != 0) --count;
    cuts.push_back(PrefixOf(cut, count));
  }
  return TilesOfCuts(cuts, devices);
}

TileAssignment CommonTiles(const TileAssignment& from, const TileAssignment& to) {
  const auto is_odd = [&](const std::vector<int64_t>& tile) { return tile.size() != from.counts.size(); };
  if (from.IsWhole() || to.IsWhole() || from.counts.size() != to.counts.size() ||
      from.tile_of.size() != to.tile_of.size() || absl::c_any_of(from.tile_of, is_odd) ||
      absl::c_any_of(to.tile_of, is_odd)) {
    return TileAssignment();
  }
  // Whether each tile of the finer cut of a dimension lies in the tile of the coarser one that the partition has.
  const auto refines = [](const TileAssignment& fine, const TileAssignment& coarse, size_t d) {
    if (fine.counts[d] % coarse.counts[d] != 0) return false;
    const int64_t ratio = fine.counts[d] / coarse.counts[d];
    for (size_t p = 0; p < fine.tile_of.size(); ++p) {
      if (fine.tile_of[p][d] / ratio != coarse.tile_of[p][d]) return false;
    }
    return true;
  };
  TileAssignment common{
      .counts = std::vector<int64_t>(from.counts.size(), 1),
      .tile_of = std::vector<std::vector<int64_t>>(from.tile_of.size(), std::vector<int64_t>(from.counts.size(), 0))};
  for (size_t d = 0; d < from.counts.size(); ++d) {
    const TileAssignment* kept = refines(to, from, d) ? &from : refines(from, to, d) ? &to : nullptr;
    if (kept == nullptr) continue;
    common.counts[d] = kept->counts[d];
    for (size_t p = 0; p < common.tile_of.size(); ++p) common.tile_of[p][d] = kept->tile_of[p][d];
  }
  return common;
}

TileAssignment TilesWithin(const TileAssignment& coarse, const TileAssignment& fine) {
  TileAssignment within = fine;
  for (size_t d = 0; d < coarse.counts.size() && !fine.IsWhole(); ++d) {
    within.counts[d] /= coarse.counts[d];
    for (std::vector<int64_t>& tile : within.tile_of) tile[d] %= within.counts[d];
  }
  return within;
}

bool SameTiles(const TileAssignment& a, const TileAssignment& b) {
  return a.IsWhole() ? b.IsWhole() : a.counts == b.counts && a.tile_of == b.tile_of;
}

}  // namespace hilo
