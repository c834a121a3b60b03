// A rendezvous is hosted by the process that has named it, whose ranks use it directly. A rank of another process has a
// connection to that process's hub, whose one thread takes part in the rendezvous for it: a frame carries what the
// rank's calls read, and another carries back what they write. Ranks are thus synchronized, compared and failed in a
// single process, wherever they are.
//
// A connection that ends without a message means that the process has died: the communicator is broken for all ranks. A
// rank that leaves regularly announces it first.
#include "backends/gpu/collectives/emulated_hub.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr absl::Duration kConnect = absl::Seconds(10);
constexpr absl::Duration kLastWords = absl::Seconds(1);
constexpr absl::Duration kLinger = absl::Seconds(5);
constexpr uint64_t kMaxHelloBytes = 1024;
constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 40;
constexpr int64_t kMaxRanks = 1 << 20;
constexpr int64_t kMaxCount = int64_t{1} << 36;  // elements of a call, of all ranks

enum class FrameKind : uint32_t {
  kHello,   // the secret, the rendezvous, its size, the rank
  kCalls,   // a group's number and calls, with what they read; reply: the number, and what they have written
  kText,    // a rank's text of an exchange; reply: those of all
  kFailed,  // the rank has aborted, or is broken
};

// Frames over a socket: 8 bytes of length, and the bytes. Non-blocking.
class Wire {
 public:
  explicit Wire(FileDescriptor socket) : socket_(std::move(socket)) {}
  int number() const { return socket_.number(); }
  bool has_output() const { return sent_ < out_.size(); }

  void Put(ByteWriter frame) {
    if (!has_output()) {
      out_.clear();
      sent_ = 0;
    }
    ByteWriter length;
    length.U64(frame.bytes().size());
    out_ += length.bytes();
    out_ += frame.bytes();
  }

  // Sends and receives what is possible without blocking. Errors: Unavailable if the other side is gone; frames
  // received before that are still available.
  absl::Status Pump() {
    while (has_output()) {
      const ssize_t sent = send(number(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
      if (sent > 0) {
        sent_ += sent;
      } else if (errno == EAGAIN) {
        break;
      } else if (errno != EINTR) {
        (void)Receive();
        return Unavailable("the connection is lost: ", ErrnoText(errno));
      }
    }
    return Receive();
  }
  // Sends the rest, before `deadline`.
  void Flush(absl::Time deadline) { SendAll(socket_, absl::string_view(out_).substr(sent_), deadline).IgnoreError(); }

  // Returns the next frame of at most `most` bytes, if it has arrived. Errors: InvalidArgument.
  absl::StatusOr<std::optional<std::string>> Next(uint64_t most) {
    if (in_.size() - taken_ < 8) return std::nullopt;
    const uint64_t length = ByteReader(absl::string_view(in_).substr(taken_, 8), "length of a frame").U64();
    if (length > most) return InvalidArgument("a frame of ", length, " bytes");
    if (in_.size() - taken_ - 8 < length) return std::nullopt;
    std::string frame = in_.substr(taken_ + 8, length);
    taken_ += 8 + length;
    if (taken_ == in_.size()) {
      in_.clear();
      taken_ = 0;
    }
    return frame;
  }

 private:
  absl::Status Receive() {
    char piece[1 << 16];
    while (true) {
      const ssize_t got = recv(number(), piece, sizeof(piece), 0);
      if (got > 0) {
        in_.append(piece, got);
      } else if (got == 0) {
        return Unavailable("the connection was closed by the other side");
      } else if (errno == EAGAIN) {
        return absl::OkStatus();
      } else if (errno != EINTR) {
        return Unavailable("the connection is lost: ", ErrnoText(errno));
      }
    }
  }

  FileDescriptor socket_;
  std::string in_, out_;
  size_t taken_ = 0, sent_ = 0;
};

ByteWriter FrameOf(FrameKind kind) {
  ByteWriter frame;
  frame.U32(static_cast<uint32_t>(kind));
  return frame;
}

ByteWriter FailedFrame(const absl::Status& why) {
  ByteWriter frame = FrameOf(FrameKind::kFailed);
  frame.U32(static_cast<uint32_t>(why.code()));
  frame.Text(why.message());
  return frame;
}

absl::Status ReadFailure(ByteReader& in) {
  const auto code = static_cast<absl::StatusCode>(in.U32());
  return absl::Status(code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code, in.Text());
}

class LocalSeat : public EmulatedSeat {
 public:
  LocalSeat(std::shared_ptr<EmulatedHub> hub, std::shared_ptr<EmulatedRendezvous> rendezvous, int64_t rank)
      : hub_(std::move(hub)), rendezvous_(std::move(rendezvous)), rank_(rank) {}

  bool Advance(const std::shared_ptr<CallGroup>& group) override { return rendezvous_->Advance(rank_, group); }
  absl::Status failure() override { return rendezvous_->failure(rank_); }
  void Abort(const absl::Status& why) override { rendezvous_->Abort(rank_, why); }
  absl::StatusOr<std::vector<std::string>> Exchange(std::string text, const KeepWaiting& keep_waiting) override {
    const int64_t exchange = rendezvous_->Contribute(rank_, std::move(text));
    while (true) {
      if (auto texts = rendezvous_->Take(exchange); texts.has_value()) return *std::move(texts);
      HILO_RETURN_IF_ERROR(failure());
      if (keep_waiting != nullptr) HILO_RETURN_IF_ERROR(keep_waiting());
      rendezvous_->Await();
    }
  }

 private:
  const std::shared_ptr<EmulatedHub> hub_;
  const std::shared_ptr<EmulatedRendezvous> rendezvous_;
  const int64_t rank_;
};

class RemoteSeat : public EmulatedSeat {
 public:
  RemoteSeat(FileDescriptor socket, absl::string_view secret, absl::string_view rendezvous, int64_t size, int64_t rank)
      : wire_(std::move(socket)), size_(size), rank_(rank) {
    ByteWriter frame = FrameOf(FrameKind::kHello);
    frame.Text(secret);
    frame.Text(rendezvous);
    frame.I64(size);
    frame.I64(rank);
    wire_.Put(std::move(frame));
  }
  ~RemoteSeat() override {
    Abort(Cancelled("the communicator has come to its end"));
    wire_.Flush(absl::Now() + kLastWords);
  }

  bool Advance(const std::shared_ptr<CallGroup>& group) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return true;
    if (!group->posted) Post(group);
    Pump();
    return !failure_.ok() || std::find(group->done.begin(), group->done.end(), false) == group->done.end();
  }

  absl::Status failure() override {
    std::lock_guard<std::mutex> lock(mutex_);
    Pump();
    return failure_;
  }

  void Abort(const absl::Status& why) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    wire_.Put(FailedFrame(why));
    wire_.Pump().IgnoreError();
    Fail(why);
  }

