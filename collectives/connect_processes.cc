// Every process listens on its own port, publishes the address and its offer in the store, and connects to
// those of lower numbers. A connecting process proves that it has the token that process 0 has put into
// the store for this group; others are rejected. Its greeting states whether it has accepted the offer of the process
// that it connects to, and holds its own; the welcome states whether that has been accepted, too. Last, every process
// reports to all others whether it has accepted all offers, and all its own have been accepted.
#include "collectives/connect_processes.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <list>
#include <map>
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

std::string ProcessKey(absl::string_view name, int64_t process) {
  return absl::StrCat("hilo/", name, "/process/", process);
}

// What a process stores about itself.
struct Record {
  Endpoint endpoint;
  int64_t announcement = 0;
  std::string offer;

  std::string Text() const { return absl::StrCat(endpoint.ToString(), "\n", announcement, "\n", offer); }
};
absl::StatusOr<Record> ParseRecord(absl::string_view text, int64_t process) {
  Record record;
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('\n', 2));
  HILO_ASSIGN_OR_RETURN(record.endpoint, ParseEndpoint(parts[0]));
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[1], &record.announcement))
    return InvalidArgument("process ", process, " announces '", text, "', which is no record of a process");
  record.offer = parts[2];
  return record;
}

// How long the store is waited for before giving up is considered.
constexpr absl::Duration kStorePatience = absl::Milliseconds(200);
constexpr int kPollMilliseconds = 100;

class Connecting {
 public:
  explicit Connecting(const ConnectOptions& options)
      : options_(options), own_(options.process_id), connections_(options.process_count) {}

