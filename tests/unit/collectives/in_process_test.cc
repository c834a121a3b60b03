#include "collectives/in_process.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "hilo/status_macros.h"
#include "tests/unit/collectives/communicator_cases.h"

namespace hilo {
namespace {

// Runs `f` on a thread for each rank; a rank finishes with what `f` returns.
std::vector<absl::Status> RunRanks(int64_t size, const RankFunction& f) {
  auto communicators = MakeInProcessCommunicators(size);
  std::vector<absl::Status> results(size);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      results[rank] = f(rank, *communicators[rank]);
      communicators[rank]->Finish(results[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

class RandomSequencesTest : public testing::TestWithParam<int64_t> {};

TEST_P(RandomSequencesTest, ThousandsOfCollectives) {
  const int64_t size = GetParam();
  ExpectAllOk(RunRanks(size, [&](int64_t rank, Communicator& communicator) -> absl::Status {
    for (int64_t round = 0; round < 2000; ++round) {
      if (absl::Status status = RandomRound(rank, communicator, size, round); !status.ok()) return status;
    }
    return absl::OkStatus();
  }));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomSequencesTest, testing::Values(2, 3, 4, 5, 8));

TEST(InProcessTest, SumsAreTheSameBitsOnAllRanksAndInEveryRun) {
  constexpr int64_t kSize = 5, kCount = 20'000;
  std::vector<std::vector<float>> results(2 * kSize, std::vector<float>(kCount));
  auto value = [](int64_t rank, int64_t i) {
    return std::ldexp(1.0f + static_cast<float>(i % 97), static_cast<int>(rank * 7 % 23));
  };
  for (int64_t run = 0; run < 2; ++run) {
    ExpectAllOk(RunRanks(kSize, [&](int64_t rank, Communicator& communicator) {
      std::vector<float> send(kCount);
      for (int64_t i = 0; i < kCount; ++i) send[i] = value(rank, i);
      const std::vector<int64_t> group = AllOf(kSize);
      return communicator.AllReduce({.name = "sum", .group = group},
                                    {Buffer(send, results[run * kSize + rank], kCount)}, Sum<float>());
    }));
  }
  std::vector<float> expected(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    expected[i] = value(0, i);
    for (int64_t rank = 1; rank < kSize; ++rank) expected[i] += value(rank, i);
  }
  for (const std::vector<float>& result : results)
    EXPECT_EQ(std::memcmp(result.data(), expected.data(), kCount * 4), 0);
}

// Such arrays are written past the cache, from addresses of any alignment.
TEST(InProcessTest, ArraysLargerThanTheCache) {
  constexpr int64_t kCount = (int64_t{16} << 18) + 37;
  ExpectAllOk(RunRanks(2, [](int64_t rank, Communicator& communicator) -> absl::Status {
    const std::vector<int64_t> group = {0, 1};
    std::vector<int32_t> send(kCount), sum(kCount), all(2 * kCount);
    for (int64_t i = 0; i < kCount; ++i) send[i] = static_cast<int32_t>(i * (rank + 3));
    HILO_RETURN_IF_ERROR(
        communicator.AllReduce({.name = "sum", .group = group}, {Buffer(send, sum, kCount)}, Sum<int32_t>()));
    HILO_RETURN_IF_ERROR(communicator.AllGather({.name = "all", .group = group}, {Buffer(send, all, kCount)}));
    int64_t wrong = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      wrong += sum[i] != static_cast<int32_t>(i * 7) || all[i] != static_cast<int32_t>(i * 3) ||
               all[kCount + i] != static_cast<int32_t>(i * 4);
    }
    EXPECT_EQ(wrong, 0);
    return absl::OkStatus();
  }));
}

TEST(InProcessTest, SeveralArraysAtOnce) {
  ExpectAllOk(RunRanks(2, [](int64_t rank, Communicator& communicator) -> absl::Status {
    const std::vector<int64_t> group = {0, 1};
    std::vector<int32_t> a = {static_cast<int32_t>(rank)}, b(3, 10), a_sum(1), b_sum(3);
    absl::Status status = communicator.AllReduce({.name = "sums", .group = group},
                                                 {Buffer(a, a_sum, 1), Buffer(b, b_sum, 3)}, Sum<int32_t>());
    EXPECT_EQ(a_sum[0], 1);
    EXPECT_EQ(b_sum, std::vector<int32_t>(3, 20));
    return status;
  }));
}

TEST(InProcessErrorTest, DisagreementOnTheSize) {
  ExpectAll(RunRanks(4, [](int64_t rank,
                           Communicator& c) { return Gather(c, "all-gather %g", 1, {0, 1, 2, 3}, rank == 2 ? 8 : 4); }),
            absl::StatusCode::kFailedPrecondition,
            "ranks of the group {0,1,2,3} disagree: ranks 0, 1, 3 at all-gather %g gathered, of 4 "
            "bytes, but rank 2 at all-gather %g "
            "gathered, of 8 bytes");
}

TEST(InProcessErrorTest, DisagreementOnTheOp) {
  ExpectAll(RunRanks(2,
                     [](int64_t rank, Communicator& c) {
                       if (rank == 0) return Gather(c, "all-gather %g", 1, {0, 1});
                       std::vector<int32_t> a(1), b(1);
                       const std::vector<int64_t> group = {0, 1};
                       return c.AllReduce({.name = "all-reduce %r", .key = 2, .group = group}, {Buffer(a, b, 1)},
                                          Sum<int32_t>());
                     }),
            absl::StatusCode::kFailedPrecondition,
            "rank 0 at all-gather %g gathered, of 4 bytes, but rank 1 at all-reduce %r reduced");
}

TEST(InProcessErrorTest, DisagreementOnTheGroup) {
  ExpectAll(RunRanks(3,
                     [](int64_t rank, Communicator& c) {
                       return Gather(c, "all-gather %g", 1,
                                     rank == 0 ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{1, 0, 2});
                     }),
            absl::StatusCode::kFailedPrecondition, "disagree on the group");
}

TEST(InProcessErrorTest, PairsThatDoNotMatch) {
  ExpectAll(RunRanks(2,
                     [](int64_t rank, Communicator& c) {
                       std::vector<int32_t> a(1), b(1);
                       const std::vector<int64_t> group = {0, 1};
                       return c.CollectivePermute({.name = "permute", .group = group}, {Buffer(a, b, 1)},
                                                  /*source=*/1 - rank,
                                                  /*target=*/rank == 0 ? 1 : -1);
                     }),
            absl::StatusCode::kFailedPrecondition, "which do not agree");
}

TEST(InProcessErrorTest, ImpossibleGroups) {
  ExpectAll(RunRanks(2, [](int64_t, Communicator& c) { return Gather(c, "g", 1, {0, 2}); }),
            absl::StatusCode::kInvalidArgument, "must hold ranks below 2");
  ExpectAll(RunRanks(2, [](int64_t, Communicator& c) { return Gather(c, "g", 1, {0, 0}); }),
            absl::StatusCode::kInvalidArgument, "twice");
  ExpectAll(RunRanks(2, [](int64_t rank, Communicator& c) { return Gather(c, "g", 1, {1 - rank}); }),
            absl::StatusCode::kInvalidArgument, "lacks its caller");
}

TEST(InProcessErrorTest, FailedRank_EndsAllRanks) {
  ExpectAll(RunRanks(4,
                     [](int64_t rank, Communicator& c) {
                       if (rank == 3) return absl::DataLossError("rank 3 lost it");
                       return Gather(c, "all-gather %g", 1, {0, 1, 2, 3});
                     }),
            absl::StatusCode::kDataLoss, "rank 3 lost it");
}

TEST(InProcessErrorTest, RankEndsEarly) {
  const auto results = RunRanks(3, [](int64_t rank, Communicator& c) {
    return rank == 1 ? absl::OkStatus() : Gather(c, "all-gather %g", 1, {0, 1, 2});
  });
  EXPECT_TRUE(results[1].ok());
  for (int64_t rank : {0, 2}) {
    EXPECT_EQ(results[rank].code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(results[rank].message(), "all-gather %g: rank 1 has ended its run without it");
  }
}

TEST(InProcessErrorTest, Deadline) {
  const absl::Time start = absl::Now();
  const auto results = RunRanks(3, [&](int64_t rank, Communicator& c) {
    if (rank != 1) return Gather(c, "all-gather %g", 1, {0, 1, 2}, 4, nullptr, start + absl::Milliseconds(50));
    absl::SleepFor(absl::Milliseconds(300));
    return Gather(c, "all-gather %g", 1, {0, 1, 2});
  });
  ExpectAll(results, absl::StatusCode::kDeadlineExceeded,
            "all-gather %g: the deadline has passed while waiting for rank");
  EXPECT_TRUE(absl::StrContains(results[0].message(), "1 of the group {0,1,2}")) << results[0];
}

TEST(InProcessErrorTest, Cancellation) {
  CancellationToken token;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(30));
    token.Cancel();
  });
  const auto results = RunRanks(2, [&](int64_t rank, Communicator& c) {
    if (rank == 0) return Gather(c, "all-gather %g", 1, {0, 1}, 4, &token);
    while (!token.stopped()) absl::SleepFor(absl::Milliseconds(1));
    absl::SleepFor(absl::Milliseconds(60));
    return Gather(c, "all-gather %g", 1, {0, 1});
  });
  canceller.join();
  ExpectAll(results, absl::StatusCode::kCancelled, "while waiting for rank 1 of the group {0,1}");
}

// Each rank waits for another rank: without detection they would wait without end.
TEST(InProcessErrorTest, CrossedWaits_DoNotDeadlock) {
  ExpectAll(RunRanks(3,
                     [](int64_t rank, Communicator& c) {
                       return Gather(c, absl::StrCat("gather.", rank), rank, {rank, (rank + 1) % 3});
                     }),
            absl::StatusCode::kFailedPrecondition, "a deadlock");
}

TEST(InProcessErrorTest, FailingReduction) {
  ExpectAll(RunRanks(3,
                     [](int64_t, Communicator& c) {
                       std::vector<int32_t> a(50'000), b(50'000);
                       const std::vector<int64_t> group = {0, 1, 2};
                       const ReductionFunction bad = {4, [](void*, const void*, const void*, int64_t) {
                                                        return absl::OutOfRangeError("bad sum");
                                                      }};
                       return c.AllReduce({.name = "r", .group = group}, {Buffer(a, b, a.size())}, bad);
                     }),
            absl::StatusCode::kOutOfRange, "bad sum");
}

TEST(InProcessErrorTest, RaggedUpdatesBeyondTheArrays) {
  for (const RaggedUpdate& update :
       {RaggedUpdate{-1, 0, 4}, RaggedUpdate{0, 5, 4}, RaggedUpdate{0, 0, -1}, RaggedUpdate{4, 0, INT64_MAX}}) {
    ExpectAll(RunRanks(2,
                       [&](int64_t rank, Communicator& c) {
                         std::vector<uint8_t> send(8), receive(8);
                         const std::vector<int64_t> group = {0, 1};
                         const std::vector<RaggedUpdate> updates(2, rank == 0 ? update : RaggedUpdate{0, 0, 4});
                         return c.RaggedAllToAll({.name = "ragged", .group = group}, send.data(), 8, receive.data(), 8,
                                                 updates);
                       }),
              absl::StatusCode::kInvalidArgument, "ragged: update 0 of rank 0");
  }
}

// Every call after the failure has the failure's status, and other runs know nothing of it.
TEST(InProcessErrorTest, Failure_AffectsOneRun) {
  for (int round = 0; round < 200; ++round) {
    ExpectAll(RunRanks(4,
                       [&](int64_t rank, Communicator& c) -> absl::Status {
                         for (int64_t i = 0; i < 5; ++i) {
                           if (rank == round % 4 && i == round % 5) return absl::AbortedError("enough");
                           if (absl::Status status = Gather(c, "g", i, {0, 1, 2, 3}); !status.ok()) {
                             EXPECT_EQ(Gather(c, "h", i, {0, 1, 2, 3}), status);
                             return status;
                           }
                         }
                         return absl::OkStatus();
                       }),
              absl::StatusCode::kAborted, "enough");
  }
}

// Messages of a channel arrive in order, whichever side comes first, and channels are independent.
TEST(InProcessTest, MessagesBetweenTwoRanks) {
  for (int round = 0; round < 100; ++round) {
    ExpectAllOk(RunRanks(3, [&](int64_t rank, Communicator& c) -> absl::Status {
      const int64_t next = (rank + 1) % 3, previous = (rank + 2) % 3;
      for (int64_t channel : {5, 6}) {
        for (int64_t i = 0; i < 4; ++i) {
          const int64_t value = 100 * channel + 10 * rank + i;
          HILO_RETURN_IF_ERROR(c.Send({.name = "send", .key = channel, .group = {}}, &value, 8, next));
        }
      }
      for (int64_t channel : {6, 5}) {
        for (int64_t i = 0; i < 4; ++i) {
          int64_t value = 0;
          HILO_RETURN_IF_ERROR(c.Receive({.name = "receive", .key = channel, .group = {}}, &value, 8, previous));
          EXPECT_EQ(100 * channel + 10 * previous + i, value);
        }
      }
      return absl::OkStatus();
    }));
  }
}

TEST(InProcessErrorTest, MissingMessages) {
  const auto receive = [](Communicator& c, int64_t source, absl::Time deadline = absl::InfiniteFuture()) {
    int64_t value;
    return c.Receive({.name = "receive", .key = 1, .group = {}, .deadline = deadline}, &value, 8, source);
  };
  ExpectAll(RunRanks(2, [&](int64_t rank, Communicator& c) { return receive(c, 1 - rank); }),
            absl::StatusCode::kFailedPrecondition, "a deadlock");
  ExpectAll(RunRanks(2, [&](int64_t rank,
                            Communicator& c) { return rank == 0 ? Gather(c, "gather", 3, {0, 1}) : receive(c, 0); }),
            absl::StatusCode::kFailedPrecondition, "a deadlock");
  ExpectAll(RunRanks(1, [&](int64_t, Communicator& c) { return receive(c, 0); }), absl::StatusCode::kFailedPrecondition,
            "has not sent to itself");
  ExpectAll(RunRanks(1, [&](int64_t, Communicator& c) { return receive(c, 4); }), absl::StatusCode::kInvalidArgument,
            "expected a rank below 1, got 4");
  absl::Notification gave_up;
  auto late = RunRanks(2, [&](int64_t rank, Communicator& c) {
    if (rank == 0) {
      gave_up.WaitForNotification();
      return absl::OkStatus();
    }
    const absl::Status status = receive(c, 0, absl::Now() + absl::Milliseconds(50));
    gave_up.Notify();
    return status;
  });
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, late[1].code()) << late[1];
  auto sizes = RunRanks(2, [&](int64_t rank, Communicator& c) {
    const int32_t value = 3;
    return rank == 0 ? c.Send({.name = "send", .key = 1, .group = {}}, &value, 4, 1) : receive(c, 0);
  });
  EXPECT_EQ("receive: rank 0 has sent 4 bytes to rank 1, which expects 8", sizes[1].message());
}

}  // namespace
}  // namespace hilo
