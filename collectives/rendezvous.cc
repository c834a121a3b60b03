// All ranks of a run share one lock, which guards the waiting state of all ranks; the work itself is done outside
// of it. A collective goes through three phases. Gathering: ranks arrive, leave a pointer to their
// contribution, and wait. The last one compares all contributions and opens the work. Working:
// every rank that is awake takes parts until there are none, those of its own share first, as it
// may have their data in its cache, and waits for those that others have taken; nothing here can block, so no rank may
// leave while others might still read or write its arrays. Done: all leave with the same status. Waiting ranks poll the
// phase for a while before going to sleep, if there are processors for all participants. Ranks that are fibers of one
// thread yield to each other instead; the first that works does all parts.
//
// There is at most one gathering rendezvous per group, since a rank that participates in it cannot reach
// the next. So there are no sequence numbers: ranks that are at different ops of their programs
// share a rendezvous, and get an error.
//
// A message between two ranks waits in a mailbox. A rank that waits for one is at a rendezvous with
// the sender only: it ends when the message arrives.
//
// Whether a gathering rendezvous is hopeless is determined from the state of its missing ranks:
// one that has ended will not arrive, and one that waits at another rendezvous arrives only after
// that. A cycle of such waits is a deadlock, and the rank that closes it reports it.
#include "collectives/rendezvous.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "base/fibers.h"
#include "base/spin.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// The interval at which a waiting rank polls its cancellation token.
constexpr std::chrono::milliseconds kArrivalPoll(10);

// How long a rank watches for the others of a group before it sleeps.
int SpinsFor(size_t group_size) {
  static const size_t processors = UsableCpuCount();
  return group_size <= processors ? kSpins : 0;
}

std::vector<int64_t> MissingRanks(absl::Span<const int64_t> group, absl::Span<const Arrival* const> arrivals) {
  std::vector<int64_t> missing;
  for (size_t i = 0; i < group.size(); ++i) {
    if (arrivals[i] == nullptr) missing.push_back(group[i]);
  }
  return missing;
}

std::string Describe(const Arrival& arrival) { return absl::StrCat(arrival.call->name, " ", arrival.signature); }

// Checks that all contributions match the first one; else an error that names each rank's contribution.
absl::Status CheckAgreement(absl::Span<const int64_t> group, absl::Span<const Arrival* const> arrivals) {
  std::vector<int64_t> same, others;
  const Arrival& first = *arrivals[0];
  const Arrival* other = nullptr;
  for (size_t i = 0; i < group.size(); ++i) {
    const bool agrees = arrivals[i]->call->key == first.call->key && arrivals[i]->call->name == first.call->name &&
                        arrivals[i]->signature == first.signature;
    (agrees ? same : others).push_back(group[i]);
    if (!agrees && other == nullptr) other = arrivals[i];
  }
  if (other == nullptr) return absl::OkStatus();
  return FailedPrecondition("ranks of the group ", GroupText(group), " disagree: ", RankList(same), " at ",
                            Describe(first), ", but ", RankList(others), " at ", Describe(*other));
}

// Created with the first run: returning it allocates nothing.
const absl::Status& NoMemory() {
  static const auto* const status = new absl::Status(ResourceExhausted("a collective has no memory"));
  return *status;
}

// Other ranks wait for what `body` does, and hold pointers to its caller's arrival: an exception becomes an error, for
// which the caller ends the run.
template <typename Body>
absl::Status WithoutExceptions(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

}  // namespace

RunState::RunState(int64_t size) : size_(size), waiting_(size, nullptr), ended_(size, false) { NoMemory(); }

std::string RankList(absl::Span<const int64_t> ranks) {
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", absl::StrJoin(ranks, ", "));
}

std::string GroupText(absl::Span<const int64_t> group) { return absl::StrCat("{", absl::StrJoin(group, ","), "}"); }

absl::Status CheckCall(const CollectiveCall& call, int64_t rank, int64_t size) {
  std::vector<bool> seen(size);
  for (int64_t member : call.group) {
    if (member < 0 || member >= size) {
      return InvalidArgument(call.name, ": the group ", GroupText(call.group), " must hold ranks below ", size);
    }
    if (seen[member])
      return InvalidArgument(call.name, ": the group ", GroupText(call.group), " holds rank ", member, " twice");
    seen[member] = true;
  }
  if (!seen[rank])
    return InvalidArgument(call.name, ": the group ", GroupText(call.group), " lacks its caller, rank ", rank);
  return absl::OkStatus();
}

