// Up to some thousand pieces: largest first, each at the lowest offset that is free throughout its lifetimes; it packs
// tightly and costs a comparison of all pairs. More pieces: in order of their start, each in the best gap that is free
// now, which is n log n.
#include "hlo/memory/frame_packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

#include "base/errors.h"

namespace hilo {
namespace {

constexpr size_t kPairwise = 3000;

Lifetime Hull(const FramePiece& piece) {
  Lifetime hull = piece.lifetimes.front();
  for (const Lifetime& lifetime : piece.lifetimes) {
    hull.start = std::min(hull.start, lifetime.start);
    hull.end = std::max(hull.end, lifetime.end);
  }
  return hull;
}

bool Overlap(const FramePiece& a, const FramePiece& b) {
  for (const Lifetime& x : a.lifetimes) {
    for (const Lifetime& y : b.lifetimes) {
      if (x.start < y.end && y.start < x.end) return true;
    }
  }
  return false;
}

int64_t RoundUp(int64_t size, int64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// Both return the bytes used, or a number beyond the limit as soon as that is certain (so that no sum overflows).
int64_t PackLargestFirst(int64_t alignment, int64_t limit, std::vector<FramePiece>& pieces) {
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return pieces[a].size > pieces[b].size; });
  int64_t frame = 0;
  std::vector<Lifetime> hulls;
  for (const FramePiece& piece : pieces) hulls.push_back(Hull(piece));
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    int64_t offset = 0;
    for (size_t other : placed) {
      if (hulls[i].start >= hulls[other].end || hulls[other].start >= hulls[i].end) continue;
      if (!Overlap(pieces[i], pieces[other])) continue;
      if (offset + pieces[i].size <= pieces[other].offset) break;
      offset = std::max(offset, RoundUp(pieces[other].offset + pieces[other].size, alignment));
    }
    if (pieces[i].size > limit - offset) return limit + 1;
    pieces[i].offset = offset;
    frame = std::max(frame, offset + pieces[i].size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return pieces[a].offset < pieces[b].offset; }),
                  i);
  }
  return frame;
}

int64_t PackByStart(int64_t alignment, int64_t limit, std::vector<FramePiece>& pieces) {
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Lifetime> hulls;
  for (const FramePiece& piece : pieces) hulls.push_back(Hull(piece));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return hulls[a].start < hulls[b].start; });
  using Ending = std::pair<int64_t, size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<Ending>> alive;
  std::map<int64_t, int64_t> gaps;  // offset -> size
  std::multimap<int64_t, int64_t> by_size;
  auto erase_gap = [&](std::map<int64_t, int64_t>::iterator gap) {
    auto [first, last] = by_size.equal_range(gap->second);
    while (first != last && first->second != gap->first) ++first;
    by_size.erase(first);
    gaps.erase(gap);
  };
  auto add_gap = [&](int64_t offset, int64_t size) {
    if (size == 0) return;
    gaps[offset] = size;
    by_size.emplace(size, offset);
  };
  auto release = [&](int64_t offset, int64_t size) {
    auto next = gaps.lower_bound(offset);
    if (next != gaps.end() && next->first == offset + size) {
      size += next->second;
      erase_gap(next);
    }
    auto previous = gaps.lower_bound(offset);
    if (previous != gaps.begin() && (--previous)->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      erase_gap(previous);
    }
    add_gap(offset, size);
  };
  int64_t frame = 0;
  for (size_t i : order) {
    while (!alive.empty() && alive.top().first <= hulls[i].start) {
      const size_t dead = alive.top().second;
      alive.pop();
      release(pieces[dead].offset, RoundUp(pieces[dead].size, alignment));
    }
    if (pieces[i].size > limit) return limit + 1;
    const int64_t size = RoundUp(pieces[i].size, alignment);
    auto fit = by_size.lower_bound(size);
    if (fit == by_size.end()) {
      pieces[i].offset = frame;
      frame += size;
      if (frame - size > limit - pieces[i].size) return limit + 1;
    } else {
      auto gap = gaps.find(fit->second);
      const int64_t offset = gap->first;
      const int64_t rest = gap->second - size;
      erase_gap(gap);
      pieces[i].offset = offset;
      add_gap(offset + size, rest);
    }
    if (size > 0) alive.push({hulls[i].end, i});
  }
  return frame;
}

}  // namespace

absl::StatusOr<int64_t> PackFrame(int64_t alignment, int64_t limit, std::vector<FramePiece>* pieces) {
  const int64_t frame = pieces->size() <= kPairwise ? PackLargestFirst(alignment, limit, *pieces)
                                                    : PackByStart(alignment, limit, *pieces);
  if (frame > limit) {
    return ResourceExhausted("the program's temporary memory needs more than the limit of ", limit, " bytes");
  }
  return RoundUp(frame, alignment);
}

}  // namespace hilo
