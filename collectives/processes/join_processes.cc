#include "collectives/processes/join_processes.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "collectives/processes/connect_processes.h"
#include "collectives/processes/mpi_transport.h"
#include "collectives/processes/shared_memory_transport.h"
#include "collectives/processes/tcp_transport.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// What this process offers the others besides sockets: inboxes in shared memory, its rank in an MPI job, or nothing.
class TransportOffer {
 public:
  // Errors: those of MpiRanks::Create, if the choice is MPI.
  static absl::StatusOr<TransportOffer> Create(TransportChoice choice, const ProcessGroupOptions& options,
                                               bool has_others) {
    TransportOffer offer(choice);
    if (choice == TransportChoice::kMpi && has_others) {
      HILO_ASSIGN_OR_RETURN(offer.ranks_, MpiRanks::Create(options.process_id));
    } else if (choice != TransportChoice::kTcp && has_others) {
      auto inboxes = SharedInboxes::Create(options.process_id, options.process_count);
      if (inboxes.ok()) {
        offer.inboxes_ = *std::move(inboxes);
      } else {
        offer.why_not_ = inboxes.status();
      }
    }
    return offer;
  }

  // Returns the offer as ConnectOptions has it.
  std::string text() const {
    return ranks_ != nullptr ? ranks_->offer() : inboxes_ != nullptr ? inboxes_->offer() : "";
  }

  // Returns true if this process can use what `process` offers.
  bool Accept(int64_t process, absl::string_view text) {
    const absl::Status accepted = ranks_ != nullptr ? ranks_->Accept(process, text) : inboxes_->Open(process, text);
    if (!accepted.ok()) why_not_ = accepted;
    return accepted.ok();
  }

  // Returns the transport between the connected processes. Errors: FailedPrecondition if they must share memory or an
  // MPI job and do not, naming the processes.
  absl::StatusOr<std::unique_ptr<Transport>> MakeTransport(const ConnectOptions& options,
                                                           ConnectedProcesses connected) && {
    std::vector<FileDescriptor> sockets;
    std::vector<bool> shares;
    std::vector<int64_t> apart;  // the processes that do not share memory, or the MPI job, with this one
    for (int64_t process = 0; process < options.process_count; ++process) {
      ProcessConnection& connection = connected.connections[process];
      sockets.push_back(std::move(connection.socket));
      shares.push_back(connection.accepted);
      if (sockets.back().is_open() && !connection.accepted) apart.push_back(process);
    }
    HILO_RETURN_IF_ERROR(CheckShared(options, apart));
    if (ranks_ != nullptr) return MakeMpi(options, connected.all_accepted, std::move(sockets));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<TcpTransport> tcp, TcpTransport::Create(std::move(sockets)));
    if (apart.size() + 1 == options.members.size()) return std::unique_ptr<Transport>(std::move(tcp));
    return std::make_unique<SharedMemoryTransport>(std::move(inboxes_), shares, connected.all_accepted, std::move(tcp));
  }

 private:
  explicit TransportOffer(TransportChoice choice) : choice_(choice) {}

  absl::Status CheckShared(const ConnectOptions& options, absl::Span<const int64_t> apart) const {
    const bool is_mpi = choice_ == TransportChoice::kMpi;
    if (apart.empty() || (!is_mpi && choice_ != TransportChoice::kSharedMemory)) return absl::OkStatus();
    return FailedPrecondition("process ", options.process_id, " shares no ", is_mpi ? "MPI job" : "memory",
                              " with process", apart.size() == 1 ? " " : "es ", absl::StrJoin(apart, ", "),
                              ", but the transport is ", is_mpi ? "mpi" : "shm", ": ", why_not_.message());
  }

  absl::StatusOr<std::unique_ptr<Transport>> MakeMpi(const ConnectOptions& options, bool all_accepted,
                                                     std::vector<FileDescriptor> sockets) {
    if (!all_accepted)
      return FailedPrecondition("the transport is mpi, but other processes of the group do not share this MPI job");
    if (ranks_->survives_failures()) {
      HILO_ASSIGN_OR_RETURN(const std::string failed, ranks_->FailedRanks());
      HILO_ASSIGN_OR_RETURN(const std::vector<std::string> texts, ExchangeTexts(options, sockets, failed));
      HILO_RETURN_IF_ERROR(ranks_->SetFailedRanks(texts));
    }
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<TcpTransport> tcp, TcpTransport::Create(std::move(sockets)));
    return MpiTransport::Create(*ranks_, std::move(tcp), options.deadline, options.give_up);
  }

  TransportChoice choice_;
  std::unique_ptr<SharedInboxes> inboxes_;
  std::unique_ptr<MpiRanks> ranks_;
  absl::Status why_not_ = Unavailable("the other processes offer none");  // why no memory, or MPI job, is shared
};

}  // namespace

absl::StatusOr<TransportChoice> TransportChoiceOf(absl::string_view name) {
  if (name.empty() || name == "auto") return TransportChoice::kAuto;
  if (name == "shm") return TransportChoice::kSharedMemory;
  if (name == "tcp") return TransportChoice::kTcp;
  if (name == "mpi") return TransportChoice::kMpi;
  return InvalidArgument("the transport between processes: expected auto, shm, tcp or mpi, got '", name, "'");
}

absl::StatusOr<JoinedProcesses> JoinProcesses(const ProcessGroupOptions& options, std::vector<int64_t> members,
                                              const std::function<absl::Status()>& give_up) {
  const char* const variable = options.transport.empty() ? std::getenv("HILO_TRANSPORT") : nullptr;
  HILO_ASSIGN_OR_RETURN(const TransportChoice choice,
                        TransportChoiceOf(variable == nullptr ? options.transport : variable));
  HILO_ASSIGN_OR_RETURN(TransportOffer offer, TransportOffer::Create(choice, options, members.size() > 1));
  const ConnectOptions connect{
      .process_id = options.process_id,
      .process_count = options.process_count,
      .members = std::move(members),
      .store = options.store.get(),
      .name = options.name,
      .host = options.host.empty() ? "127.0.0.1" : options.host,
      .announcement = options.device_count,
      .offer = offer.text(),
      .accept = [&](int64_t process, absl::string_view text) { return offer.Accept(process, text); },
      .deadline = absl::Now() + options.timeout,
      .give_up = give_up};
  HILO_ASSIGN_OR_RETURN(ConnectedProcesses connected, ConnectProcesses(connect));
  JoinedProcesses joined;
  for (const ProcessConnection& connection : connected.connections)
    joined.device_counts.push_back(connection.announcement);
  HILO_ASSIGN_OR_RETURN(joined.transport, std::move(offer).MakeTransport(connect, std::move(connected)));
  LogInfo("process ", options.process_id, " of ", connect.members.size(), " of the group '", options.name,
          "': the transport is ", joined.transport->name());
  return joined;
}

}  // namespace hilo
