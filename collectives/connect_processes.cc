// Every process listens on its own port, publishes the address and its offer in the store, and connects to
// those of lower numbers. A connecting process proves that it has the token that process 0 has put into
// the store for this group; others are rejected. Its greeting says whether it has accepted the offer of the process
// that it connects to, and holds its own; the welcome says whether that has been accepted, too. Last, every process
// says to all others whether it has accepted all offers, and all its own have been accepted.
#include "collectives/connect_processes.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <list>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/sha256.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// The first message of process `from` to process `to`.
struct Greeting {
  int64_t from = 0, announcement = 0;
  bool accepted = false;  // the offer of `to`
  std::string offer;

  std::string Bytes(absl::string_view token, int64_t to) const {
    ByteWriter out;
    out.I64(from);
    out.I64(announcement);
    out.I64(accepted ? 1 : 0);
    out.Raw(offer);
    out.Raw(std::string(kMaxOfferBytes - offer.size(), '\0'));
    out.Raw(DigestBytes(Sha256::Of(absl::StrCat("hilo mesh ", token, " ", to, " ", out.bytes()))));
    return out.Take();
  }
};
constexpr int64_t kGreetingBytes = 3 * 8 + kMaxOfferBytes + 32;

// The answer, with whether both offers have been accepted.
std::string Welcome(bool accepted) { return accepted ? "hilo+\n" : "hilo-\n"; }
constexpr int64_t kWelcomeBytes = 6;

std::string ProcessList(absl::Span<const int64_t> processes) {
  return absl::StrCat(processes.size() == 1 ? "process " : "processes ", absl::StrJoin(processes, ", "));
}

class Connecting {
 public:
  explicit Connecting(const ConnectOptions& options)
      : options_(options), own_(options.process_id), connections_(options.process_count) {}

  absl::StatusOr<ConnectedProcesses> Run() {
    KeyValueStore& store = *options_.store;
    auto key = [&](int64_t process) { return absl::StrCat("hilo/", options_.name, "/process/", process); };
    const std::string token_key = absl::StrCat("hilo/", options_.name, "/token");
    if (store.TryGet(key(own_)).ok()) {
      return FailedPrecondition(
          "process ", own_, " has joined the group '", options_.name,
          "' of this store before: every group that is made over a store needs a name of its own");
    }
    HILO_ASSIGN_OR_RETURN(const FileDescriptor listener, Listen({options_.host, 0}));
    HILO_ASSIGN_OR_RETURN(const int port, LocalPort(listener));
    if (own_ == 0) HILO_RETURN_IF_ERROR(store.Set(token_key, RandomToken()));
    HILO_RETURN_IF_ERROR(store.Set(key(own_), absl::StrCat(Endpoint{options_.host, port}.ToString(), "\n",
                                                           options_.announcement, "\n", options_.offer)));
    auto token = store.Get(token_key, options_.deadline);
    if (!token.ok()) return Missing(token.status(), 0);
    token_ = *std::move(token);
    // All addresses are read before any process connects: once a process is connected to all others, it no
    // longer needs the store, which may end with its process.
    std::vector<Endpoint> endpoints;
    std::vector<std::string> offers;
    for (int64_t process = 0; process < own_; ++process) {
      auto record = store.Get(key(process), options_.deadline);
      if (!record.ok()) return Missing(record.status(), process);
      const std::vector<std::string> parts = absl::StrSplit(*record, absl::MaxSplits('\n', 2));
      HILO_ASSIGN_OR_RETURN(endpoints.emplace_back(), ParseEndpoint(parts[0]));
      if (parts.size() != 3 || !absl::SimpleAtoi(parts[1], &connections_[process].announcement))
        return InvalidArgument("process ", process, " announces '", *record, "', which is no record of a process");
      offers.push_back(parts[2]);
    }
    for (int64_t process = 0; process < own_; ++process) {
      FileDescriptor& socket = connections_[process].socket;
      HILO_ASSIGN_OR_RETURN(socket, Connect(endpoints[process], options_.deadline));
      const Greeting greeting = {.from = own_,
                                 .announcement = options_.announcement,
                                 .accepted = Accepts(process, offers[process]),
                                 .offer = options_.offer};
      HILO_RETURN_IF_ERROR(SendAll(socket, greeting.Bytes(token_, process), options_.deadline));
    }
    HILO_RETURN_IF_ERROR(AcceptAll(listener));
    for (int64_t process = 0; process < own_; ++process) {
      auto welcome = ReceiveExactly(connections_[process].socket, kWelcomeBytes, options_.deadline);
      if (!welcome.ok())
        return AddContext(Missing(welcome.status(), process), absl::StrCat("; connecting to process ", process));
      connections_[process].accepted = *welcome == Welcome(true);
    }
    connections_[own_].announcement = options_.announcement;
    HILO_ASSIGN_OR_RETURN(const bool all_accepted, AgreeOnOffers());
    return ConnectedProcesses{std::move(connections_), all_accepted};
  }

