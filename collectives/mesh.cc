// Every process listens on its own port, publishes the address in the store, and connects to
// those of lower numbers. A connecting process proves that it has the token that process 0 has put into
// the store for this group; others are rejected.
//
// Frames are written by the thread that sends, straight from the caller's memory. One thread of the
// mesh reads all connections and passes complete frames to the listener, so that a process always
// receives what is sent to it, and two that send to each other cannot block each other. A frame whose
// sender has given up halfway, and small ones that must not wait, go into a backlog that the same
// thread writes out: the stream between two processes is never cut in the middle of a frame.
#include "collectives/mesh.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <new>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/sha256.h"
#include "base/signals_blocked.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int kPollMilliseconds = 5;
constexpr size_t kStagingBytes = 1 << 16;
constexpr int kRoundsAtOnce = 64;
constexpr size_t kMaxIovecs = 64;
constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 44;
constexpr absl::Duration kLastWords = absl::Seconds(1);

// A frame on the wire: this, and the bytes.
struct WireHeader {
  char magic[4];
  uint32_t kind;
  uint64_t program, run, group, bytes;
};
constexpr char kMagic[4] = {'H', 'L', 'O', '1'};

WireHeader ToWire(const FrameHeader& header, uint64_t bytes) {
  WireHeader wire = {.magic = {},
                     .kind = static_cast<uint32_t>(header.kind),
                     .program = header.program,
                     .run = header.run,
                     .group = header.group,
                     .bytes = bytes};
  std::memcpy(wire.magic, kMagic, sizeof(kMagic));
  return wire;
}

absl::string_view BytesOf(const WireHeader& wire) { return {reinterpret_cast<const char*>(&wire), sizeof(wire)}; }

// The first message of process `from` to process `to`.
std::string Hello(absl::string_view token, int64_t from, int64_t to, int64_t announcement) {
  ByteWriter out;
  out.I64(from);
  out.I64(announcement);
  out.Raw(DigestBytes(Sha256::Of(absl::StrCat("hilo mesh ", token, " ", from, " ", to, " ", announcement))));
  return out.Take();
}
constexpr int64_t kHelloBytes = 8 + 8 + 32;
constexpr absl::string_view kWelcome = "hilo\n";

std::string ProcessList(absl::Span<const int64_t> processes) {
  return absl::StrCat(processes.size() == 1 ? "process " : "processes ", absl::StrJoin(processes, ", "));
}

}  // namespace

struct Mesh::Peer {
  FileDescriptor socket;

  // Of the mesh's thread.
  bool open = true;
  bool leaving = false;
  std::vector<char> staging;  // received, not parsed yet: from begin to end
  size_t begin = 0, end = 0;
  bool in_frame = false;
  Frame frame;
  int64_t filled = 0;

  std::mutex mutex;
  std::condition_variable changed;
  bool writing = false;  // a thread writes its frame
  std::string backlog;   // what comes after that
  absl::Status gone;
};

absl::StatusOr<std::unique_ptr<Mesh>> Mesh::Connect(const MeshOptions& options) {
  auto mesh = std::unique_ptr<Mesh>(new Mesh);
  mesh->process_id_ = options.process_id;
  mesh->peers_.resize(options.process_count);
  mesh->announcements_.resize(options.process_count);
  HILO_RETURN_IF_ERROR(mesh->ConnectAll(options));
  mesh->wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!mesh->wake_.is_open()) return Unavailable("eventfd: ", ErrnoText(errno));
  return mesh;
}

absl::Status Mesh::Start(MeshListener* listener) {
  listener_ = listener;
  try {
    const SignalsBlocked signals_blocked;
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("the system gives no thread for the connections to other processes: ", error.what());
  }
  return absl::OkStatus();
}

