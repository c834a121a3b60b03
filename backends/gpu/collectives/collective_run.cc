#include "backends/gpu/collectives/collective_run.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <thread>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "collectives/communicator.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// How often the watchdog polls whether a run can continue. A poll costs a microsecond.
constexpr std::chrono::milliseconds kLook(2);
// Communicators may see that a connection is broken before the host hears, within this time, which process has died.
constexpr absl::Duration kReportOfDeath = absl::Milliseconds(200);
constexpr int kUrgent = -1;  // the priority of the collectives' stream

std::string RankList(const std::vector<int64_t>& ranks) {
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", absl::StrJoin(ranks, ", "));
}

template <typename Map>
int64_t CountOf(const Map& counts, int64_t rank) {
  const auto it = counts.find(rank);
  return it == counts.end() ? 0 : it->second;
}

}  // namespace

void CollectiveBoard::Join(int64_t rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  here_.insert(rank);
}

absl::Status CollectiveBoard::Enter(int64_t clique, int64_t rank, const std::string& op) {
  std::lock_guard<std::mutex> lock(mutex_);
  Progress& progress = progress_[clique];
  const int64_t number = progress.entered[rank]++;
  if (number - progress.first == static_cast<int64_t>(progress.ops.size())) {
    progress.ops.push_back(op);
    progress.last = op;
  } else if (Op(progress, number) != op) {
    std::vector<int64_t> others;
    for (int64_t member : cliques_[clique].ranks) {
      if (member != rank && CountOf(progress.entered, member) > number) others.push_back(member);
    }
    return FailedPrecondition("ranks of the group ", cliques_[clique].ToString(), " disagree: rank ", rank, " is at ",
                              op, ", but ", RankList(others), " at ", Op(progress, number));
  }
  return absl::OkStatus();
}

void CollectiveBoard::Queued(int64_t clique, int64_t rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  Progress& progress = progress_[clique];
  int64_t least = ++progress.queued[rank];
  for (int64_t member : cliques_[clique].ranks) {
    if (here_.contains(member)) least = std::min(least, CountOf(progress.queued, member));
  }
  for (; progress.first < least; ++progress.first) progress.ops.pop_front();
}

void CollectiveBoard::QueuedAll(int64_t rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_queued_.insert(rank);
}

void CollectiveBoard::Leave(int64_t rank, const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_queued_.insert(rank);
  gone_.emplace(rank, status);
}

absl::Status CollectiveBoard::Hopeless(int64_t rank) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (all_queued_.empty()) return absl::OkStatus();
  for (size_t i = 0; i < cliques_.size(); ++i) {
    const int64_t mine = CountOf(progress_[i].entered, rank);
    for (int64_t member : cliques_[i].ranks) {
      const int64_t theirs = CountOf(progress_[i].queued, member);
      if (theirs >= mine || !all_queued_.contains(member)) continue;
      const std::string words =
          absl::StrCat(Op(progress_[i], theirs), ": rank ", member, " has ended its run without it");
      const auto gone = gone_.find(member);
      if (gone == gone_.end() || gone->second.ok()) return FailedPrecondition(words);
      // The first rank to be reported determines the error.
      return absl::Status(gone->second.code(), absl::StrCat(words, ": ", gone->second.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CollectiveBoard::Unfinished(int64_t rank, const absl::Status& why) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string last;
  for (size_t i = 0; i < cliques_.size(); ++i) {
    const std::vector<int64_t>& ranks = cliques_[i].ranks;
    if (!absl::c_linear_search(ranks, rank)) continue;
    const Progress& progress = progress_[i];
    int64_t most = 0, least = INT64_MAX;
    for (int64_t member : ranks) {
      if (!here_.contains(member)) continue;
      most = std::max(most, CountOf(progress.entered, member));
      least = std::min(least, CountOf(progress.queued, member));
    }
    if (!progress.last.empty()) {
      std::vector<int64_t> elsewhere;
      absl::c_copy_if(ranks, std::back_inserter(elsewhere), [&](int64_t member) { return !here_.contains(member); });
      last = progress.last;
      if (!elsewhere.empty())
        absl::StrAppend(&last, " of the group ", cliques_[i].ToString(), ", with ", RankList(elsewhere),
                        " in other processes");
    }
    if (least >= most) continue;
    std::vector<int64_t> missing;
    for (int64_t member : ranks) {
      if (here_.contains(member) && CountOf(progress.queued, member) == least) missing.push_back(member);
    }
    return absl::Status(why.code(), absl::StrCat(Op(progress, least), ": ", why.message(), " while waiting for ",
                                                 RankList(missing), " of the group ", cliques_[i].ToString()));
  }
  return last.empty() ? why : AddContext(why, absl::StrCat("; the last collective that was queued is ", last));
}

void WatchedRun::Fail(const absl::Status& why) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!status_.ok()) return;
    status_ = why;
  }
  for (const auto& member : members_) {
    if (member != nullptr) member->Abort(why);
  }
}