  absl::StatusOr<std::vector<std::string>> Exchange(std::string text, const KeepWaiting& keep_waiting) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ByteWriter frame = FrameOf(FrameKind::kText);
      frame.Text(text);
      wire_.Put(std::move(frame));
    }
    while (true) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        Pump();
        if (!texts_.empty()) {
          std::vector<std::string> texts = std::move(texts_.front());
          texts_.pop_front();
          return texts;
        }
        HILO_RETURN_IF_ERROR(failure_);
      }
      if (keep_waiting != nullptr) HILO_RETURN_IF_ERROR(keep_waiting());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

 private:
  void Post(const std::shared_ptr<CallGroup>& group) {
    group->posted = true;
    group->done.assign(group->calls.size(), false);
    ByteWriter frame = FrameOf(FrameKind::kCalls);
    frame.I64(next_);
    frame.U64(group->calls.size());
    for (size_t i = 0; i < group->calls.size(); ++i) {
      const CommunicatorCall& call = group->calls[i];
      frame.U32(static_cast<uint32_t>(call.kind));
      frame.I64(group->numbers[i]);
      frame.I64(call.count);
      frame.U32(static_cast<uint32_t>(call.type));
      frame.U32(static_cast<uint32_t>(call.reduction));
      frame.I64(call.peer);
      frame.I64(call.captured);
      frame.Text({static_cast<const char*>(call.send), static_cast<size_t>(call.send_bytes(rank_, size_))});
    }
    groups_[next_++] = group;
    wire_.Put(std::move(frame));
  }

  // Moves what can be moved without blocking.
  void Pump() {
    if (!failure_.ok()) return;
    const absl::Status gone = wire_.Pump();
    while (failure_.ok()) {
      absl::StatusOr<std::optional<std::string>> frame = wire_.Next(kMaxFrameBytes);
      if (!frame.ok()) return Fail(frame.status());
      if (!frame->has_value()) break;
      if (absl::Status taken = Take(**frame); !taken.ok()) return Fail(taken);
    }
    if (failure_.ok() && !gone.ok())
      Fail(AddContext(gone, "; it went to the process of the communicator's first rank"));
  }

  absl::Status Take(const std::string& frame) {
    ByteReader in(frame, "answer of an emulated communicator");
    const uint32_t kind = in.U32();
    if (kind == static_cast<uint32_t>(FrameKind::kCalls)) return TakeResults(in);
    if (kind == static_cast<uint32_t>(FrameKind::kFailed)) {
      Fail(ReadFailure(in));
      return absl::OkStatus();
    }
    if (kind != static_cast<uint32_t>(FrameKind::kText)) in.Fail("an answer");
    std::vector<std::string> texts;
    for (uint64_t count = in.Count(8); count > 0; --count) texts.emplace_back(in.Text());
    HILO_RETURN_IF_ERROR(in.Finish());
    texts_.push_back(std::move(texts));
    return absl::OkStatus();
  }

  absl::Status TakeResults(ByteReader& in) {
    const auto found = groups_.find(in.I64());
    if (found == groups_.end()) return InvalidArgument("results of calls that were not made");
    const std::shared_ptr<CallGroup> group = std::move(found->second);
    groups_.erase(found);
    for (size_t i = 0; i < group->calls.size(); ++i) {
      const absl::string_view bytes = in.Text();
      if (static_cast<int64_t>(bytes.size()) != group->calls[i].receive_bytes(size_)) in.Fail("the result of a call");
      HILO_RETURN_IF_ERROR(in.status());
      if (!bytes.empty()) std::memcpy(group->calls[i].receive, bytes.data(), bytes.size());
      group->done[i] = true;
    }
    return in.Finish();
  }

  void Fail(const absl::Status& why) {
    failure_ = why;
    groups_.clear();
  }

  std::mutex mutex_;
  Wire wire_;
  const int64_t size_, rank_;
  int64_t next_ = 0;
  absl::flat_hash_map<int64_t, std::shared_ptr<CallGroup>> groups_;  // in flight
  std::deque<std::vector<std::string>> texts_;
  absl::Status failure_;
};

}  // namespace