absl::Status Mesh::ConnectAll(const MeshOptions& options) {
  const int64_t own = options.process_id;
  KeyValueStore& store = *options.store;
  auto key = [&](int64_t process) { return absl::StrCat("hilo/", options.name, "/process/", process); };
  const std::string token_key = absl::StrCat("hilo/", options.name, "/token");
  if (store.TryGet(key(own)).ok()) {
    return FailedPrecondition("process ", own, " has joined the group '", options.name,
                              "' of this store before: every group that is made over a store needs a name of its own");
  }
  HILO_ASSIGN_OR_RETURN(const FileDescriptor listener, Listen({options.host, 0}));
  HILO_ASSIGN_OR_RETURN(const int port, LocalPort(listener));
  if (own == 0) HILO_RETURN_IF_ERROR(store.Set(token_key, RandomToken()));
  HILO_RETURN_IF_ERROR(
      store.Set(key(own), absl::StrCat(Endpoint{options.host, port}.ToString(), "\n", options.announcement)));
  auto missing = [&](const absl::Status& status, int64_t process) {
    if (!absl::IsDeadlineExceeded(status)) return status;
    return DeadlineExceeded("process ", process, " of the group '", options.name,
                            "' has not come in time: ", status.message());
  };
  auto token = store.Get(token_key, options.deadline);
  if (!token.ok()) return missing(token.status(), 0);
  // All addresses are read before any process connects: once a process is connected to all others, it no
  // longer needs the store, which may end with its process.
  std::vector<Endpoint> endpoints;
  for (int64_t process = 0; process < own; ++process) {
    auto record = store.Get(key(process), options.deadline);
    if (!record.ok()) return missing(record.status(), process);
    const std::pair<std::string, std::string> parts = absl::StrSplit(*record, absl::MaxSplits('\n', 1));
    HILO_ASSIGN_OR_RETURN(endpoints.emplace_back(), ParseEndpoint(parts.first));
    if (!absl::SimpleAtoi(parts.second, &announcements_[process]))
      return InvalidArgument("process ", process, " announces '", parts.second, "', which is no number");
  }
  for (int64_t process = 0; process < own; ++process) {
    peers_[process] = std::make_unique<Peer>();
    HILO_ASSIGN_OR_RETURN(peers_[process]->socket, hilo::Connect(endpoints[process], options.deadline));
    HILO_RETURN_IF_ERROR(
        SendAll(peers_[process]->socket, Hello(*token, own, process, options.announcement), options.deadline));
  }
  HILO_RETURN_IF_ERROR(AcceptAll(options, listener, *token));
  for (int64_t process = 0; process < own; ++process) {
    auto welcome = ReceiveExactly(peers_[process]->socket, kWelcome.size(), options.deadline);
    if (!welcome.ok())
      return AddContext(missing(welcome.status(), process), absl::StrCat("; connecting to process ", process));
  }
  announcements_[own] = options.announcement;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer != nullptr) peer->staging.resize(kStagingBytes);
  }
  return absl::OkStatus();
}

// Accepts processes of higher numbers. Other clients may connect as well, and send anything, or nothing.
absl::Status Mesh::AcceptAll(const MeshOptions& options, const FileDescriptor& listener, absl::string_view token) {
  struct Guest {
    FileDescriptor socket;
    std::string hello;
    bool done = false;
  };
  std::list<Guest> guests;
  int64_t missing = options.process_count - 1 - options.process_id;
  while (missing > 0) {
    std::vector<pollfd> polled = {{.fd = listener.number(), .events = POLLIN, .revents = 0}};
    for (const Guest& guest : guests) polled.push_back({.fd = guest.socket.number(), .events = POLLIN, .revents = 0});
    if (poll(polled.data(), polled.size(), PollTimeout(options.deadline, 1000)) < 0 && errno != EINTR)
      return Unavailable("poll: ", ErrnoText(errno));
    size_t i = 1;
    for (Guest& guest : guests) {
      if (polled[i++].revents == 0) continue;
      char bytes[kHelloBytes];
      const ssize_t got = recv(guest.socket.number(), bytes, kHelloBytes - guest.hello.size(), 0);
      if (got > 0) guest.hello.append(bytes, got);
      guest.done = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
      if (guest.hello.size() != kHelloBytes) continue;
      guest.done = true;
      ByteReader in(guest.hello, "hello");
      const int64_t from = in.I64(), announcement = in.I64();
      if (from <= options.process_id || from >= options.process_count || peers_[from] != nullptr ||
          !SameSecret(guest.hello, Hello(token, from, options.process_id, announcement)))
        continue;
      HILO_RETURN_IF_ERROR(SendAll(guest.socket, kWelcome, options.deadline));
      peers_[from] = std::make_unique<Peer>();
      peers_[from]->socket = std::move(guest.socket);
      announcements_[from] = announcement;
      --missing;
    }
    guests.remove_if([](const Guest& guest) { return guest.done; });
    if (polled[0].revents != 0) {
      if (FileDescriptor socket = Accept(listener); socket.is_open()) guests.push_back({.socket = std::move(socket)});
    }
    if (missing > 0 && absl::Now() >= options.deadline) {
      std::vector<int64_t> absent;
      for (int64_t process = options.process_id + 1; process < options.process_count; ++process) {
        if (peers_[process] == nullptr) absent.push_back(process);
      }
      return DeadlineExceeded("the deadline has passed while process ", options.process_id, " of the group '",
                              options.name, "' waits for ", ProcessList(absent), " of ", options.process_count);
    }
  }
  return absl::OkStatus();
}

void Mesh::WakeWorker() {
  const uint64_t one = 1;
  // It fails only if the thread has been woken 2^64 times already.
  if (write(wake_.number(), &one, sizeof(one)) < 0) return;
}

Mesh::~Mesh() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  WakeWorker();
  thread_.join();
}

