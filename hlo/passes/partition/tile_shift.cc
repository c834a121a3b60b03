#include "hlo/passes/partition/tile_shift.h"

#include <algorithm>
#include <map>

#include "absl/algorithm/container.h"
#include "base/math.h"

namespace hilo {
namespace {

// A piece of the tile `from` for the tile `to`.
struct Piece {
  size_t source;
  int64_t from, to, start, begin, end, length;
};

std::vector<Piece> PiecesOf(const TileShift& shift, int64_t tiles) {
  std::vector<Piece> pieces;
  const int64_t size = CeilDiv(shift.result_size, tiles);
  for (size_t s = 0; s < shift.sources.size(); ++s) {
    const ShiftSource& source = shift.sources[s];
    const int64_t operand_tile = CeilDiv(source.operand_size, tiles);
    for (int64_t index = source.begin; index < source.end;) {
      const int64_t to = index / size, x = source.offset + source.stride * ((index - source.begin) / source.spacing);
      const int64_t from = x / operand_tile;
      // Up to the end of the tile of the result, and of that of the operand.
      const int64_t left = source.stride > 0 ? (from + 1) * operand_tile - 1 - x : x - from * operand_tile;
      const int64_t length = std::min(CeilDiv(std::min(source.end, (to + 1) * size) - index, source.spacing),
                                      left / std::max(source.stride, -source.stride) + 1);
      const int64_t last = x + source.stride * (length - 1), end = index + (length - 1) * source.spacing + 1;
      pieces.push_back(
          {s, from, to, std::min(x, last) - from * operand_tile, index - to * size, end - to * size, length});
      index += length * source.spacing;
    }
  }
  return pieces;
}

// The partitions by tile, those that have the same tiles along all other dimensions together.
std::vector<std::vector<int64_t>> Lines(const TileAssignment& tiles, int64_t dimension) {
  std::map<std::vector<int64_t>, std::vector<std::vector<int64_t>>> lines;
  for (int64_t p = 0; p < static_cast<int64_t>(tiles.tile_of.size()); ++p) {
    std::vector<int64_t> others = tiles.tile_of[p];
    const int64_t own = others[dimension];
    others[dimension] = 0;
    auto& line = lines[others];
    line.resize(tiles.counts[dimension]);
    line[own].push_back(p);
  }
  std::vector<std::vector<int64_t>> all;
  for (const auto& [others, line] : lines) {
    for (size_t copy = 0; copy < line[0].size(); ++copy) {
      std::vector<int64_t>& one = all.emplace_back();
      for (const std::vector<int64_t>& owners : line) one.push_back(owners[copy]);
    }
  }
  return all;
}

}  // namespace

int64_t SpanOf(const ShiftSource& source, const ShiftRound& round) { return (round.length - 1) * source.spacing + 1; }

std::vector<ShiftRound> PlanShift(const TileShift& shift, const TileAssignment& tiles) {
  const int64_t count = tiles.counts[shift.dimension];
  const auto partitions = static_cast<int64_t>(tiles.tile_of.size());
  struct Group {
    std::vector<Piece> pieces;
    std::vector<bool> sends, receives;
    bool is_local;
  };
  std::vector<Group> groups;
  for (const Piece& piece : PiecesOf(shift, count)) {
    const bool is_local = piece.from == piece.to;
    // The pieces of one exchange, a ShiftRound, are all moved at the length of its longest one.
    const auto goes_with = [&](const Piece& other) {
      const ShiftSource &own = shift.sources[piece.source], &others = shift.sources[other.source];
      return own.operand == others.operand && own.stride == others.stride && own.spacing == others.spacing &&
             (piece.length == other.length || piece.to - piece.from == other.to - other.from);
    };
    auto group = absl::c_find_if(groups, [&](const Group& one) {
      return one.is_local == is_local && !one.sends[piece.from] && !one.receives[piece.to] && goes_with(one.pieces[0]);
    });
    if (group == groups.end())
      group = groups.insert(group, {{}, std::vector<bool>(count, false), std::vector<bool>(count, false), is_local});
    group->pieces.push_back(piece);
    group->sends[piece.from] = group->receives[piece.to] = true;
  }
  const std::vector<std::vector<int64_t>> lines = Lines(tiles, shift.dimension);
  std::vector<ShiftRound> rounds;
  for (const Group& group : groups) {
    const std::vector<int64_t> none(partitions, 0);
    ShiftRound round{.source = group.pieces[0].source,
                     .is_local = group.is_local,
                     .start = none,
                     .at = none,
                     .begin = none,
                     .end = none};
    for (const Piece& piece : group.pieces) round.length = std::max(round.length, piece.length);
    const ShiftSource& source = shift.sources[round.source];
    for (const Piece& piece : group.pieces) {
      for (const std::vector<int64_t>& line : lines) {
        const int64_t from = line[piece.from], to = line[piece.to];
        round.pairs.emplace_back(from, to);
        round.start[from] = piece.start;
        // A piece that is shorter than others is at the end of what has been reversed.
        round.at[to] = source.stride < 0 ? piece.end - SpanOf(source, round) : piece.begin;
        round.begin[to] = piece.begin;
        round.end[to] = piece.end;
      }
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

void JoinPermutes(int64_t partitions, std::vector<std::vector<ShiftRound>>* shifts) {
  // Pieces of all partitions with the same place in their tiles: what is done to them can be done before or after they
  // are exchanged.
  const auto is_permute = [&](const std::vector<ShiftRound>& rounds) {
    if (rounds.size() != 1 || rounds[0].is_local || static_cast<int64_t>(rounds[0].pairs.size()) != partitions)
      return false;
    const auto all = [](const std::vector<int64_t>& values, int64_t value) {
      return absl::c_count(values, value) == static_cast<std::ptrdiff_t>(values.size());
    };
    const ShiftRound& round = rounds[0];
    return all(round.start, 0) && all(round.at, 0) && all(round.begin, 0) && all(round.end, round.length);
  };
  for (size_t i = 1; i < shifts->size(); ++i) {
    if (!is_permute((*shifts)[i - 1]) || !is_permute((*shifts)[i])) continue;
    ShiftRound &first = (*shifts)[i - 1][0], &second = (*shifts)[i][0];
    std::vector<int64_t> target_of(partitions);
    for (const auto& [source, target] : second.pairs) target_of[source] = target;
    second.pairs.clear();
    for (auto& [source, target] : first.pairs) {
      second.pairs.emplace_back(source, target_of[target]);
      target = source;
    }
    first.is_local = true;
  }
}

double ReceivedElements(const std::vector<ShiftRound>& rounds, int64_t partitions) {
  double elements = 0;
  for (const ShiftRound& round : rounds) {
    if (!round.is_local) elements += static_cast<double>(round.length) * static_cast<double>(round.pairs.size());
  }
  return elements / static_cast<double>(partitions);
}

}  // namespace hilo
