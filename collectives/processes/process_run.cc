// Frames of a run are kept by group and sender until the ranks of this process request them. The
// first frame of a collective identifies it, so that the reader can check whether the other
// side runs the same one; as frames keep their order, only the group has to be matched. A rank that waits polls
// the transport, and puts frames for other ranks into the inbox. Frames that no rank waits for yet own their bytes, so
// that they never occupy memory that their sender needs in order to go on.
//
// A run fails once. Every process whose run fails sends the reason to all others, even a reason that it has
// received: so a process that leaves after a failure is not mistaken for its cause, as the reason
// arrives before its leave. Every process detects by itself that another one has died.
#include "collectives/processes/process_run.h"

#include <algorithm>
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
constexpr absl::Duration kPoll = absl::Milliseconds(10);

absl::string_view Text(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.data()), static_cast<size_t>(frame.size())};
}

// Frames that a waiting rank takes before it looks at its limits.
constexpr int kPollsAtOnce = 256;

constexpr absl::Duration kLongestToBegin = absl::Microseconds(100);

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
  // Six numbers: the end, the lengths of three texts, the key and the number of ranks.
  const size_t texts = announcement.name.size() + announcement.signature.size() + announcement.more.size();
  const size_t bytes = 8 * (6 + announcement.group.size()) + texts;
  const size_t end = (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  ByteWriter out;
  out.U64(end);
  out.Text(announcement.name);
  out.Text(announcement.signature);
  out.I64(announcement.key);
  out.U64(announcement.group.size());
  for (int64_t rank : announcement.group) out.I64(rank);
  out.Text(announcement.more);
  std::string encoded = out.Take();
  encoded.resize(end);  // with zeros
  return encoded;
}

absl::StatusOr<Announcement> DecodeAnnouncement(const Frame& frame, int64_t* data_begin) {
  const uint64_t begin = ByteReader(Text(frame), "announcement of a collective").U64();
  if (begin > Text(frame).size())
    return InvalidArgument("expected an announcement of a collective that ends within its frame of ", frame.size(),
                           " bytes, got one of ", begin);
  // The sender may still be changing the frame.
  const std::string copy(Text(frame).substr(0, begin));
  ByteReader in(copy, "announcement of a collective");
  in.U64();
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
  others_ = process_of_rank_;
  std::sort(others_.begin(), others_.end());
  others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
  others_.erase(std::remove(others_.begin(), others_.end(), process_), others_.end());
  to_begin_ = others_;
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
      if (absl::Status status = frame.Own(); !status.ok() && failure_.ok()) failure_ = status;
      early_.emplace_back(process, std::move(frame));
      return;
    }
  }
  Take(process, std::move(frame));
}

void ProcessRun::Take(int64_t process, Frame frame) {
  absl::Status status;
  switch (frame.header().kind) {
    case FrameKind::kCollective:
    case FrameKind::kResult: {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_.ok()) return;
      const std::pair<uint64_t, int64_t> key = {frame.header().group, process};
      std::deque<Frame>& frames = inbox_[key];
      const bool is_awaited = frames.empty() && std::find(awaited_.begin(), awaited_.end(), key) != awaited_.end();
      if (!is_awaited) status = frame.Own();
      if (status.ok()) frames.push_back(std::move(frame));
      break;
    }
    case FrameKind::kMessage: status = TakeMessage(process, frame); break;
    case FrameKind::kFinish: {
      const int64_t rank = ByteReader(Text(frame), "end of a run").I64();
      if (rank < 0 || rank >= size() || process_of(rank) != process) return;
      std::lock_guard<std::mutex> lock(mutex_);
      ended_[rank] = true;
      break;
    }
    case FrameKind::kBegin: {
      std::lock_guard<std::mutex> lock(mutex_);
      to_begin_.erase(std::remove(to_begin_.begin(), to_begin_.end(), process), to_begin_.end());
      break;
    }
    case FrameKind::kFail: {
      ByteReader in(Text(frame), "failure");
      const auto code = static_cast<absl::StatusCode>(in.U32());
      const std::string text(in.Text());
      status = absl::Status(code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code, text);
      break;
    }
    default: return;
  }
  if (!status.ok()) Fail(status);
  transport_->bell().Ring();
}

