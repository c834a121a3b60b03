// Connections between every pair of processes of a group, over which frames of bytes travel in order.
// Private to collectives.
#ifndef HILO_COLLECTIVES_MESH_H_
#define HILO_COLLECTIVES_MESH_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "collectives/sockets.h"
#include "hilo/collectives.h"

namespace hilo {

enum class FrameKind : uint32_t {
  kCollective = 1,  // contributions of ranks of a group to a collective
  kResult = 2,      // its second half
  kMessage = 3,     // from rank to rank
  kFinish = 4,      // a rank has ended its run
  kFail = 5,        // the run has failed
  kLeave = 6,       // the process leaves
};

struct FrameHeader {
  FrameKind kind = FrameKind::kLeave;
  uint64_t program = 0, run = 0;  // which run of which set of devices
  uint64_t group = 0;             // of a collective
};

struct Frame {
  FrameHeader header;
  AlignedBuffer bytes;
};

// Receives events, on the mesh's thread; must not block.
class MeshListener {
 public:
  virtual ~MeshListener() = default;
  virtual void OnFrame(int64_t process, Frame frame) = 0;
  // The last event of a process: it has left, died, or become unreachable.
  virtual void OnGone(int64_t process, const absl::Status& why) = 0;
};

struct MeshOptions {
  int64_t process_id = 0, process_count = 1;
  KeyValueStore* store = nullptr;  // needed until Connect returns
  std::string name;                // of the group, in the store
  std::string host;                // where this process listens
  int64_t announcement = 0;        // for the other processes
  absl::Time deadline;
};

class Mesh {
 public:
  // Returns when all processes are connected. Nothing is read before Start. Errors:
  // DeadlineExceeded, naming the processes that are missing; FailedPrecondition if the name is already
  // used; those of the store; Unavailable.
  static absl::StatusOr<std::unique_ptr<Mesh>> Connect(const MeshOptions& options);
  // Errors: ResourceExhausted without threads.
  absl::Status Start(MeshListener* listener);
  // Notifies the other processes that this one leaves.
  ~Mesh();

  // The announcements of the processes.
  const std::vector<int64_t>& announcements() const { return announcements_; }

  // Sends the frame made of the pieces in order. Blocks while the other side reads nothing,
  // until `give_up` (called every few milliseconds) returns an error. Errors: that; Unavailable if
  // the process is gone, in which case the listener has received all that came from it.
  absl::Status Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                    const std::function<absl::Status()>& give_up);
  // Sends without blocking; data that cannot be sent now is sent later. Does nothing if the process is gone.
  void Post(int64_t process, const FrameHeader& header, absl::string_view bytes);

 private:
  struct Peer;

  Mesh() = default;
  absl::Status ConnectAll(const MeshOptions& options);
  absl::Status AcceptAll(const MeshOptions& options, const FileDescriptor& listener, absl::string_view token);
  void Work();
  void Serve(int milliseconds);
  bool Read(Peer& peer, int64_t process);
  absl::Status TakeFrames(Peer& peer, int64_t process);
  void Flush(Peer& peer);
  void WakeWorker();

  int64_t process_id_ = 0;
  MeshListener* listener_ = nullptr;
  std::vector<std::unique_ptr<Peer>> peers_;  // null: this process
  std::vector<int64_t> announcements_;
  FileDescriptor wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_MESH_H_
