// Stream sockets with deadlines.
#ifndef HILO_COLLECTIVES_PROCESSES_SOCKETS_H_
#define HILO_COLLECTIVES_PROCESSES_SOCKETS_H_

#include <netdb.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hilo {

// Owns a file descriptor. The descriptors made here are non-blocking and close-on-exec
// (O_NONBLOCK, O_CLOEXEC).
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct Endpoint {
  std::string host;
  int port = 0;
  std::string ToString() const;  // "host:port", "[v6]:port"
};
// Errors: InvalidArgument unless `text` is HOST:PORT, or [HOST]:PORT.
absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view text);
bool IsLoopback(absl::string_view host);

// Port 0: any free port. Errors: Unavailable, naming the endpoint.
absl::StatusOr<FileDescriptor> Listen(const Endpoint& endpoint);
absl::StatusOr<int> LocalPort(const FileDescriptor& socket);
// The next pending connection; closed (invalid) if there is none, or it is gone already.
FileDescriptor Accept(const FileDescriptor& listener);
// A connection that is being made, one of several at a time.
class PendingConnection {
 public:
  // Begins to connect. Errors: Unavailable if this machine cannot resolve the host.
  static absl::StatusOr<PendingConnection> Begin(const Endpoint& endpoint);
  // Advance has something to do when this can be written to, and every 20 ms. Negative: a moment before the next try.
  int number() const { return socket_.number(); }
  // Does what can be done without waiting. Returns the socket once it is connected, and one that is not open before;
  // refused connections are tried again.
  FileDescriptor Advance();
  // Unavailable, naming the endpoint and why it is not connected yet.
  absl::Status error() const;

 private:
  PendingConnection() = default;
  void Start();
  void NextAddress(int error);

  Endpoint endpoint_;
  std::shared_ptr<const addrinfo> addresses_;
  const addrinfo* address_ = nullptr;
  FileDescriptor socket_;
  absl::Time next_try_ = absl::InfinitePast();
  int error_ = ETIMEDOUT;
};
// Retries until the deadline while the endpoint refuses connections. Errors: Unavailable, naming the
// endpoint and the reason.
absl::StatusOr<FileDescriptor> Connect(const Endpoint& endpoint, absl::Time deadline);
// The numeric address of the host. Errors: Unavailable if this machine cannot resolve its name.
absl::StatusOr<std::string> AddressOf(const std::string& host);
// The local address of this machine as seen by peers at `endpoint`.
absl::StatusOr<std::string> AddressTowards(const Endpoint& endpoint);

// All of `bytes`. Errors: DeadlineExceeded; Unavailable if the other side is gone.
absl::Status SendAll(const FileDescriptor& socket, absl::string_view bytes, absl::Time deadline);
// An error of `give_up`, which is called a few times a second, ends the wait.
absl::StatusOr<std::string> ReceiveExactly(const FileDescriptor& socket, int64_t bytes, absl::Time deadline,
                                           const std::function<absl::Status()>& give_up = nullptr);

// Milliseconds for poll(), rounded up; at most `most`.
int PollTimeout(absl::Time deadline, int most);
// The message of errno value `error`.
std::string ErrnoText(int error);
// 128 random bits as text.
std::string RandomToken();
// True if the texts are equal; takes the same time for all texts of one length.
bool SameSecret(absl::string_view a, absl::string_view b);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_SOCKETS_H_
