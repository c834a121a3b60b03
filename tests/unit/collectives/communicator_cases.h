// What tests of communicators share: rounds of random collectives that check themselves.
#ifndef HILO_TESTS_UNIT_COLLECTIVES_COMMUNICATOR_CASES_H_
#define HILO_TESTS_UNIT_COLLECTIVES_COMMUNICATOR_CASES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collectives/communicator.h"
#include "gtest/gtest.h"

namespace hilo {

using RankFunction = std::function<absl::Status(int64_t rank, Communicator& communicator)>;

inline void ExpectAllOk(const std::vector<absl::Status>& results) {
  for (size_t rank = 0; rank < results.size(); ++rank) EXPECT_EQ(results[rank], absl::OkStatus()) << "rank " << rank;
}
inline void ExpectAll(const std::vector<absl::Status>& results, absl::StatusCode code, absl::string_view part) {
  for (size_t rank = 0; rank < results.size(); ++rank) {
    EXPECT_EQ(results[rank].code(), code) << "rank " << rank << ": " << results[rank];
    EXPECT_TRUE(absl::StrContains(results[rank].message(), part)) << "rank " << rank << ": " << results[rank];
  }
}

inline std::vector<int64_t> AllOf(int64_t size) {
  std::vector<int64_t> group(size);
  std::iota(group.begin(), group.end(), 0);
  return group;
}

template <typename T>
ReductionFunction Sum() {
  return {.element_bytes = sizeof(T), .combine = [](void* result, const void* a, const void* b, int64_t count) {
            for (int64_t i = 0; i < count; ++i)
              static_cast<T*>(result)[i] = static_cast<const T*>(a)[i] + static_cast<const T*>(b)[i];
            return absl::OkStatus();
          }};
}

template <typename T>
CollectiveBuffer Buffer(const std::vector<T>& send, std::vector<T>& receive, size_t elements) {
  return {send.data(), receive.data(), static_cast<int64_t>(elements * sizeof(T))};
}

// Element i of what `rank` brings in round `round`.
inline int64_t Value(int64_t rank, int64_t round, int64_t i) {
  return (rank + 1) * 1'000'003 + round * 1009 + i * (rank + 7);
}

// One collective of a random kind and size, and its check.
inline absl::Status RandomRound(int64_t rank, Communicator& communicator, int64_t size, int64_t round) {
  std::mt19937 random(static_cast<uint32_t>(round * 31 + size));  // the same on all ranks
  const int64_t kind = random() % 7;
  // Mostly small; sometimes several pieces.
  const int64_t count = random() % 50 == 0 ? 3000 + random() % 300'000 : random() % 40;
  // A random half of the ranks, in random order, or everybody.
  std::vector<int64_t> group = AllOf(size);
  std::shuffle(group.begin(), group.end(), random);
  std::vector<int64_t> rest(group.begin() + size / 2, group.end());
  if (random() % 3 == 0) {
    group.resize(size / 2);
    if (std::find(group.begin(), group.end(), rank) == group.end()) group = rest;
  }
  const int64_t n = static_cast<int64_t>(group.size());
  const int64_t place = std::find(group.begin(), group.end(), rank) - group.begin();
  const CollectiveCall call = {.name = "round", .key = round, .group = group};
  auto sent = [&](int64_t from, int64_t elements) {
    std::vector<int64_t> values(elements);
    for (int64_t i = 0; i < elements; ++i) values[i] = Value(from, round, i);
    return values;
  };
  std::vector<int64_t> expected, receive;
  auto compare = [&] {
    return receive == expected ? absl::OkStatus()
                               : absl::InternalError(absl::StrCat("wrong values in round ", round, " of kind ", kind));
  };
  switch (kind) {
    case 0: {  // in place half of the time
      std::vector<int64_t> send = sent(rank, count);
      expected.assign(count, 0);
      for (int64_t from : group) {
        for (int64_t i = 0; i < count; ++i) expected[i] += Value(from, round, i);
      }
      const bool in_place = random() % 2 == 0;
      receive.resize(count);
      CollectiveBuffer buffer = Buffer(send, receive, count);
      if (in_place) buffer.receive = send.data();
      absl::Status status = communicator.AllReduce(call, {buffer}, Sum<int64_t>());
      if (!status.ok()) return status;
      if (in_place) receive = send;
      return compare();
    }
    case 1: {
      const std::vector<int64_t> send = sent(rank, n * count);
      receive.resize(count);
      expected.assign(count, 0);
      for (int64_t from : group) {
        for (int64_t i = 0; i < count; ++i) expected[i] += Value(from, round, place * count + i);
      }
      absl::Status status = communicator.ReduceScatter(call, {Buffer(send, receive, count)}, Sum<int64_t>());
      return status.ok() ? compare() : status;
    }
    case 2: {
      const std::vector<int64_t> send = sent(rank, count);
      receive.resize(n * count);
      for (int64_t from : group) {
        for (int64_t value : sent(from, count)) expected.push_back(value);
      }
      absl::Status status = communicator.AllGather(call, {Buffer(send, receive, count)});
      return status.ok() ? compare() : status;
    }
    case 3: {
      const std::vector<int64_t> send = sent(rank, n * count);
      receive.resize(n * count);
      std::vector<const void*> sends;
      std::vector<void*> receives;
      for (int64_t i = 0; i < n; ++i) {
        sends.push_back(send.data() + i * count);
        receives.push_back(receive.data() + i * count);
        for (int64_t k = 0; k < count; ++k) expected.push_back(Value(group[i], round, place * count + k));
      }
      absl::Status status = communicator.AllToAll(call, sends, receives, count * 8);
      return status.ok() ? compare() : status;
    }
    case 4: {  // a ring with one link missing
      const std::vector<int64_t> send = sent(rank, count);
      receive.assign(count, -1);
      const int64_t source = place == 0 ? -1 : group[place - 1], target = place + 1 == n ? -1 : group[place + 1];
      expected = source < 0 ? std::vector<int64_t>(count, 0) : sent(source, count);
      absl::Status status = communicator.CollectivePermute(call, {Buffer(send, receive, count)}, source, target);
      return status.ok() ? compare() : status;
    }
    case 5: {
      const std::vector<int64_t> send = sent(rank, count);
      receive.resize(count);
      expected = sent(group[0], count);
      absl::Status status = communicator.CollectiveBroadcast(call, {Buffer(send, receive, count)});
      return status.ok() ? compare() : status;
    }
    default: {  // rank sends its first element to place `its place` of everybody
      const std::vector<int64_t> send = sent(rank, 1);
      receive.assign(n, -1);
      const std::vector<RaggedUpdate> updates(n, {0, place * 8, 8});
      for (int64_t from : group) expected.push_back(Value(from, round, 0));
      absl::Status status = communicator.RaggedAllToAll(call, send.data(), 8, receive.data(), n * 8, updates);
      return status.ok() ? compare() : status;
    }
  }
}

// A gather of `count` bytes in a group.
inline absl::Status Gather(Communicator& communicator, absl::string_view name, int64_t key, std::vector<int64_t> group,
                           size_t count = 4, const CancellationToken* cancellation = nullptr,
                           absl::Time deadline = absl::InfiniteFuture()) {
  std::vector<uint8_t> send(count), receive(count * group.size());
  return communicator.AllGather(
      {.name = name, .key = key, .group = group, .deadline = deadline, .cancellation = cancellation},
      {Buffer(send, receive, count)});
}

}  // namespace hilo

#endif  // HILO_TESTS_UNIT_COLLECTIVES_COMMUNICATOR_CASES_H_
