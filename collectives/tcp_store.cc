// A request and its answer are one message each way, on a separate connection: with a handful of
// them per process, keeping connections has no benefit. A message is its size (u64) and
// its bytes; a request begins with the token, and the answer with a status code.
//
// The server is one thread at one poll(): it reads requests, answers complete ones, and keeps
// those that wait for a key. Client data is never trusted: sizes have limits, texts are
// read by ByteReader, and slow or malformed clients lose their connection.
#include "collectives/tcp_store.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "collectives/key_value_limits.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

enum Operation : uint32_t { kSet = 1, kGet = 2, kTryGet = 3, kDelete = 4 };

constexpr int64_t kMaxMessage = kMaxValueBytes + (1 << 16);
constexpr size_t kMostFromStrangers = 1 << 17;
constexpr size_t kMaxConnections = 4096;
// For a request to arrive, and for an answer to be taken.
constexpr absl::Duration kSlowest = absl::Seconds(10);

std::string Message(const std::string& bytes) {
  ByteWriter out;
  out.U64(bytes.size());
  out.Raw(bytes);
  return out.Take();
}

std::string Answer(const absl::Status& status, absl::string_view value) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(status.code()));
  out.Text(status.ok() ? value : status.message());
  return Message(out.bytes());
}

class Server {
 public:
  Server(FileDescriptor listener, FileDescriptor stop, std::string token)
      : listener_(std::move(listener)), stop_(std::move(stop)), token_(std::move(token)) {}

  void Serve() {
    while (true) {
      const absl::Time now = absl::Now();
      absl::Time next = now + absl::Seconds(1);
      std::vector<pollfd> polled = {{.fd = stop_.number(), .events = POLLIN, .revents = 0},
                                    {.fd = listener_.number(), .events = POLLIN, .revents = 0}};
      for (const Connection& one : connections_) {
        const short events = one.output.empty() ? POLLIN : POLLOUT;
        polled.push_back({.fd = one.socket.number(), .events = events, .revents = 0});
        next = std::min(next, one.deadline);
      }
      if (poll(polled.data(), polled.size(), PollTimeout(next, 1000)) < 0 && errno != EINTR) return;
      if (polled[0].revents != 0) return;
      size_t i = 2;
      for (auto one = connections_.begin(); one != connections_.end(); ++i) {
        const bool stays = polled[i].revents == 0 || Progress(*one);
        one = stays && !IsLate(*one) ? std::next(one) : connections_.erase(one);
      }
      if (polled[1].revents != 0) AcceptAll();
    }
  }

 private:
  struct Connection {
    FileDescriptor socket;
    absl::Time deadline;
    std::string input, output;
    std::string awaited;  // a key, by Get
  };

  void AcceptAll() {
    while (connections_.size() < kMaxConnections) {
      FileDescriptor socket = Accept(listener_);
      if (!socket.is_open()) return;
      connections_.push_back({.socket = std::move(socket), .deadline = absl::Now() + kSlowest});
    }
    // At the limit of connections; further ones are rejected.
    while (Accept(listener_).is_open()) {
    }
  }

  // A waiting Get gets its answer at its deadline; a slow client is dropped. True: drop it.
  bool IsLate(Connection& one) {
    if (absl::Now() < one.deadline) return false;
    if (one.awaited.empty()) return true;
    Reply(one,
          Answer(DeadlineExceeded("the deadline has passed while waiting for the key ", std::exchange(one.awaited, "")),
                 ""));
    return !Write(one);
  }

  // False: it is over.
  bool Progress(Connection& one) {
    if (!one.output.empty()) return Write(one);
    char piece[1 << 16];
    const ssize_t got = recv(one.socket.number(), piece, sizeof(piece), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0 || !one.awaited.empty()) return false;  // gone, or more than a request
    one.input.append(piece, got);
    ByteReader size(one.input, "request");
    const uint64_t bytes = size.U64();
    if (!size.ok()) return true;
    if (bytes > kMaxMessage) return false;
    // Large requests are only accepted from clients that have the token, which comes first.
    const bool knows =
        SameSecret(absl::string_view(one.input).substr(std::min<size_t>(16, one.input.size()), token_.size()), token_);
    if (one.input.size() > kMostFromStrangers && !knows) return false;
    if (one.input.size() < 8 + bytes) return true;
    return one.input.size() == 8 + bytes && Execute(one) && (one.output.empty() || Write(one));
  }

  // Takes the complete request. False: it is invalid.
  bool Execute(Connection& one) {
    const std::string request = std::exchange(one.input, "");
    ByteReader in(absl::string_view(request).substr(8), "request");
    if (!SameSecret(in.Text(), token_)) {
      Reply(one, Answer(absl::PermissionDeniedError("the token is not that of the job"), ""));
      return true;
    }
    const uint32_t operation = in.U32();
    const std::string key(in.Text());
    const absl::string_view value = in.Text();
    const int64_t milliseconds = in.I64();
    if (!in.Finish().ok() || !CheckKeyAndValue(key, value).ok()) return false;
    const auto found = values_.find(key);
    switch (operation) {
      case kSet:
        values_[key] = std::string(value);
        Reply(one, Answer(absl::OkStatus(), ""));
        for (Connection& other : connections_) {
          if (other.awaited != key) continue;
          other.awaited.clear();
          Reply(other, Answer(absl::OkStatus(), value));
        }
        return true;
      case kGet:
      case kTryGet:
        if (found != values_.end()) {
          Reply(one, Answer(absl::OkStatus(), found->second));
        } else if (operation == kTryGet) {
          Reply(one, Answer(NotFound("there is no key ", key), ""));
        } else {
          one.awaited = key;
          one.deadline = absl::Now() + absl::Milliseconds(milliseconds);
        }
        return true;
      case kDelete:
        values_.erase(key);
        Reply(one, Answer(absl::OkStatus(), ""));
        return true;
      default: return false;
    }
  }