absl::Status WatchedRun::ReasonOf(const absl::Status& error) const {
  if (host_ == nullptr || !absl::IsUnavailable(error)) return error;
  const absl::Time latest = absl::Now() + kReportOfDeath;
  do {
    if (absl::Status failed = host_->failure(); !failed.ok()) return failed;
    std::this_thread::sleep_for(kLook);
  } while (absl::Now() < latest);
  return error;
}

void WatchedRun::LookAtCommunicators() {
  if (!status().ok()) return;
  for (const auto& member : members_) {
    if (member == nullptr) continue;
    if (absl::Status error = member->communicator().AsyncError(); !error.ok()) return Fail(ReasonOf(error));
  }
}

void WatchedRun::Look() {
  LookAtCommunicators();
  if (!status().ok()) return;
  if (cancellation_ != nullptr && cancellation_->stopped())
    return Fail(board_->Unfinished(rank_, cancellation_->status()));
  if (absl::Status hopeless = board_->Hopeless(rank_); !hopeless.ok()) return Fail(hopeless);
  if (host_ == nullptr) return;
  if (absl::Status failed = host_->failure(); !failed.ok()) Fail(failed);
}

absl::Status WatchedRun::status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

CollectiveWatchdog::~CollectiveWatchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CollectiveWatchdog::Add(std::shared_ptr<WatchedRun> run) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });  // may throw, before the run is added
  runs_.push_back(std::move(run));
  changed_.notify_all();
}

void CollectiveWatchdog::Remove(const std::shared_ptr<WatchedRun>& run) {
  std::lock_guard<std::mutex> lock(mutex_);
  runs_.erase(std::remove(runs_.begin(), runs_.end(), run), runs_.end());
}

void CollectiveWatchdog::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (runs_.empty()) {
      changed_.wait(lock);
      continue;
    }
    for (const auto& run : runs_)
      run->Look();  // under the lock, so that a run that has been removed is not polled any longer
    changed_.wait_for(lock, kLook, [&] { return stopping_; });
  }
}

std::shared_ptr<CollectiveBoard> CollectiveContext::BoardOf(int64_t run_id, const CollectivePlan& plan) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<CollectiveBoard> board = boards_[run_id].lock();
  if (board != nullptr) return board;
  absl::erase_if(boards_, [](const auto& entry) { return entry.second.expired(); });
  board = std::make_shared<CollectiveBoard>(plan.cliques());
  boards_[run_id] = board;
  return board;
}

absl::StatusOr<std::unique_ptr<CollectiveRun>> CollectiveRun::Create(CollectiveContext& shared,
                                                                     const CollectivePlan& plan, int64_t specs,
                                                                     bool overlap, const RunContext& context,
                                                                     GpuDriver& driver, CollectiveStreams* streams,
                                                                     const GraphAgreement& graphs) {
  const int64_t rank = context.replica_id * context.partition_count + context.partition_id;
  std::shared_ptr<CollectiveBoard> board = shared.BoardOf(context.run_id, plan);
  board->Join(rank);
  HILO_ASSIGN_OR_RETURN(std::vector<std::shared_ptr<CliqueMember>> members,
                        shared.cliques.Acquire(plan, context, driver, graphs));
  if (overlap && !plan.cliques().empty() && streams->stream == nullptr) {
    HILO_ASSIGN_OR_RETURN(streams->stream, driver.CreateStream(kUrgent));
    HILO_ASSIGN_OR_RETURN(streams->begin, driver.CreateEvent());
    for (int64_t i = 0; i < specs; ++i) {
      HILO_ASSIGN_OR_RETURN(streams->done.emplace_back(), driver.CreateEvent());
    }
  }
  auto watched = std::make_shared<WatchedRun>(std::move(board), rank, context.cancellation, context.communicator,
                                              std::move(members));
  std::unique_ptr<CollectiveRun> run(new CollectiveRun(shared, plan, overlap, context, driver, streams, watched));
  run->pending_.assign(specs, false);
  if (!plan.cliques().empty()) shared.watchdog.Add(std::move(watched));
  return run;
}

CollectiveRun::~CollectiveRun() { shared_.watchdog.Remove(watched_); }

DeviceCommunicator* CollectiveRun::communicator(int64_t clique) {
  CliqueMember* member = clique < 0 ? nullptr : watched_->member(clique);
  return member == nullptr ? nullptr : &member->communicator();
}

