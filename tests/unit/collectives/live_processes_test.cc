#include <future>
#include <numeric>
#include <thread>

#include "absl/time/clock.h"
#include "collectives/processes/process_group.h"
#include "gtest/gtest.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

using Live = std::vector<ProcessIncarnation>;
using Groups = std::vector<std::shared_ptr<ProcessGroup>>;

absl::StatusOr<std::shared_ptr<ProcessGroup>> Join(int64_t process, int64_t count,
                                                   const std::shared_ptr<KeyValueStore>& store,
                                                   int64_t device_count = 1) {
  return ProcessGroup::Join({.process_id = process,
                             .process_count = count,
                             .store = store,
                             .timeout = absl::Seconds(30),
                             .device_count = device_count,
                             .may_return = true});
}

// Groups of processes that are threads of this one.
Groups MakeGroups(int64_t count, const std::shared_ptr<KeyValueStore>& store) {
  Groups groups(count);
  std::vector<std::thread> threads;
  for (int64_t process = 0; process < count; ++process) {
    threads.emplace_back([&, process] {
      auto group = Join(process, count, store);
      EXPECT_TRUE(group.ok()) << group.status();
      if (group.ok()) groups[process] = *std::move(group);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return groups;
}

// A run of the process with the others of `members`: the sum of their numbers.
absl::StatusOr<int64_t> SumOfMembers(ProcessGroup& group, const std::vector<int64_t>& members, const Live& live) {
  const std::vector<int> devices(members.begin(), members.end());
  HILO_ASSIGN_OR_RETURN(ProcessGroup::Run run, group.StartRun(devices, members, live));
  std::vector<int64_t> ranks(members.size()), receive(members.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const int64_t send = group.process_id();
  const CollectiveBuffer buffer = {&send, receive.data(), 8};
  const absl::Status status =
      run.communicators[0]->AllGather({.name = "all-gather %sum", .key = 1, .group = ranks}, {buffer});
  run.communicators[0]->Finish(status);
  if (!status.ok()) return status;
  return std::accumulate(receive.begin(), receive.end(), int64_t{0});
}

std::vector<absl::StatusOr<int64_t>> SumOfAll(const Groups& groups, const std::vector<int64_t>& members,
                                              const Live& live) {
  std::vector<std::future<absl::StatusOr<int64_t>>> futures;
  for (int64_t process : members)
    futures.push_back(
        std::async(std::launch::async, [&, process] { return SumOfMembers(*groups[process], members, live); }));
  std::vector<absl::StatusOr<int64_t>> sums;
  for (auto& future : futures) sums.push_back(future.get());
  return sums;
}

void ExpectSums(const std::vector<absl::StatusOr<int64_t>>& sums, int64_t expected) {
  for (const auto& sum : sums) {
    EXPECT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ(sum.value_or(-1), expected);
  }
}

TEST(LiveProcessesTest, GoOnWithoutOneThatDies_AndWithItWhenItComesBack) {
  const auto store = MakeInProcessStore();
  Groups groups = MakeGroups(4, store);
  const Live all = {{0, 10}, {1, 11}, {2, 12}, {3, 13}};
  ExpectSums(SumOfAll(groups, {0, 1, 2, 3}, all), 6);
  ExpectSums(SumOfAll(groups, {0, 2}, all), 2);
  groups[3] = nullptr;
  for (int64_t process : {0, 1, 2}) groups[process]->Update({{{3, 13}, absl::UnavailableError("it has left")}});
  for (const auto& sum : SumOfAll(groups, {0, 1, 2}, all))
    EXPECT_TRUE(absl::IsUnavailable(sum.status())) << sum.status();
  const Live three = {{2, 12}, {0, 10}, {1, 11}};
  ExpectSums(SumOfAll(groups, {0, 1, 2}, three), 3);
  // An agreement with one that is gone is of no use any more.
  EXPECT_TRUE(absl::IsUnavailable(SumOfMembers(*groups[0], {0, 1}, all).status()));
  auto back = Join(3, 4, store);
  ASSERT_TRUE(back.ok()) << back.status();
  groups[3] = *back;
  EXPECT_EQ((*back)->process_count(), 4);
  EXPECT_TRUE(absl::IsFailedPrecondition(SumOfMembers(*groups[3], {0, 1, 2, 3}, {}).status()));
  const Live again = {{0, 10}, {1, 11}, {2, 12}, {3, 23}};
  for (int run = 0; run < 3; ++run) ExpectSums(SumOfAll(groups, {0, 1, 2, 3}, again), 6);
  ExpectSums(SumOfAll(groups, {0, 3}, again), 3);
}

TEST(LiveProcessesTest, RunsUnderTheAgreementFailWhenAnyOfItIsGone) {
  Groups groups = MakeGroups(3, MakeInProcessStore());
  const Live all = {{0, 10}, {1, 11}, {2, 12}};
  ExpectSums(SumOfAll(groups, {0, 1}, all), 1);
  // Process 1 has seen another run fail and never starts this one.
  auto waits = std::async(std::launch::async, [&] { return SumOfMembers(*groups[0], {0, 1}, all); });
  absl::SleepFor(absl::Milliseconds(50));
  const absl::Time told = absl::Now();
  groups[0]->Update({{{{2, 12}, absl::UnavailableError("it sends no heartbeats")}}});
  const absl::Status status = waits.get().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(status.message(), "all-gather %sum (number 1): process 2 is gone: it sends no heartbeats");
  EXPECT_LT(absl::Now() - told, absl::Seconds(1));
}

TEST(LiveProcessesTest, ConnectingEndsWhenAProcessIsGone) {
  Groups groups = MakeGroups(3, MakeInProcessStore());
  const Live all = {{0, 10}, {1, 11}, {2, 12}};
  // The first waits for the store, the other for a connection.
  auto first = std::async(std::launch::async, [&] { return SumOfMembers(*groups[0], {0, 1}, all); });
  auto second = std::async(std::launch::async, [&] { return SumOfMembers(*groups[2], {1, 2}, all); });
  absl::SleepFor(absl::Milliseconds(50));
  const absl::Time told = absl::Now();
  for (int64_t process : {0, 2}) {
    groups[process]->Update({{{1, 11}, absl::OkStatus()}});
    groups[process]->Update({{{1, 21}, absl::OkStatus()}});
  }
  for (auto* waits : {&first, &second}) {
    const absl::Status status = waits->get().status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_EQ(status.message(), "process 1 is gone: it has been started again");
  }
  EXPECT_LT(absl::Now() - told, absl::Seconds(1));
}

TEST(LiveProcessesTest, LateReports_OfEarlierIncarnations_AreIgnored) {
  Groups groups = MakeGroups(2, MakeInProcessStore());
  for (auto& group : groups) {
    group->Update({{{1, 11}, absl::OkStatus()}});
    group->Update({{{1, 21}, absl::OkStatus()}});
    group->Update({{{1, 11}, absl::UnavailableError("it sends no heartbeats")}});
    group->Update({{{1, 21}, absl::OkStatus()}});
  }
  ExpectSums(SumOfAll(groups, {0, 1}, {{0, 10}, {1, 21}}), 1);
  EXPECT_TRUE(absl::IsUnavailable(SumOfMembers(*groups[0], {0, 1}, {{0, 10}, {1, 11}}).status()));
}

TEST(LiveProcessesTest, WrongCalls) {
  const auto store = MakeInProcessStore();
  Groups groups = MakeGroups(2, store);
  const absl::Status lacks = SumOfMembers(*groups[0], {0, 1}, {{0, 10}}).status();
  EXPECT_EQ(lacks.message(), "process 1 takes part in the run, but is not among the 1 that live");
  groups[1] = nullptr;
  const absl::Status devices = Join(1, 2, store, /*device_count=*/3).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(devices)) << devices;
}

}  // namespace
}  // namespace hilo
