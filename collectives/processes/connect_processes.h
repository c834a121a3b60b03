// Connects every two processes of a group by a stream socket. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_CONNECT_PROCESSES_H_
#define HILO_COLLECTIVES_PROCESSES_CONNECT_PROCESSES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "collectives/processes/sockets.h"
#include "hilo/collectives.h"

namespace hilo {

constexpr size_t kMaxOfferBytes = 160;

struct ConnectOptions {
  int64_t process_id = 0, process_count = 1;
  std::vector<int64_t> members;    // of the group, in order, this process among them
  KeyValueStore* store = nullptr;  // needed until ConnectProcesses returns
  std::string name;                // of the group, in the store
  std::string host;                // where this process listens
  int64_t announcement = 0;        // for the other processes
  // What the process offers to all others besides a socket, and whether it can use the offer of another: text of at
  // most kMaxOfferBytes, without zeros. Nothing may be offered (an empty text), which is not accepted.
  std::string offer;
  std::function<bool(int64_t process, absl::string_view offer)> accept;
  absl::Time deadline;
  std::function<absl::Status()> give_up;  // its error ends the wait; called a few times a second. Null: never
};

struct ProcessConnection {
  FileDescriptor socket;  // not open: this process, and those that are no members
  int64_t announcement = 0;
  bool accepted = false;  // both processes have accepted the other's offer
};

struct ConnectedProcesses {
  std::vector<ProcessConnection> connections;  // by process
  bool all_accepted = false;  // every two processes of the group have accepted each other's offers; the same in all
};

// Returns when all members are connected. Errors: DeadlineExceeded, naming the processes
// that are missing; FailedPrecondition if the name is already used; those of the store; Unavailable.
absl::StatusOr<ConnectedProcesses> ConnectProcesses(const ConnectOptions& options);

constexpr int64_t kMaxExchangedBytes = 1 << 14;
// Sends a text of at most kMaxExchangedBytes to all other members, over the sockets that connect them (by process), and
// returns those of all, by process. Errors: InvalidArgument for longer ones; DeadlineExceeded, naming the process;
// Unavailable.
absl::StatusOr<std::vector<std::string>> ExchangeTexts(const ConnectOptions& options,
                                                       absl::Span<const FileDescriptor> sockets,
                                                       absl::string_view text);

// Whether the process, or one of its number before it, has begun to connect to the others. Errors: those of the store.
absl::StatusOr<bool> HasJoined(KeyValueStore& store, absl::string_view name, int64_t process);
// The announcements of all processes of the group, which has been made. Errors: those of the store; InvalidArgument.
absl::StatusOr<std::vector<int64_t>> ReadAnnouncements(KeyValueStore& store, absl::string_view name,
                                                       int64_t process_count, absl::Time deadline);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_CONNECT_PROCESSES_H_
