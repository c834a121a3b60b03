// Frames of a run are kept by group and sender until the ranks of this process request them. The
// first frame of a collective identifies it, so that the reader can check whether the other
// side runs the same one; as frames keep their order, only the group has to be matched.
//
// A run fails once. Every process whose run fails sends the reason to all others, even a reason that it has
// received: so a process that leaves after a failure is not mistaken for its cause, as the reason
// arrives before its leave. Every process detects by itself that another one has died.
#include "collectives/process_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// The interval at which a waiting rank polls its cancellation token.
constexpr std::chrono::milliseconds kPoll(10);

absl::string_view Text(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.bytes.data()), static_cast<size_t>(frame.bytes.size())};
}

// OK while the call may go on.
absl::Status CheckLimits(const CollectiveCall& call) {
  if (call.cancellation != nullptr) HILO_RETURN_IF_ERROR(call.cancellation->status());
  if (absl::Now() >= call.deadline) return DeadlineExceeded("the deadline has passed");
  return absl::OkStatus();
}

absl::Status Waiting(const CollectiveCall& call, const absl::Status& status, absl::Span<const int64_t> ranks,
                     absl::string_view what) {
  return absl::Status(status.code(),
                      absl::StrCat(call.name, ": ", status.message(), " while waiting for ", RankList(ranks), what));
}

}  // namespace

std::string EncodeAnnouncement(const Announcement& announcement) {
  ByteWriter out;
  out.Text(announcement.name);
  out.Text(announcement.signature);
  out.I64(announcement.key);
  out.U64(announcement.group.size());
  for (int64_t rank : announcement.group) out.I64(rank);
  out.Text(announcement.more);
  std::string bytes = out.Take();
  const size_t end = (8 + bytes.size() + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  ByteWriter whole;
  whole.U64(end);
  whole.Raw(bytes);
  whole.Raw(std::string(end - 8 - bytes.size(), '\0'));
  return whole.Take();
}

absl::StatusOr<Announcement> DecodeAnnouncement(const Frame& frame, int64_t* data_begin) {
  ByteReader in(Text(frame), "announcement of a collective");
  const uint64_t begin = in.U64();
  if (begin > Text(frame).size()) in.Fail("an announcement that ends within its frame");
  Announcement announcement;
  announcement.name = std::string(in.Text());
  announcement.signature = std::string(in.Text());
  announcement.key = in.I64();
  const uint64_t ranks = in.Count(8);
  for (uint64_t i = 0; i < ranks; ++i) announcement.group.push_back(in.I64());
  announcement.more = std::string(in.Text());
  HILO_RETURN_IF_ERROR(in.status());
  *data_begin = static_cast<int64_t>(begin);
  return announcement;
}

void ProcessRun::Start(std::vector<int64_t> process_of_rank) {
  process_of_rank_ = std::move(process_of_rank);
  local_.emplace(size());
  ended_.resize(process_of_rank_.size());
  absl::Status failure;
  while (true) {
    std::deque<std::pair<int64_t, Frame>> frames;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      failure = failure_;
      frames.swap(early_);
      if (frames.empty()) {
        started_ = true;
        break;
      }
    }
    for (auto& [process, frame] : frames) Take(process, std::move(frame));
  }
  if (!failure.ok()) local_->Abandon(failure);
}

void ProcessRun::OnFrame(int64_t process, Frame frame) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) {
      early_.emplace_back(process, std::move(frame));
      return;
    }
  }
  Take(process, std::move(frame));
}

void ProcessRun::Take(int64_t process, Frame frame) {
  switch (frame.header.kind) {
    case FrameKind::kCollective:
    case FrameKind::kResult: {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_.ok()) return;
      inbox_[{frame.header.group, process}].push_back(std::move(frame));
      changed_.notify_all();
      return;
    }
    case FrameKind::kMessage: TakeMessage(process, frame); return;
    case FrameKind::kFinish: {
      const int64_t rank = ByteReader(Text(frame), "end of a run").I64();
      if (rank < 0 || rank >= size() || process_of(rank) != process) return;
      local_->Finish(rank, absl::OkStatus());
      std::lock_guard<std::mutex> lock(mutex_);
      ended_[rank] = true;
      changed_.notify_all();
      return;
    }
    case FrameKind::kFail: {
      ByteReader in(Text(frame), "failure");
      const auto code = static_cast<absl::StatusCode>(in.U32());
      const std::string text(in.Text());
      Fail(absl::Status(code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code, text));
      return;
    }
    case FrameKind::kLeave: return;
  }
}

void ProcessRun::TakeMessage(int64_t process, const Frame& frame) {
  ByteReader in(Text(frame), "message");
  const int64_t key = in.I64(), source = in.I64(), target = in.I64();
  const absl::string_view name = in.Text();
  const absl::string_view data = in.Text();
  if (!in.Finish().ok() || source < 0 || source >= size() || process_of(source) != process || target < 0 ||
      target >= size() || process_of(target) != process_) {
    Fail(InvalidArgument("process ", process, " has sent a message from rank ", source, " to rank ", target, " of the ",
                         size(), " ranks to process ", process_));
    return;
  }
  const absl::Status status = local_->Send(source, {.name = name, .key = key}, target, std::string(data));
  if (!status.ok()) Fail(status);
}

