#include "hlo/passes/partition/reshard.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/math.h"
#include "hlo/passes/partition/tile_cut.h"

namespace hilo {
namespace {

using Kind = ReshardStep::Kind;

// More steps than the dimensions and their cuts can need.
constexpr int kMaxSteps = 16;

class Planner {
 public:
  Planner(const Shape& shape, std::vector<TileCut> from, std::vector<TileCut> to, int64_t devices)
      : shape_(shape), devices_(devices), now_(std::move(from)), to_(std::move(to)) {}

  std::vector<ReshardStep> Plan() {
    for (int i = 0; i < kMaxSteps && now_ != to_; ++i) {
      if (!Slice() && !AllToAll() && !Permute() && !Gather()) break;
    }
    return std::move(steps_);
  }

 private:
  void Add(Kind kind, int64_t split = 0, int64_t join = 0, int64_t parts = 1) {
    steps_.push_back({kind, TilesOfCuts(now_, devices_), split, join, parts});
  }

  // Takes the cuts of dimensions that become finer as far as the other cuts allow.
  bool Slice() {
    bool any = false;
    for (size_t d = 0; d < now_.size(); ++d) {
      const TileCut own = now_[d];
      if (to_[d].count <= own.count || !IsPrefix(own, to_[d])) continue;
      for (int64_t count = to_[d].count; count > own.count; --count) {
        if (to_[d].count % count != 0 || count % own.count != 0) continue;
        now_[d] = PrefixOf(to_[d], count);
        if (AreIndependent(now_, devices_)) break;
        now_[d] = own;
      }
      any |= now_[d].count != own.count;
    }
    if (any) Add(Kind::kSlice);
    return any;
  }

  // Moves the minor part of a dimension's cut to another dimension, of which it is the next part.
  bool AllToAll() {
    for (size_t from = 0; from < now_.size(); ++from) {
      const TileCut cut = now_[from];
      if (cut.count == 1 || (cut.count <= to_[from].count && IsPrefix(cut, to_[from]))) continue;
      for (size_t to = 0; to < now_.size(); ++to) {
        if (to == from || to_[to].count <= now_[to].count || !IsPrefix(now_[to], to_[to])) continue;
        const TileCut missing = RestOf(to_[to], now_[to].count);
        for (int64_t kept = 1; kept < cut.count; ++kept) {  // the most is moved
          if (cut.count % kept != 0) continue;
          const TileCut moved = RestOf(cut, kept);
          if (!IsPrefix(moved, missing)) continue;
          if (shape_.dimensions(static_cast<int64_t>(to)) % (now_[to].count * moved.count) != 0) continue;
          const std::vector<TileCut> before = now_;
          now_[to] = Nested(now_[to], moved);
          now_[from] = PrefixOf(cut, kept);
          if (!AreIndependent(now_, devices_)) {
            now_ = before;
            continue;
          }
          Add(Kind::kAllToAll, static_cast<int64_t>(to), static_cast<int64_t>(from), moved.count);
          return true;
        }
      }
    }
    return false;
  }

  // Tiles of the same sizes on other devices: those wanted, or parts of them, or such that an all-to-all makes them.
  bool Permute() {
    std::vector<TileCut> next;
    std::optional<size_t> finer, coarser;  // of the wanted cuts
    for (size_t d = 0; d < now_.size(); ++d) {
      const int64_t now = now_[d].count, to = to_[d].count;
      if (now == to || IsPrefix(to_[d], now_[d])) {
        next.push_back(now == to ? to_[d] : now_[d]);
      } else if (to < now && now % to == 0) {
        // What is joined afterwards: the minor part of the cut, or the major one if the wanted cut has the minor.
        TileCut rest = RestOf(now_[d], to);
        if (!AreIndependent({to_[d], rest}, devices_)) rest = PrefixOf(now_[d], now / to);
        next.push_back(Nested(to_[d], rest));
        coarser = d;
      } else if (now < to && to % now == 0 && !finer.has_value()) {
        next.push_back(PrefixOf(to_[d], now));
        finer = d;
      } else {
        return false;
      }
    }
    if (finer.has_value() && coarser.has_value()) {
      const TileCut moved = RestOf(to_[*finer], now_[*finer].count);
      if (now_[*coarser].count != to_[*coarser].count * moved.count) return false;
      next[*coarser] = Nested(to_[*coarser], moved);
    }
    if (!AreIndependent(next, devices_) && !JoinedLater(&next)) return false;
    if (next == now_ || !AreIndependent(next, devices_)) return false;
    now_ = std::move(next);
    Add(Kind::kPermute);
    return true;
  }

