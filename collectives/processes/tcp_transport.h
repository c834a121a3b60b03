// The transport over stream sockets. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_TCP_TRANSPORT_H_
#define HILO_COLLECTIVES_PROCESSES_TCP_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collectives/processes/sockets.h"
#include "collectives/processes/transport.h"

namespace hilo {

class TcpTransport : public Transport {
 public:
  // `sockets` are connected to the other processes, by process; that of this process is not open. Errors: Unavailable.
  static absl::StatusOr<std::unique_ptr<TcpTransport>> Create(std::vector<FileDescriptor> sockets);
  ~TcpTransport() override;

  std::string name() const override { return "TCP"; }
  absl::Status Start(FrameListener* listener) override;
  absl::Status Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                    const std::function<absl::Status()>& give_up) override;
  void Post(int64_t process, const FrameHeader& header, absl::string_view bytes) override;
  bool Poll(int64_t) override { return false; }  // a thread of the transport reads
  bool IsPolled(int64_t) const override { return false; }
  Bell& bell() override { return bell_; }
  Watch watch() const override { return {}; }
  int64_t section_bytes() const override { return kSectionBytes; }
  // Smaller ones cost more in waking threads than the others' being on their way meanwhile is worth.
  static constexpr int64_t kSectionBytes = 2 << 20;

  // The number of other processes.
  int64_t connections() const;
  // Ends the connection: the process will be gone for this reason.
  void Disconnect(int64_t process, const absl::Status& why);

 private:
  struct Peer;

  TcpTransport() = default;
  void Work();
  void Serve(int milliseconds);
  bool Read(Peer& peer, int64_t process);
  absl::Status TakeFrames(Peer& peer, int64_t process);
  void Flush(Peer& peer);
  void WakeWorker();

  FrameListener* listener_ = nullptr;
  std::vector<std::unique_ptr<Peer>> peers_;  // null: this process
  Bell bell_;
  FileDescriptor wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_TCP_TRANSPORT_H_
