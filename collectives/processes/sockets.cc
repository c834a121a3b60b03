#include "collectives/processes/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int kConnectRetryMilliseconds = 20;
constexpr absl::Duration kRetry = absl::Milliseconds(kConnectRetryMilliseconds);

using Addresses = std::shared_ptr<const addrinfo>;

absl::StatusOr<Addresses> Resolve(const Endpoint& endpoint, int type, bool passive) {
  addrinfo hints = {};
  hints.ai_socktype = type;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &hints, &found);
  if (error != 0) {
    return Unavailable("cannot resolve ", endpoint.ToString(), ": ", gai_strerror(error));
  }
  return Addresses(found, [](const addrinfo* addresses) { freeaddrinfo(const_cast<addrinfo*>(addresses)); });
}

FileDescriptor MakeSocket(const addrinfo& address) {
  return FileDescriptor(
      socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol));
}

void SendWithoutDelay(const FileDescriptor& socket) {
  const int one = 1;
  setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

absl::StatusOr<std::string> NumericAddress(const sockaddr* address, socklen_t size) {
  char host[NI_MAXHOST];
  const int error = getnameinfo(address, size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST);
  if (error != 0) return Unavailable("getnameinfo: ", gai_strerror(error));
  return std::string(host);
}

// Waits until the socket is ready for `events`.
absl::Status Await(const FileDescriptor& socket, short events, absl::Time deadline,
                   const std::function<absl::Status()>& give_up = nullptr) {
  while (true) {
    if (give_up != nullptr) HILO_RETURN_IF_ERROR(give_up());
    pollfd one = {.fd = socket.number(), .events = events, .revents = 0};
    const int ready = poll(&one, 1, PollTimeout(deadline, give_up == nullptr ? 1000 : 100));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return Unavailable("poll: ", ErrnoText(errno));
    if (absl::Now() >= deadline) return DeadlineExceeded("the deadline has passed");
  }
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (is_open()) close(number_);
}

std::string Endpoint::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view text) {
  const size_t colon = text.rfind(':');
  Endpoint endpoint;
  if (colon != absl::string_view::npos && absl::SimpleAtoi(text.substr(colon + 1), &endpoint.port)) {
    absl::string_view host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    } else if (absl::StrContains(host, ':')) {
      host = "";
    }
    endpoint.host = std::string(host);
  }
  if (endpoint.host.empty() || endpoint.port < 1 || endpoint.port > 65535) {
    return InvalidArgument("expected HOST:PORT, got '", text, "'");
  }
  return endpoint;
}

bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

absl::StatusOr<FileDescriptor> Listen(const Endpoint& endpoint) {
  HILO_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(endpoint, SOCK_STREAM, true));
  int error = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    FileDescriptor socket = MakeSocket(*address);
    const int one = 1;
    if (socket.is_open() && setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
        bind(socket.number(), address->ai_addr, address->ai_addrlen) == 0 && listen(socket.number(), SOMAXCONN) == 0) {
      return socket;
    }
    error = errno;
  }
  return Unavailable("cannot listen at ", endpoint.ToString(), ": ", ErrnoText(error));
}

absl::StatusOr<int> LocalPort(const FileDescriptor& socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return Unavailable("getsockname: ", ErrnoText(errno));
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

FileDescriptor Accept(const FileDescriptor& listener) {
  FileDescriptor socket(accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) SendWithoutDelay(socket);
  return socket;
}

absl::StatusOr<PendingConnection> PendingConnection::Begin(const Endpoint& endpoint) {
  PendingConnection pending;
  HILO_ASSIGN_OR_RETURN(pending.addresses_, Resolve(endpoint, SOCK_STREAM, false));
  pending.address_ = pending.addresses_.get();
  pending.endpoint_ = endpoint;
  pending.Start();
  return pending;
}

void PendingConnection::Start() {
  socket_ = MakeSocket(*address_);
  if (!socket_.is_open() ||
      (connect(socket_.number(), address_->ai_addr, address_->ai_addrlen) != 0 && errno != EINPROGRESS))
    NextAddress(errno);
}

FileDescriptor PendingConnection::Advance() {
  if (!socket_.is_open() && absl::Now() >= next_try_) Start();
  pollfd one = {.fd = socket_.number(), .events = POLLOUT, .revents = 0};
  if (!socket_.is_open() || poll(&one, 1, 0) <= 0) return FileDescriptor();
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) {
    NextAddress(error);
    return FileDescriptor();
  }
  SendWithoutDelay(socket_);
  return std::move(socket_);
}