absl::StatusOr<GpuStream*> CollectiveRun::Begin(int64_t spec, const std::string& op, GpuStream& main) {
  HILO_RETURN_IF_ERROR(watched_->status());
  HILO_RETURN_IF_ERROR(Enter(spec, op));
  // A rank that is alone copies after the collectives whose results it may need: only their stream is ordered after
  // them.
  if (!overlap_ || streams_.stream == nullptr) return &main;
  HILO_RETURN_IF_ERROR(main.Record(streams_.begin.get()));
  HILO_RETURN_IF_ERROR(streams_.stream->Wait(*streams_.begin));
  return streams_.stream.get();
}

absl::Status CollectiveRun::End(int64_t spec, GpuStream& stream) {
  Queued(spec);
  if (&stream != streams_.stream.get()) return absl::OkStatus();
  pending_[spec] = true;
  return stream.Record(streams_.done[spec].get());
}

absl::Status CollectiveRun::Await(int64_t spec, GpuStream& main) {
  if (!pending_[spec]) return absl::OkStatus();
  pending_[spec] = false;
  return main.Wait(*streams_.done[spec]);
}

absl::Status CollectiveRun::AwaitAll(GpuStream& main) {
  for (size_t spec = 0; spec < pending_.size(); ++spec) HILO_RETURN_IF_ERROR(Await(static_cast<int64_t>(spec), main));
  return absl::OkStatus();
}

absl::Status CollectiveRun::Enter(int64_t spec, const std::string& op) {
  const int64_t clique = role(spec).clique;
  if (clique < 0) return absl::OkStatus();
  ++noted_.entered;
  return watched_->board().Enter(clique, rank(), op);
}

void CollectiveRun::Queued(int64_t spec) {
  const int64_t clique = role(spec).clique;
  if (clique < 0) return;
  ++noted_.queued;
  watched_->board().Queued(clique, rank());
}

absl::Status CollectiveRun::NoteSince(Noted* since, int64_t spec, const std::string& op) {
  if (role(spec).clique < 0) return absl::OkStatus();
  if (++since->entered > noted_.entered) HILO_RETURN_IF_ERROR(Enter(spec, op));
  if (++since->queued > noted_.queued) Queued(spec);
  return absl::OkStatus();
}

absl::StatusOr<GpuStream*> CollectiveRun::BeginTransfer(int64_t clique, const std::string& op, GpuStream& main) {
  HILO_RETURN_IF_ERROR(watched_->status());
  HILO_RETURN_IF_ERROR(watched_->board().Enter(clique, rank(), op));
  CollectiveStreams::Transfers& transfers = streams_.transfers[clique];
  if (transfers.stream == nullptr) {
    HILO_ASSIGN_OR_RETURN(transfers.begin, driver_.CreateEvent());
    HILO_ASSIGN_OR_RETURN(transfers.done, driver_.CreateEvent());
    HILO_ASSIGN_OR_RETURN(transfers.stream, driver_.CreateStream(kUrgent));
  }
  HILO_RETURN_IF_ERROR(main.Record(transfers.begin.get()));
  HILO_RETURN_IF_ERROR(transfers.stream->Wait(*transfers.begin));
  return transfers.stream.get();
}

absl::Status CollectiveRun::EndTransfer(int64_t clique) {
  watched_->board().Queued(clique, rank());
  CollectiveStreams::Transfers& transfers = streams_.transfers[clique];
  return transfers.stream->Record(transfers.done.get());
}

absl::Status CollectiveRun::AwaitTransfer(int64_t clique, GpuStream& main) {
  return main.Wait(*streams_.transfers[clique].done);
}

absl::Status CollectiveRun::status() const {
  watched_->LookAtCommunicators();
  return watched_->status();
}

absl::Status CollectiveRun::Finish(absl::Status status, GpuStream& main) {
  if (absl::IsCancelled(status) || absl::IsDeadlineExceeded(status))
    status = watched_->board().Unfinished(rank(), status);
  if (!status.ok()) watched_->Fail(status);
  if (status.ok()) watched_->board().QueuedAll(rank());
  const absl::Status done = main.Synchronize();
  absl::Status beside = streams_.stream == nullptr ? absl::OkStatus() : streams_.stream->Synchronize();
  for (auto& [clique, transfers] : streams_.transfers) {
    const absl::Status ended = transfers.stream == nullptr ? absl::OkStatus() : transfers.stream->Synchronize();
    if (beside.ok()) beside = ended;
  }
  for (auto& [channel, messages] : mail_) {
    for (const Message& message : messages) (void)driver_.Free(message.data, &main);
  }
  // The watchdog's errors come first: those of the thunks may be consequences.
  absl::Status result;
  for (const absl::Status& other : {this->status(), status, done, beside}) {
    if (result.ok()) result = other;
  }
  watched_->board().Leave(rank(), result);
  return result;
}

}  // namespace hilo::gpu
