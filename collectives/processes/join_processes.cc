#include "collectives/processes/join_processes.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "collectives/processes/connect_processes.h"
#include "collectives/processes/mpi_transport.h"
#include "collectives/processes/shared_memory_transport.h"
#include "collectives/processes/tcp_transport.h"
#include "hilo/status_macros.h"

namespace hilo {

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
  std::unique_ptr<SharedInboxes> inboxes;
  std::unique_ptr<MpiRanks> ranks;
  absl::Status why_not = Unavailable("the other processes offer none");  // why no memory, or MPI, is shared
  if (choice == TransportChoice::kMpi && members.size() > 1) {
    HILO_ASSIGN_OR_RETURN(ranks, MpiRanks::Create(options.process_id));
  } else if (choice != TransportChoice::kTcp && members.size() > 1) {
    auto made = SharedInboxes::Create(options.process_id, options.process_count);
    if (made.ok()) {
      inboxes = *std::move(made);
    } else {
      why_not = made.status();
    }
  }
  ConnectOptions connect{.process_id = options.process_id,
                         .process_count = options.process_count,
                         .members = std::move(members),
                         .store = options.store.get(),
                         .name = options.name,
                         .host = options.host.empty() ? "127.0.0.1" : options.host,
                         .announcement = options.device_count,
                         .offer = ranks != nullptr     ? ranks->offer()
                                  : inboxes != nullptr ? inboxes->offer()
                                                       : "",
                         .accept =
                             [&](int64_t process, absl::string_view offer) {
                               const absl::Status accepted =
                                   ranks != nullptr ? ranks->Accept(process, offer) : inboxes->Open(process, offer);
                               if (!accepted.ok()) why_not = accepted;
                               return accepted.ok();
                             },
                         .deadline = absl::Now() + options.timeout,
                         .give_up = give_up};
  HILO_ASSIGN_OR_RETURN(ConnectedProcesses connected, ConnectProcesses(connect));
  JoinedProcesses joined;
  std::vector<FileDescriptor> sockets;
  std::vector<bool> shares;
  std::vector<int64_t> apart;
  for (int64_t process = 0; process < options.process_count; ++process) {
    ProcessConnection& connection = connected.connections[process];
    joined.device_counts.push_back(connection.announcement);
    sockets.push_back(std::move(connection.socket));
    shares.push_back(connection.accepted);
    if (sockets.back().is_open() && !connection.accepted) apart.push_back(process);
  }
  const auto others = static_cast<int64_t>(connect.members.size()) - 1;
  if ((choice == TransportChoice::kSharedMemory || choice == TransportChoice::kMpi) && !apart.empty()) {
    const bool is_mpi = choice == TransportChoice::kMpi;
    return FailedPrecondition("process ", options.process_id, " shares no ", is_mpi ? "MPI job" : "memory",
                              " with process", apart.size() == 1 ? " " : "es ", absl::StrJoin(apart, ", "),
                              ", but the transport is ", is_mpi ? "mpi" : "shm", ": ", why_not.message());
  }
  if (ranks != nullptr && !connected.all_accepted)
    return FailedPrecondition("the transport is mpi, but other processes of the group do not share this MPI job");
  if (ranks != nullptr && ranks->survives_failures()) {
    HILO_ASSIGN_OR_RETURN(const std::string failed, ranks->FailedRanks());
    HILO_ASSIGN_OR_RETURN(const std::vector<std::string> texts, ExchangeTexts(connect, sockets, failed));
    HILO_RETURN_IF_ERROR(ranks->SetFailedRanks(texts));
  }
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<TcpTransport> tcp, TcpTransport::Create(std::move(sockets)));
  if (ranks != nullptr) {
    HILO_ASSIGN_OR_RETURN(joined.transport, MpiTransport::Create(*ranks, std::move(tcp), connect.deadline, give_up));
  } else if (static_cast<int64_t>(apart.size()) == others) {
    joined.transport = std::move(tcp);
  } else {
    joined.transport =
        std::make_unique<SharedMemoryTransport>(std::move(inboxes), shares, connected.all_accepted, std::move(tcp));
  }
  LogInfo("process ", options.process_id, " of ", others + 1, " of the group '", options.name, "': the transport is ",
          joined.transport->name());
  return joined;
}

}  // namespace hilo
