// Frames are written by the thread that sends, straight from the caller's memory. One thread of the
// transport reads all connections and passes complete frames to the listener, so that a process always
// receives what is sent to it, and two that send to each other cannot block each other. A frame whose
// sender has given up halfway, and small ones that must not wait, go into a backlog that the same
// thread writes out: the stream between two processes is never cut in the middle of a frame.
#include "collectives/processes/tcp_transport.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int kSocketPollMilliseconds = 5;
constexpr size_t kStagingBytes = 1 << 16;
constexpr int kRoundsAtOnce = 64;
constexpr size_t kMaxIovecs = 64;
constexpr uint64_t kMaxTcpFrameBytes = uint64_t{1} << 44;
constexpr absl::Duration kTcpLastWords = absl::Seconds(1);

// A frame on the wire: this, and the bytes.
struct TcpHeader {
  char magic[4];
  uint32_t kind;
  uint64_t program, run, group, bytes;
};
constexpr char kMagic[4] = {'H', 'L', 'O', '1'};

TcpHeader ToWire(const FrameHeader& header, uint64_t bytes) {
  TcpHeader wire = {.magic = {},
                    .kind = static_cast<uint32_t>(header.kind),
                    .program = header.program,
                    .run = header.run,
                    .group = header.group,
                    .bytes = bytes};
  std::memcpy(wire.magic, kMagic, sizeof(kMagic));
  return wire;
}

absl::string_view BytesOf(const TcpHeader& wire) { return {reinterpret_cast<const char*>(&wire), sizeof(wire)}; }

}  // namespace

struct TcpTransport::Peer {
  FileDescriptor socket;

  // Of the transport's thread.
  bool open = true;
  bool leaving = false;
  std::vector<char> staging;  // received, not parsed yet: from begin to end
  size_t begin = 0, end = 0;
  bool in_frame = false;
  FrameHeader header;
  AlignedBuffer bytes;
  int64_t filled = 0;

  std::mutex mutex;
  std::condition_variable changed;
  bool writing = false;  // a thread writes its frame
  std::string backlog;   // what comes after that
  absl::Status gone;
  absl::Status ended;  // why this side has ended the connection
};

absl::StatusOr<std::unique_ptr<TcpTransport>> TcpTransport::Create(std::vector<FileDescriptor> sockets) {
  auto transport = std::unique_ptr<TcpTransport>(new TcpTransport);
  for (FileDescriptor& socket : sockets) {
    transport->peers_.push_back(socket.is_open() ? std::make_unique<Peer>() : nullptr);
    if (!socket.is_open()) continue;
    transport->peers_.back()->socket = std::move(socket);
    transport->peers_.back()->staging.resize(kStagingBytes);
  }
  transport->wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!transport->wake_.is_open()) return Unavailable("eventfd: ", ErrnoText(errno));
  return transport;
}

int64_t TcpTransport::connections() const {
  return static_cast<int64_t>(peers_.size()) - std::count(peers_.begin(), peers_.end(), nullptr);
}

absl::Status TcpTransport::Start(FrameListener* listener) {
  listener_ = listener;
  try {
    const SignalsBlocked signals_blocked;
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("the system gives no thread for the connections to other processes: ", error.what());
  }
  return absl::OkStatus();
}

void TcpTransport::WakeWorker() {
  const uint64_t one = 1;
  // It fails only if the thread has been woken 2^64 times already.
  if (write(wake_.number(), &one, sizeof(one)) < 0) return;
}

TcpTransport::~TcpTransport() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  WakeWorker();
  thread_.join();
}

