// Every process listens on its own port, publishes the address and its offer in the store, gets those of the processes
// of lower numbers in one request, and connects to all of them at a time: the latency does not grow with the number of
// processes. A connecting process proves that it has the token that process 0 has put into
// the store for this group; others are rejected. Its greeting states whether it has accepted the offer of the process
// that it connects to, and holds its own; the welcome states whether that has been accepted, too. Last, every process
// reports to all others whether it has accepted all offers, and all its own have been accepted.
#include "collectives/processes/connect_processes.h"

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
// While a connection may have to be tried again.
constexpr int kRetryMilliseconds = 20;

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
    // All addresses are read before any process connects: once a process is connected to all others, it no
    // longer needs the store, which may end with its process.
    HILO_RETURN_IF_ERROR(ReadStore(token_key));
    HILO_RETURN_IF_ERROR(ConnectAll(listener));
    connections_[own_].announcement = options_.announcement;
    HILO_ASSIGN_OR_RETURN(const bool all_accepted, AgreeOnOffers());
    return ConnectedProcesses{std::move(connections_), all_accepted};
  }

 private:
  // A process of a lower number.
  struct Host {
    int64_t process = 0;
    Record record;
    PendingConnection connection;  // until connections_ has its socket
    std::string welcome = {};
    bool is_welcome = false;
  };
  struct Guest {
    FileDescriptor socket;
    std::string greeting;
    bool done = false;
  };

  bool Accepts(int64_t process, absl::string_view offer) const {
    return !options_.offer.empty() && !offer.empty() && options_.accept(process, offer);
  }

  // Reads the token, which the first member sets, and begins to connect to the members of lower numbers.
  absl::Status ReadStore(const std::string& token_key) {
    std::vector<std::string> keys = {token_key};
    std::vector<int64_t> processes = {options_.members.front()};  // that set them
    for (int64_t process : options_.members) {
      if (process >= own_) break;
      keys.push_back(ProcessKey(options_.name, process));
      processes.push_back(process);
    }
    while (true) {
      if (options_.give_up != nullptr) HILO_RETURN_IF_ERROR(options_.give_up());
      const absl::Time most =
          options_.give_up == nullptr ? options_.deadline : std::min(options_.deadline, absl::Now() + kStorePatience);
      HILO_ASSIGN_OR_RETURN(const auto values, options_.store->GetMany(keys, most));
      std::vector<int64_t> missing;
      for (size_t i = 0; i < keys.size(); ++i) {
        if (!values[i].has_value() && (missing.empty() || missing.back() != processes[i]))
          missing.push_back(processes[i]);
      }
      if (missing.empty()) {
        token_ = *values[0];
        for (size_t i = 1; i < keys.size(); ++i) {
          HILO_ASSIGN_OR_RETURN(const Record record, ParseRecord(*values[i], processes[i]));
          HILO_ASSIGN_OR_RETURN(PendingConnection connection, PendingConnection::Begin(record.endpoint));
          hosts_.push_back({.process = processes[i], .record = record, .connection = std::move(connection)});
        }
        return absl::OkStatus();
      }
      if (absl::Now() >= options_.deadline)
        return DeadlineExceeded(ProcessList(missing), " of the group '", options_.name, "' ",
                                missing.size() == 1 ? "has" : "have", " not come in time");
    }
  }

  absl::StatusOr<std::string> Receive(int64_t process, int64_t bytes) const {
    auto received = ReceiveExactly(connections_[process].socket, bytes, options_.deadline, options_.give_up);
    if (received.ok()) return received;
    if (absl::IsDeadlineExceeded(received.status())) return TooLate({process});
    return AddContext(received.status(), absl::StrCat("; connecting to process ", process));
  }

  absl::Status Send(const FileDescriptor& socket, int64_t process, absl::string_view bytes) const {
    return AddContext(SendAll(socket, bytes, options_.deadline), absl::StrCat("; connecting to process ", process));
  }

  absl::StatusOr<bool> AgreeOnOffers() {
    bool all_accepted = true;
    for (int64_t process : options_.members)
      all_accepted = all_accepted && (process == own_ || connections_[process].accepted);
    for (int64_t process : options_.members) {
      if (process != own_) HILO_RETURN_IF_ERROR(Send(connections_[process].socket, process, all_accepted ? "+" : "-"));
    }
    for (int64_t process : options_.members) {
      if (process == own_) continue;
      HILO_ASSIGN_OR_RETURN(const std::string theirs, Receive(process, 1));
      all_accepted = all_accepted && theirs == "+";
    }
    return all_accepted;
  }

  // Connects to the processes of lower numbers, and accepts those of higher ones, all at a time. Other clients may
  // connect as well, and send anything, or nothing.
  absl::Status ConnectAll(const FileDescriptor& listener) {
    std::list<Guest> guests;
    while (true) {
      const std::vector<int64_t> missing = Missing();
      if (missing.empty()) return absl::OkStatus();
      if (options_.give_up != nullptr) HILO_RETURN_IF_ERROR(options_.give_up());
      if (absl::Now() >= options_.deadline) return TooLate(missing);
      std::vector<pollfd> polled = {{.fd = listener.number(), .events = POLLIN, .revents = 0}};
      int most = kPollMilliseconds;
      for (const Host& host : hosts_) {
        const FileDescriptor& socket = connections_[host.process].socket;
        if (host.is_welcome) continue;
        if (socket.is_open()) {
          polled.push_back({.fd = socket.number(), .events = POLLIN, .revents = 0});
        } else {
          polled.push_back({.fd = host.connection.number(), .events = POLLOUT, .revents = 0});
          most = kRetryMilliseconds;
        }
      }
      for (const Guest& guest : guests) polled.push_back({.fd = guest.socket.number(), .events = POLLIN, .revents = 0});
      if (poll(polled.data(), polled.size(), PollTimeout(options_.deadline, most)) < 0 && errno != EINTR)
        return Unavailable("poll: ", ErrnoText(errno));
      size_t i = 1;
      for (Host& host : hosts_) {
        if (host.is_welcome) continue;
        const short events = polled[i++].revents;
        if (events != 0 || !connections_[host.process].socket.is_open()) {
          HILO_RETURN_IF_ERROR(AddContext(Advance(host), absl::StrCat("; connecting to process ", host.process)));
        }
      }
      for (Guest& guest : guests) {
        if (polled[i++].revents != 0) HILO_RETURN_IF_ERROR(Read(guest));
      }
      guests.remove_if([](const Guest& guest) { return guest.done; });
      while (polled[0].revents != 0) {
        FileDescriptor socket = Accept(listener);
        if (!socket.is_open()) break;
        guests.push_back({.socket = std::move(socket)});
      }
    }
  }

  // The members to which there is no connection that both sides have agreed on.
  std::vector<int64_t> Missing() const {
    std::vector<int64_t> missing;
    for (const Host& host : hosts_) {
      if (!host.is_welcome) missing.push_back(host.process);
    }
    std::copy_if(options_.members.begin(), options_.members.end(), std::back_inserter(missing),
                 [&](int64_t process) { return process > own_ && !connections_[process].socket.is_open(); });
    return missing;
  }

  absl::Status TooLate(const std::vector<int64_t>& missing) const {
    for (const Host& host : hosts_) {
      if (host.process == missing[0] && !connections_[host.process].socket.is_open())
        return AddContext(host.connection.error(), absl::StrCat("; connecting to process ", host.process));
    }
    return DeadlineExceeded("the deadline has passed while process ", own_, " of the group '", options_.name,
                            "' waits for ", ProcessList(missing), " of ", options_.members.size());
  }

  // Connects, sends the greeting, and reads the welcome, as far as that is possible now.
  absl::Status Advance(Host& host) {
    ProcessConnection& connection = connections_[host.process];
    if (!connection.socket.is_open()) {
      connection.socket = host.connection.Advance();
      if (!connection.socket.is_open()) return absl::OkStatus();
      connection.announcement = host.record.announcement;
      const Greeting greeting = {.from = own_,
                                 .announcement = options_.announcement,
                                 .accepted = Accepts(host.process, host.record.offer),
                                 .offer = options_.offer};
      return SendAll(connection.socket, greeting.Bytes(token_, host.process), options_.deadline);
    }
    char bytes[kWelcomeBytes];
    const ssize_t got = recv(connection.socket.number(), bytes, kWelcomeBytes - host.welcome.size(), 0);
    if (got == 0) return Unavailable("the connection was closed by the other side");
    if (got < 0 && errno != EAGAIN && errno != EINTR) return Unavailable("the connection is lost: ", ErrnoText(errno));
    if (got > 0) host.welcome.append(bytes, got);
    host.is_welcome = host.welcome.size() == kWelcomeBytes;
    connection.accepted = host.welcome == Welcome(true);
    return absl::OkStatus();
  }

  // Reads what the guest sends, which may become a connection to a process of the group.
  absl::Status Read(Guest& guest) {
    char bytes[kGreetingBytes];
    const ssize_t got = recv(guest.socket.number(), bytes, kGreetingBytes - guest.greeting.size(), 0);
    if (got > 0) guest.greeting.append(bytes, got);
    guest.done = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (guest.greeting.size() != kGreetingBytes) return absl::OkStatus();
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
      return absl::OkStatus();
    ProcessConnection& connection = connections_[from];
    connection.accepted = greeting.accepted && Accepts(from, greeting.offer);
    HILO_RETURN_IF_ERROR(Send(guest.socket, from, Welcome(connection.accepted)));
    connection.socket = std::move(guest.socket);
    connection.announcement = greeting.announcement;
    return absl::OkStatus();
  }

  const ConnectOptions& options_;
  const int64_t own_;
  std::string token_;
  std::vector<ProcessConnection> connections_;
  std::list<Host> hosts_;
};

}  // namespace

