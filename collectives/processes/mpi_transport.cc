// A frame is one message of a header and its first bytes, for which every process has a receive waiting from each other
// one, and for longer frames messages with the rest, which are received where they belong. What is sent is copied
// first: MPI may read the memory of a send for as long as its receiver lives without calling MPI, and the caller's
// memory is needed only until Send returns. All sends are synchronous ones (MPI_Issend), which are complete when the
// other side has matched them: so a process can tell when it may leave.
//
// MPI moves data only while it is called. Threads that wait for frames call it; so does the transport's own thread
// while sends are on their way; and one that waits for a process to take its sends has the thread of that process's TCP
// connections look at them.
#include "collectives/processes/mpi_transport.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int kFirstTag = 1, kRestTag = 2;
// Of the first message of a frame, header included.
constexpr int64_t kFirstBytes = 8 << 10;
// A count of MPI is an int.
constexpr int64_t kMaxRestBytes = 1 << 30;
constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 44;
// Copies for one process that are on their way, beyond which a sender waits.
constexpr int64_t kMaxUnsentBytes = 8 << 20;
// How often a rank looks for frames before it sleeps, and for how long it sleeps: nothing wakes it.
constexpr int kPolls = 200;
constexpr absl::Duration kNap = absl::Microseconds(50);
constexpr std::chrono::microseconds kWorkInterval(100);
// A send that has been pending for this long needs a thread of the other process: the rank asks for attention, and
// repeats that at this interval.
constexpr absl::Duration kPatience = absl::Milliseconds(2);
// How long a process that is asked for attention polls for frames, and how often.
constexpr absl::Duration kAttention = absl::Milliseconds(20), kAttentionInterval = absl::Microseconds(20);
constexpr absl::Duration kLastWords = absl::Seconds(1);

struct MpiHeader {
  uint64_t kind, program, run, group, bytes;
};
static_assert(sizeof(MpiHeader) < kFirstBytes);

}  // namespace

absl::StatusOr<std::unique_ptr<MpiRanks>> MpiRanks::Create(int64_t process) {
  auto ranks = std::unique_ptr<MpiRanks>(new MpiRanks);
  HILO_ASSIGN_OR_RETURN(ranks->mpi_, MpiLibrary::Get());
  ranks->process_ = process;
  ranks->ranks_[process] = ranks->mpi_->rank();
  ranks->offer_ = absl::StrCat("mpi ", ranks->mpi_->rank(), " ", ranks->mpi_->job());
  return ranks;
}

absl::Status MpiRanks::Accept(int64_t process, absl::string_view offer) {
  const std::vector<std::string> parts = absl::StrSplit(offer, absl::MaxSplits(' ', 2));
  int rank = -1;
  const bool is_rank = parts.size() == 3 && parts[0] == "mpi" && absl::SimpleAtoi(parts[1], &rank) && rank >= 0 &&
                       rank < mpi_->size() && parts[2] == mpi_->job();
  if (!is_rank) return InvalidArgument("it is '", offer, "', this process 'mpi ", mpi_->rank(), " ", mpi_->job(), "'");
  for (const auto& [other, taken] : ranks_) {
    if (taken == rank) return InvalidArgument("process ", other, " is rank ", rank, " of MPI, too");
  }
  ranks_[process] = rank;
  return absl::OkStatus();
}

bool MpiRanks::survives_failures() const { return mpi_->survives_failures(); }

absl::StatusOr<std::string> MpiRanks::FailedRanks() const {
  HILO_ASSIGN_OR_RETURN(const std::vector<int> failed, mpi_->FailedRanks());
  return absl::StrJoin(failed, ",");
}

absl::Status MpiRanks::SetFailedRanks(absl::Span<const std::string> texts) {
  for (const std::string& text : texts) {
    for (const absl::string_view number : absl::StrSplit(text, ',', absl::SkipEmpty())) {
      int rank = -1;
      if (!absl::SimpleAtoi(number, &rank) || rank < 0 || rank >= mpi_->size())
        return InvalidArgument("expected ranks of MPI below ", mpi_->size(), ", got '", text, "'");
      failed_.insert(rank);
    }
  }
  return absl::OkStatus();
}

