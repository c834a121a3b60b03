#include "tests/faults/checked_call.h"

#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

const ReductionFunction kSum = {
    .element_bytes = 4, .combine = [](void* result, const void* a, const void* b, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        static_cast<float*>(result)[i] = static_cast<const float*>(a)[i] + static_cast<const float*>(b)[i];
      return absl::OkStatus();
    }};

// What the rank sends at this index. Sums of all ranks are exact.
float Sent(int64_t rank, int64_t step, int64_t index) { return static_cast<float>(rank * 64 + (step + index) % 61); }

}  // namespace

absl::Status CheckedCall(const std::string& op, Communicator& c, int64_t step, int64_t count, absl::Duration most) {
  if (op == "all-reduce-of-much") count *= 20'000;
  const int64_t ranks = c.size(), own = c.rank(), bytes = count * 4;
  const int64_t next = (own + 1) % ranks, previous = (own + ranks - 1) % ranks;
  std::vector<float> send(count * ranks), receive(count * ranks, -1);
  for (int64_t i = 0; i < count * ranks; ++i) send[i] = Sent(own, step, i);
  std::vector<int64_t> group(ranks);
  std::iota(group.begin(), group.end(), 0);
  const std::string name = absl::StrCat(op, " %op");
  const CollectiveCall call = {.name = name, .key = 1, .group = group, .deadline = absl::Now() + most};
  const CollectiveBuffer buffer = {send.data(), receive.data(), bytes};
  // Element `index` of what is received comes from element `first + index` of one rank, or of all.
  const auto check = [&](int64_t piece, int64_t from, int64_t first) -> absl::Status {
    for (int64_t i = 0; i < count; ++i) {
      float expected = 0;
      for (int64_t rank = from < 0 ? 0 : from; rank < (from < 0 ? ranks : from + 1); ++rank)
        expected += Sent(rank, step, first + i);
      if (const float got = receive[piece * count + i]; got != expected)
        return absl::InternalError(absl::StrCat(name, ": step ", step, ", element ", piece * count + i, ": expected ",
                                                expected, ", got ", got));
    }
    return absl::OkStatus();
  };
  if (absl::StartsWith(op, "all-reduce")) {
    HILO_RETURN_IF_ERROR(c.AllReduce(call, {buffer}, kSum));
    return check(0, -1, 0);
  }
  if (op == "reduce-scatter") {
    HILO_RETURN_IF_ERROR(c.ReduceScatter(call, {buffer}, kSum));
    return check(0, -1, own * count);
  }
  if (op == "collective-permute") {
    HILO_RETURN_IF_ERROR(c.CollectivePermute(call, {buffer}, previous, next));
    return check(0, previous, 0);
  }
  if (op == "collective-broadcast") {
    HILO_RETURN_IF_ERROR(c.CollectiveBroadcast(call, {buffer}));
    return check(0, 0, 0);
  }
  if (op == "send") {
    HILO_RETURN_IF_ERROR(c.Send(call, send.data(), bytes, next));
    HILO_RETURN_IF_ERROR(c.Receive(call, receive.data(), bytes, previous));
    return check(0, previous, 0);
  }
  const bool is_gather = op == "all-gather";
  if (is_gather) {
    HILO_RETURN_IF_ERROR(c.AllGather(call, {buffer}));
  } else if (op == "ragged-all-to-all") {
    std::vector<RaggedUpdate> updates;
    for (int64_t to = 0; to < ranks; ++to) updates.push_back({to * bytes, own * bytes, bytes});
    HILO_RETURN_IF_ERROR(c.RaggedAllToAll(call, send.data(), bytes * ranks, receive.data(), bytes * ranks, updates));
  } else {
    std::vector<const void*> sends;
    std::vector<void*> receives;
    for (int64_t i = 0; i < ranks; ++i) {
      sends.push_back(send.data() + i * count);
      receives.push_back(receive.data() + i * count);
    }
    HILO_RETURN_IF_ERROR(c.AllToAll(call, sends, receives, bytes));
  }
  for (int64_t from = 0; from < ranks; ++from) HILO_RETURN_IF_ERROR(check(from, from, is_gather ? 0 : own * count));
  return absl::OkStatus();
}

}  // namespace hilo