absl::StatusOr<ConnectedProcesses> ConnectProcesses(const ConnectOptions& options) { return Connecting(options).Run(); }

absl::StatusOr<std::vector<std::string>> ExchangeTexts(const ConnectOptions& options,
                                                       absl::Span<const FileDescriptor> sockets,
                                                       absl::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMaxExchangedBytes)
    return InvalidArgument("expected at most ", kMaxExchangedBytes, " bytes for the other processes, got ",
                           text.size());
  ByteWriter message;
  message.Text(text);
  for (int64_t process : options.members) {
    if (process != options.process_id)
      HILO_RETURN_IF_ERROR(AddContext(SendAll(sockets[process], message.bytes(), options.deadline),
                                      absl::StrCat("; sending to process ", process)));
  }
  std::vector<std::string> texts(options.process_count);
  const auto receive = [&](int64_t process, int64_t bytes) -> absl::StatusOr<std::string> {
    auto received = ReceiveExactly(sockets[process], bytes, options.deadline, options.give_up);
    if (received.ok()) return received;
    return AddContext(received.status(), absl::StrCat("; waiting for process ", process));
  };
  for (int64_t process : options.members) {
    if (process == options.process_id) {
      texts[process] = std::string(text);
      continue;
    }
    HILO_ASSIGN_OR_RETURN(const std::string head, receive(process, 8));
    const uint64_t bytes = ByteReader(head, "length").U64();
    if (bytes > kMaxExchangedBytes) return InvalidArgument("process ", process, " sends ", bytes, " bytes");
    HILO_ASSIGN_OR_RETURN(texts[process], receive(process, static_cast<int64_t>(bytes)));
  }
  return texts;
}

absl::StatusOr<bool> HasJoined(KeyValueStore& store, absl::string_view name, int64_t process) {
  const absl::Status found = store.TryGet(ProcessKey(name, process)).status();
  if (absl::IsNotFound(found)) return false;
  if (!found.ok()) return found;
  return true;
}

absl::StatusOr<std::vector<int64_t>> ReadAnnouncements(KeyValueStore& store, absl::string_view name,
                                                       int64_t process_count, absl::Time deadline) {
  std::vector<std::string> keys;
  for (int64_t process = 0; process < process_count; ++process) keys.push_back(ProcessKey(name, process));
  HILO_ASSIGN_OR_RETURN(const auto records, store.GetMany(keys, deadline));
  std::vector<int64_t> announcements;
  for (int64_t process = 0; process < process_count; ++process) {
    if (!records[process].has_value())
      return DeadlineExceeded("process ", process, " of the group '", name, "' has not come in time");
    HILO_ASSIGN_OR_RETURN(const Record record, ParseRecord(*records[process], process));
    announcements.push_back(record.announcement);
  }
  return announcements;
}

}  // namespace hilo