absl::Status ProcessRun::TakeMessage(int64_t process, const Frame& frame) {
  ByteReader in(Text(frame), "message");
  const int64_t key = in.I64(), source = in.I64(), target = in.I64();
  const absl::string_view data = in.Text();
  if (!in.Finish().ok() || source < 0 || source >= size() || process_of(source) != process || target < 0 ||
      target >= size() || process_of(target) != process_) {
    return InvalidArgument("process ", process, " has sent a message from rank ", source, " to rank ", target,
                           " of the ", size(), " ranks to process ", process_);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok()) messages_[{key, source, target}].emplace_back(data);
  return absl::OkStatus();
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

void ProcessRun::Abandon(int64_t process, const absl::Status& why) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) return;  // as above
  }
  const bool takes_part = std::find(others_.begin(), others_.end(), process) != others_.end();
  if (takes_part) {
    OnGone(process, why);
  } else {
    Fail(why);
  }
}

void ProcessRun::Tell(FrameKind kind, absl::string_view bytes) {
  for (int64_t process : others_) transport_->Post(process, Header(kind), bytes);
}

bool ProcessRun::Begin(bool waits) {
  if (transport_->watch().polls == 0) return false;
  if (!std::all_of(others_.begin(), others_.end(), [&](int64_t process) { return transport_->IsPolled(process); }))
    return false;
  Tell(FrameKind::kBegin, "");
  Bell& bell = transport_->bell();
  const Watch watch = waits ? transport_->watch() : Watch();
  const absl::Time latest = absl::Now() + kLongestToBegin;
  do {
    const uint32_t rings = bell.rings();
    int polls = 0;
    for (int64_t process : others_) {
      while (polls < kPollsAtOnce && transport_->Poll(process)) ++polls;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (to_begin_.empty()) return true;
    }
    if (!bell.WatchWhile(rings, watch)) return false;
  } while (absl::Now() < latest);
  return false;
}