  // Cuts the only dimension that is joined afterwards by other axes, which the wanted cuts of the others leave free:
  // tiles are exchanged as small as they are. Devices whose other tiles stay keep their own if they can.
  bool JoinedLater(std::vector<TileCut>* next) const {
    std::optional<size_t> joined;
    for (size_t d = 0; d < now_.size(); ++d) {
      if ((*next)[d].count == to_[d].count) continue;
      if (joined.has_value() || to_[d].count > now_[d].count) return false;
      joined = d;
    }
    if (!joined.has_value()) return false;
    const int64_t parts = now_[*joined].count / to_[*joined].count;
    std::vector<TileCut> fixed = *next;
    fixed[*joined] = to_[*joined];
    std::map<std::vector<int64_t>, std::vector<int64_t>> alike;  // devices, by their tiles of these cuts
    for (int64_t p = 0; p < devices_; ++p) {
      std::vector<int64_t> tiles;
      for (const TileCut& cut : fixed) tiles.push_back(cut.count == 1 ? 0 : cut.tile_of[p]);
      alike[tiles].push_back(p);
    }
    TileCut rest{.count = parts, .tile_of = std::vector<int64_t>(devices_, -1)};
    for (const auto& [tiles, of_tiles] : alike) {
      if (static_cast<int64_t>(of_tiles.size()) % parts != 0) return false;
      std::vector<int64_t> left(parts, static_cast<int64_t>(of_tiles.size()) / parts);
      for (const int64_t p : of_tiles) {
        bool stays = true;
        for (size_t d = 0; d < now_.size(); ++d) {
          const int64_t divisor = d == *joined ? parts : 1;
          stays = stays && (now_[d].count == 1 || now_[d].tile_of[p] / divisor == tiles[d]);
        }
        const int64_t own = now_[*joined].tile_of[p] % parts;
        if (!stays || left[own] == 0) continue;
        --left[own];
        rest.tile_of[p] = own;
      }
      int64_t tile = 0;
      for (const int64_t p : of_tiles) {
        if (rest.tile_of[p] >= 0) continue;
        while (left[tile] == 0) ++tile;
        --left[tile];
        rest.tile_of[p] = tile;
      }
    }
    (*next)[*joined] = Nested(to_[*joined], rest);
    return true;
  }

  // Joins to what both have in common.
  bool Gather() {
    bool any = false;
    for (size_t d = 0; d < now_.size(); ++d) {
      const int64_t common = CommonPrefix(now_[d], to_[d]);
      any |= common != now_[d].count;
      now_[d] = PrefixOf(now_[d], common);
    }
    if (any) Add(Kind::kGather);
    return any;
  }