// After the last one a pause, and the first again.
void PendingConnection::NextAddress(int error) {
  socket_ = FileDescriptor();
  error_ = error;
  address_ = address_->ai_next;
  if (address_ != nullptr) return;
  address_ = addresses_.get();
  next_try_ = absl::Now() + kRetry;
}

absl::Status PendingConnection::error() const {
  return Unavailable("cannot connect to ", endpoint_.ToString(), ": ", ErrnoText(error_));
}

absl::StatusOr<FileDescriptor> Connect(const Endpoint& endpoint, absl::Time deadline) {
  HILO_ASSIGN_OR_RETURN(PendingConnection pending, PendingConnection::Begin(endpoint));
  for (bool is_late = false;; is_late = absl::Now() >= deadline) {
    FileDescriptor socket = pending.Advance();
    if (socket.is_open()) return socket;
    if (is_late) return pending.error();
    pollfd one = {.fd = pending.number(), .events = POLLOUT, .revents = 0};
    poll(&one, 1, PollTimeout(deadline, kConnectRetryMilliseconds));
  }
}

absl::StatusOr<std::string> AddressOf(const std::string& host) {
  HILO_ASSIGN_OR_RETURN(const Addresses addresses, Resolve({host, 1}, SOCK_STREAM, false));
  return NumericAddress(addresses->ai_addr, addresses->ai_addrlen);
}

absl::StatusOr<std::string> AddressTowards(const Endpoint& endpoint) {
  HILO_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(endpoint, SOCK_DGRAM, false));
  // Connecting a datagram socket sends nothing; it only looks up the route.
  const FileDescriptor socket = MakeSocket(*addresses);
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (!socket.is_open() || connect(socket.number(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return Unavailable("there is no route to ", endpoint.ToString(), ": ", ErrnoText(errno));
  }
  return NumericAddress(reinterpret_cast<sockaddr*>(&address), size);
}

absl::Status SendAll(const FileDescriptor& socket, absl::string_view bytes, absl::Time deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(sent);
    } else if (errno == EAGAIN) {
      HILO_RETURN_IF_ERROR(Await(socket, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Unavailable("the connection is lost: ", ErrnoText(errno));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReceiveExactly(const FileDescriptor& socket, int64_t bytes, absl::Time deadline,
                                           const std::function<absl::Status()>& give_up) {
  std::string result;
  char piece[1 << 16];
  while (static_cast<int64_t>(result.size()) < bytes) {
    const size_t wanted = std::min<size_t>(sizeof(piece), bytes - result.size());
    const ssize_t got = recv(socket.number(), piece, wanted, 0);
    if (got > 0) {
      result.append(piece, got);
    } else if (got == 0) {
      return Unavailable("the connection was closed by the other side");
    } else if (errno == EAGAIN) {
      HILO_RETURN_IF_ERROR(Await(socket, POLLIN, deadline, give_up));
    } else if (errno != EINTR) {
      return Unavailable("the connection is lost: ", ErrnoText(errno));
    }
  }
  return result;
}

int PollTimeout(absl::Time deadline, int most) {
  const absl::Duration left = deadline - absl::Now();
  if (left >= absl::Milliseconds(most)) return most;
  return std::max<int>(0, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

std::string RandomToken() {
  char bytes[16];
  // Up to 256 bytes come whole once the system has any (getrandom(2)).
  while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

bool SameSecret(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace hilo
