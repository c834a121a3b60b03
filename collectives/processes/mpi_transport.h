// The transport through MPI. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_MPI_TRANSPORT_H_
#define HILO_COLLECTIVES_PROCESSES_MPI_TRANSPORT_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "collectives/processes/mpi_library.h"
#include "collectives/processes/tcp_transport.h"
#include "collectives/processes/transport.h"

namespace hilo {

// Which rank of MPI_COMM_WORLD each process of a group is. While the processes connect, each offers its own.
class MpiRanks {
 public:
  // Errors: those of MpiLibrary::Get.
  static absl::StatusOr<std::unique_ptr<MpiRanks>> Create(int64_t process);
  const std::string& offer() const { return offer_; }
  // Errors: InvalidArgument if the process is none of the same MPI job.
  absl::Status Accept(int64_t process, absl::string_view offer);
  // MpiLibrary::survives_failures, and FailedRanks as text, for the other processes.
  bool survives_failures() const;
  absl::StatusOr<std::string> FailedRanks() const;
  // The union of what all have got from FailedRanks. Errors: InvalidArgument.
  absl::Status SetFailedRanks(absl::Span<const std::string> texts);

 private:
  friend class MpiTransport;
  MpiRanks() = default;

  MpiLibrary* mpi_ = nullptr;
  int64_t process_ = 0;
  std::string offer_;
  std::map<int64_t, int> ranks_;  // by process
  std::set<int> failed_;
};

class MpiTransport : public Transport, private FrameListener {
 public:
  // Every member of the group makes this call, with the ranks of all. `tcp` connects them, too: it reports when a
  // process is gone, carries failures, and wakes a process of which no thread calls MPI. Errors: those of
  // MpiLibrary::CreateCommunicator.
  static absl::StatusOr<std::unique_ptr<MpiTransport>> Create(const MpiRanks& ranks, std::unique_ptr<TcpTransport> tcp,
                                                              absl::Time deadline,
                                                              const std::function<absl::Status()>& give_up);
  ~MpiTransport() override;

  std::string name() const override;
  absl::Status Start(FrameListener* listener) override;
  absl::Status Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                    const std::function<absl::Status()>& give_up) override;
  void Post(int64_t process, const FrameHeader& header, absl::string_view bytes) override;
  bool Poll(int64_t process) override;
  bool IsPolled(int64_t) const override { return true; }
  Bell& bell() override { return bell_; }
  Watch watch() const override { return {}; }
  bool WatchForFrames(uint32_t seen) override;
  void SleepForFrames(uint32_t seen, absl::Duration most) override;
  int64_t section_bytes() const override { return kSectionBytes; }

 private:
  class Peer;
  static constexpr int64_t kSectionBytes = 1 << 20;

  explicit MpiTransport(MpiLibrary* mpi);
  void OnFrame(int64_t process, Frame frame) override;
  void OnGone(int64_t process, const absl::Status& why, bool has_left) override;
  // With the peer's receive_mutex held.
  bool TakeFrame(int64_t process, Peer& peer);
  bool PollAll();
  bool HasUnsent();
  void Work();
  void Break(int64_t process, Peer& peer, const absl::Status& why);
  void NoteFailure();

  MpiLibrary* const mpi_;
  MpiHandle communicator_ = 0;
  FrameListener* listener_ = nullptr;
  std::map<int64_t, std::unique_ptr<Peer>> peers_;  // by process
  std::atomic<bool> has_failure_{false};            // a process has died, or a run has failed
  Bell bell_;
  bool yields_ = false;  // there are fewer processors than processes

  // Sends what is on its way while no thread waits for anything.
  std::mutex work_mutex_;
  std::condition_variable work_;
  std::atomic<bool> stopping_{false};
  std::thread worker_;
  TcpTransport* tcp_ = nullptr;
  std::unique_ptr<TcpTransport> own_tcp_;  // destroyed first, as its thread uses the rest
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_MPI_TRANSPORT_H_
