#include "hlo/memory/frame_packing.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace hilo {
namespace {

bool LiveTogether(const FramePiece& a, const FramePiece& b) {
  for (const Lifetime& x : a.lifetimes) {
    for (const Lifetime& y : b.lifetimes) {
      if (x.start < y.end && y.start < x.end) return true;
    }
  }
  return false;
}

// Every pair of pieces that live together lies apart, within the frame, aligned.
void CheckPacking(const std::vector<FramePiece>& pieces, int64_t frame, int64_t alignment) {
  EXPECT_EQ(0, frame % alignment);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const FramePiece& a = pieces[i];
    if (a.size == 0) continue;
    ASSERT_GE(a.offset, 0);
    ASSERT_EQ(0, a.offset % alignment) << "piece " << i;
    ASSERT_LE(a.offset + a.size, frame) << "piece " << i;
    for (size_t j = 0; j < i; ++j) {
      const FramePiece& b = pieces[j];
      if (b.size == 0) continue;
      if (a.offset + a.size <= b.offset || b.offset + b.size <= a.offset) continue;
      ASSERT_FALSE(LiveTogether(a, b)) << "pieces " << j << " and " << i;
    }
  }
}

std::vector<FramePiece> RandomPieces(std::mt19937& random, int count, int lifetimes, int horizon) {
  auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  std::vector<FramePiece> pieces(count);
  for (FramePiece& piece : pieces) {
    piece.size = below(4) == 0 ? below(3) : below(1000);
    for (int64_t i = 0; i <= below(lifetimes); ++i) {
      const int64_t start = below(horizon);
      piece.lifetimes.push_back({start, start + 1 + below(20)});
    }
  }
  return pieces;
}

// What lives at the busiest moment: no packing can need less.
int64_t PeakBytes(const std::vector<FramePiece>& pieces, int64_t horizon) {
  int64_t peak = 0;
  for (int64_t moment = 0; moment < horizon; ++moment) {
    int64_t live = 0;
    for (const FramePiece& piece : pieces) {
      live += std::any_of(piece.lifetimes.begin(), piece.lifetimes.end(),
                          [&](const Lifetime& l) { return l.start <= moment && moment < l.end; })
                  ? piece.size
                  : 0;
    }
    peak = std::max(peak, live);
  }
  return peak;
}

TEST(FramePacking, LiveRanges_DoNotOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int64_t alignment = int64_t{1} << (round % 8);
    std::vector<FramePiece> pieces = RandomPieces(random, 1 + round % 60, 3, 200);
    auto frame = PackFrame(alignment, int64_t{1} << 40, &pieces);
    ASSERT_TRUE(frame.ok()) << frame.status();
    CheckPacking(pieces, *frame, alignment);
  }
}

TEST(FramePacking, ManyLiveRanges_DoNotOverlap) {
  std::mt19937 random(2);
  for (int lifetimes : {1, 3}) {
    std::vector<FramePiece> pieces = RandomPieces(random, 5000, lifetimes, 3000);
    auto frame = PackFrame(64, int64_t{1} << 40, &pieces);
    ASSERT_TRUE(frame.ok()) << frame.status();
    CheckPacking(pieces, *frame, 64);
  }
}

TEST(FramePacking, IsPacked) {
  std::mt19937 random(3);
  for (int count : {500, 5000}) {
    std::vector<FramePiece> pieces = RandomPieces(random, count, 1, count);
    auto frame = PackFrame(1, int64_t{1} << 40, &pieces);
    ASSERT_TRUE(frame.ok());
    EXPECT_LE(*frame, 2 * PeakBytes(pieces, count + 20)) << count;
  }
}

TEST(FramePacking, ConsecutiveRanges_ShareMemory) {
  std::vector<FramePiece> pieces = {{.size = 100, .lifetimes = {{0, 2}}}, {.size = 100, .lifetimes = {{2, 4}}}};
  auto frame = PackFrame(64, 1000, &pieces);
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(128, *frame);
  EXPECT_EQ(pieces[0].offset, pieces[1].offset);
}

TEST(FramePacking, Range_FitsIntoAGap) {
  std::vector<FramePiece> pieces = {{.size = 64, .lifetimes = {{0, 2}, {6, 8}}}, {.size = 64, .lifetimes = {{2, 6}}}};
  auto frame = PackFrame(64, 1000, &pieces);
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(64, *frame);
}

TEST(FramePacking, EmptyInputNeedsNothing) {
  std::vector<FramePiece> pieces;
  auto frame = PackFrame(64, 1000, &pieces);
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(0, *frame);
}

TEST(FramePacking, RefusesAFrameBeyondTheLimit) {
  std::vector<FramePiece> pieces = {{.size = 600, .lifetimes = {{0, 2}}}, {.size = 600, .lifetimes = {{1, 4}}}};
  auto frame = PackFrame(64, 1000, &pieces);
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, frame.status().code());
  // Sizes whose sum is beyond 64 bits, for both algorithms.
  for (int count : {64, 5000}) {
    for (int64_t size : {int64_t{1} << 60, int64_t{1} << 45}) {
      std::vector<FramePiece> huge(count, {.size = size, .lifetimes = {{0, 2}}});
      EXPECT_EQ(absl::StatusCode::kResourceExhausted, PackFrame(64, int64_t{1} << 46, &huge).status().code());
    }
  }
}

}  // namespace
}  // namespace hilo