void RunState::Wake(Rendezvous& rendezvous, const absl::Status& status) {
  rendezvous.status = status;
  rendezvous.phase = Phase::kDone;
  rendezvous.changed.notify_all();
}

void RunState::Fail(const absl::Status& status) {
  if (!failure_.ok()) return;
  failure_ = status;
  for (const auto& [group, rendezvous] : gathering_) Wake(*rendezvous, status);
  gathering_.clear();
  for (const auto& [channel, mailbox] : mail_) {
    if (mailbox.receiver != nullptr) Wake(*mailbox.receiver, status);
  }
  mail_.clear();
}

absl::StatusOr<std::shared_ptr<RunState::Rendezvous>> RunState::Arrive(int64_t rank, const Arrival& arrival) {
  const CollectiveCall& call = *arrival.call;
  if (!failure_.ok()) return failure_;
  HILO_RETURN_IF_ERROR(CheckCall(call, rank, size_));
  std::vector<int64_t> key(call.group.begin(), call.group.end());
  auto place_of_group = gathering_.find(key);
  if (place_of_group == gathering_.end()) {
    auto fresh = std::make_shared<Rendezvous>();
    fresh->group = key;
    fresh->arrivals.resize(call.group.size(), nullptr);
    fresh->missing = static_cast<int64_t>(call.group.size());
    place_of_group = gathering_.emplace(std::move(key), std::move(fresh)).first;
  }
  std::shared_ptr<Rendezvous>& slot = place_of_group->second;
  const size_t index = std::find(call.group.begin(), call.group.end(), rank) - call.group.begin();
  if (slot->arrivals[index] != nullptr)
    return Internal(call.name, ": rank ", rank, " takes part twice at the same time");
  slot->arrivals[index] = &arrival;
  --slot->missing;
  // Ranks that are at the same op with different groups that overlap would wait for each other.
  for (const auto& [group, rendezvous] : gathering_) {
    if (rendezvous == slot) continue;
    for (size_t i = 0; i < group.size(); ++i) {
      const Arrival* other = rendezvous->arrivals[i];
      if (other == nullptr || other->call->key != call.key ||
          std::find(group.begin(), group.end(), rank) == group.end())
        continue;
      return FailedPrecondition(call.name, ": ranks disagree on the group: rank ", rank, " is in ",
                                GroupText(call.group), ", but for rank ", group[i], " it is in ", GroupText(group));
    }
  }
  return slot;
}

absl::Status RunState::Hopeless(const Rendezvous& rendezvous, const CollectiveCall& call) const {
  std::set<const Rendezvous*> seen;
  std::vector<const Rendezvous*> work = {&rendezvous};
  while (!work.empty()) {
    const Rendezvous* next = work.back();
    work.pop_back();
    for (int64_t rank : MissingRanks(next->group, next->arrivals)) {
      if (ended_[rank]) return FailedPrecondition(call.name, ": rank ", rank, " has ended its run without it");
      const Rendezvous* at = waiting_[rank];
      if (at == nullptr || at->phase != Phase::kGathering) continue;
      if (at == &rendezvous) {
        std::vector<std::string> waits;
        for (int64_t member : MissingRanks(rendezvous.group, rendezvous.arrivals)) {
          if (waiting_[member] == nullptr) continue;
          const auto& arrivals = waiting_[member]->arrivals;
          const auto here =
              std::find_if(arrivals.begin(), arrivals.end(), [](const Arrival* a) { return a != nullptr; });
          waits.push_back(absl::StrCat("rank ", member, " at ", (*here)->call->name, " of the group ",
                                       GroupText(waiting_[member]->group)));
        }
        return FailedPrecondition(call.name, " of the group ", GroupText(rendezvous.group), " waits for ",
                                  absl::StrJoin(waits, ", "), ", which waits for it: a deadlock");
      }
      if (seen.insert(at).second) work.push_back(at);
    }
  }
  return absl::OkStatus();
}

absl::Status RunState::Leave(int64_t rank, const absl::Status& status) {
  waiting_[rank] = nullptr;
  Fail(status);
  return failure_;
}