 private:
  struct Guest {
    FileDescriptor socket;
    std::string greeting;
    bool done = false;
  };

  absl::Status Missing(const absl::Status& status, int64_t process) const {
    if (!absl::IsDeadlineExceeded(status)) return status;
    return DeadlineExceeded("process ", process, " of the group '", options_.name,
                            "' has not come in time: ", status.message());
  }

  bool Accepts(int64_t process, absl::string_view offer) const {
    return !options_.offer.empty() && !offer.empty() && options_.accept(process, offer);
  }

  absl::StatusOr<bool> AgreeOnOffers() {
    bool all_accepted = true;
    for (int64_t process = 0; process < options_.process_count; ++process)
      all_accepted = all_accepted && (process == own_ || connections_[process].accepted);
    for (int64_t process = 0; process < options_.process_count; ++process) {
      if (process != own_)
        HILO_RETURN_IF_ERROR(SendAll(connections_[process].socket, all_accepted ? "+" : "-", options_.deadline));
    }
    for (int64_t process = 0; process < options_.process_count; ++process) {
      if (process == own_) continue;
      auto theirs = ReceiveExactly(connections_[process].socket, 1, options_.deadline);
      if (!theirs.ok())
        return AddContext(Missing(theirs.status(), process), absl::StrCat("; connecting to process ", process));
      all_accepted = all_accepted && *theirs == "+";
    }
    return all_accepted;
  }

  // Accepts processes of higher numbers. Other clients may connect as well, and send anything, or nothing.
  absl::Status AcceptAll(const FileDescriptor& listener) {
    std::list<Guest> guests;
    int64_t missing = options_.process_count - 1 - own_;
    while (missing > 0) {
      std::vector<pollfd> polled = {{.fd = listener.number(), .events = POLLIN, .revents = 0}};
      for (const Guest& guest : guests) polled.push_back({.fd = guest.socket.number(), .events = POLLIN, .revents = 0});
      if (poll(polled.data(), polled.size(), PollTimeout(options_.deadline, 1000)) < 0 && errno != EINTR)
        return Unavailable("poll: ", ErrnoText(errno));
      size_t i = 1;
      for (Guest& guest : guests) {
        if (polled[i++].revents == 0) continue;
        HILO_ASSIGN_OR_RETURN(const bool is_member, Read(guest));
        if (is_member) --missing;
      }
      guests.remove_if([](const Guest& guest) { return guest.done; });
      if (polled[0].revents != 0) {
        if (FileDescriptor socket = Accept(listener); socket.is_open()) guests.push_back({.socket = std::move(socket)});
      }
      if (missing > 0 && absl::Now() >= options_.deadline) {
        std::vector<int64_t> absent;
        for (int64_t process = own_ + 1; process < options_.process_count; ++process) {
          if (!connections_[process].socket.is_open()) absent.push_back(process);
        }
        return DeadlineExceeded("the deadline has passed while process ", own_, " of the group '", options_.name,
                                "' waits for ", ProcessList(absent), " of ", options_.process_count);
      }
    }
    return absl::OkStatus();
  }

  // Reads what the guest says; true if it has become a connection to a process of the group.
  absl::StatusOr<bool> Read(Guest& guest) {
    char bytes[kGreetingBytes];
    const ssize_t got = recv(guest.socket.number(), bytes, kGreetingBytes - guest.greeting.size(), 0);
    if (got > 0) guest.greeting.append(bytes, got);
    guest.done = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (guest.greeting.size() != kGreetingBytes) return false;
    guest.done = true;
    ByteReader in(guest.greeting, "greeting");
    Greeting greeting{.from = in.I64(), .announcement = in.I64()};
    greeting.accepted = in.I64() == 1;
    const absl::string_view offer = in.Raw(kMaxOfferBytes);
    greeting.offer = std::string(offer.substr(0, offer.find('\0')));
    const int64_t from = greeting.from;
    if (from <= own_ || from >= options_.process_count || connections_[from].socket.is_open() ||
        !SameSecret(guest.greeting, greeting.Bytes(token_, own_)))
      return false;
    ProcessConnection& connection = connections_[from];
    connection.accepted = greeting.accepted && Accepts(from, greeting.offer);
    HILO_RETURN_IF_ERROR(SendAll(guest.socket, Welcome(connection.accepted), options_.deadline));
    connection.socket = std::move(guest.socket);
    connection.announcement = greeting.announcement;
    return true;
  }

  const ConnectOptions& options_;
  const int64_t own_;
  std::string token_;
  std::vector<ProcessConnection> connections_;
};

}  // namespace

absl::StatusOr<ConnectedProcesses> ConnectProcesses(const ConnectOptions& options) { return Connecting(options).Run(); }

}  // namespace hilo
