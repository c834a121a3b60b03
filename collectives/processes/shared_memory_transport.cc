// Every process has a segment with its bell and a ring for each other process, into which that one writes. A frame is
// copied once, from the sender's arrays into the ring; a rank that waits for it combines or copies it from there.
//
// There is no thread that reads rings. A rank that waits polls its bell and takes frames itself, including those of
// other ranks, so two ranks that wait for each other exchange small frames without system calls. What must be noticed
// although no rank waits goes over TCP: failures, the end of a process, and the request of a sender that lacks space,
// for which the TCP transport's thread empties the ring. Before that thread delivers a frame of a process, it takes all
// that is in the process's ring, so that the last frames of a process are not lost.
//
// Memory that another process writes is not trusted (see shared_ring.h). A process that writes anything but records is
// disconnected.
#include "collectives/processes/shared_memory_transport.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "base/spin.h"
#include "collectives/processes/shared_ring.h"
#include "collectives/streamed_copy.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int64_t kPage = 4096;
// Of a ring; less if there are many.
constexpr int64_t kMaxRingBytes = 4 << 20, kMinRingBytes = 64 << 10, kInboxBytes = 16 << 20;
// Several of them fit in a ring.
constexpr int64_t kSectionBytes = 512 << 10;
constexpr int64_t kMaxRingFrame = int64_t{1} << 44;
// Frames of as many bytes are written past the cache: between processors that do not share one, a line that is in the
// other's is slower to get than one in memory (copies of 1 MiB through a ring: 0.1 rather than 0.45 ms).
constexpr int64_t kStreamedFrame = 2 << 10;
constexpr size_t kTokenBytes = 32;
constexpr std::chrono::milliseconds kBellPoll(5);
// After as many attempts a thread looks at its limits, though frames keep coming.
constexpr int kAttempts = 256;
// After which a process that waits for space signals it.
constexpr absl::Duration kSpacePatience = absl::Milliseconds(1);
// How long the TCP transport's thread reads for a process that signals this.
constexpr absl::Duration kTcpAttention = absl::Milliseconds(20);
// How long a rank watches for the others before it sleeps: some 50 us.
constexpr int kWaitSpins = 5 * kSpins;
// The same if processes share processors: as often it lets others run, which costs less than to sleep and be woken.
constexpr int kWaitYields = 10;

struct InboxHead {
  char token[kTokenBytes];
  cpu_set_t processors;  // on which the process may run
  alignas(64) Bell bell;
};
static_assert(sizeof(InboxHead) <= kPage);