absl::Status RunState::AwaitOthers(std::unique_lock<std::mutex>& lock, Rendezvous& rendezvous, int64_t rank,
                                   const CollectiveCall& call) {
  waiting_[rank] = &rendezvous;
  if (absl::Status hopeless = Hopeless(rendezvous, call); !hopeless.ok()) Fail(hopeless);
  const bool on_fiber = Fibers::IsInside();
  if (!on_fiber) {
    lock.unlock();
    SpinUntil([&] { return rendezvous.phase != Phase::kGathering; }, SpinsFor(rendezvous.group.size()));
    lock.lock();
  }
  while (rendezvous.phase == Phase::kGathering) {
    if (on_fiber) {
      lock.unlock();
      Fibers::Yield();
      lock.lock();
    } else {
      rendezvous.changed.wait_for(lock, kArrivalPoll);
    }
    if (rendezvous.phase != Phase::kGathering) break;
    absl::Status status = call.cancellation == nullptr ? absl::OkStatus() : call.cancellation->status();
    if (status.ok() && absl::Now() >= call.deadline) status = DeadlineExceeded("the deadline has passed");
    if (status.ok()) continue;
    Fail(absl::Status(status.code(), absl::StrCat(call.name, ": ", status.message(), " while waiting for ",
                                                  RankList(MissingRanks(rendezvous.group, rendezvous.arrivals)),
                                                  " of the group ", GroupText(rendezvous.group))));
  }
  waiting_[rank] = nullptr;
  return rendezvous.phase == Phase::kDone ? rendezvous.status : absl::OkStatus();
}

void RunState::StartWork(Rendezvous& rendezvous, const MakeWork& make_work) {
  gathering_.erase(rendezvous.group);
  const absl::Status status = WithoutExceptions([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckAgreement(rendezvous.group, rendezvous.arrivals));
    HILO_ASSIGN_OR_RETURN(rendezvous.work, make_work(rendezvous.arrivals));
    const int64_t ranks = static_cast<int64_t>(rendezvous.group.size());
    rendezvous.shares = std::vector<Share>(ranks);
    for (int64_t i = 0; i < ranks; ++i) {
      rendezvous.shares[i].next = rendezvous.work.parts * i / ranks;
      rendezvous.shares[i].end = rendezvous.work.parts * (i + 1) / ranks;
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    Fail(status);
    rendezvous.status = failure_;
  }
  rendezvous.phase = status.ok() && rendezvous.work.parts > 0 ? Phase::kWorking : Phase::kDone;
  rendezvous.changed.notify_all();
}

absl::Status RunState::Work(Rendezvous& rendezvous, const Arrival& worker) {
  const size_t ranks = rendezvous.shares.size();
  const size_t index =
      std::find(rendezvous.arrivals.begin(), rendezvous.arrivals.end(), &worker) - rendezvous.arrivals.begin();
  for (size_t i = 0; i < ranks; ++i) {
    Share& share = rendezvous.shares[(index + i) % ranks];
    for (int64_t part; (part = share.next.fetch_add(1)) < share.end;) {
      const absl::Status status = WithoutExceptions([&] { return rendezvous.work.run(part, worker); });
      if (!status.ok()) {
        std::lock_guard<std::mutex> lock(mutex_);
        Fail(status);
        rendezvous.status = failure_;
      }
      if (rendezvous.parts_done.fetch_add(1) + 1 < rendezvous.work.parts) continue;
      std::lock_guard<std::mutex> lock(mutex_);
      rendezvous.phase = Phase::kDone;
      rendezvous.changed.notify_all();
    }
  }
  auto is_done = [&] { return rendezvous.phase == Phase::kDone; };
  if (!SpinUntil(is_done, SpinsFor(rendezvous.group.size()))) {
    std::unique_lock<std::mutex> lock(mutex_);
    rendezvous.changed.wait(lock, is_done);
  }
  return rendezvous.status;
}

absl::Status RunState::Join(int64_t rank, const Arrival& arrival, const MakeWork& make_work) {
  std::shared_ptr<Rendezvous> rendezvous;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const absl::Status status = WithoutExceptions([&]() -> absl::Status {
      HILO_ASSIGN_OR_RETURN(rendezvous, Arrive(rank, arrival));
      if (rendezvous->missing == 0) StartWork(*rendezvous, make_work);
      return rendezvous->phase == Phase::kGathering ? AwaitOthers(lock, *rendezvous, rank, *arrival.call)
                                                    : absl::OkStatus();
    });
    if (!status.ok()) return Leave(rank, status);
    if (rendezvous->phase == Phase::kDone) return rendezvous->status;
  }
  return Work(*rendezvous, arrival);
}