  void Reply(Connection& one, std::string answer) {
    one.output = std::move(answer);
    one.deadline = absl::Now() + kSlowest;
  }

  // False: all is sent, or the other side is gone.
  bool Write(Connection& one) {
    const ssize_t sent = send(one.socket.number(), one.output.data(), one.output.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    one.output.erase(0, sent);
    return !one.output.empty();
  }

  const FileDescriptor listener_, stop_;
  const std::string token_;
  std::list<Connection> connections_;
  std::map<std::string, std::string> values_;
};

class TcpStore : public KeyValueStore {
 public:
  TcpStore(Endpoint endpoint, std::string token, std::shared_ptr<TcpStoreServer> server, absl::Duration patience)
      : endpoint_(std::move(endpoint)), token_(std::move(token)), server_(std::move(server)), patience_(patience) {}

  absl::Status Set(absl::string_view key, absl::string_view value) override {
    return Ask(kSet, key, value, absl::Now() + patience_).status();
  }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) override {
    return Ask(kGet, key, "", deadline);
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override {
    return Ask(kTryGet, key, "", absl::Now() + patience_);
  }
  absl::Status Delete(absl::string_view key) override {
    return Ask(kDelete, key, "", absl::Now() + patience_).status();
  }

 private:
  absl::StatusOr<std::string> Ask(Operation operation, absl::string_view key, absl::string_view value,
                                  absl::Time deadline) const {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, value));
    // A server that is there answers a Get at its deadline; one that does not is stuck.
    const absl::Time latest = deadline + absl::Seconds(1);
    auto answer = Exchange(operation, key, value, deadline, latest);
    if (answer.ok()) return answer;
    const std::string context = absl::StrCat("; at the coordinator ", endpoint_.ToString());
    return AddContext(answer.status(), context);
  }

  absl::StatusOr<std::string> Exchange(Operation operation, absl::string_view key, absl::string_view value,
                                       absl::Time deadline, absl::Time latest) const {
    HILO_ASSIGN_OR_RETURN(const FileDescriptor socket, Connect(endpoint_, std::min(deadline, absl::Now() + patience_)));
    // The server's clock for a wait of any length.
    const absl::Duration wait = std::clamp(deadline - absl::Now(), absl::ZeroDuration(), absl::Hours(24 * 365));
    ByteWriter out;
    out.Text(token_);
    out.U32(operation);
    out.Text(key);
    out.Text(value);
    out.I64(absl::ToInt64Milliseconds(wait));
    HILO_RETURN_IF_ERROR(SendAll(socket, Message(out.bytes()), latest));
    HILO_ASSIGN_OR_RETURN(const std::string head, ReceiveExactly(socket, 8, latest));
    const uint64_t size = ByteReader(head, "answer").U64();
    if (size > kMaxMessage) return Unavailable("an answer of ", size, " bytes is none of a store's");
    HILO_ASSIGN_OR_RETURN(const std::string bytes, ReceiveExactly(socket, static_cast<int64_t>(size), latest));
    ByteReader in(bytes, "answer");
    const auto code = static_cast<absl::StatusCode>(in.U32());
    std::string text(in.Text());
    if (absl::Status complete = in.Finish(); !complete.ok()) return Unavailable(complete.message());
    if (code == absl::StatusCode::kOk) return text;
    return absl::Status(code, text);
  }

  const Endpoint endpoint_;
  const std::string token_;
  const std::shared_ptr<TcpStoreServer> server_;
  const absl::Duration patience_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<TcpStoreServer>> TcpStoreServer::Start(const Endpoint& endpoint, std::string token) {
  HILO_ASSIGN_OR_RETURN(FileDescriptor listener, Listen(endpoint));
  auto server = std::shared_ptr<TcpStoreServer>(new TcpStoreServer);
  HILO_ASSIGN_OR_RETURN(server->port_, LocalPort(listener));
  FileDescriptor stopped(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  server->stop_ = FileDescriptor(dup(stopped.number()));
  if (!stopped.is_open() || !server->stop_.is_open()) return Unavailable("eventfd: ", ErrnoText(errno));
  try {
    const SignalsBlocked signals_blocked;
    server->thread_ =
        std::thread([listener = std::move(listener), stopped = std::move(stopped), token = std::move(token)]() mutable {
          Server(std::move(listener), std::move(stopped), std::move(token)).Serve();
        });
  } catch (const std::system_error& error) {
    return ResourceExhausted("the system gives no thread to serve ", endpoint.ToString(), ": ", error.what());
  }
  return server;
}

TcpStoreServer::~TcpStoreServer() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  if (write(stop_.number(), &one, sizeof(one)) < 0) {
    // An eventfd of ours takes a 1 at any time.
  }
  thread_.join();
}

std::shared_ptr<KeyValueStore> MakeTcpStore(Endpoint endpoint, std::string token,
                                            std::shared_ptr<TcpStoreServer> server, absl::Duration patience) {
  return std::make_shared<TcpStore>(std::move(endpoint), std::move(token), std::move(server), patience);
}

}  // namespace hilo