absl::Status TcpTransport::Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                                const std::function<absl::Status()>& give_up) {
  Peer& peer = *peers_[process];
  {
    std::unique_lock<std::mutex> lock(peer.mutex);
    while (peer.gone.ok() && (peer.writing || !peer.backlog.empty())) {
      peer.changed.wait_for(lock, std::chrono::milliseconds(kSocketPollMilliseconds));
      HILO_RETURN_IF_ERROR(give_up());
    }
    if (!peer.gone.ok()) return peer.gone;
    peer.writing = true;
  }
  uint64_t bytes = 0;
  for (absl::string_view piece : pieces) bytes += piece.size();
  const TcpHeader wire = ToWire(header, bytes);
  std::vector<iovec> left;
  for (absl::string_view piece : {BytesOf(wire)}) left.push_back({const_cast<char*>(piece.data()), piece.size()});
  for (absl::string_view piece : pieces) {
    if (!piece.empty()) left.push_back({const_cast<char*>(piece.data()), piece.size()});
  }
  size_t next = 0;  // in `left`
  bool begun = false, lost = false;
  absl::Status status;
  while (next < left.size() && status.ok()) {
    msghdr message = {};
    message.msg_iov = &left[next];
    message.msg_iovlen = std::min(left.size() - next, kMaxIovecs);
    const ssize_t sent = sendmsg(peer.socket.number(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      pollfd one = {.fd = peer.socket.number(), .events = POLLOUT, .revents = 0};
      if (poll(&one, 1, kSocketPollMilliseconds) == 0) status = give_up();
    } else if (sent < 0 && errno != EINTR) {
      status = Unavailable("the connection to process ", process, " is lost: ", ErrnoText(errno));
      lost = true;
      next = left.size();
    }
    for (size_t rest = sent < 0 ? 0 : sent; rest > 0;) {
      begun = true;
      const size_t taken = std::min(rest, left[next].iov_len);
      left[next].iov_base = static_cast<char*>(left[next].iov_base) + taken;
      left[next].iov_len -= taken;
      rest -= taken;
      if (left[next].iov_len == 0) ++next;
    }
  }
  std::unique_lock<std::mutex> lock(peer.mutex);
  peer.writing = false;
  if (begun && next < left.size()) {
    std::string remainder;
    for (; next < left.size(); ++next)
      remainder.append(static_cast<const char*>(left[next].iov_base), left[next].iov_len);
    peer.backlog.insert(0, remainder);
  }
  if (!peer.backlog.empty()) WakeWorker();
  peer.changed.notify_all();
  if (lost) {
    // The other side may have sent the reason why it leaves; the transport's thread delivers that first.
    if (!peer.changed.wait_for(lock, absl::ToChronoMilliseconds(kTcpLastWords), [&] { return !peer.gone.ok(); }))
      shutdown(peer.socket.number(), SHUT_RDWR);
  }
  return status;
}

void TcpTransport::Post(int64_t process, const FrameHeader& header, absl::string_view bytes) {
  if (peers_[process] == nullptr) return;
  Peer& peer = *peers_[process];
  std::lock_guard<std::mutex> lock(peer.mutex);
  if (!peer.gone.ok()) return;
  const TcpHeader wire = ToWire(header, bytes.size());
  absl::StrAppend(&peer.backlog, BytesOf(wire), bytes);
  if (peer.writing) return;
  Flush(peer);
  if (!peer.backlog.empty()) WakeWorker();
}

void TcpTransport::Disconnect(int64_t process, const absl::Status& why) {
  Peer& peer = *peers_[process];
  std::lock_guard<std::mutex> lock(peer.mutex);
  peer.ended = why;
  shutdown(peer.socket.number(), SHUT_RDWR);
}

// With peer.mutex held, and no writer active.
void TcpTransport::Flush(Peer& peer) {
  size_t done = 0;
  while (done < peer.backlog.size()) {
    const ssize_t sent =
        send(peer.socket.number(), peer.backlog.data() + done, peer.backlog.size() - done, MSG_NOSIGNAL);
    if (sent > 0) {
      done += sent;
    } else if (errno != EINTR) {
      break;  // full; a lost connection is found out by reading
    }
  }
  peer.backlog.erase(0, done);
  if (peer.backlog.empty()) peer.changed.notify_all();
}

void TcpTransport::Work() {
  while (!stopping_) Serve(-1);
  for (size_t process = 0; process < peers_.size(); ++process) {
    Post(static_cast<int64_t>(process), {.kind = FrameKind::kLeave}, "");
  }
  auto has_words = [](const std::unique_ptr<Peer>& peer) {
    if (peer == nullptr || !peer->open) return false;
    std::lock_guard<std::mutex> lock(peer->mutex);
    return !peer->backlog.empty();
  };
  const absl::Time latest = absl::Now() + kTcpLastWords;
  while (absl::Now() < latest && std::any_of(peers_.begin(), peers_.end(), has_words)) {
    Serve(kSocketPollMilliseconds);
  }
}

// Reads and writes what can be, once there is something.
void TcpTransport::Serve(int milliseconds) {
  std::vector<pollfd> polled = {{.fd = wake_.number(), .events = POLLIN, .revents = 0}};
  for (const auto& peer : peers_) {
    pollfd one = {.fd = -1, .events = POLLIN, .revents = 0};
    if (peer != nullptr && peer->open) {
      std::lock_guard<std::mutex> lock(peer->mutex);
      one.fd = peer->socket.number();
      if (!peer->writing && !peer->backlog.empty()) one.events |= POLLOUT;
    }
    polled.push_back(one);
  }
  if (poll(polled.data(), polled.size(), milliseconds) <= 0) return;
  uint64_t count;
  if (polled[0].revents != 0 && read(wake_.number(), &count, sizeof(count)) < 0) return;
  for (size_t process = 0; process < peers_.size(); ++process) {
    const short events = polled[process + 1].revents;
    if (events == 0) continue;
    Peer& peer = *peers_[process];
    if ((events & POLLOUT) != 0) {
      std::lock_guard<std::mutex> lock(peer.mutex);
      if (!peer.writing) Flush(peer);
    }
    if ((events & ~POLLOUT) != 0) peer.open = Read(peer, static_cast<int64_t>(process));
  }
}

// Reads the available bytes. False: end of the connection.
bool TcpTransport::Read(Peer& peer, int64_t process) {
  absl::Status why;
  bool has_left = false;
  for (int attempt = 0; why.ok(); ++attempt) {
    if (attempt == kRoundsAtOnce) return true;  // the others have waited long enough
    // Large payloads are read directly into their destination.
    const int64_t wanted = peer.in_frame ? peer.bytes.size() - peer.filled : 0;
    const bool direct = wanted >= static_cast<int64_t>(kStagingBytes);
    if (!direct && peer.begin > 0) {
      std::memmove(peer.staging.data(), peer.staging.data() + peer.begin, peer.end - peer.begin);
      peer.end -= std::exchange(peer.begin, 0);
    }
    char* const to = direct ? reinterpret_cast<char*>(peer.bytes.data()) + peer.filled : peer.staging.data() + peer.end;
    const ssize_t got = recv(peer.socket.number(), to, direct ? wanted : kStagingBytes - peer.end, 0);
    if (got < 0 && errno == EAGAIN) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      has_left = peer.leaving;
      why = peer.leaving ? Unavailable("process ", process, " has left")
            : got == 0   ? Unavailable("process ", process, " is gone: the connection was closed by the other side")
                         : Unavailable("process ", process, " is gone: ", ErrnoText(errno));
      break;
    }
    if (direct) {
      peer.filled += got;
    } else {
      peer.end += got;
    }
    why = TakeFrames(peer, process);
  }
  {
    std::lock_guard<std::mutex> lock(peer.mutex);
    if (!peer.ended.ok()) why = peer.ended;
    peer.gone = why;
    peer.backlog.clear();
    peer.changed.notify_all();
  }
  listener_->OnGone(process, why, has_left);
  return false;
}