// A rank of another process.
struct EmulatedHub::Guest {
  explicit Guest(FileDescriptor socket) : wire(std::move(socket)) {}
  Wire wire;
  std::shared_ptr<EmulatedRendezvous> rendezvous;  // null: no hello received
  int64_t rank = 0;
  std::deque<std::pair<int64_t, std::shared_ptr<CallGroup>>> groups;
  std::deque<int64_t> exchanges;
  bool left = false;    // regularly
  bool failed = false;  // and has been notified
  bool gone = false;
};

EmulatedHub::EmulatedHub() = default;

EmulatedHub::~EmulatedHub() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  Wake();
  thread_.join();
}

absl::Status EmulatedHub::Listen() {
  const char* host = std::getenv("HILO_HOST");
  Endpoint endpoint{host == nullptr || *host == '\0' ? "127.0.0.1" : host, 0};
  HILO_ASSIGN_OR_RETURN(listener_, hilo::Listen(endpoint));
  HILO_ASSIGN_OR_RETURN(endpoint.port, LocalPort(listener_));
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.is_open()) return Unavailable("eventfd: ", ErrnoText(errno));
  SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("cannot start a thread: ", error.what());
  }
  address_ = endpoint.ToString();
  return absl::OkStatus();
}

std::string EmulatedHub::MakeName() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (secret_.empty()) {
    secret_ = RandomToken();
    // Without an address the communicator serves this process, and other processes get the reason as an error.
    if (absl::Status status = Listen(); !status.ok()) address_ = absl::StrReplaceAll(status.message(), {{" ", "_"}});
  }
  return absl::StrCat(address_.substr(0, 128), " ", secret_, " ", next_++);
}

std::shared_ptr<EmulatedRendezvous> EmulatedHub::Find(const std::string& number, int64_t size) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<EmulatedRendezvous>& known = rendezvous_[number];
  std::shared_ptr<EmulatedRendezvous> rendezvous = known.lock();
  if (rendezvous == nullptr) {
    absl::erase_if(rendezvous_, [&](const auto& entry) { return entry.first != number && entry.second.expired(); });
    rendezvous = std::make_shared<EmulatedRendezvous>(size, [this] { Wake(); });
    rendezvous_[number] = rendezvous;
  }
  return rendezvous;
}