  const Shape& shape_;
  const int64_t devices_;
  std::vector<TileCut> now_, to_;
  std::vector<ReshardStep> steps_;
};

// Returns a part of one of the cuts `of` that cuts each tile of `cuts` into `count`, by the axes in which devices with
// the same tile differ: the major part, the minor one, or what is between others.
std::optional<TileCut> FreeCut(const std::vector<TileCut>& of, const std::vector<TileCut>& cuts, int64_t count,
                               int64_t devices) {
  for (const TileCut& cut : of) {
    if (cut.count % count != 0) continue;
    for (int64_t major = 1; major <= cut.count / count; ++major) {
      if (cut.count % (major * count) != 0) continue;
      TileCut part = RestOf(PrefixOf(cut, major * count), major);
      std::vector<TileCut> all = cuts;
      all.push_back(part);
      if (AreIndependent(all, devices)) return part;
    }
  }
  return std::nullopt;
}

// Cuts each tile into `count` along a dimension, by as few free parts of the cuts `of` as there are; false if they do
// not suffice.
bool CutFurther(size_t dimension, int64_t count, const std::vector<TileCut>& of, std::vector<TileCut>* cuts,
                int64_t devices) {
  while (count > 1) {
    std::optional<TileCut> free;
    for (int64_t part = count; part > 1 && !free.has_value(); --part) {
      if (count % part == 0) free = FreeCut(of, *cuts, part, devices);
    }
    if (!free.has_value()) return false;
    count /= free->count;
    (*cuts)[dimension] = Nested((*cuts)[dimension], *free);
  }
  return true;
}

// Copies of a tile are cut along one dimension first, though its wanted cut may not have that part, or have it
// elsewhere: all that follows moves smaller tiles. Returns no steps if there are no copies, or the dimension is not
// divided. From x y on 2 to x on 0, y on 1 and z on 2:
//   slice  (z; ; x y),   all-to-all  (z; y; x),   permute  (x; y; z)
std::vector<ReshardStep> PlanFromCopies(const Shape& shape, std::vector<TileCut> now,
                                        const std::vector<TileCut>& wanted, int64_t dimension, int64_t devices) {
  int64_t copies = devices, total = 1;
  for (size_t d = 0; d < now.size(); ++d) {
    copies /= now[d].count;
    total *= wanted[d].count;
  }
  if (copies == 1 || total != devices || shape.dimensions(dimension) % (now[dimension].count * copies) != 0) return {};
  if (!CutFurther(static_cast<size_t>(dimension), copies, wanted, &now, devices)) return {};
  std::vector<ReshardStep> steps = {{Kind::kSlice, TilesOfCuts(now, devices), 0, 0, 1}};
  for (ReshardStep& step : Planner(shape, now, wanted, devices).Plan()) steps.push_back(std::move(step));
  return steps;
}

// Dimensions whose cuts change in number.
struct ChangedCuts {
  std::vector<size_t> finer, coarser;
};

// nullopt if a number changes by no whole number.
std::optional<ChangedCuts> ChangedCutsOf(const std::vector<TileCut>& now, const std::vector<TileCut>& wanted) {
  ChangedCuts changed;
  for (size_t d = 0; d < now.size(); ++d) {
    const int64_t before = now[d].count, after = wanted[d].count;
    if (before == after) continue;
    if (std::max(before, after) % std::min(before, after) != 0) return std::nullopt;
    (before > after ? changed.coarser : changed.finer).push_back(d);
  }
  return changed;
}

// All-to-alls of the sizes of the dimensions that become finer and of those of `from`, which become coarser, whatever
// parts they move; and a permute of the small tiles; what the finer ones need beyond that is cut first, from copies of
// a tile. What dimensions that become coarser have more than the finer ones take is joined at the end, by cuts that the
// wanted ones leave free. Returns no steps if the sizes or the cuts do not allow that. From y1 y2 on rows to x on rows
// and y1 y2 on columns:
//   slice  (y1 y2; x),   all-to-all  (y1; x y2),   permute  (x; y1 y2)
// From x on rows and y z on columns to y z on rows:
//   all-to-all  (x z; y),   permute  (y z; x),   gather  (y z; )
// From y on 0 to x on 0, y on 1 and z on 2:
//   slice  (y; x; z),   permute  (x; y; z)
std::vector<ReshardStep> PlanExchange(std::vector<TileCut> now, const std::vector<TileCut>& wanted,
                                      const ChangedCuts& changed, const std::vector<size_t>& from, int64_t devices) {
  std::vector<ReshardStep> steps;
  const auto add = [&](Kind kind, size_t split, size_t join, int64_t count) {
    steps.push_back({kind, TilesOfCuts(now, devices), static_cast<int64_t>(split), static_cast<int64_t>(join), count});
  };
  struct Move {
    size_t finer, coarser;
    int64_t parts;
  };
  std::vector<Move> moves;
  std::vector<int64_t> left;  // of each dimension of `from`
  for (const size_t d : from) left.push_back(now[d].count / wanted[d].count);
  bool sliced = false;
  for (const size_t d : changed.finer) {
    int64_t cuts = wanted[d].count / now[d].count;
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t parts = std::gcd(cuts, left[i]);
      if (parts == 1) continue;
      moves.push_back({d, from[i], parts});
      left[i] /= parts;
      cuts /= parts;
    }
    if (cuts == 1) continue;
    if (!CutFurther(d, cuts, wanted, &now, devices)) return {};
    sliced = true;
  }
  if (moves.empty() && !from.empty()) return {};
  if (sliced) add(Kind::kSlice, 0, 0, 1);
  for (const Move& move : moves) {
    const int64_t kept = now[move.coarser].count / move.parts;
    now[move.finer] = Nested(now[move.finer], RestOf(now[move.coarser], kept));
    now[move.coarser] = PrefixOf(now[move.coarser], kept);
    add(Kind::kAllToAll, move.finer, move.coarser, move.parts);
  }
  std::vector<TileCut> before_joins = wanted;
  for (const size_t d : changed.coarser) {
    if (now[d].count == wanted[d].count) continue;
    if (!CutFurther(d, now[d].count / wanted[d].count, now, &before_joins, devices)) return {};
  }
  if (now != before_joins) {
    now = before_joins;
    add(Kind::kPermute, 0, 0, 1);
  }
  if (now != wanted) {
    now = wanted;
    add(Kind::kGather, 0, 0, 1);
  }
  return steps;
}

// Returns the bytes that a device receives, on average.
double BytesOf(const std::vector<ReshardStep>& steps, const Shape& shape, const TileAssignment& from) {
  double bytes = 0;
  const TileAssignment* now = &from;
  for (const ReshardStep& step : steps) {
    const double before = TileBytes(shape, *now), after = TileBytes(shape, step.to);
    switch (step.kind) {
      case Kind::kSlice: break;
      case Kind::kPermute: {
        int64_t moved = 0;
        for (size_t p = 0; p < step.to.tile_of.size(); ++p) moved += step.to.tile_of[p] != now->tile_of[p] ? 1 : 0;
        bytes += after * static_cast<double>(moved) / static_cast<double>(step.to.tile_of.size());
        break;
      }
      case Kind::kAllToAll:
        bytes += after * static_cast<double>(step.parts - 1) / static_cast<double>(step.parts);
        break;
      case Kind::kGather: bytes += after - before; break;
    }
    now = &step.to;
  }
  return bytes;
}

}  // namespace

