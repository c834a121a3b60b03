// A request and its answer are one message each way, on a separate connection: with a handful of
// them per process, keeping connections has no benefit. A message is its size (u64) and
// its bytes; a request begins with the token, and the answer with a status code. One request gets any number of keys,
// so that a process far away waits for the records of all others in one round trip.
//
// The server is one thread at one poll(): it reads requests, answers complete ones, and keeps
// those that wait for keys. Client data is never trusted: sizes have limits, texts are
// read by ByteReader, a malformed request is answered with InvalidArgument if it has the token, and other malformed or
// slow clients lose their connection.
#include "collectives/processes/tcp_store.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "collectives/processes/key_value_limits.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

using Values = std::vector<std::optional<std::string>>;

enum Operation : uint32_t { kSet = 1, kGet = 2, kDelete = 3 };

struct Request {
  Operation operation = kGet;
  std::vector<std::string> keys;  // one, unless the operation is kGet
  std::string value;              // of kSet
  absl::Duration wait;            // kGet: for the keys that are not set
};

constexpr int64_t kMaxRequest = kMaxValueBytes + kMaxKeysAtOnce * (kMaxKeyBytes + 8) + (1 << 16);
constexpr int64_t kMaxAnswerValues = int64_t{64} << 20;
constexpr int64_t kMinValueBytes = 1 + 8;  // in an answer
constexpr int64_t kMaxAnswer = kMaxAnswerValues + kMaxKeysAtOnce * kMinValueBytes + (1 << 16);
constexpr absl::Duration kLongestWait = absl::Hours(24 * 365);
// How long a client waits beyond the deadline of its request.
constexpr absl::Duration kStuck = absl::Seconds(1);
constexpr size_t kMaxFromStrangers = 1 << 17;
constexpr size_t kMaxConnections = 4096;
// For a request to arrive, and for an answer to be taken.
constexpr absl::Duration kSlowest = absl::Seconds(10);
constexpr absl::Duration kPauseWithoutResources = absl::Milliseconds(100);  // little beside what joining may take

std::string Message(const std::string& bytes) {
  ByteWriter out;
  out.U64(bytes.size());
  out.Raw(bytes);
  return out.Take();
}

std::string BytesOf(const Request& request, absl::string_view token) {
  ByteWriter out;
  out.Text(token);
  out.U32(request.operation);
  out.U64(request.keys.size());
  for (const std::string& key : request.keys) out.Text(key);
  out.Text(request.value);
  out.I64(absl::ToInt64Milliseconds(request.wait));
  return out.Take();
}

// What follows the token. Errors: InvalidArgument.
absl::StatusOr<Request> ParseRequest(ByteReader& in) {
  Request request;
  const uint32_t operation = in.U32();
  const uint64_t count = in.Count(8);
  for (uint64_t i = 0; i < count && in.ok() && i <= kMaxKeysAtOnce; ++i) request.keys.emplace_back(in.Text());
  HILO_RETURN_IF_ERROR(CheckKeys(request.keys));
  request.value = std::string(in.Text());
  const int64_t milliseconds = in.I64();
  HILO_RETURN_IF_ERROR(in.Finish());
  if (operation < kSet || operation > kDelete)
    return InvalidArgument("a request of a store: expected operation ", kSet, " to ", kDelete, ", got ", operation);
  request.operation = static_cast<Operation>(operation);
  if (request.operation != kGet && request.keys.size() != 1)
    return InvalidArgument("a request of a store: expected one key, got ", request.keys.size());
  for (const std::string& key : request.keys) HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, request.value));
  if (milliseconds < 0 || milliseconds > absl::ToInt64Milliseconds(kLongestWait))
    return InvalidArgument("a request of a store: expected to wait for up to a year, got ", milliseconds, " ms");
  request.wait = absl::Milliseconds(milliseconds);
  return request;
}