absl::StatusOr<std::unique_ptr<EmulatedSeat>> EmulatedHub::Open(const std::string& name, int64_t size, int64_t rank) {
  const std::vector<std::string> words = absl::StrSplit(name, ' ');
  if (words.size() != 3) return InvalidArgument("expected the unique id of an emulated communicator, got '", name, "'");
  bool is_here;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_here = SameSecret(words[1], secret_);
  }
  if (is_here) {
    std::shared_ptr<EmulatedRendezvous> rendezvous = Find(words[2], size);
    if (rendezvous->size() != size)
      return InvalidArgument("rank ", rank, " expects ", size, " ranks, others ", rendezvous->size());
    return std::make_unique<LocalSeat>(shared_from_this(), std::move(rendezvous), rank);
  }
  const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(words[0]);
  if (!endpoint.ok()) return Unavailable("the process of the communicator's first rank has no address: ", words[0]);
  HILO_ASSIGN_OR_RETURN(FileDescriptor socket, Connect(*endpoint, absl::Now() + kConnect));
  return std::make_unique<RemoteSeat>(std::move(socket), words[1], words[2], size, rank);
}

void EmulatedHub::Wake() {
  const uint64_t one = 1;
  // A full counter wakes the thread, too.
  if (wake_.is_open()) (void)!write(wake_.number(), &one, sizeof(one));
}

void EmulatedHub::Work() {
  absl::Time end = absl::InfiniteFuture();
  while (true) {
    if (stopping_ && end == absl::InfiniteFuture()) end = absl::Now() + kLinger;
    bool waits = false;
    std::vector<pollfd> polled = {{wake_.number(), POLLIN, 0}, {listener_.number(), POLLIN, 0}};
    for (const auto& guest : guests_) {
      polled.push_back(
          {guest->wire.number(), static_cast<short>(guest->wire.has_output() ? POLLIN | POLLOUT : POLLIN), 0});
      waits |= guest->rendezvous != nullptr && (!guest->left || guest->wire.has_output());
    }
    if (stopping_ && (!waits || absl::Now() >= end)) return;
    poll(polled.data(), polled.size(), PollTimeout(end, 1000));
    uint64_t wakes;
    (void)!read(wake_.number(), &wakes, sizeof(wakes));
    for (FileDescriptor socket = hilo::Accept(listener_); socket.is_open(); socket = hilo::Accept(listener_)) {
      guests_.push_back(std::make_unique<Guest>(std::move(socket)));
    }
    for (const auto& guest : guests_) {
      try {
        Serve(*guest);
      } catch (const std::bad_alloc&) {
        guest->gone = true;
        if (guest->rendezvous != nullptr)
          guest->rendezvous->FailAll(
              ResourceExhausted("rank ", guest->rank, " of the communicator: there is no memory for what it sends"));
      }
    }
    guests_.erase(std::remove_if(guests_.begin(), guests_.end(), [](const auto& guest) { return guest->gone; }),
                  guests_.end());
  }
}

void EmulatedHub::Serve(Guest& guest) {
  absl::Status status = guest.wire.Pump();
  guest.gone = !status.ok();
  while (true) {
    absl::StatusOr<std::optional<std::string>> frame =
        guest.wire.Next(guest.rendezvous == nullptr ? kMaxHelloBytes : kMaxFrameBytes);
    if (frame.ok() && !frame->has_value()) break;
    absl::Status taken = frame.ok() ? Take(guest, **frame) : frame.status();
    if (taken.ok()) continue;
    status = taken;
    guest.gone = true;
    break;
  }
  if (guest.rendezvous == nullptr) return;
  if (guest.gone && !guest.left) {
    guest.rendezvous->FailAll(
        Unavailable("rank ", guest.rank, " of the communicator cannot be reached any more: ", status.message()));
  }
  if (!guest.gone) Answer(guest);
}