// Hands over the frames that are complete.
absl::Status TcpTransport::TakeFrames(Peer& peer, int64_t process) {
  while (true) {
    if (!peer.in_frame) {
      TcpHeader wire;
      if (peer.end - peer.begin < sizeof(wire)) return absl::OkStatus();
      std::memcpy(&wire, peer.staging.data() + peer.begin, sizeof(wire));
      if (std::memcmp(wire.magic, kMagic, sizeof(kMagic)) != 0 || wire.bytes > kMaxTcpFrameBytes)
        return Unavailable("process ", process, " sends what is no frame");
      peer.begin += sizeof(wire);
      peer.header = {static_cast<FrameKind>(wire.kind), wire.program, wire.run, wire.group};
      auto bytes = AlignedBuffer::Create(static_cast<int64_t>(wire.bytes));
      if (!bytes.ok()) return AddContext(bytes.status(), absl::StrCat("; for a frame of process ", process));
      peer.bytes = *std::move(bytes);
      peer.filled = 0;
      peer.in_frame = true;
    }
    const int64_t taken = std::min<int64_t>(peer.end - peer.begin, peer.bytes.size() - peer.filled);
    if (taken > 0) std::memcpy(peer.bytes.data() + peer.filled, peer.staging.data() + peer.begin, taken);
    peer.begin += taken;
    peer.filled += taken;
    if (peer.filled < peer.bytes.size()) return absl::OkStatus();
    peer.in_frame = false;
    if (peer.header.kind == FrameKind::kLeave) {
      peer.leaving = true;
    } else {
      listener_->OnFrame(process, Frame(peer.header, std::move(peer.bytes)));
    }
    peer.bytes = AlignedBuffer();
  }
}

}  // namespace hilo