absl::Status Mesh::Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                        const std::function<absl::Status()>& give_up) {
  Peer& peer = *peers_[process];
  {
    std::unique_lock<std::mutex> lock(peer.mutex);
    while (peer.gone.ok() && (peer.writing || !peer.backlog.empty())) {
      peer.changed.wait_for(lock, std::chrono::milliseconds(kPollMilliseconds));
      HILO_RETURN_IF_ERROR(give_up());
    }
    if (!peer.gone.ok()) return peer.gone;
    peer.writing = true;
  }
  uint64_t bytes = 0;
  for (absl::string_view piece : pieces) bytes += piece.size();
  const WireHeader wire = ToWire(header, bytes);
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
      if (poll(&one, 1, kPollMilliseconds) == 0) status = give_up();
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
    // The other side may have sent the reason why it leaves; the mesh's thread delivers that first.
    if (!peer.changed.wait_for(lock, absl::ToChronoMilliseconds(kLastWords), [&] { return !peer.gone.ok(); }))
      shutdown(peer.socket.number(), SHUT_RDWR);
  }
  return status;
}

void Mesh::Post(int64_t process, const FrameHeader& header, absl::string_view bytes) {
  if (peers_[process] == nullptr) return;
  Peer& peer = *peers_[process];
  std::lock_guard<std::mutex> lock(peer.mutex);
  if (!peer.gone.ok()) return;
  const WireHeader wire = ToWire(header, bytes.size());
  absl::StrAppend(&peer.backlog, BytesOf(wire), bytes);
  if (peer.writing) return;
  Flush(peer);
  if (!peer.backlog.empty()) WakeWorker();
}

// With peer.mutex held, and no writer active.
void Mesh::Flush(Peer& peer) {
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

void Mesh::Work() {
  while (!stopping_) Serve(-1);
  for (size_t process = 0; process < peers_.size(); ++process) {
    Post(static_cast<int64_t>(process), {.kind = FrameKind::kLeave}, "");
  }
  auto has_words = [](const std::unique_ptr<Peer>& peer) {
    if (peer == nullptr || !peer->open) return false;
    std::lock_guard<std::mutex> lock(peer->mutex);
    return !peer->backlog.empty();
  };
  const absl::Time latest = absl::Now() + kLastWords;
  while (absl::Now() < latest && std::any_of(peers_.begin(), peers_.end(), has_words)) {
    Serve(kPollMilliseconds);
  }
}

// Reads and writes what can be, once there is something.
void Mesh::Serve(int milliseconds) {
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
bool Mesh::Read(Peer& peer, int64_t process) {
  absl::Status why;
  for (int round = 0; why.ok(); ++round) {
    if (round == kRoundsAtOnce) return true;  // the others have waited long enough
    // Large payloads are read directly into their destination.
    const int64_t wanted = peer.in_frame ? peer.frame.bytes.size() - peer.filled : 0;
    const bool direct = wanted >= static_cast<int64_t>(kStagingBytes);
    if (!direct && peer.begin > 0) {
      std::memmove(peer.staging.data(), peer.staging.data() + peer.begin, peer.end - peer.begin);
      peer.end -= std::exchange(peer.begin, 0);
    }
    char* const to =
        direct ? reinterpret_cast<char*>(peer.frame.bytes.data()) + peer.filled : peer.staging.data() + peer.end;
    const ssize_t got = recv(peer.socket.number(), to, direct ? wanted : kStagingBytes - peer.end, 0);
    if (got < 0 && errno == EAGAIN) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
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
    peer.gone = why;
    peer.backlog.clear();
    peer.changed.notify_all();
  }
  listener_->OnGone(process, why);
  return false;
}

// Hands over the frames that are complete.
absl::Status Mesh::TakeFrames(Peer& peer, int64_t process) {
  while (true) {
    if (!peer.in_frame) {
      WireHeader wire;
      if (peer.end - peer.begin < sizeof(wire)) return absl::OkStatus();
      std::memcpy(&wire, peer.staging.data() + peer.begin, sizeof(wire));
      if (std::memcmp(wire.magic, kMagic, sizeof(kMagic)) != 0 || wire.bytes > kMaxFrameBytes)
        return Unavailable("process ", process, " sends what is no frame");
      peer.begin += sizeof(wire);
      peer.frame.header = {static_cast<FrameKind>(wire.kind), wire.program, wire.run, wire.group};
      auto bytes = AlignedBuffer::Create(static_cast<int64_t>(wire.bytes));
      if (!bytes.ok()) return AddContext(bytes.status(), absl::StrCat("; for a frame of process ", process));
      peer.frame.bytes = *std::move(bytes);
      peer.filled = 0;
      peer.in_frame = true;
    }
    const int64_t taken = std::min<int64_t>(peer.end - peer.begin, peer.frame.bytes.size() - peer.filled);
    if (taken > 0) std::memcpy(peer.frame.bytes.data() + peer.filled, peer.staging.data() + peer.begin, taken);
    peer.begin += taken;
    peer.filled += taken;
    if (peer.filled < peer.frame.bytes.size()) return absl::OkStatus();
    peer.in_frame = false;
    if (peer.frame.header.kind == FrameKind::kLeave) {
      peer.leaving = true;
    } else {
      listener_->OnFrame(process, std::move(peer.frame));
    }
    peer.frame = {};
  }
}

}  // namespace hilo
