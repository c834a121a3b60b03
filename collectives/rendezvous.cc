// All ranks of a run share one lock, which guards the waiting state of all ranks; the work itself is done outside
// of it. A collective goes through three phases. Gathering: ranks arrive, leave a pointer to their
// contribution, and wait. The last one compares all contributions and opens the work. Working:
// every rank that is awake takes parts until there are none, those of its own share first, as it
// may have their data in its cache, and waits for those that others have taken; nothing here can block, so no rank may
// leave while others might still read or write its arrays. Done: all leave with the same status. Waiting ranks poll the
// phase for a while before going to sleep, if there are processors for all participants.
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
#include "base/spin.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// The interval at which a waiting rank polls its cancellation token.
constexpr std::chrono::milliseconds kPoll(10);

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

void RunState::Wake(Rendezvous& meeting, const absl::Status& status) {
  meeting.status = status;
  meeting.phase = Phase::kDone;
  meeting.changed.notify_all();
}

void RunState::Fail(const absl::Status& status) {
  if (!failure_.ok()) return;
  failure_ = status;
  for (const auto& [group, meeting] : gathering_) Wake(*meeting, status);
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
  const size_t place = std::find(call.group.begin(), call.group.end(), rank) - call.group.begin();
  if (slot->arrivals[place] != nullptr)
    return Internal(call.name, ": rank ", rank, " takes part twice at the same time");
  slot->arrivals[place] = &arrival;
  --slot->missing;
  // Ranks that are at the same op with different groups that overlap would wait for each other.
  for (const auto& [group, meeting] : gathering_) {
    if (meeting == slot) continue;
    for (size_t i = 0; i < group.size(); ++i) {
      const Arrival* other = meeting->arrivals[i];
      if (other == nullptr || other->call->key != call.key ||
          std::find(group.begin(), group.end(), rank) == group.end())
        continue;
      return FailedPrecondition(call.name, ": ranks disagree on the group: rank ", rank, " is in ",
                                GroupText(call.group), ", but for rank ", group[i], " it is in ", GroupText(group));
    }
  }
  return slot;
}