  absl::StatusOr<ConnectedProcesses> Run() {
    KeyValueStore& store = *options_.store;
    const std::string token_key = absl::StrCat("hilo/", options_.name, "/token");
    HILO_ASSIGN_OR_RETURN(const bool has_joined, HasJoined(store, options_.name, own_));
    if (has_joined) {
      return FailedPrecondition(
          "process ", own_, " has joined the group '", options_.name,
          "' of this store before: every group that is made over a store needs a name of its own");
    }
    HILO_ASSIGN_OR_RETURN(const FileDescriptor listener, Listen({options_.host, 0}));
    HILO_ASSIGN_OR_RETURN(const int port, LocalPort(listener));
    const int64_t first = options_.members.front();
    if (own_ == first) HILO_RETURN_IF_ERROR(store.Set(token_key, RandomToken()));
    const Record own = {
        .endpoint = {options_.host, port}, .announcement = options_.announcement, .offer = options_.offer};
    HILO_RETURN_IF_ERROR(store.Set(ProcessKey(options_.name, own_), own.Text()));
    HILO_ASSIGN_OR_RETURN(token_, Get(token_key, first));
    // All addresses are read before any process connects: once a process is connected to all others, it no
    // longer needs the store, which may end with its process.
    std::map<int64_t, Record> before;  // the members of lower numbers
    for (int64_t process : options_.members) {
      if (process >= own_) continue;
      HILO_ASSIGN_OR_RETURN(const std::string text, Get(ProcessKey(options_.name, process), process));
      HILO_ASSIGN_OR_RETURN(before[process], ParseRecord(text, process));
    }
    for (const auto& [process, record] : before) {
      connections_[process].announcement = record.announcement;
      FileDescriptor& socket = connections_[process].socket;
      HILO_ASSIGN_OR_RETURN(socket, Connect(record.endpoint, options_.deadline));
      const Greeting greeting = {.from = own_,
                                 .announcement = options_.announcement,
                                 .accepted = Accepts(process, record.offer),
                                 .offer = options_.offer};
      HILO_RETURN_IF_ERROR(SendAll(socket, greeting.Bytes(token_, process), options_.deadline));
    }
    HILO_RETURN_IF_ERROR(AcceptAll(listener));
    for (const auto& [process, record] : before) {
      HILO_ASSIGN_OR_RETURN(const std::string welcome, Receive(process, kWelcomeBytes));
      connections_[process].accepted = welcome == Welcome(true);
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

  // The value of a key that `process` sets.
  absl::StatusOr<std::string> Get(const std::string& key, int64_t process) const {
    while (true) {
      if (options_.give_up != nullptr) HILO_RETURN_IF_ERROR(options_.give_up());
      const absl::Time most =
          options_.give_up == nullptr ? options_.deadline : std::min(options_.deadline, absl::Now() + kStorePatience);
      auto value = options_.store->Get(key, most);
      if (value.ok()) return value;
      if (!absl::IsDeadlineExceeded(value.status()) || absl::Now() >= options_.deadline)
        return Missing(value.status(), process);
    }
  }

  absl::StatusOr<std::string> Receive(int64_t process, int64_t bytes) const {
    auto received = ReceiveExactly(connections_[process].socket, bytes, options_.deadline, options_.give_up);
    if (received.ok()) return received;
    return AddContext(Missing(received.status(), process), absl::StrCat("; connecting to process ", process));
  }

  absl::StatusOr<bool> AgreeOnOffers() {
    bool all_accepted = true;
    for (int64_t process : options_.members)
      all_accepted = all_accepted && (process == own_ || connections_[process].accepted);
    for (int64_t process : options_.members) {
      if (process != own_)
        HILO_RETURN_IF_ERROR(SendAll(connections_[process].socket, all_accepted ? "+" : "-", options_.deadline));
    }
    for (int64_t process : options_.members) {
      if (process == own_) continue;
      HILO_ASSIGN_OR_RETURN(const std::string theirs, Receive(process, 1));
      all_accepted = all_accepted && theirs == "+";
    }
    return all_accepted;
  }

  // Accepts processes of higher numbers. Other clients may connect as well, and send anything, or nothing.
  absl::Status AcceptAll(const FileDescriptor& listener) {
    std::list<Guest> guests;
    const auto is_awaited = [&](int64_t process) { return process > own_ && !connections_[process].socket.is_open(); };
    int64_t missing = std::count_if(options_.members.begin(), options_.members.end(), is_awaited);
    while (missing > 0) {
      if (options_.give_up != nullptr) HILO_RETURN_IF_ERROR(options_.give_up());
      std::vector<pollfd> polled = {{.fd = listener.number(), .events = POLLIN, .revents = 0}};
      for (const Guest& guest : guests) polled.push_back({.fd = guest.socket.number(), .events = POLLIN, .revents = 0});
      if (poll(polled.data(), polled.size(), PollTimeout(options_.deadline, kPollMilliseconds)) < 0 && errno != EINTR)
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
        std::copy_if(options_.members.begin(), options_.members.end(), std::back_inserter(absent), is_awaited);
        return DeadlineExceeded("the deadline has passed while process ", own_, " of the group '", options_.name,
                                "' waits for ", ProcessList(absent), " of ", options_.members.size());
      }
    }
    return absl::OkStatus();
  }

  // Reads what the guest sends; true if it has become a connection to a process of the group.
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
    const bool is_member = std::binary_search(options_.members.begin(), options_.members.end(), from);
    if (!is_member || from <= own_ || connections_[from].socket.is_open() ||
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

absl::StatusOr<bool> HasJoined(KeyValueStore& store, absl::string_view name, int64_t process) {
  const absl::Status found = store.TryGet(ProcessKey(name, process)).status();
  if (absl::IsNotFound(found)) return false;
  if (!found.ok()) return found;
  return true;
}

absl::StatusOr<std::vector<int64_t>> ReadAnnouncements(KeyValueStore& store, absl::string_view name,
                                                       int64_t process_count, absl::Time deadline) {
  std::vector<int64_t> announcements;
  for (int64_t process = 0; process < process_count; ++process) {
    HILO_ASSIGN_OR_RETURN(const std::string text, store.Get(ProcessKey(name, process), deadline));
    HILO_ASSIGN_OR_RETURN(const Record record, ParseRecord(text, process));
    announcements.push_back(record.announcement);
  }
  return announcements;
}

}  // namespace hilo
