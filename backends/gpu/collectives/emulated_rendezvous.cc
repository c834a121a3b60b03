// Each rank numbers its collectives in call order; calls with equal numbers are matched. Sends and receives are matched
// in order, one queue per pair of ranks. The last rank to arrive moves all data, as the others are blocked.
#include "backends/gpu/collectives/emulated_rendezvous.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {
namespace {

using Kind = CommunicatorCall::Kind;

template <typename T>
T Combine(DeviceReduction reduction, T a, T b) {
  switch (reduction) {
    case DeviceReduction::kSum:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
      return a + b;
    case DeviceReduction::kProd:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      return a * b;
    case DeviceReduction::kMax:
    case DeviceReduction::kMin:
      if (a != a || b != b) return a != a ? a : b;
      return (reduction == DeviceReduction::kMax) == (a > b) ? a : b;
  }
  return a;
}

template <typename T, typename Wide>
void Accumulate(DeviceReduction reduction, void* sum, const void* operand, int64_t count) {
  auto* to = static_cast<T*>(sum);
  const auto* from = static_cast<const T*>(operand);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(Combine(reduction, static_cast<Wide>(to[i]), static_cast<Wide>(from[i])));
}

void Accumulate(PrimitiveType type, DeviceReduction reduction, void* sum, const void* operand, int64_t count) {
  switch (type) {
    case S8: return Accumulate<int8_t, int8_t>(reduction, sum, operand, count);
    case U8: return Accumulate<uint8_t, uint8_t>(reduction, sum, operand, count);
    case S32: return Accumulate<int32_t, int32_t>(reduction, sum, operand, count);
    case U32: return Accumulate<uint32_t, uint32_t>(reduction, sum, operand, count);
    case S64: return Accumulate<int64_t, int64_t>(reduction, sum, operand, count);
    case U64: return Accumulate<uint64_t, uint64_t>(reduction, sum, operand, count);
    case F16: return Accumulate<half, float>(reduction, sum, operand, count);
    case BF16: return Accumulate<bfloat16, float>(reduction, sum, operand, count);
    case F32: return Accumulate<float, float>(reduction, sum, operand, count);
    default: return Accumulate<double, double>(reduction, sum, operand, count);
  }
}

const uint8_t* At(const void* data, int64_t offset) { return static_cast<const uint8_t*>(data) + offset; }
uint8_t* At(void* data, int64_t offset) { return static_cast<uint8_t*>(data) + offset; }

// Combines piece `piece` of all ranks' data, and stores it to each of the receivers.
void Reduce(const std::vector<const CommunicatorCall*>& calls, int64_t piece, int64_t from_rank, int64_t to_rank) {
  const int64_t bytes = calls[0]->bytes();
  std::vector<uint8_t> sum(At(calls[0]->send, piece * bytes), At(calls[0]->send, piece * bytes) + bytes);
  for (size_t rank = 1; rank < calls.size(); ++rank) {
    Accumulate(calls[0]->type, calls[0]->reduction, sum.data(), At(calls[rank]->send, piece * bytes), calls[0]->count);
  }
  for (int64_t rank = from_rank; rank < to_rank; ++rank) std::memcpy(calls[rank]->receive, sum.data(), bytes);
}

// Performs the collective for all ranks; the calls agree.
void Perform(const std::vector<const CommunicatorCall*>& calls) {
  const int64_t bytes = calls[0]->bytes(), size = static_cast<int64_t>(calls.size());
  if (bytes == 0) return;
  switch (calls[0]->kind) {
    case Kind::kAllReduce: return Reduce(calls, 0, 0, size);
    case Kind::kReduceScatter: {
      // In place, what rank i receives would be a part of what it sends.
      for (int64_t rank = 0; rank < size; ++rank) Reduce(calls, rank, rank, rank + 1);
      return;
    }
    case Kind::kAllGather:
      for (const CommunicatorCall* to : calls) {
        for (int64_t from = 0; from < size; ++from)
          std::memmove(At(to->receive, from * bytes), calls[from]->send, bytes);
      }
      return;
    case Kind::kBroadcast:
      for (const CommunicatorCall* to : calls) std::memmove(to->receive, calls[calls[0]->peer]->send, bytes);
      return;
    default:
      for (int64_t to = 0; to < size; ++to) {
        for (int64_t from = 0; from < size; ++from)
          std::memcpy(At(calls[to]->receive, from * bytes), At(calls[from]->send, to * bytes), bytes);
      }
  }
}

}  // namespace