// How a rank watches where `processes` processes share the processors.
Watch WatchFor(int64_t processes, const cpu_set_t& processors) {
  const int quota = CgroupCpuQuota("");
  const bool has_own = processes <= CPU_COUNT(&processors) && (quota == 0 || processes <= quota);
  return has_own ? Watch{.polls = kWaitSpins} : Watch{.polls = kWaitYields, .yields = true};
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedInboxes>> SharedInboxes::Create(int64_t process, int64_t process_count) {
  if (kPage % sysconf(_SC_PAGESIZE) != 0) return Unavailable("pages of ", sysconf(_SC_PAGESIZE), " bytes are not used");
  auto inboxes = std::unique_ptr<SharedInboxes>(new SharedInboxes);
  inboxes->process_ = process;
  inboxes->outboxes_.resize(process_count);
  inboxes->ring_bytes_ = kMaxRingBytes;
  while (inboxes->ring_bytes_ > kMinRingBytes && inboxes->ring_bytes_ * (process_count - 1) > kInboxBytes)
    inboxes->ring_bytes_ /= 2;
  inboxes->segment_bytes_ = inboxes->SlotOffset(process_count, process_count - 1);
  HILO_ASSIGN_OR_RETURN(SharedSegment segment, SharedSegment::Create(inboxes->segment_bytes_));
  HILO_RETURN_IF_ERROR(segment.Allocate(0, kPage));
  HILO_ASSIGN_OR_RETURN(inboxes->own_, segment.Map(0, inboxes->segment_bytes_));
  const std::string token = RandomToken();
  auto* const head = new (inboxes->own_.data()) InboxHead{};
  token.copy(head->token, kTokenBytes);
  // One that cannot be told counts for nothing: there are more processors than a set holds.
  if (sched_getaffinity(0, sizeof(head->processors), &head->processors) != 0) CPU_ZERO(&head->processors);
  HILO_ASSIGN_OR_RETURN(const std::string offer, segment.Offer());
  inboxes->offer_ = absl::StrCat(token, " ", offer);
  inboxes->segment_ = std::make_unique<SharedSegment>(std::move(segment));
  return inboxes;
}

int64_t SharedInboxes::SlotOffset(int64_t owner, int64_t sender) const {
  return kPage + (sender - (sender > owner ? 1 : 0)) * (kPage + ring_bytes_);
}

absl::Status SharedInboxes::Open(int64_t process, absl::string_view offer) {
  const absl::string_view token = offer.substr(0, kTokenBytes);
  if (offer.size() <= kTokenBytes + 1) return InvalidArgument("'", offer, "' offers no shared memory");
  HILO_ASSIGN_OR_RETURN(const SharedSegment segment,
                        SharedSegment::Open(offer.substr(kTokenBytes + 1), segment_bytes_));
  HILO_ASSIGN_OR_RETURN(Mapping head, segment.Map(0, kPage));
  if (!SameSecret(token, absl::string_view(reinterpret_cast<const InboxHead*>(head.data())->token, kTokenBytes)))
    return Unavailable("the shared memory at '", offer, "' is that of another process");
  const int64_t slot_bytes = kPage + ring_bytes_;
  HILO_ASSIGN_OR_RETURN(Mapping slot, segment.Map(SlotOffset(process, process_), slot_bytes));
  HILO_RETURN_IF_ERROR(segment_->Allocate(SlotOffset(process_, process), slot_bytes));
  outboxes_[process] = {std::move(head), std::move(slot)};
  return absl::OkStatus();
}

// The other end of two rings.
class SharedMemoryTransport::Peer final : public Frame::Lender {
 public:
  Peer(SharedInboxes::Outbox& outbox, uint8_t* inbox, int64_t ring_bytes)
      : bell(reinterpret_cast<InboxHead*>(outbox.head.data())->bell),
        writer(reinterpret_cast<RingControl*>(outbox.slot.data()), outbox.slot.data() + kPage, ring_bytes),
        reader(reinterpret_cast<RingControl*>(inbox), inbox + kPage, ring_bytes) {}

  void Return(const uint8_t* data) override {
    if (reader.Return(data)) bell.Ring();
  }

  // A thread that sends to the peer has its turn, from AwaitTurn or TryTurn on.
  absl::Status AwaitTurn(const std::function<absl::Status()>& give_up) {
    std::unique_lock<std::mutex> lock(turn_mutex);
    while (sending) {
      turn_ended.wait_for(lock, kBellPoll);
      HILO_RETURN_IF_ERROR(give_up());
    }
    sending = true;
    return absl::OkStatus();
  }
  bool TryTurn() {
    std::lock_guard<std::mutex> lock(turn_mutex);
    return !std::exchange(sending, true);
  }
  void EndTurn() {
    std::lock_guard<std::mutex> lock(turn_mutex);
    sending = false;
    turn_ended.notify_one();
  }

  Bell& bell;         // the peer's
  RingWriter writer;  // of the thread whose turn it is

  std::mutex turn_mutex;
  std::condition_variable turn_ended;
  bool sending = false;

  std::mutex receive_mutex;  // guards the rest; the listener is called with it held
  RingReader reader;
  bool broken = false;
  bool in_frame = false;  // which comes in several records
  FrameHeader header;
  AlignedBuffer bytes;
  int64_t filled = 0;

  std::atomic<bool> is_gone{false};
  absl::Status gone;  // set before is_gone
};

SharedMemoryTransport::SharedMemoryTransport(std::unique_ptr<SharedInboxes> inboxes, const std::vector<bool>& shares,
                                             bool all_share, std::unique_ptr<TcpTransport> tcp)
    : inboxes_(std::move(inboxes)),
      bell_(&reinterpret_cast<InboxHead*>(inboxes_->own_.data())->bell),
      section_bytes_(all_share ? kSectionBytes : TcpTransport::kSectionBytes),
      tcp_(std::move(tcp)) {
  inboxes_->segment_.reset();  // all have opened it
  int64_t sharing = 1;
  cpu_set_t processors = reinterpret_cast<InboxHead*>(inboxes_->own_.data())->processors;
  for (size_t process = 0; process < shares.size(); ++process) {
    peers_.emplace_back();
    if (!shares[process]) continue;
    ++sharing;
    const cpu_set_t others = reinterpret_cast<InboxHead*>(inboxes_->outboxes_[process].head.data())->processors;
    CPU_OR(&processors, &processors, &others);
    uint8_t* const inbox =
        inboxes_->own_.data() + inboxes_->SlotOffset(inboxes_->process_, static_cast<int64_t>(process));
    peers_.back() = std::make_unique<Peer>(inboxes_->outboxes_[process], inbox, inboxes_->ring_bytes_);
  }
  watch_ = WatchFor(sharing, processors);
}

SharedMemoryTransport::~SharedMemoryTransport() = default;

std::string SharedMemoryTransport::name() const {
  const int64_t sharing = static_cast<int64_t>(peers_.size()) - std::count(peers_.begin(), peers_.end(), nullptr);
  const int64_t others = tcp_->connections();
  return sharing == others ? "shared memory"
                           : absl::StrCat("shared memory with ", sharing, ", TCP with ", others - sharing);
}

absl::Status SharedMemoryTransport::Start(FrameListener* listener) {
  listener_ = listener;
  return tcp_->Start(this);
}

absl::Status SharedMemoryTransport::AwaitSpace(int64_t process, Peer& peer, int64_t bytes,
                                               const std::function<absl::Status()>& give_up, uint8_t** space) {
  if ((*space = peer.writer.Reserve(bytes)) != nullptr) return absl::OkStatus();
  absl::Status status;
  absl::Time patient_until = absl::Now() + kSpacePatience;
  peer.writer.SetStarved(true);
  for (int64_t attempt = 1;; ++attempt) {
    const uint32_t rings = bell_->rings();
    if ((*space = peer.writer.Reserve(bytes)) != nullptr) break;
    // The peer may be waiting for space as well, or for one that does.
    if ((PollAll() || bell_->WatchWhile(rings, watch_)) && attempt % kAttempts != 0) continue;
    status = peer.is_gone ? peer.gone : give_up();
    if (!status.ok()) break;
    if (absl::Now() >= patient_until) {
      tcp_->Post(process, {.kind = FrameKind::kAttend}, "");
      patient_until = absl::Now() + kSpacePatience;
    }
    bell_->Sleep(rings, kSpacePatience);
  }
  peer.writer.SetStarved(false);
  return status;
}

absl::Status SharedMemoryTransport::Send(int64_t process, const FrameHeader& header,
                                         absl::Span<const absl::string_view> pieces,
                                         const std::function<absl::Status()>& give_up) {
  if (peers_[process] == nullptr) return tcp_->Send(process, header, pieces, give_up);
  Peer& peer = *peers_[process];
  HILO_RETURN_IF_ERROR(peer.AwaitTurn(give_up));
  const auto end_turn = absl::MakeCleanup([&] { peer.EndTurn(); });
  if (peer.is_gone) return peer.gone;
  RecordHeader record{.frame = header};
  for (absl::string_view piece : pieces) record.frame_bytes += static_cast<int64_t>(piece.size());
  // What does not fit as a whole goes in records of which some are read while others are written.
  const int64_t most = record.frame_bytes <= peer.writer.most() ? record.frame_bytes : peer.writer.most() / 2;
  const bool streamed = record.frame_bytes >= kStreamedFrame;
  size_t next = 0, done = 0;  // in `pieces`, and in the next of them
  do {
    record.bytes = std::min(most, record.frame_bytes - record.begin);
    uint8_t* space;
    HILO_RETURN_IF_ERROR(AwaitSpace(process, peer, record.bytes, give_up, &space));
    for (int64_t copied = 0; copied < record.bytes;) {
      const size_t count = std::min<size_t>(pieces[next].size() - done, record.bytes - copied);
      const auto* const from = reinterpret_cast<const uint8_t*>(pieces[next].data()) + done;
      if (count > 0) CopyBytes(space + copied, from, static_cast<int64_t>(count), streamed);
      copied += static_cast<int64_t>(count);
      done += count;
      if (done == pieces[next].size()) ++next, done = 0;
    }
    peer.writer.Publish(record);
    peer.bell.Ring();
    record.begin += record.bytes;
  } while (record.begin < record.frame_bytes);
  return absl::OkStatus();
}

void SharedMemoryTransport::Post(int64_t process, const FrameHeader& header, absl::string_view bytes) {
  if (peers_[process] != nullptr && (header.kind == FrameKind::kFinish || header.kind == FrameKind::kBegin)) {
    Peer& peer = *peers_[process];
    const auto size = static_cast<int64_t>(bytes.size());
    if (peer.TryTurn()) {
      const auto end_turn = absl::MakeCleanup([&] { peer.EndTurn(); });
      if (uint8_t* const space = peer.is_gone ? nullptr : peer.writer.Reserve(size); space != nullptr) {
        bytes.copy(reinterpret_cast<char*>(space), bytes.size());
        peer.writer.Publish({.frame = header, .frame_bytes = size, .bytes = size});
        peer.bell.Ring();
        return;
      }
    }
  }
  tcp_->Post(process, header, bytes);
}

bool SharedMemoryTransport::TakeRecord(int64_t process, Peer& peer) {
  if (peer.broken || !peer.reader.HasNext()) return false;
  absl::StatusOr<std::optional<RingReader::Record>> next = peer.reader.Next();
  absl::Status status = next.status();
  if (status.ok()) {
    if (!next->has_value()) return false;
    const RecordHeader& record = (*next)->header;
    Frame part(record.frame, absl::MakeConstSpan((*next)->data, record.bytes), &peer);
    if (record.begin == 0) peer.in_frame = false;  // the sender has given up the one before
    if (record.bytes == record.frame_bytes) {
      listener_->OnFrame(process, std::move(part));
      return true;
    }
    if (record.begin == 0 && record.frame_bytes <= kMaxRingFrame) {
      auto bytes = AlignedBuffer::Create(record.frame_bytes);
      status = bytes.status();
      if (status.ok()) peer.bytes = *std::move(bytes);
      peer.in_frame = status.ok();
      peer.header = record.frame;
      peer.filled = 0;
    }
    if (status.ok() && (!peer.in_frame || record.begin != peer.filled || record.frame_bytes != peer.bytes.size()))
      status = InvalidArgument("expected a part of a frame at ", peer.filled, ", got one at ", record.begin, " of ",
                               record.frame_bytes, " bytes");
    if (status.ok()) {
      std::memcpy(peer.bytes.data() + peer.filled, part.data(), part.size());
      peer.filled += part.size();
      if (peer.filled == peer.bytes.size()) {
        peer.in_frame = false;
        part = Frame();
        listener_->OnFrame(process, Frame(peer.header, std::move(peer.bytes)));
      }
      return true;
    }
  }
  peer.broken = true;
  tcp_->Disconnect(process, Unavailable("process ", process, " is gone: in shared memory, ", status.message()));
  return false;
}

void SharedMemoryTransport::TakeRecords(int64_t process, Peer& peer) {
  for (int64_t i = 0; i < inboxes_->ring_bytes_ / kFrameAlignment && TakeRecord(process, peer); ++i) {
  }
}

bool SharedMemoryTransport::Poll(int64_t process) {
  if (peers_[process] == nullptr) return false;
  Peer& peer = *peers_[process];
  if (!peer.reader.HasNext()) return false;
  std::lock_guard<std::mutex> lock(peer.receive_mutex);
  return TakeRecord(process, peer);
}

bool SharedMemoryTransport::PollAll() {
  bool any = false;
  for (size_t process = 0; process < peers_.size(); ++process) any = Poll(static_cast<int64_t>(process)) || any;
  return any;
}

void SharedMemoryTransport::OnFrame(int64_t process, Frame frame) {
  if (peers_[process] == nullptr) {
    listener_->OnFrame(process, std::move(frame));
    return;
  }
  Peer& peer = *peers_[process];
  std::lock_guard<std::mutex> lock(peer.receive_mutex);
  TakeRecords(process, peer);
  if (frame.header().kind != FrameKind::kAttend) {
    listener_->OnFrame(process, std::move(frame));
    return;
  }
  // The rest of a long frame, but the other connections need attention, too.
  const absl::Time latest = absl::Now() + kTcpAttention;
  while (peer.in_frame && absl::Now() < latest && SpinUntil([&] { return peer.reader.HasNext(); }, kWaitSpins) &&
         TakeRecord(process, peer)) {
  }
}

void SharedMemoryTransport::OnGone(int64_t process, const absl::Status& why, bool has_left) {
  if (peers_[process] == nullptr) {
    listener_->OnGone(process, why, has_left);
    return;
  }
  Peer& peer = *peers_[process];
  {
    std::lock_guard<std::mutex> lock(peer.receive_mutex);
    TakeRecords(process, peer);
    peer.broken = true;  // nothing comes after this
    listener_->OnGone(process, why, has_left);
  }
  peer.gone = why;
  peer.is_gone = true;
  bell_->Ring();
}

}  // namespace hilo