absl::Status EmulatedHub::Take(Guest& guest, const std::string& frame) {
  ByteReader in(frame, "frame of an emulated communicator");
  const uint32_t kind = in.U32();
  if (guest.rendezvous == nullptr) {
    const absl::string_view secret = in.Text();
    const std::string number(in.Text());
    const int64_t size = in.I64(), rank = in.I64();
    HILO_RETURN_IF_ERROR(in.Finish());
    // Only this thread and MakeName, before it started the thread, write the secret.
    if (kind != static_cast<uint32_t>(FrameKind::kHello) || !SameSecret(secret, secret_))
      return InvalidArgument("not a rank of ours");
    if (size < 1 || size > kMaxRanks || rank < 0 || rank >= size) return InvalidArgument("rank ", rank, " of ", size);
    guest.rendezvous = Find(number, size);
    guest.rank = rank;
    if (guest.rendezvous->size() == size) return absl::OkStatus();
    guest.left = true;
    guest.wire.Put(
        FailedFrame(InvalidArgument("rank ", rank, " expects ", size, " ranks, others ", guest.rendezvous->size())));
    return absl::OkStatus();
  }
  if (guest.left) return absl::OkStatus();
  switch (static_cast<FrameKind>(kind)) {
    case FrameKind::kCalls: return TakeCalls(guest, in);
    case FrameKind::kText: {
      const std::string text(in.Text());
      HILO_RETURN_IF_ERROR(in.Finish());
      guest.exchanges.push_back(guest.rendezvous->Contribute(guest.rank, text));
      return absl::OkStatus();
    }
    case FrameKind::kFailed:
      guest.left = true;
      guest.rendezvous->Abort(guest.rank, ReadFailure(in));
      return absl::OkStatus();
    default: return InvalidArgument("a frame of kind ", kind);
  }
}

absl::Status EmulatedHub::TakeCalls(Guest& guest, ByteReader& in) {
  const int64_t number = in.I64(), size = guest.rendezvous->size();
  auto group = std::make_shared<CallGroup>();
  constexpr uint64_t kCallBytes = 52;
  for (uint64_t count = in.Count(kCallBytes); count > 0; --count) {
    CommunicatorCall call;
    call.kind = static_cast<CommunicatorCall::Kind>(in.U32());
    group->numbers.push_back(in.I64());
    call.count = in.I64();
    call.type = static_cast<PrimitiveType>(in.U32());
    call.reduction = static_cast<DeviceReduction>(in.U32());
    call.peer = in.I64();
    call.captured = in.I64();
    const absl::string_view data = in.Text();
    HILO_RETURN_IF_ERROR(in.status());
    const bool has_peer = call.kind == CommunicatorCall::Kind::kBroadcast || !call.is_collective();
    if (call.kind > CommunicatorCall::Kind::kReceive || call.reduction > DeviceReduction::kMin ||
        !IsCommunicable(call.type) || call.count < 0 || call.count > kMaxCount / size ||
        (has_peer && (call.peer < 0 || call.peer >= size)) ||
        static_cast<int64_t>(data.size()) != call.send_bytes(guest.rank, size)) {
      return InvalidArgument("a call that cannot be: ", call.count, " elements, ", data.size(), " bytes");
    }
    group->memory.emplace_back(data);
    group->memory.emplace_back(call.receive_bytes(size), '\0');
    group->calls.push_back(call);
  }
  HILO_RETURN_IF_ERROR(in.Finish());
  for (size_t i = 0; i < group->calls.size(); ++i) {
    group->calls[i].send = group->memory[2 * i].data();
    group->calls[i].receive = group->memory[2 * i + 1].data();
  }
  guest.rendezvous->Advance(guest.rank, group);
  guest.groups.emplace_back(number, std::move(group));
  return absl::OkStatus();
}

void EmulatedHub::Answer(Guest& guest) {
  const absl::Status failure = guest.rendezvous->failure(guest.rank);
  for (auto it = guest.groups.begin(); failure.ok() && it != guest.groups.end();) {
    if (!guest.rendezvous->Advance(guest.rank, it->second) || !guest.rendezvous->failure(guest.rank).ok()) {
      ++it;
      continue;
    }
    ByteWriter frame = FrameOf(FrameKind::kCalls);
    frame.I64(it->first);
    for (size_t i = 0; i < it->second->calls.size(); ++i) frame.Text(it->second->memory[2 * i + 1]);
    guest.wire.Put(std::move(frame));
    it = guest.groups.erase(it);
  }
  while (!guest.exchanges.empty()) {
    const auto texts = guest.rendezvous->Take(guest.exchanges.front());
    if (!texts.has_value()) break;
    guest.exchanges.pop_front();
    ByteWriter frame = FrameOf(FrameKind::kText);
    frame.U64(texts->size());
    for (const std::string& text : *texts) frame.Text(text);
    guest.wire.Put(std::move(frame));
  }
  if (!failure.ok() && !guest.left && !guest.failed) {
    guest.failed = true;
    guest.groups.clear();
    guest.wire.Put(FailedFrame(failure));
  }
  if (guest.wire.has_output() && !guest.wire.Pump().ok()) guest.gone = true;
}

}  // namespace hilo::gpu