void ProcessRun::Fail(const absl::Status& status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    failure_ = status;
    inbox_.clear();
    messages_.clear();
  }
  transport_->bell().Ring();
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
  // A transport calls it only while it cannot send.
  HILO_RETURN_IF_ERROR(failure());
  bool given_up = false;
  const absl::Status sent = transport_->Send(process, Header(kind, group), pieces, [&]() -> absl::Status {
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

absl::Status ProcessRun::CheckNotEnded(absl::Span<const int64_t> missing, const CollectiveCall& call) const {
  for (int64_t rank : missing) {
    if (ended_[rank]) return FailedPrecondition(call.name, ": rank ", rank, " has ended its run without it");
  }
  return absl::OkStatus();
}

// A rank that waits at a collective of another group for a rank which waits here for it.
absl::Status ProcessRun::CheckOtherGroups(absl::Span<const int64_t> missing, uint64_t hash,
                                          absl::Span<const int64_t> group, const CollectiveCall& call) const {
  for (const auto& [key, frames] : inbox_) {
    if (key.first == hash || frames.empty() || frames.front().header().kind != FrameKind::kCollective) continue;
    int64_t begin;
    const auto other = DecodeAnnouncement(frames.front(), &begin);
    if (!other.ok()) return other.status();
    auto is_in_other = [&](int64_t rank) {
      return std::find(other->group.begin(), other->group.end(), rank) != other->group.end();
    };
    for (int64_t rank : missing) {
      if (process_of(rank) != key.second || !is_in_other(rank)) continue;
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

absl::Status ProcessRun::Await(absl::Span<const int64_t> processes, TakeFrom take, Check check) {
  Bell& bell = transport_->bell();
  size_t taken = 0;  // of the first of `processes`
  std::vector<bool> is_taken(processes.size(), false);
  for (int64_t iteration = 1;; ++iteration) {
    const uint32_t rings = bell.rings();
    int polls = 0;
    for (size_t i = taken; i < processes.size(); ++i) {
      while (!is_taken[i]) {
        {
          std::lock_guard<std::mutex> lock(mutex_);
          if (!failure_.ok()) return failure_;
          is_taken[i] = take(i);
        }
        if (is_taken[i] || polls == kPollsAtOnce || !transport_->Poll(processes[i])) break;
        ++polls;
      }
      if (i == taken && is_taken[i]) ++taken;
    }
    if (std::find(is_taken.begin() + taken, is_taken.end(), false) == is_taken.end()) return absl::OkStatus();
    // Frames for other ranks may ring without end.
    const bool checks_limits = polls == kPollsAtOnce || iteration % kPollsAtOnce == 0;
    if (!checks_limits && transport_->WatchForFrames(rings)) continue;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_.ok()) return failure_;
      // A frame that has arrived in the meantime precedes the notice that its sender has ended.
      std::vector<int64_t> missing;
      bool any = false;
      for (size_t i = 0; i < processes.size(); ++i) {
        if (is_taken[i]) continue;
        is_taken[i] = take(i);
        any = any || is_taken[i];
        if (!is_taken[i]) missing.push_back(processes[i]);
      }
      if (any) continue;
      HILO_RETURN_IF_ERROR(check(missing));
    }
    transport_->SleepForFrames(rings, kPoll);
  }
}

absl::StatusOr<std::vector<Frame>> ProcessRun::Receive(absl::Span<const int64_t> processes, FrameKind kind,
                                                       uint64_t hash, absl::Span<const int64_t> group,
                                                       const CollectiveCall& call) {
  std::vector<Frame> frames(processes.size());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (int64_t process : processes) awaited_.emplace_back(hash, process);
  }
  absl::Status wrong;
  const auto take = [&](size_t i) {
    const auto found = inbox_.find({hash, processes[i]});
    if (found == inbox_.end() || found->second.empty()) return false;
    frames[i] = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) inbox_.erase(found);
    if (frames[i].header().kind != kind) wrong = Internal(call.name, ": process ", processes[i], " is at another step");
    return true;
  };
  const auto check = [&](absl::Span<const int64_t> missing) -> absl::Status {
    HILO_RETURN_IF_ERROR(wrong);
    std::vector<int64_t> ranks;
    for (int64_t rank : group) {
      if (std::find(missing.begin(), missing.end(), process_of(rank)) != missing.end()) ranks.push_back(rank);
    }
    HILO_RETURN_IF_ERROR(CheckNotEnded(ranks, call));
    HILO_RETURN_IF_ERROR(CheckOtherGroups(ranks, hash, group, call));
    // The processes that have sent theirs need not wait for the others.
    for (Frame& frame : frames) HILO_RETURN_IF_ERROR(frame.Own());
    const absl::Status status = CheckLimits(call);
    return status.ok() ? status : Waiting(call, status, ranks, absl::StrCat(" of the group ", GroupText(group)));
  };
  absl::Status status = Await(processes, take, check);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (int64_t process : processes) {
      const std::pair<uint64_t, int64_t> key = {hash, process};
      awaited_.erase(std::find(awaited_.begin(), awaited_.end(), key));
      if (!status.ok()) inbox_.erase(key);  // the run ends, and no frame may go on borrowing
    }
  }
  if (status.ok()) status = wrong;
  if (!status.ok()) return status;
  return frames;
}

absl::Status ProcessRun::SendMessage(int64_t rank, const CollectiveCall& call, absl::string_view data, int64_t target) {
  ByteWriter head;
  for (int64_t number : {call.key, rank, target}) head.I64(number);
  head.U64(data.size());
  return Send(process_of(target), FrameKind::kMessage, 0, {head.bytes(), data}, call);
}

absl::Status ProcessRun::ReceiveMessage(int64_t rank, const CollectiveCall& call, void* data, int64_t bytes,
                                        int64_t source) {
  std::string message;
  const auto take = [&](size_t) {
    const auto found = messages_.find({call.key, source, rank});
    if (found == messages_.end()) return false;
    message = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) messages_.erase(found);
    return true;
  };
  const auto check = [&](absl::Span<const int64_t>) -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotEnded({source}, call));
    const absl::Status status = CheckLimits(call);
    return status.ok() ? status : Waiting(call, status, {source}, "");
  };
  HILO_RETURN_IF_ERROR(Await({process_of(source)}, take, check));
  if (static_cast<int64_t>(message.size()) != bytes) {
    return FailedPrecondition(call.name, ": rank ", source, " has sent ", message.size(), " bytes to rank ", rank,
                              ", which expects ", bytes);
  }
  std::copy(message.begin(), message.end(), static_cast<char*>(data));
  return absl::OkStatus();
}

}  // namespace hilo