bool EmulatedRendezvous::Advance(int64_t rank, const std::shared_ptr<CallGroup>& group) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!group->posted) {
    group->posted = true;
    group->done.assign(group->calls.size(), false);
    for (size_t i = 0; i < group->calls.size() && failures_[rank].ok(); ++i) Post(rank, group, i);
  }
  return !failures_[rank].ok() || std::find(group->done.begin(), group->done.end(), false) == group->done.end();
}

absl::Status EmulatedRendezvous::failure(int64_t rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  return failures_[rank];
}

void EmulatedRendezvous::Abort(int64_t rank, const absl::Status& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!failures_[rank].ok()) return;
  failures_[rank] = why;
  // No call accesses the rank's memory any more.
  for (auto& [number, pending] : pending_) {
    pending.arrived -= pending.arrivals[rank].group != nullptr;
    pending.arrivals[rank] = {};
  }
  for (auto& [pair, mail] : mail_) {
    if (pair.first == rank) mail.sends.clear();
    if (pair.second == rank) mail.receives.clear();
  }
  Notify();
}

void EmulatedRendezvous::FailAll(const absl::Status& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fail(why);
}

int64_t EmulatedRendezvous::Contribute(int64_t rank, std::string text) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t number = exchanges_begun_[rank]++;
  Exchange& exchange = exchanges_[number];
  exchange.texts.resize(size_);
  exchange.texts[rank] = std::move(text);
  if (++exchange.arrived == size_) Notify();
  return number;
}

std::optional<std::vector<std::string>> EmulatedRendezvous::Take(int64_t exchange) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = exchanges_.find(exchange);
  if (it == exchanges_.end() || it->second.arrived < size_) return std::nullopt;
  std::vector<std::string> texts = it->second.texts;
  if (++it->second.taken == size_) exchanges_.erase(it);
  return texts;
}

void EmulatedRendezvous::Await() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(1));
}

void EmulatedRendezvous::Notify() {
  changed_.notify_all();
  if (notify_ != nullptr) notify_();
}

void EmulatedRendezvous::Fail(const absl::Status& status) {
  for (absl::Status& failure : failures_) {
    if (failure.ok()) failure = status;
  }
  pending_.clear();
  mail_.clear();
  Notify();
}

void EmulatedRendezvous::Post(int64_t rank, const std::shared_ptr<CallGroup>& group, size_t i) {
  const CommunicatorCall& call = group->calls[i];
  if (!call.is_collective()) {
    const bool sends = call.kind == Kind::kSend;
    Mail& mail = mail_[sends ? std::pair(rank, call.peer) : std::pair(call.peer, rank)];
    (sends ? mail.sends : mail.receives).push_back({group, i});
    return Deliver(mail, sends ? rank : call.peer, sends ? call.peer : rank);
  }
  const int64_t number = group->numbers[i];
  PendingCollective& pending = pending_[number];
  pending.arrivals.resize(size_);
  pending.arrivals[rank] = {group, i};
  if (++pending.arrived < size_) return;
  std::vector<const CommunicatorCall*> calls;
  for (const Arrival& arrival : pending.arrivals) calls.push_back(&arrival.get());
  for (int64_t other = 1; other < size_; ++other) {
    const std::string first = calls[0]->ToString(), second = calls[other]->ToString();
    if (first == second) continue;
    return Fail(FailedPrecondition("ranks disagree at call ", number, " of a communicator: rank 0 is at ", first,
                                   ", but rank ", other, " at ", second));
  }
  Perform(calls);
  for (const Arrival& arrival : pending.arrivals) arrival.SetDone();
  pending_.erase(number);
  Notify();
}

void EmulatedRendezvous::Deliver(Mail& mail, int64_t source, int64_t target) {
  while (!mail.sends.empty() && !mail.receives.empty()) {
    const CommunicatorCall &send = mail.sends.front().get(), &receive = mail.receives.front().get();
    if (send.bytes() != receive.bytes()) {
      return Fail(FailedPrecondition("ranks disagree: rank ", source, " sends ", send.bytes(), " bytes to rank ",
                                     target, ", which expects ", receive.bytes()));
    }
    if ((send.captured < 0) != (receive.captured < 0)) {
      return Fail(FailedPrecondition("ranks disagree: rank ", source, " is at ", send.ToString(), ", but rank ", target,
                                     " at ", receive.ToString()));
    }
    if (send.bytes() > 0) std::memcpy(receive.receive, send.send, send.bytes());
    mail.sends.front().SetDone();
    mail.receives.front().SetDone();
    mail.sends.pop_front();
    mail.receives.pop_front();
    Notify();
  }
}

}  // namespace hilo::gpu