absl::Status RunState::CheckPeer(const CollectiveCall& call, int64_t peer) const {
  if (!failure_.ok()) return failure_;
  if (peer >= 0 && peer < size_) return absl::OkStatus();
  return InvalidArgument(call.name, ": expected a rank below ", size_, ", got ", peer);
}

absl::Status RunState::Send(int64_t rank, const CollectiveCall& call, int64_t target, std::string message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status status = CheckPeer(call, target); !status.ok()) {
    Fail(status);
    return failure_;
  }
  Mailbox& mailbox = mail_[{call.key, rank, target}];
  mailbox.messages.push_back(std::move(message));
  if (mailbox.receiver != nullptr) Wake(*mailbox.receiver, absl::OkStatus());
  return absl::OkStatus();
}

absl::StatusOr<std::string> RunState::Receive(int64_t rank, const CollectiveCall& call, int64_t source) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::string message;
  Arrival arrival;
  arrival.call = &call;
  const absl::Status status = WithoutExceptions([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckPeer(call, source));
    const Channel channel = {call.key, source, rank};
    if (mail_[channel].messages.empty()) {
      if (source == rank)
        return FailedPrecondition(call.name, ": rank ", rank, " waits for what it has not sent to itself");
      auto rendezvous = std::make_shared<Rendezvous>();
      rendezvous->group = {source, rank};
      rendezvous->arrivals = {nullptr, &arrival};
      rendezvous->missing = 1;
      mail_[channel].receiver = rendezvous;
      HILO_RETURN_IF_ERROR(AwaitOthers(lock, *rendezvous, rank, call));
      mail_[channel].receiver = nullptr;
    }
    std::deque<std::string>& messages = mail_[channel].messages;
    message = std::move(messages.front());
    messages.pop_front();
    if (messages.empty()) mail_.erase(channel);
    return absl::OkStatus();
  });
  if (!status.ok()) return Leave(rank, status);
  return message;
}

absl::Status RunState::ReceiveInto(int64_t rank, const CollectiveCall& call, int64_t source, void* data,
                                   int64_t bytes) {
  HILO_ASSIGN_OR_RETURN(const std::string message, Receive(rank, call, source));
  if (static_cast<int64_t>(message.size()) != bytes) {
    return FailedPrecondition(call.name, ": rank ", source, " has sent ", message.size(), " bytes to rank ", rank,
                              ", which expects ", bytes);
  }
  std::copy(message.begin(), message.end(), static_cast<char*>(data));
  return absl::OkStatus();
}

void RunState::Abandon(const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fail(status);
}

absl::Status RunState::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void RunState::Finish(int64_t rank, const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  ended_[rank] = true;
  if (!status.ok()) {
    Fail(status);
    return;
  }
  const absl::Status awaited = WithoutExceptions([&] { return CheckNotAwaited(rank); });
  if (!awaited.ok()) Fail(awaited);
}

absl::Status RunState::CheckNotAwaited(int64_t rank) const {
  std::vector<const Rendezvous*> waiting;
  for (const auto& [group, rendezvous] : gathering_) waiting.push_back(rendezvous.get());
  for (const auto& [channel, mailbox] : mail_) {
    if (mailbox.receiver != nullptr && mailbox.messages.empty()) waiting.push_back(mailbox.receiver.get());
  }
  for (const Rendezvous* rendezvous : waiting) {
    if (std::find(rendezvous->group.begin(), rendezvous->group.end(), rank) == rendezvous->group.end()) continue;
    const auto here = std::find_if(rendezvous->arrivals.begin(), rendezvous->arrivals.end(),
                                   [](const Arrival* a) { return a != nullptr; });
    return FailedPrecondition((*here)->call->name, ": rank ", rank, " has ended its run without it");
  }
  return absl::OkStatus();
}

}  // namespace hilo