std::vector<ReshardStep> PlanReshard(const Shape& shape, const TileAssignment& from, const TileAssignment& to,
                                     int64_t devices) {
  std::vector<TileCut> now, wanted;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    now.push_back(CutOfDimension(from, d));
    wanted.push_back(CutOfDimension(to, d));
  }
  std::vector<ReshardStep> best = Planner(shape, now, wanted, devices).Plan();
  if (best.size() < 2) return best;
  double least = BytesOf(best, shape, from);
  const auto consider = [&](std::vector<ReshardStep> plan) {
    if (plan.empty()) return;
    const double bytes = BytesOf(plan, shape, from);
    if (bytes >= least) return;
    least = bytes;
    best = std::move(plan);
  };
  if (std::optional<ChangedCuts> changed = ChangedCutsOf(now, wanted); changed.has_value()) {
    for (int order = 0; order < 2; ++order) {  // the finer ones forwards and backwards: the first ones take from others
      consider(PlanExchange(now, wanted, *changed, {}, devices));
      for (const size_t d : changed->coarser) consider(PlanExchange(now, wanted, *changed, {d}, devices));
      if (changed->coarser.size() > 1) consider(PlanExchange(now, wanted, *changed, changed->coarser, devices));
      if (changed->finer.size() < 2) break;
      std::reverse(changed->finer.begin(), changed->finer.end());
    }
  }
  for (int64_t d = 0; d < shape.rank(); ++d) consider(PlanFromCopies(shape, now, wanted, d, devices));
  return best;
}

double TileBytes(const Shape& shape, const TileAssignment& tiles) {
  auto bytes = static_cast<double>(ShapeUtil::ByteSizeOf(shape));
  for (size_t d = 0; d < tiles.counts.size() && bytes > 0; ++d) {
    const int64_t size = shape.dimensions(static_cast<int64_t>(d));
    bytes *= static_cast<double>(CeilDiv(size, tiles.counts[d])) / static_cast<double>(size);
  }
  return bytes;
}

double ReshardBytes(const Shape& shape, const TileAssignment& from, const TileAssignment& to, int64_t devices) {
  if (from.IsWhole() || SameTiles(from, to)) return 0;
  return BytesOf(PlanReshard(shape, from, to, devices), shape, from);
}

}  // namespace hilo