std::vector<int64_t> ProcessRun::RanksAt(int64_t process) const {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < size(); ++rank) {
    if (process_of(rank) == process) ranks.push_back(rank);
  }
  return ranks;
}

void ProcessRun::OnGone(int64_t process, const absl::Status& why) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) return;  // ProcessGroup::StartRun checks for processes that are gone
    const std::vector<int64_t> ranks = RanksAt(process);
    if (std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) { return ended_[rank]; })) return;
  }
  Fail(GoneStatus(process, why));
}

void ProcessRun::Tell(FrameKind kind, absl::string_view bytes) {
  std::vector<int64_t> processes = process_of_rank_;
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  for (int64_t process : processes) {
    if (process != process_) mesh_->Post(process, Header(kind), bytes);
  }
}

void ProcessRun::Fail(const absl::Status& status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    failure_ = status;
    inbox_.clear();
    changed_.notify_all();
  }
  ByteWriter out;
  out.U32(static_cast<uint32_t>(status.code()));
  out.Text(status.message());
  Tell(FrameKind::kFail, out.bytes());
  local_->Abandon(status);
}

absl::Status ProcessRun::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void ProcessRun::Finish(int64_t rank) {
  local_->Finish(rank, absl::OkStatus());
  ByteWriter out;
  out.I64(rank);
  Tell(FrameKind::kFinish, out.bytes());
}

absl::Status ProcessRun::Send(int64_t process, FrameKind kind, uint64_t group,
                              absl::Span<const absl::string_view> pieces, const CollectiveCall& call) {
  bool given_up = false;
  const absl::Status sent = mesh_->Send(process, Header(kind, group), pieces, [&]() -> absl::Status {
    absl::Status status;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      status = failure_;
    }
    if (status.ok()) {
      status = CheckLimits(call);
      if (!status.ok()) status = Waiting(call, status, RanksAt(process), " to take data");
    }
    given_up = !status.ok();
    return status;
  });
  if (sent.ok() || given_up) return sent;
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_.ok() ? GoneStatus(process, sent) : failure_;  // it may have said why it went
}

absl::Status ProcessRun::GoneStatus(int64_t process, const absl::Status& why) const {
  return Unavailable(RankList(RanksAt(process)), " cannot be reached any more: ", why.message());
}

absl::Status ProcessRun::Hopeless(absl::Span<const int64_t> missing, uint64_t hash, absl::Span<const int64_t> group,
                                  const CollectiveCall& call) const {
  for (int64_t rank : missing) {
    if (ended_[rank]) return FailedPrecondition(call.name, ": rank ", rank, " has ended its run without it");
  }
  // A rank that waits at a collective of another group for a rank which waits here for it.
  for (const auto& [place, frames] : inbox_) {
    if (place.first == hash || frames.empty() || frames.front().header.kind != FrameKind::kCollective) continue;
    int64_t begin;
    const auto other = DecodeAnnouncement(frames.front(), &begin);
    if (!other.ok()) return other.status();
    auto is_in_other = [&](int64_t rank) {
      return std::find(other->group.begin(), other->group.end(), rank) != other->group.end();
    };
    for (int64_t rank : missing) {
      if (process_of(rank) != place.second || !is_in_other(rank)) continue;
      for (int64_t own : group) {
        if (process_of(own) != process_ || !is_in_other(own)) continue;
        return FailedPrecondition(call.name, ": ranks disagree: rank ", own, " is at ", call.name, " of the group ",
                                  GroupText(group), ", but rank ", rank, " at ", other->name, " of the group ",
                                  GroupText(other->group));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Frame>> ProcessRun::Receive(absl::Span<const int64_t> processes, FrameKind kind,
                                                       uint64_t hash, absl::Span<const int64_t> group,
                                                       const CollectiveCall& call) {
  std::vector<Frame> frames(processes.size());
  std::vector<bool> is_here(processes.size(), false);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (!failure_.ok()) return failure_;
    std::vector<int64_t> missing;
    for (size_t i = 0; i < processes.size(); ++i) {
      if (is_here[i]) continue;
      const auto found = inbox_.find({hash, processes[i]});
      if (found != inbox_.end()) {
        frames[i] = std::move(found->second.front());
        found->second.pop_front();
        if (found->second.empty()) inbox_.erase(found);
        is_here[i] = true;
        if (frames[i].header.kind == kind) continue;
        return Internal(call.name, ": process ", processes[i], " is at another step");
      }
      for (int64_t rank : group) {
        if (process_of(rank) == processes[i]) missing.push_back(rank);
      }
    }
    if (missing.empty()) return frames;
    HILO_RETURN_IF_ERROR(Hopeless(missing, hash, group, call));
    if (absl::Status status = CheckLimits(call); !status.ok())
      return Waiting(call, status, missing, absl::StrCat(" of the group ", GroupText(group)));
    changed_.wait_for(lock, kPoll);
  }
}

}  // namespace hilo