class MpiTransport::Peer {
 public:
  // `rank` in the communicator, `world_rank` in MPI_COMM_WORLD.
  Peer(MpiLibrary* mpi, MpiHandle communicator, int rank, int world_rank)
      : mpi_(mpi), communicator_(communicator), rank_(rank), world_rank_(world_rank) {}
  // MPI may go on using the memory of what is not complete: it is given up.
  ~Peer() {
    for (Unsent& one : unsent_) {
      if (!IsDone(&one.request)) new auto(std::move(one.bytes));
    }
  }

  // Starts to send `first`, and then `rest` unless it is empty.
  absl::Status Send(std::string first, std::unique_ptr<AlignedBuffer> rest) {
    std::lock_guard<std::mutex> lock(send_mutex);
    HILO_RETURN_IF_ERROR(StartSend(kFirstTag, std::make_unique<Bytes>(Bytes{.text = std::move(first)})));
    if (rest == nullptr) return absl::OkStatus();
    auto shared = std::make_shared<AlignedBuffer>(std::move(*rest));
    for (int64_t begin = 0; begin < shared->size(); begin += kMaxRestBytes) {
      const int64_t bytes = std::min(kMaxRestBytes, shared->size() - begin);
      HILO_RETURN_IF_ERROR(
          StartSend(kRestTag, std::make_unique<Bytes>(Bytes{.rest = shared, .begin = begin, .size = bytes})));
    }
    return absl::OkStatus();
  }
  int world_rank() const { return world_rank_; }
  // Frees what has been sent. Returns whether there is more.
  absl::StatusOr<bool> TestSends() {
    std::lock_guard<std::mutex> lock(send_mutex);
    while (!unsent_.empty()) {
      const absl::StatusOr<bool> done = mpi_->Test(&unsent_.front().request);
      if (!done.ok()) {
        Unsent failed = std::move(unsent_.front());
        unsent_bytes_ -= failed.bytes->bytes();
        unsent_.pop_front();
        if (!mpi_->survives_failures()) new auto(std::move(failed.bytes));
        return done.status();
      }
      if (!*done) return true;
      unsent_bytes_ -= unsent_.front().bytes->bytes();
      unsent_.pop_front();
    }
    return false;
  }
  bool IsFull() {
    std::lock_guard<std::mutex> lock(send_mutex);
    return unsent_bytes_ > kMaxUnsentBytes;
  }
  // Whether what is sent has been on its way for long, and the ranks that wait have not been told so lately.
  bool NeedsAttention() {
    std::lock_guard<std::mutex> lock(send_mutex);
    const absl::Time now = absl::Now();
    if (unsent_.empty() || now < unsent_.front().since + kPatience || now < told_ + kAttention) return false;
    told_ = now;
    return true;
  }

  // With receive_mutex held: starts to receive the next frame.
  absl::Status StartReceiving() {
    if (receiving_ == nullptr) receiving_ = std::make_unique<char[]>(kFirstBytes);
    return StartReceiving(kFirstTag, receiving_.get(), kFirstBytes);
  }
  // With receive_mutex held: the next frame that has arrived whole, into *frame. Returns whether there is one.
  absl::StatusOr<bool> Receive(Frame* frame) {
    while (true) {
      const absl::StatusOr<bool> done = mpi_->Test(&request_);
      if (!done.ok()) {
        state_ = mpi_->survives_failures() ? RequestState::kNone : RequestState::kUnknown;
        return done.status();
      }
      if (!*done) return false;
      state_ = RequestState::kNone;
      if (!in_frame_) {
        MpiHeader wire;
        std::memcpy(&wire, receiving_.get(), sizeof(wire));
        if (wire.bytes > kMaxFrameBytes) return InvalidArgument("it sends what is no frame");
        header_ = {static_cast<FrameKind>(wire.kind), wire.program, wire.run, wire.group};
        HILO_ASSIGN_OR_RETURN(bytes_, AlignedBuffer::Create(static_cast<int64_t>(wire.bytes)));
        filled_ = std::min<int64_t>(bytes_.size(), kFirstBytes - sizeof(wire));
        if (filled_ > 0) std::memcpy(bytes_.data(), receiving_.get() + sizeof(wire), filled_);
        in_frame_ = true;
      } else {
        filled_ += std::min(kMaxRestBytes, bytes_.size() - filled_);
      }
      if (filled_ == bytes_.size()) {
        in_frame_ = false;
        *frame = Frame(header_, std::move(bytes_));
        bytes_ = AlignedBuffer();
        HILO_RETURN_IF_ERROR(StartReceiving());
        return true;
      }
      HILO_RETURN_IF_ERROR(
          StartReceiving(kRestTag, bytes_.data() + filled_, std::min(kMaxRestBytes, bytes_.size() - filled_)));
    }
  }
  // With receive_mutex held. Returns whether MPI uses no memory of the peer's any more.
  bool StopReceiving() {
    if (state_ == RequestState::kNone) return true;
    if (state_ == RequestState::kOutstanding && !in_frame_ && mpi_->Cancel(&request_)) return true;
    // What a message may still be written to stays.
    new auto(std::move(bytes_));
    receiving_.release();
    return false;
  }

