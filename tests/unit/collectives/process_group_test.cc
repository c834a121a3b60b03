#include "collectives/processes/process_group.h"

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "collectives/processes/sockets.h"
#include "gtest/gtest.h"
#include "tests/unit/collectives/communicator_cases.h"

namespace hilo {
namespace {

// Of a process; "mixed": the last one is as if on another host.
std::string TransportOf(const std::string& transport, int64_t process, int64_t count) {
  if (transport != "mixed") return transport;
  return process + 1 == count ? "tcp" : "auto";
}

// Groups of processes, all of them threads of this one: what is between them is the same.
std::vector<std::shared_ptr<ProcessGroup>> MakeGroups(int64_t count, absl::Duration timeout = absl::Seconds(30),
                                                      std::shared_ptr<KeyValueStore> store = MakeInProcessStore(),
                                                      const std::string& name = "test",
                                                      const std::string& transport = "auto") {
  std::vector<std::shared_ptr<ProcessGroup>> groups(count);
  std::vector<std::thread> threads;
  for (int64_t process = 0; process < count; ++process) {
    threads.emplace_back([&, process] {
      auto group = ProcessGroup::Join({.process_id = process,
                                       .process_count = count,
                                       .store = store,
                                       .name = name,
                                       .timeout = timeout,
                                       .device_count = process + 1,
                                       .transport = TransportOf(transport, process, count)});
      EXPECT_TRUE(group.ok()) << group.status();
      if (group.ok()) groups[process] = *std::move(group);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return groups;
}

// Runs `f` on all ranks, which are dealt to the processes in turn, or in blocks.
std::vector<absl::Status> RunRanks(const std::vector<std::shared_ptr<ProcessGroup>>& groups, int64_t size, bool in_turn,
                                   const RankFunction& f) {
  const auto processes = static_cast<int64_t>(groups.size());
  std::vector<int> devices(size);
  std::vector<int64_t> process_of_rank(size);
  for (int64_t rank = 0; rank < size; ++rank) {
    devices[rank] = static_cast<int>(rank);
    process_of_rank[rank] = in_turn ? rank % processes : rank * processes / size;
  }
  std::vector<absl::Status> results(size);
  std::vector<std::thread> threads;
  for (int64_t process = 0; process < processes; ++process) {
    if (groups[process] == nullptr) continue;
    auto run = groups[process]->StartRun(devices, process_of_rank);
    for (std::unique_ptr<Communicator>& communicator : run->communicators) {
      threads.emplace_back([&results, &f, communicator = std::move(communicator)] {
        const int64_t rank = communicator->rank();
        results[rank] = f(rank, *communicator);
        communicator->Finish(results[rank]);
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

struct Sizes {
  int64_t processes, ranks;
  bool in_turn;
  std::string transport = "shm";
};
class ProcessSequencesTest : public testing::TestWithParam<Sizes> {
 protected:
  std::vector<std::shared_ptr<ProcessGroup>> Groups() const {
    return MakeGroups(GetParam().processes, absl::Seconds(30), MakeInProcessStore(), "test", GetParam().transport);
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ProcessSequencesTest,
                         testing::Values(Sizes{2, 2, false}, Sizes{4, 4, false}, Sizes{2, 4, true}, Sizes{3, 7, false},
                                         Sizes{3, 6, true}, Sizes{2, 4, true, "tcp"}, Sizes{4, 4, false, "tcp"},
                                         Sizes{3, 6, true, "mixed"}),
                         [](const auto& info) {
                           return absl::StrCat(info.param.ranks, "on", info.param.processes,
                                               info.param.in_turn ? "inTurn" : "", info.param.transport);
                         });

// A store far away: each request takes its time.
class SlowStore : public KeyValueStore {
 public:
  absl::Status Set(absl::string_view key, absl::string_view value) override { return Slow().Set(key, value); }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) override {
    return Slow().Get(key, deadline);
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override { return Slow().TryGet(key); }
  absl::Status Delete(absl::string_view key) override { return Slow().Delete(key); }
  absl::StatusOr<std::vector<std::optional<std::string>>> GetMany(absl::Span<const std::string> keys,
                                                                  absl::Time deadline) override {
    return Slow().GetMany(keys, deadline);
  }
  int64_t requests() const { return requests_; }

 private:
  KeyValueStore& Slow() {
    ++requests_;
    absl::SleepFor(absl::Milliseconds(20));
    return *store_;
  }
  const std::shared_ptr<KeyValueStore> store_ = MakeInProcessStore();
  std::atomic<int64_t> requests_{0};
};

TEST(ProcessGroupTest, RequestsOfTheStore_DoNotGrowWithTheNumberOfProcesses) {
  for (const int64_t count : {2, 16}) {
    const auto store = std::make_shared<SlowStore>();
    const auto groups = MakeGroups(count, absl::Seconds(30), store);
    EXPECT_EQ(groups.back()->device_counts().back(), count);
    EXPECT_LE(store->requests(), 3 * count + 1) << count;
  }
}

TEST_P(ProcessSequencesTest, ManyCollectives) {
  const auto groups = Groups();
  for (int run = 0; run < 2; ++run) {
    ExpectAllOk(RunRanks(
        groups, GetParam().ranks, GetParam().in_turn, [&](int64_t rank, Communicator& communicator) -> absl::Status {
          EXPECT_EQ(communicator.size(), GetParam().ranks);
          for (int64_t round = 0; round < 150; ++round) {
            if (absl::Status status = RandomRound(rank, communicator, GetParam().ranks, round + 1000 * run);
                !status.ok())
              return status;
          }
          return absl::OkStatus();
        }));
  }
}

// Floats whose sum depends on the order; in one piece, in pieces, and in one that no number of processes divides.
TEST_P(ProcessSequencesTest, SumsAreThoseOfOneProcess) {
  const auto groups = Groups();
  const int64_t size = GetParam().ranks;
  auto value = [](int64_t rank, int64_t i) {
    return std::ldexp(1.0f + static_cast<float>(i % 97), static_cast<int>(rank * 7 % 23));
  };
  for (int64_t count : {0, 1, 1000, 200'003, 1'300'007}) {
    std::vector<float> expected(count);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t rank = 0; rank < size; ++rank) expected[i] = rank == 0 ? value(0, i) : expected[i] + value(rank, i);
    }
    ExpectAllOk(RunRanks(groups, size, GetParam().in_turn, [&](int64_t rank, Communicator& communicator) {
      std::vector<float> array(count), other(3, 1), other_sum(3);
      for (int64_t i = 0; i < count; ++i) array[i] = value(rank, i);
      const std::vector<int64_t> group = AllOf(size);
      const CollectiveBuffer in_place = {array.data(), array.data(), count * 4};
      absl::Status status = communicator.AllReduce({.name = "sum", .group = group},
                                                   {in_place, Buffer(other, other_sum, 3)}, Sum<float>());
      EXPECT_EQ(array, expected);
      EXPECT_EQ(other_sum, std::vector<float>(3, static_cast<float>(size)));
      return status;
    }));
  }
}

TEST_P(ProcessSequencesTest, MessagesFromRankToRank) {
  const auto groups = Groups();
  const int64_t size = GetParam().ranks;
  ExpectAllOk(RunRanks(groups, size, GetParam().in_turn, [&](int64_t rank, Communicator& communicator) -> absl::Status {
    for (int64_t round = 0; round < 50; ++round) {
      const int64_t bytes = round == 7 ? 300'000 : 8;
      std::vector<int64_t> data(bytes / 8, rank * 100 + round), got(bytes / 8);
      absl::Status status =
          communicator.Send({.name = "send", .key = round % 3}, data.data(), bytes, (rank + 1) % size);
      if (status.ok())
        status =
            communicator.Receive({.name = "receive", .key = round % 3}, got.data(), bytes, (rank + size - 1) % size);
      if (!status.ok()) return status;
      EXPECT_EQ(got.back(), (rank + size - 1) % size * 100 + round);
    }
    return absl::OkStatus();
  }));
}

// Sends return although no rank receives yet, and although the messages are longer than a ring.
TEST_P(ProcessSequencesTest, MessagesThatAreLongAndEarly) {
  const auto groups = Groups();
  const int64_t size = GetParam().ranks;
  ExpectAllOk(RunRanks(groups, size, GetParam().in_turn, [&](int64_t rank, Communicator& communicator) -> absl::Status {
    std::vector<int64_t> data(1'000'000);
    for (int64_t key = 0; key < 3; ++key) {
      for (size_t i = 0; i < data.size(); ++i) data[i] = Value(rank, key, static_cast<int64_t>(i));
      absl::Status status = communicator.Send({.name = "send", .key = key}, data.data(), 8'000'000, (rank + 1) % size);
      if (!status.ok()) return status;
    }
    const int64_t source = (rank + size - 1) % size;
    for (int64_t key = 2; key >= 0; --key) {
      absl::Status status = communicator.Receive({.name = "receive", .key = key}, data.data(), 8'000'000, source);
      if (!status.ok()) return status;
      for (size_t i = 0; i < data.size(); ++i) {
        if (data[i] != Value(source, key, static_cast<int64_t>(i))) return absl::DataLossError("wrong data");
      }
    }
    return absl::OkStatus();
  }));
}

TEST(ProcessGroupTest, NamesTheTransport) {
  for (const auto& [transport, first, last] :
       std::vector<std::array<std::string, 3>>{{"auto", "shared memory", "shared memory"},
                                               {"shm", "shared memory", "shared memory"},
                                               {"tcp", "TCP", "TCP"},
                                               {"mixed", "shared memory with 1, TCP with 1", "TCP"}}) {
    const auto groups = MakeGroups(3, absl::Seconds(30), MakeInProcessStore(), "test", transport);
    EXPECT_EQ(groups[0]->transport_name(), first);
    EXPECT_EQ(groups[2]->transport_name(), last);
  }
}

TEST(ProcessGroupTest, SharedMemoryThatOneDoesNotShare) {
  const auto store = MakeInProcessStore();
  absl::Status status;
  std::thread other([&] {
    ProcessGroup::Join({.process_id = 1, .process_count = 2, .store = store, .transport = "tcp"})
        .status()
        .IgnoreError();
  });
  status = ProcessGroup::Join({.process_count = 2, .store = store, .transport = "shm"}).status();
  other.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "process 0 shares no memory with process 1")) << status;
}

TEST(ProcessGroupTest, ListsTheDevicesOfAllProcesses) {
  const auto groups = MakeGroups(3);
  for (int64_t process = 0; process < 3; ++process) {
    EXPECT_EQ(groups[process]->process_id(), process);
    EXPECT_EQ(groups[process]->process_count(), 3);
    EXPECT_EQ(absl::StrJoin(groups[process]->device_counts(), ","), "1,2,3");
  }
}

TEST(ProcessGroupTest, RefusesOptionsOutOfRange) {
  const auto store = MakeInProcessStore();
  for (const ProcessGroupOptions& options :
       std::vector<ProcessGroupOptions>{{.process_id = 2, .process_count = 2, .store = store},
                                        {.process_id = -1, .process_count = 2, .store = store},
                                        {.process_count = 0, .store = store},
                                        {.process_count = 1},
                                        {.store = store, .name = ""},
                                        {.store = store, .timeout = absl::ZeroDuration()},
                                        {.store = store, .transport = "carrier pigeon"}}) {
    EXPECT_EQ(ProcessGroup::Join(options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(ProcessGroupTest, Name_IsValidOnce) {
  const auto store = MakeInProcessStore();
  const auto groups = MakeGroups(1, absl::Seconds(5), store);
  const auto again = ProcessGroup::Join({.store = store, .name = "test"});
  EXPECT_EQ(again.status().code(), absl::StatusCode::kFailedPrecondition) << again.status();
  EXPECT_TRUE(ProcessGroup::Join({.store = store, .name = "other"}).ok());
}

TEST(ProcessGroupTest, NamesProcessesThatDoNotCome) {
  const auto store = MakeInProcessStore();
  std::vector<absl::Status> statuses(2);
  std::vector<std::thread> threads;
  for (int64_t process : {0, 1}) {
    threads.emplace_back([&, process] {
      statuses[process] =
          ProcessGroup::Join(
              {.process_id = process, .process_count = 3, .store = store, .timeout = absl::Milliseconds(200)})
              .status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "process 2 of 3")) << status;
  }
}

// Connections that send anything else are refused while the processes connect.
TEST(ProcessGroupTest, UnknownPeers_AreIgnored) {
  const auto store = MakeInProcessStore();
  std::shared_ptr<ProcessGroup> first;
  std::thread joins([&] {
    auto group = ProcessGroup::Join({.process_count = 2, .store = store, .timeout = absl::Seconds(20)});
    EXPECT_TRUE(group.ok()) << group.status();
    if (group.ok()) first = *std::move(group);
  });
  const auto record = store->Get("hilo/0/process/0", absl::Now() + absl::Seconds(20));
  ASSERT_TRUE(record.ok());
  const auto endpoint = ParseEndpoint(record->substr(0, record->find('\n')));
  ASSERT_TRUE(endpoint.ok());
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 30; ++i) {
    strangers.push_back(*Connect(*endpoint, absl::Now() + absl::Seconds(5)));
    std::string bytes(i * 3, static_cast<char>(i));
    if (bytes.size() >= 8) bytes[0] = 1, std::fill(bytes.begin() + 1, bytes.begin() + 8, '\0');  // "I am process 1"
    SendAll(strangers.back(), bytes, absl::Now() + absl::Seconds(5)).IgnoreError();
  }
  const auto second =
      ProcessGroup::Join({.process_id = 1, .process_count = 2, .store = store, .timeout = absl::Seconds(20)});
  joins.join();
  EXPECT_TRUE(second.ok()) << second.status();
}

// What goes wrong, on two processes of two ranks each.
class ProcessErrorTest : public testing::TestWithParam<const char*> {
 protected:
  std::vector<absl::Status> Run(const RankFunction& f) { return RunRanks(groups_, 4, false, f); }
  // All ranks get the error, and the next run is well.
  void ExpectFailure(absl::StatusCode code, absl::string_view part, const RankFunction& f) {
    ExpectAll(Run(f), code, part);
    ExpectAllOk(Run([](int64_t, Communicator& c) { return Gather(c, "all-gather %next", 1, {0, 1, 2, 3}); }));
  }
  std::vector<std::shared_ptr<ProcessGroup>> groups_ =
      MakeGroups(2, absl::Milliseconds(400), MakeInProcessStore(), "test", GetParam());
};
INSTANTIATE_TEST_SUITE_P(Transports, ProcessErrorTest, testing::Values("shm", "tcp"),
                         [](const auto& info) { return info.param; });

TEST_P(ProcessErrorTest, DisagreementOnTheSize) {
  ExpectFailure(absl::StatusCode::kFailedPrecondition, "disagree", [](int64_t rank, Communicator& c) {
    return Gather(c, "all-gather %g", 1, {0, 1, 2, 3}, rank >= 2 ? 8 : 4);
  });
}

TEST_P(ProcessErrorTest, DisagreementOnTheOpNamesBoth) {
  const auto results = Run([](int64_t rank, Communicator& c) {
    if (rank < 2) return Gather(c, "all-gather %g", 1, {0, 1, 2, 3});
    std::vector<int32_t> a(1), b(1);
    const std::vector<int64_t> group = {0, 1, 2, 3};
    return c.AllReduce({.name = "all-reduce %r", .key = 2, .group = group}, {Buffer(a, b, 1)}, Sum<int32_t>());
  });
  for (absl::string_view part : {"ranks of the group {0,1,2,3} disagree", "all-gather %g (number 1)",
                                 "all-reduce %r (number 1)", "ranks 0, 1", "ranks 2, 3"})
    ExpectAll(results, absl::StatusCode::kFailedPrecondition, part);
}

TEST_P(ProcessErrorTest, DisagreementOnTheOrder) {
  ExpectFailure(absl::StatusCode::kFailedPrecondition, "disagree", [](int64_t rank, Communicator& c) {
    for (int64_t key : {1, 2}) {
      const int64_t op = rank < 2 ? key : 3 - key;
      if (absl::Status status = Gather(c, absl::StrCat("all-gather %g", op), op, {0, 1, 2, 3}); !status.ok())
        return status;
    }
    return absl::OkStatus();
  });
}

TEST_P(ProcessErrorTest, DisagreementOnTheGroup) {
  ExpectFailure(absl::StatusCode::kFailedPrecondition, "disagree", [](int64_t rank, Communicator& c) {
    return Gather(c, "all-gather %g", 1,
                  rank < 2 ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{1, 0, 2, 3});
  });
}

TEST_P(ProcessErrorTest, PairsThatDoNotMatch) {
  ExpectFailure(absl::StatusCode::kFailedPrecondition, "which do not agree", [](int64_t rank, Communicator& c) {
    std::vector<int32_t> a(1), b(1);
    const std::vector<int64_t> group = {0, 1, 2, 3};
    return c.CollectivePermute({.name = "permute", .group = group}, {Buffer(a, b, 1)}, /*source=*/(rank + 3) % 4,
                               /*target=*/rank == 2 ? -1 : (rank + 1) % 4);
  });
}

TEST_P(ProcessErrorTest, ImpossibleGroups) {
  ExpectFailure(absl::StatusCode::kInvalidArgument, "must hold ranks below 4",
                [](int64_t, Communicator& c) { return Gather(c, "g", 1, {0, 1, 2, 4}); });
}

TEST_P(ProcessErrorTest, FailedRank_EndsAllRanks) {
  ExpectFailure(absl::StatusCode::kDataLoss, "rank 3 lost it", [](int64_t rank, Communicator& c) {
    if (rank == 3) return absl::DataLossError("rank 3 lost it");
    return Gather(c, "all-gather %g", 1, {0, 1, 2, 3});
  });
}

TEST_P(ProcessErrorTest, FailingReduction) {
  ExpectFailure(absl::StatusCode::kAborted, "no sum", [](int64_t rank, Communicator& c) {
    std::vector<int32_t> a(1), b(1);
    const std::vector<int64_t> group = {0, 1, 2, 3};
    ReductionFunction reduction = Sum<int32_t>();
    // A process whose own sum is ready may not hear of it before its next collective.
    if (rank < 2)
      reduction.combine = [](void*, const void*, const void*, int64_t) { return absl::AbortedError("no sum"); };
    absl::Status status = c.AllReduce({.name = "sum", .group = group}, {Buffer(a, b, 1)}, reduction);
    return status.ok() ? Gather(c, "all-gather %g", 1, group) : status;
  });
}

TEST_P(ProcessErrorTest, RankEndsEarly) {
  const auto results = Run([](int64_t rank, Communicator& c) {
    return rank == 2 ? absl::OkStatus() : Gather(c, "all-gather %g", 1, {0, 1, 2, 3});
  });
  EXPECT_TRUE(results[2].ok());
  for (int64_t rank : {0, 1, 3}) {
    EXPECT_EQ(results[rank].code(), absl::StatusCode::kFailedPrecondition) << results[rank];
    EXPECT_TRUE(absl::StrContains(results[rank].message(), "rank 2 has ended its run without it")) << results[rank];
  }
}

TEST_P(ProcessErrorTest, SenderEndsEarly) {
  const auto results = Run([](int64_t rank, Communicator& c) {
    int32_t data;
    return rank == 0 ? c.Receive({.name = "receive", .key = 1}, &data, 4, 3) : absl::OkStatus();
  });
  EXPECT_TRUE(absl::StrContains(results[0].message(), "rank 3 has ended its run without it")) << results[0];
}

// Frames that arrive without end do not keep a rank that waits for another one from its deadline.
TEST_P(ProcessErrorTest, FloodOfMessages) {
  const absl::Time start = absl::Now();
  const auto results = Run([](int64_t rank, Communicator& c) {
    int64_t data = 0;
    absl::Status status;
    if (rank == 0) return c.Receive({.name = "receive", .key = 2}, &data, 8, 3);
    while (rank == 3 && status.ok()) status = c.Send({.name = "send", .key = 1}, &data, 8, 0);
    return status;
  });
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_EQ(results[0].code(), absl::StatusCode::kDeadlineExceeded) << results[0];
  EXPECT_TRUE(absl::StrContains(results[0].message(), "waiting for rank 3")) << results[0];
}

TEST_P(ProcessErrorTest, MessagesOfTheWrongSize) {
  const auto results = Run([](int64_t rank, Communicator& c) {
    const int64_t data[2] = {};
    int64_t got;
    if (rank == 0) return c.Send({.name = "send", .key = 1}, data, 16, 3);
    return rank == 3 ? c.Receive({.name = "receive", .key = 1}, &got, 8, 0) : absl::OkStatus();
  });
  EXPECT_TRUE(absl::StrContains(results[3].message(), "rank 0 has sent 16 bytes to rank 3, which expects 8"))
      << results[3];
}

TEST_P(ProcessErrorTest, StuckRank) {
  const absl::Time start = absl::Now();
  const auto results = Run([&](int64_t rank, Communicator& c) {
    if (rank == 3) absl::SleepFor(absl::Milliseconds(1000));
    return Gather(c, "all-gather %g", 1, {0, 1, 2, 3});
  });
  EXPECT_LT(absl::Now() - start, absl::Seconds(3));
  ExpectAll(results, absl::StatusCode::kDeadlineExceeded, "all-gather %g (number 1)");
  ExpectAll(results, absl::StatusCode::kDeadlineExceeded, "waiting for rank");
}

TEST_P(ProcessErrorTest, Cancellation) {
  CancellationToken token;
  token.Cancel();
  ExpectFailure(absl::StatusCode::kCancelled, "was cancelled while waiting for rank",
                [&](int64_t rank, Communicator& c) {
                  if (rank == 3) absl::SleepFor(absl::Milliseconds(50));
                  return Gather(c, "all-gather %g", 1, {0, 1, 2, 3}, 4, rank < 2 ? &token : nullptr);
                });
}

// A rank waits at a collective of one group for a rank that waits for it at one of another.
TEST_P(ProcessErrorTest, GroupsInDifferentOrders) {
  const absl::Time start = absl::Now();
  const auto results = Run([](int64_t rank, Communicator& c) -> absl::Status {
    if (rank == 1 || rank == 3) return absl::OkStatus();
    for (int step : {0, 1}) {
      const bool forward = (step == 0) == (rank == 0);
      absl::Status status = Gather(c, forward ? "all-gather %a" : "all-gather %b", forward,
                                   forward ? std::vector<int64_t>{0, 2} : std::vector<int64_t>{2, 0});
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(350));
  for (int64_t rank : {0, 2}) {
    EXPECT_EQ(results[rank].code(), absl::StatusCode::kFailedPrecondition) << results[rank];
    EXPECT_TRUE(absl::StrContains(results[rank].message(), "disagree")) << results[rank];
  }
}

TEST(ProcessGroupTest, AProcessThatLeavesAndAGroupOfThoseThatStay) {
  const auto store = MakeInProcessStore();
  auto groups = MakeGroups(3, absl::Seconds(20), store);
  std::thread leaves([&] {
    absl::SleepFor(absl::Milliseconds(100));
    groups[1].reset();
  });
  std::vector<std::shared_ptr<ProcessGroup>> stay = {groups[0], nullptr, groups[2]};
  const auto results =
      RunRanks(stay, 3, false, [](int64_t, Communicator& c) { return Gather(c, "all-gather %g", 1, {0, 1, 2}); });
  leaves.join();
  for (int64_t rank : {0, 2}) {
    EXPECT_EQ(results[rank].code(), absl::StatusCode::kUnavailable) << results[rank];
    EXPECT_TRUE(absl::StrContains(results[rank].message(),
                                  "all-gather %g (number 1): rank 1 cannot be reached any more: process 1 has left"))
        << results[rank];
  }
  // The next run of all fails at once; a group of the others is well.
  for (const absl::Status& status :
       {RunRanks(stay, 3, false, [](int64_t, Communicator& c) { return Gather(c, "g", 1, {0, 1, 2}); })[0]})
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  const auto smaller = MakeGroups(2, absl::Seconds(20), store, "smaller");
  ExpectAllOk(RunRanks(smaller, 2, false, [](int64_t, Communicator& c) { return Gather(c, "g", 1, {0, 1}); }));
}

TEST(ProcessGroupTest, CommunicatorWithoutFinish_FailsItsRun) {
  const auto groups = MakeGroups(2);
  const std::vector<int> devices = {0, 1};
  auto first = groups[0]->StartRun(devices, {0, 1});
  auto second = groups[1]->StartRun(devices, {0, 1});
  EXPECT_EQ(first->id, second->id);
  second->communicators.clear();
  const absl::Status status = Gather(*first->communicators[0], "all-gather %g", 1, {0, 1});
  EXPECT_TRUE(absl::StrContains(status.message(), "rank 1 has left its run")) << status;
}

}  // namespace
}  // namespace hilo