absl::Status RunState::Hopeless(const Rendezvous& meeting, const CollectiveCall& call) const {
  std::set<const Rendezvous*> seen;
  std::vector<const Rendezvous*> work = {&meeting};
  while (!work.empty()) {
    const Rendezvous* next = work.back();
    work.pop_back();
    for (int64_t rank : MissingRanks(next->group, next->arrivals)) {
      if (ended_[rank]) return FailedPrecondition(call.name, ": rank ", rank, " has ended its run without it");
      const Rendezvous* at = waiting_[rank];
      if (at == nullptr || at->phase != Phase::kGathering) continue;
      if (at == &meeting) {
        std::vector<std::string> places;
        for (int64_t member : MissingRanks(meeting.group, meeting.arrivals)) {
          if (waiting_[member] == nullptr) continue;
          const auto& arrivals = waiting_[member]->arrivals;
          const auto here =
              std::find_if(arrivals.begin(), arrivals.end(), [](const Arrival* a) { return a != nullptr; });
          places.push_back(absl::StrCat("rank ", member, " at ", (*here)->call->name, " of the group ",
                                        GroupText(waiting_[member]->group)));
        }
        return FailedPrecondition(call.name, " of the group ", GroupText(meeting.group), " waits for ",
                                  absl::StrJoin(places, ", "), ", which waits for it: a deadlock");
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

absl::Status RunState::AwaitOthers(std::unique_lock<std::mutex>& lock, Rendezvous& meeting, int64_t rank,
                                   const CollectiveCall& call) {
  waiting_[rank] = &meeting;
  if (absl::Status hopeless = Hopeless(meeting, call); !hopeless.ok()) Fail(hopeless);
  lock.unlock();
  SpinUntil([&] { return meeting.phase != Phase::kGathering; }, SpinsFor(meeting.group.size()));
  lock.lock();
  while (meeting.phase == Phase::kGathering) {
    meeting.changed.wait_for(lock, kPoll);
    if (meeting.phase != Phase::kGathering) break;
    absl::Status status = call.cancellation == nullptr ? absl::OkStatus() : call.cancellation->status();
    if (status.ok() && absl::Now() >= call.deadline) status = DeadlineExceeded("the deadline has passed");
    if (status.ok()) continue;
    Fail(absl::Status(status.code(), absl::StrCat(call.name, ": ", status.message(), " while waiting for ",
                                                  RankList(MissingRanks(meeting.group, meeting.arrivals)),
                                                  " of the group ", GroupText(meeting.group))));
  }
  waiting_[rank] = nullptr;
  return meeting.phase == Phase::kDone ? meeting.status : absl::OkStatus();
}

void RunState::StartWork(Rendezvous& meeting, const MakeWork& make_work) {
  gathering_.erase(meeting.group);
  const absl::Status status = WithoutExceptions([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckAgreement(meeting.group, meeting.arrivals));
    HILO_ASSIGN_OR_RETURN(meeting.work, make_work(meeting.arrivals));
    const int64_t ranks = static_cast<int64_t>(meeting.group.size());
    meeting.shares = std::vector<Share>(ranks);
    for (int64_t i = 0; i < ranks; ++i) {
      meeting.shares[i].next = meeting.work.parts * i / ranks;
      meeting.shares[i].end = meeting.work.parts * (i + 1) / ranks;
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    Fail(status);
    meeting.status = failure_;
  }
  meeting.phase = status.ok() && meeting.work.parts > 0 ? Phase::kWorking : Phase::kDone;
  meeting.changed.notify_all();
}

absl::Status RunState::Work(Rendezvous& meeting, const Arrival& worker) {
  const size_t ranks = meeting.shares.size();
  const size_t place = std::find(meeting.arrivals.begin(), meeting.arrivals.end(), &worker) - meeting.arrivals.begin();
  for (size_t i = 0; i < ranks; ++i) {
    Share& share = meeting.shares[(place + i) % ranks];
    for (int64_t part; (part = share.next.fetch_add(1)) < share.end;) {
      const absl::Status status = WithoutExceptions([&] { return meeting.work.run(part, worker); });
      if (!status.ok()) {
        std::lock_guard<std::mutex> lock(mutex_);
        Fail(status);
        meeting.status = failure_;
      }
      if (meeting.parts_done.fetch_add(1) + 1 < meeting.work.parts) continue;
      std::lock_guard<std::mutex> lock(mutex_);
      meeting.phase = Phase::kDone;
      meeting.changed.notify_all();
    }
  }
  auto is_done = [&] { return meeting.phase == Phase::kDone; };
  if (!SpinUntil(is_done, SpinsFor(meeting.group.size()))) {
    std::unique_lock<std::mutex> lock(mutex_);
    meeting.changed.wait(lock, is_done);
  }
  return meeting.status;
}

absl::Status RunState::Meet(int64_t rank, const Arrival& arrival, const MakeWork& make_work) {
  std::shared_ptr<Rendezvous> meeting;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const absl::Status status = WithoutExceptions([&]() -> absl::Status {
      HILO_ASSIGN_OR_RETURN(meeting, Arrive(rank, arrival));
      if (meeting->missing == 0) StartWork(*meeting, make_work);
      return meeting->phase == Phase::kGathering ? AwaitOthers(lock, *meeting, rank, *arrival.call) : absl::OkStatus();
    });
    if (!status.ok()) return Leave(rank, status);
    if (meeting->phase == Phase::kDone) return meeting->status;
  }
  return Work(*meeting, arrival);
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
      auto meeting = std::make_shared<Rendezvous>();
      meeting->group = {source, rank};
      meeting->arrivals = {nullptr, &arrival};
      meeting->missing = 1;
      mail_[channel].receiver = meeting;
      HILO_RETURN_IF_ERROR(AwaitOthers(lock, *meeting, rank, call));
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
  for (const auto& [group, meeting] : gathering_) waiting.push_back(meeting.get());
  for (const auto& [channel, mailbox] : mail_) {
    if (mailbox.receiver != nullptr && mailbox.messages.empty()) waiting.push_back(mailbox.receiver.get());
  }
  for (const Rendezvous* meeting : waiting) {
    if (std::find(meeting->group.begin(), meeting->group.end(), rank) == meeting->group.end()) continue;
    const auto here =
        std::find_if(meeting->arrivals.begin(), meeting->arrivals.end(), [](const Arrival* a) { return a != nullptr; });
    return FailedPrecondition((*here)->call->name, ": rank ", rank, " has ended its run without it");
  }
  return absl::OkStatus();
}

}  // namespace hilo
