// Connects ranks of this process and of others to the rendezvous of emulated communicators. Private to emulated
// communicators.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_HUB_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_HUB_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/gpu/collectives/emulated_rendezvous.h"
#include "base/byte_stream.h"
#include "collectives/processes/sockets.h"

namespace hilo::gpu {

// One rank's participation in a rendezvous. Thread-safe.
class EmulatedSeat {
 public:
  virtual ~EmulatedSeat() = default;
  // See EmulatedRendezvous.
  virtual bool Advance(const std::shared_ptr<CallGroup>& group) = 0;
  virtual absl::Status failure() = 0;
  virtual void Abort(const absl::Status& why) = 0;
  // Waits until all ranks have contributed a text; returns the texts by rank.
  virtual absl::StatusOr<std::vector<std::string>> Exchange(std::string text, const KeepWaiting& keep_waiting) = 0;
};

// The rendezvous that are hosted in this process, and connections to those of others. A rendezvous's name contains the
// address of its hub and a secret, as a unique id of NCCL does: ranks of other processes connect to it, and exchange
// data with it in frames. Must be owned by a shared pointer; seats keep it alive.
class EmulatedHub : public std::enable_shared_from_this<EmulatedHub> {
 public:
  EmulatedHub();
  // Waits a few seconds for ranks of other processes to leave.
  ~EmulatedHub();

  // Returns the name of a new rendezvous hosted here. The first call opens a port, on the loopback interface unless
  // HILO_HOST names another address of this machine.
  std::string MakeName();
  // Joins a rendezvous of `size` ranks. Errors: InvalidArgument for a malformed name, and if other ranks expect another
  // size; Unavailable if its process cannot be reached.
  absl::StatusOr<std::unique_ptr<EmulatedSeat>> Open(const std::string& name, int64_t size, int64_t rank);

 private:
  struct Guest;

  absl::Status Listen();
  std::shared_ptr<EmulatedRendezvous> Find(const std::string& number, int64_t size);
  void Wake();
  void Work();
  void Serve(Guest& guest);
  absl::Status Take(Guest& guest, const std::string& frame);
  absl::Status TakeCalls(Guest& guest, ByteReader& in);
  void Answer(Guest& guest);

  std::mutex mutex_;
  std::string address_, secret_;  // empty: not listening yet
  int64_t next_ = 0;
  absl::flat_hash_map<std::string, std::weak_ptr<EmulatedRendezvous>>
      rendezvous_;  // by the name's part after the secret

  FileDescriptor listener_, wake_;
  std::vector<std::unique_ptr<Guest>> guests_;  // the thread's
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_HUB_H_