  // With receive_mutex held.
  bool is_in_frame() const { return in_frame_; }

  std::mutex receive_mutex;         // the listener is called with it held
  std::atomic<bool> broken{false};  // receives no more
  std::atomic<bool> is_gone{false};
  absl::Status gone;  // set before is_gone

 private:
  // Of a message: `text`, or a part of `rest`.
  struct Bytes {
    std::string text;
    std::shared_ptr<AlignedBuffer> rest;
    int64_t begin = 0, size = 0;
    const void* data() const { return rest == nullptr ? static_cast<const void*>(text.data()) : rest->data() + begin; }
    int64_t bytes() const { return rest == nullptr ? static_cast<int64_t>(text.size()) : size; }
  };
  struct Unsent {
    MpiHandle request;
    std::unique_ptr<Bytes> bytes;
    absl::Time since;
  };

  // Of the receive: kUnknown after MPI has returned an error for it.
  enum class RequestState { kNone, kOutstanding, kUnknown };

  // Whether MPI uses the memory of the send no more, as far as is known.
  bool IsDone(MpiHandle* request) const {
    if (!mpi_->survives_failures()) return false;
    const absl::StatusOr<bool> done = mpi_->Test(request);
    return !done.ok() || *done;
  }

  absl::Status StartReceiving(int tag, void* data, int64_t bytes) {
    HILO_ASSIGN_OR_RETURN(request_, mpi_->Receive(communicator_, rank_, tag, data, static_cast<int>(bytes)));
    state_ = RequestState::kOutstanding;
    return absl::OkStatus();
  }

  absl::Status StartSend(int tag, std::unique_ptr<Bytes> bytes) {
    HILO_ASSIGN_OR_RETURN(const MpiHandle request,
                          mpi_->Send(communicator_, rank_, tag, bytes->data(), static_cast<int>(bytes->bytes())));
    unsent_bytes_ += bytes->bytes();
    unsent_.push_back({request, std::move(bytes), absl::Now()});
    return absl::OkStatus();
  }

  MpiLibrary* const mpi_;
  const MpiHandle communicator_;
  const int rank_, world_rank_;

  // With receive_mutex.
  MpiHandle request_ = 0;
  RequestState state_ = RequestState::kNone;
  std::unique_ptr<char[]> receiving_;  // the first message of a frame
  bool in_frame_ = false;              // of which the rest is being received
  FrameHeader header_;
  AlignedBuffer bytes_;
  int64_t filled_ = 0;

  std::mutex send_mutex;  // guards the rest
  std::deque<Unsent> unsent_;
  int64_t unsent_bytes_ = 0;
  absl::Time told_ = absl::InfinitePast();
};

MpiTransport::MpiTransport(MpiLibrary* mpi) : mpi_(mpi) {}

absl::StatusOr<std::unique_ptr<MpiTransport>> MpiTransport::Create(const MpiRanks& ranks,
                                                                   std::unique_ptr<TcpTransport> tcp,
                                                                   absl::Time deadline,
                                                                   const std::function<absl::Status()>& give_up) {
  auto transport = std::unique_ptr<MpiTransport>(new MpiTransport(ranks.mpi_));
  std::vector<int> members;  // in the order of the processes
  for (const auto& [process, rank] : ranks.ranks_) members.push_back(rank);
  HILO_ASSIGN_OR_RETURN(
      transport->communicator_,
      ranks.mpi_->CreateCommunicator(members, {ranks.failed_.begin(), ranks.failed_.end()}, deadline, give_up));
  int next = 0;
  for (const auto& [process, rank] : ranks.ranks_) {
    const int own = next++;
    if (process != ranks.process_)
      transport->peers_[process] = std::make_unique<Peer>(ranks.mpi_, transport->communicator_, own, rank);
  }
  transport->yields_ = static_cast<int>(members.size()) > UsableCpuCount();
  transport->tcp_ = tcp.get();
  transport->own_tcp_ = std::move(tcp);
  return transport;
}