std::string Answer(const absl::Status& status, const Values& values) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(status.code()));
  out.Text(status.message());
  out.U64(values.size());
  for (const std::optional<std::string>& value : values) {
    out.Bool(value.has_value());
    out.Text(value.value_or(""));
  }
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
      // Without memory or descriptors it waits a while: the listener would be ready all the time.
      if (absl::Now() < accepts_from_) {
        polled[1].events = 0;
        next = std::min(next, accepts_from_);
      }
      if (poll(polled.data(), polled.size(), PollTimeout(next, 1000)) < 0) {
        if (errno != EINTR && errno != ENOMEM) return;
        if (errno == ENOMEM) absl::SleepFor(kPauseWithoutResources);
        continue;
      }
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
    // Of a Get that waits: all its keys, and those that are not set, one at least.
    std::vector<std::string> keys;
    std::set<std::string> missing;
  };

  void AcceptAll() {
    while (connections_.size() < kMaxConnections) {
      FileDescriptor socket = AcceptOne();
      if (!socket.is_open()) return;
      connections_.push_back({.socket = std::move(socket), .deadline = absl::Now() + kSlowest});
    }
    // At the limit of connections; further ones are rejected.
    while (AcceptOne().is_open()) {
    }
  }

  FileDescriptor AcceptOne() {
    FileDescriptor socket = Accept(listener_);
    if (!socket.is_open() && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
      accepts_from_ = absl::Now() + kPauseWithoutResources;
    return socket;
  }

  // A waiting Get gets its answer at its deadline; a slow client is dropped. True: drop it.
  bool IsLate(Connection& one) {
    if (absl::Now() < one.deadline) return false;
    if (one.missing.empty()) return true;
    one.missing.clear();
    Reply(one, Found(std::exchange(one.keys, {})));
    return !Write(one);
  }

  // False: it is over.
  bool Progress(Connection& one) {
    if (!one.output.empty()) return Write(one);
    char piece[1 << 16];
    const ssize_t got = recv(one.socket.number(), piece, sizeof(piece), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0 || !one.missing.empty()) return false;  // gone, or more than a request
    one.input.append(piece, got);
    ByteReader size(one.input, "request");
    const uint64_t bytes = size.U64();
    if (!size.ok()) return true;
    if (bytes > kMaxRequest) return false;
    // Large requests are only accepted from clients that have the token, which comes first.
    const bool knows =
        SameSecret(absl::string_view(one.input).substr(std::min<size_t>(16, one.input.size()), token_.size()), token_);
    if (one.input.size() > kMaxFromStrangers && !knows) return false;
    if (one.input.size() < 8 + bytes) return true;
    return one.input.size() == 8 + bytes && Execute(one) && (one.output.empty() || Write(one));
  }

  // Takes the complete request. False: it is not answered, as the client is a stranger who sends anything at all.
  bool Execute(Connection& one) {
    const std::string bytes = std::exchange(one.input, "");
    ByteReader in(absl::string_view(bytes).substr(8), "request");
    const absl::string_view token = in.Text();
    if (!in.ok()) return false;
    if (!SameSecret(token, token_)) {
      Reply(one, Answer(absl::PermissionDeniedError("the token is not that of the job"), {}));
      return true;
    }
    absl::StatusOr<Request> request = ParseRequest(in);
    if (!request.ok()) {
      Reply(one, Answer(request.status(), {}));
      return true;
    }
    switch (request->operation) {
      case kSet: {
        const std::string& key = request->keys.front();
        values_[key] = std::move(request->value);
        Reply(one, Answer(absl::OkStatus(), {}));
        for (Connection& other : connections_) {
          if (other.missing.erase(key) != 0 && other.missing.empty())
            Reply(other, Found(std::exchange(other.keys, {})));
        }
        return true;
      }
      case kGet:
        for (const std::string& key : request->keys) {
          if (!values_.contains(key)) one.missing.insert(key);
        }
        if (one.missing.empty() || request->wait <= absl::ZeroDuration()) {
          one.missing.clear();
          Reply(one, Found(request->keys));
        } else {
          one.keys = std::move(request->keys);
          one.deadline = absl::Now() + request->wait;
        }
        return true;
      case kDelete:
        values_.erase(request->keys.front());
        Reply(one, Answer(absl::OkStatus(), {}));
        return true;
    }
    return false;
  }

  std::string Found(const std::vector<std::string>& keys) const {
    Values values;
    int64_t bytes = 0;
    for (const std::string& key : keys) {
      const auto found = values_.find(key);
      if (found == values_.end()) {
        values.emplace_back();
        continue;
      }
      bytes += static_cast<int64_t>(found->second.size());
      if (bytes > kMaxAnswerValues)
        return Answer(ResourceExhausted("the values of ", keys.size(), " keys have more than the ", kMaxAnswerValues,
                                        " bytes of one answer"),
                      {});
      values.emplace_back(found->second);
    }
    return Answer(absl::OkStatus(), values);
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
  absl::Time accepts_from_ = absl::InfinitePast();
  std::map<std::string, std::string> values_;
};

class TcpStore : public KeyValueStore {
 public:
  TcpStore(Endpoint endpoint, std::string token, std::shared_ptr<TcpStoreServer> server, absl::Duration patience)
      : endpoint_(std::move(endpoint)), token_(std::move(token)), server_(std::move(server)), patience_(patience) {}

  absl::Status Set(absl::string_view key, absl::string_view value) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, value));
    return Ask({.operation = kSet, .keys = {std::string(key)}, .value = std::string(value)}).status();
  }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) override {
    HILO_ASSIGN_OR_RETURN(Values values, GetMany({std::string(key)}, deadline));
    if (values[0].has_value()) return *std::move(values[0]);
    return DeadlineExceeded("the deadline has passed while waiting for the key ", key, AtCoordinator());
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    HILO_ASSIGN_OR_RETURN(Values values, Ask({.operation = kGet, .keys = {std::string(key)}}));
    if (values[0].has_value()) return *std::move(values[0]);
    return NotFound("there is no key ", key, AtCoordinator());
  }
  absl::StatusOr<Values> GetMany(absl::Span<const std::string> keys, absl::Time deadline) override {
    HILO_RETURN_IF_ERROR(CheckKeys(keys));
    if (keys.empty()) return Values();
    // The server's clock for a wait of any length.
    const absl::Duration wait = std::clamp(deadline - absl::Now(), absl::ZeroDuration(), kLongestWait);
    return Ask({.operation = kGet, .keys = {keys.begin(), keys.end()}, .wait = wait},
               std::min(std::max(wait, kStuck), patience_));
  }
  absl::Status Delete(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    return Ask({.operation = kDelete, .keys = {std::string(key)}}).status();
  }

 private:
  std::string AtCoordinator() const { return absl::StrCat("; at the coordinator ", endpoint_.ToString()); }

  absl::StatusOr<Values> Ask(const Request& request) const { return Ask(request, patience_); }
  absl::StatusOr<Values> Ask(const Request& request, absl::Duration patience) const {
    auto answer = Exchange(request, patience);
    if (answer.ok()) return answer;
    return AddContext(answer.status(), AtCoordinator());
  }

  absl::StatusOr<Values> Exchange(const Request& request, absl::Duration patience) const {
    const absl::Time start = absl::Now();
    HILO_ASSIGN_OR_RETURN(const FileDescriptor socket, Connect(endpoint_, start + patience));
    // A server that is there answers at the deadline; one that does not is stuck.
    const absl::Time latest = start + patience + request.wait + kStuck;
    HILO_RETURN_IF_ERROR(SendAll(socket, Message(BytesOf(request, token_)), latest));
    HILO_ASSIGN_OR_RETURN(const std::string head, ReceiveExactly(socket, 8, latest));
    const uint64_t size = ByteReader(head, "answer").U64();
    if (size > kMaxAnswer) return Unavailable("an answer of ", size, " bytes is none of a store's");
    HILO_ASSIGN_OR_RETURN(const std::string bytes, ReceiveExactly(socket, static_cast<int64_t>(size), latest));
    ByteReader in(bytes, "answer");
    const auto code = static_cast<absl::StatusCode>(in.U32());
    const std::string message(in.Text());
    Values values(in.Count(kMinValueBytes));
    for (std::optional<std::string>& value : values) {
      const bool is_set = in.Bool();
      const absl::string_view text = in.Text();
      if (is_set) value = std::string(text);
    }
    if (absl::Status complete = in.Finish(); !complete.ok()) return Unavailable(complete.message());
    if (code != absl::StatusCode::kOk) return absl::Status(code, message);
    if (request.operation == kGet && values.size() != request.keys.size())
      return Unavailable("an answer with ", values.size(), " values for ", request.keys.size(), " keys");
    return values;
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
