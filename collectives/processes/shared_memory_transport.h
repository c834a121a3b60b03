// The transport through memory that the processes of one host share. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_SHARED_MEMORY_TRANSPORT_H_
#define HILO_COLLECTIVES_PROCESSES_SHARED_MEMORY_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/processes/shared_segment.h"
#include "collectives/processes/tcp_transport.h"
#include "collectives/processes/transport.h"

namespace hilo {

// The memory at which a process receives from the others of its host, and that of the others at which it sends. While
// the processes connect, each offers its own and opens those that it is offered.
class SharedInboxes {
 public:
  // For a group of `process_count` processes. Errors: Unavailable without memory that can be shared.
  static absl::StatusOr<std::unique_ptr<SharedInboxes>> Create(int64_t process, int64_t process_count);
  const std::string& offer() const { return offer_; }
  // Opens the memory of another process. Errors: Unavailable, InvalidArgument.
  absl::Status Open(int64_t process, absl::string_view offer);

 private:
  friend class SharedMemoryTransport;
  SharedInboxes() = default;
  // Where `sender` writes in the segment of `owner`.
  int64_t SlotOffset(int64_t owner, int64_t sender) const;

  int64_t process_ = 0, ring_bytes_ = 0, segment_bytes_ = 0;
  std::string offer_;
  std::unique_ptr<SharedSegment> segment_;
  Mapping own_;
  struct Outbox {
    Mapping head, slot;
  };
  std::vector<Outbox> outboxes_;  // by process
};

class SharedMemoryTransport : public Transport, private FrameListener {
 public:
  // Frames of processes that do not share memory go through `tcp`, as does what must arrive while no thread waits. Its
  // connections report when a process is gone. `all_share`: so do every two processes of the group.
  SharedMemoryTransport(std::unique_ptr<SharedInboxes> inboxes, const std::vector<bool>& shares, bool all_share,
                        std::unique_ptr<TcpTransport> tcp);
  ~SharedMemoryTransport() override;

  std::string name() const override;
  absl::Status Start(FrameListener* listener) override;
  absl::Status Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                    const std::function<absl::Status()>& give_up) override;
  void Post(int64_t process, const FrameHeader& header, absl::string_view bytes) override;
  bool Poll(int64_t process) override;
  bool IsPolled(int64_t process) const override { return peers_[process] != nullptr; }
  Bell& bell() override { return *bell_; }
  Watch watch() const override { return watch_; }
  int64_t section_bytes() const override { return section_bytes_; }

 private:
  class Peer;

  void OnFrame(int64_t process, Frame frame) override;
  void OnGone(int64_t process, const absl::Status& why, bool has_left) override;
  // With the peer's receive_mutex held: takes a record.
  bool TakeRecord(int64_t process, Peer& peer);
  // The same: takes all records that the ring can hold, so all that were published before.
  void TakeRecords(int64_t process, Peer& peer);
  bool PollAll();
  absl::Status AwaitSpace(int64_t process, Peer& peer, int64_t bytes, const std::function<absl::Status()>& give_up,
                          uint8_t** space);

  std::unique_ptr<SharedInboxes> inboxes_;
  std::vector<std::unique_ptr<Peer>> peers_;  // null: shares no memory
  Bell* bell_;                                // in the own segment
  Watch watch_;
  const int64_t section_bytes_;
  FrameListener* listener_ = nullptr;
  std::unique_ptr<TcpTransport> tcp_;  // destroyed first, as its thread uses the rest
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_SHARED_MEMORY_TRANSPORT_H_
