// What happens to a program when a rank of one of its collectives does not do its part: an error that says so, in time,
// and a run afterwards that works.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/unit/backends/gpu/collectives/devices.h"

namespace hilo::gpu {
namespace {

using Kind = CommunicatorFault::Kind;

constexpr char kSum[] = R"(HloModule sum, replica_count=3
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4] constant({1,2,3,4})
  y = f32[4] all-reduce(x), replica_groups={}, to_apply=f
  z = f32[12] all-gather(y), replica_groups={}, dimensions={0}
  ROOT w = f32[12] negate(z)
})";

class CollectiveFault : public testing::Test {
 protected:
  void ExpectRuns() {
    const auto results = devices_.Run();
    ASSERT_TRUE(results.ok()) << results.status();
    for (const Literal& result : *results) EXPECT_EQ(result.GetFirstElement<float>(), -3.0f);
  }
  // Runs with a fault; what went wrong, which the next run is free of.
  std::string ErrorOf(const CommunicatorFault& fault, absl::Duration deadline) {
    devices_.log().SetFault(fault);
    const absl::Time before = absl::Now();
    const absl::Status status = devices_.Run({}, deadline).status();
    EXPECT_LT(absl::Now() - before, deadline + absl::Seconds(2));
    devices_.log().SetFault({});
    ExpectRuns();
    return std::string(status.message());
  }

  void SetUp() override {
    devices_.Compile(kSum);
    ExpectRuns();
  }
  Devices devices_{3};
};

TEST_F(CollectiveFault, MissingRank_IsNamed) {
  const std::string error = ErrorOf({.kind = Kind::kNeverComes, .device = 2, .call = 1}, absl::Milliseconds(300));
  EXPECT_TRUE(absl::StrContains(error, "deadline")) << error;
  EXPECT_TRUE(absl::StrContains(error, "all-gather %z: ")) << error;
  EXPECT_TRUE(absl::StrContains(error, "while waiting for rank 2 of the group {0,1,2}")) << error;
}

TEST_F(CollectiveFault, BrokenRank_EndsTheRunOnAllRanks) {
  const std::string error = ErrorOf({.kind = Kind::kAborts, .device = 1, .call = 0}, absl::Seconds(20));
  EXPECT_TRUE(absl::StrContains(error, "a fault that was asked for")) << error;
  EXPECT_TRUE(absl::StrContains(error, "on device 1")) << error;
}

TEST_F(CollectiveFault, SlowRank_IsAwaited) {
  devices_.log().SetFault({.kind = Kind::kSlow, .device = 0, .call = 0});
  ExpectRuns();
}

TEST_F(CollectiveFault, CountsThatDoNotMatchAreAnError) {
  const std::string error = ErrorOf({.kind = Kind::kWrongCount, .device = 1, .call = 0}, absl::Seconds(20));
  EXPECT_TRUE(absl::StrContains(error, "ranks disagree at call")) << error;
  EXPECT_TRUE(absl::StrContains(error, "rank 0 is at all-reduce of 4 f32 by sum")) << error;
  EXPECT_TRUE(absl::StrContains(error, ", but rank 1 at all-reduce of 3 f32 by sum")) << error;
}

// Whichever of two ranks is heard first, what went wrong is told.
TEST(CollectiveBoard, DepartedRank_LeavesItsError) {
  CliqueSpec both;
  both.ranks = {0, 1};
  CollectiveBoard board({both});
  for (const int64_t rank : {0, 1}) {
    board.Join(rank);
    ASSERT_TRUE(board.Enter(0, rank, "all-reduce %x").ok());
  }
  EXPECT_TRUE(board.Hopeless(1).ok());
  board.Leave(0, absl::InvalidArgumentError("a wrong size"));
  EXPECT_EQ(board.Hopeless(1),
            absl::InvalidArgumentError("all-reduce %x: rank 0 has ended its run without it: a wrong size"));
}

// Ranks 2 and 3 have queued all of their work, and wait for ranks that wait for them.
TEST(CollectiveBoard, RanksThatWaitForEachOtherAreAnError) {
  Devices devices(4);
  devices.Compile(R"(HloModule branch, replica_count=4
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
summed { x = f32[] parameter(0)  ROOT y = f32[] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=f }
kept { x = f32[] parameter(0)  ROOT y = f32[] negate(x) }
ENTRY main {
  x = f32[] constant(1)
  id = u32[] replica-id()
  two = u32[] constant(2)
  is_low = pred[] compare(id, two), direction=LT
  r = f32[] conditional(is_low, x, x), true_computation=summed, false_computation=kept
  ROOT s = f32[] all-reduce(r), replica_groups={{0,2},{1,3}}, to_apply=f
})");
  const absl::Status status = devices.Run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "has ended its run without it")) << status;
}

// Of a rank that waits in a loop of its own while the others are at a collective.
TEST(CollectiveDeadline, TheRankThatIsMissingIsNamed) {
  Devices devices(2);
  devices.Compile(R"(HloModule hang, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
again { n = u32[] parameter(0)  zero = u32[] constant(0)  ROOT t = pred[] compare(n, zero), direction=NE }
same { n = u32[] parameter(0)  big = u32[1048576] broadcast(n), dimensions={}  one = u32[1] slice(big), slice={[0:1]}  ROOT m = u32[] reshape(one) }
ENTRY main {
  id = u32[] replica-id()
  n = u32[] while(id), condition=again, body=same
  x = f32[] convert(n)
  ROOT y = f32[] all-reduce(x), replica_groups={}, to_apply=f
})");
  const absl::Status status = devices.Run({}, absl::Milliseconds(400)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_TRUE(absl::StrContains(
      status.message(), "all-reduce %y: the run was ended by its deadline while waiting for rank 1 of the group {0,1}"))
      << status;
}

}  // namespace
}  // namespace hilo::gpu