absl::Status MpiTransport::Start(FrameListener* listener) {
  listener_ = listener;
  for (auto& [process, peer] : peers_) {
    std::lock_guard<std::mutex> lock(peer->receive_mutex);
    HILO_RETURN_IF_ERROR(peer->StartReceiving());
  }
  try {
    const SignalsBlocked signals_blocked;
    worker_ = std::thread([this] { Work(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("the system gives no thread for sends through MPI: ", error.what());
  }
  return tcp_->Start(this);
}

MpiTransport::~MpiTransport() {
  const absl::Time latest = absl::Now() + kLastWords;
  bool is_quiet = !worker_.joinable();
  while (!is_quiet && absl::Now() < latest) {
    is_quiet = !HasUnsent();
    if (is_quiet) break;
    PollAll();
    absl::SleepFor(absl::FromChrono(kWorkInterval));
  }
  {
    std::lock_guard<std::mutex> lock(work_mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  if (worker_.joinable()) worker_.join();
  own_tcp_.reset();
  for (auto& [process, peer] : peers_) {
    std::lock_guard<std::mutex> lock(peer->receive_mutex);
    peer->broken = true;
    is_quiet = peer->StopReceiving() && is_quiet;
  }
  // To free a communicator may wait for processes that are dead or stuck. And once a run has failed, a message that
  // is never received may come after that: in MPICH it crashes this process, or is taken for one of the next
  // communicator.
  const bool may_free = is_quiet && (!has_failure_ || mpi_->survives_failures());
  if (may_free && communicator_ != 0) mpi_->FreeCommunicator(communicator_);
}

std::string MpiTransport::name() const { return absl::StrCat("MPI (", mpi_->version(), ")"); }

void MpiTransport::Break(int64_t process, Peer& peer, const absl::Status& why) {
  peer.broken = true;
  tcp_->Disconnect(process, Unavailable("process ", process, " is gone: ", why.message()));
}

absl::Status MpiTransport::Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                                const std::function<absl::Status()>& give_up) {
  Peer& peer = *peers_.at(process);
  absl::Time next_check = absl::Now();
  while (peer.IsFull() && !peer.is_gone) {
    if (PollAll()) continue;
    if (absl::Now() >= next_check) {
      HILO_RETURN_IF_ERROR(give_up());
      next_check = absl::Now() + absl::Milliseconds(1);
    }
    if (yields_) sched_yield();
  }
  if (peer.is_gone) return peer.gone;
  uint64_t total = 0;
  for (absl::string_view piece : pieces) total += piece.size();
  const MpiHeader wire = {.kind = static_cast<uint64_t>(header.kind),
                          .program = header.program,
                          .run = header.run,
                          .group = header.group,
                          .bytes = total};
  const int64_t in_first = std::min<int64_t>(static_cast<int64_t>(total), kFirstBytes - sizeof(wire));
  std::string first(reinterpret_cast<const char*>(&wire), sizeof(wire));
  first.reserve(sizeof(wire) + in_first);
  std::unique_ptr<AlignedBuffer> rest;
  if (in_first < static_cast<int64_t>(total)) {
    HILO_ASSIGN_OR_RETURN(AlignedBuffer made, AlignedBuffer::Create(static_cast<int64_t>(total) - in_first));
    rest = std::make_unique<AlignedBuffer>(std::move(made));
  }
  int64_t filled = 0;  // of `rest`
  for (absl::string_view piece : pieces) {
    const absl::string_view head = piece.substr(0, kFirstBytes - first.size());
    absl::StrAppend(&first, head);
    piece.remove_prefix(head.size());
    if (!piece.empty()) std::memcpy(rest->data() + filled, piece.data(), piece.size());
    filled += static_cast<int64_t>(piece.size());
  }
  absl::Status status = peer.Send(std::move(first), std::move(rest));
  if (status.ok()) status = peer.TestSends().status();
  if (!status.ok()) {
    Break(process, peer, status);
    return Unavailable("process ", process, " is gone: ", status.message());
  }
  work_.notify_one();
  return status;
}

void MpiTransport::Post(int64_t process, const FrameHeader& header, absl::string_view bytes) {
  const auto found = peers_.find(process);
  if (found == peers_.end()) return;
  Peer& peer = *found->second;
  // A failure overtakes what it ends.
  if (header.kind == FrameKind::kFail) {
    NoteFailure();
    tcp_->Post(process, header, bytes);
    return;
  }
  if (peer.is_gone) return;
  const MpiHeader wire = {.kind = static_cast<uint64_t>(header.kind),
                          .program = header.program,
                          .run = header.run,
                          .group = header.group,
                          .bytes = bytes.size()};
  std::string first(reinterpret_cast<const char*>(&wire), sizeof(wire));
  absl::StrAppend(&first, bytes);
  if (absl::Status status = peer.Send(std::move(first), nullptr); !status.ok()) Break(process, peer, status);
  work_.notify_one();
}

bool MpiTransport::Poll(int64_t process) {
  const auto found = peers_.find(process);
  if (found == peers_.end()) return false;
  Peer& peer = *found->second;
  const std::unique_lock<std::mutex> lock(peer.receive_mutex, std::try_to_lock);
  return lock.owns_lock() && TakeFrame(process, peer);
}

bool MpiTransport::TakeFrame(int64_t process, Peer& peer) {
  if (peer.broken) return false;
  Frame frame;
  const absl::StatusOr<bool> received = peer.Receive(&frame);
  if (!received.ok()) Break(process, peer, received.status());
  if (!received.ok() || !*received) return false;
  listener_->OnFrame(process, std::move(frame));
  return true;
}

bool MpiTransport::PollAll() {
  bool any = false;
  for (auto& [process, peer] : peers_) any = Poll(process) || any;
  return any;
}

// As far as those have not gone that it is for.
bool MpiTransport::HasUnsent() {
  bool any = false;
  for (auto& [process, peer] : peers_) {
    if (peer->is_gone) continue;
    const absl::StatusOr<bool> more = peer->TestSends();
    if (more.ok()) {
      any = any || *more;
    } else {
      Break(process, *peer, more.status());
    }
    if (peer->NeedsAttention()) tcp_->Post(process, {.kind = FrameKind::kAttend}, "");
  }
  return any;
}

bool MpiTransport::WatchForFrames(uint32_t seen) {
  for (int i = 0; i < kPolls; ++i) {
    if (bell_.rings() != seen || PollAll()) return true;
    if (yields_) sched_yield();
  }
  return false;
}

void MpiTransport::SleepForFrames(uint32_t seen, absl::Duration most) { bell_.Sleep(seen, std::min(most, kNap)); }

void MpiTransport::Work() {
  while (!stopping_) {
    const bool any = HasUnsent();
    if (any) PollAll();
    std::unique_lock<std::mutex> lock(work_mutex_);
    if (stopping_) return;
    if (any) {
      work_.wait_for(lock, kWorkInterval);
    } else {
      work_.wait_for(lock, std::chrono::milliseconds(100));
    }
  }
}

void MpiTransport::NoteFailure() {
  has_failure_ = true;
  mpi_->NoteFailure();
}

void MpiTransport::OnFrame(int64_t process, Frame frame) {
  if (frame.header().kind != FrameKind::kAttend) {
    if (frame.header().kind == FrameKind::kFail) NoteFailure();
    listener_->OnFrame(process, std::move(frame));
    return;
  }
  const absl::Time latest = absl::Now() + kAttention;
  for (bool any = false; absl::Now() < latest;) {
    if (Poll(process)) {
      any = true;
    } else if (any) {
      return;
    } else {
      absl::SleepFor(kAttentionInterval);
    }
  }
}

void MpiTransport::OnGone(int64_t process, const absl::Status& why, bool has_left) {
  Peer& peer = *peers_.at(process);
  if (!has_left) {
    NoteFailure();
    mpi_->Suspect(peer.world_rank());
    if (!mpi_->survives_failures()) mpi_->LeaveWithoutFinalizing();
  }
  // What it has sent before it left is on its way, at most.
  const absl::Time latest = absl::Now() + kLastWords;
  {
    std::lock_guard<std::mutex> lock(peer.receive_mutex);
    while (TakeFrame(process, peer) || (has_left && peer.is_in_frame() && absl::Now() < latest)) {
    }
    peer.broken = true;  // nothing comes after this
    listener_->OnGone(process, why, has_left);
  }
  peer.gone = why;
  peer.is_gone = true;
  bell_.Ring();
}

}  // namespace hilo
