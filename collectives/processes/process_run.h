// One run on the devices of several processes, as seen by one of the processes. Private to
// collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_PROCESS_RUN_H_
#define HILO_COLLECTIVES_PROCESSES_PROCESS_RUN_H_

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "collectives/processes/transport.h"
#include "collectives/rendezvous.h"

namespace hilo {

class ProcessRun {
 public:
  // `transport` must outlive it.
  ProcessRun(Transport* transport, int64_t process, uint64_t program, uint64_t number)
      : transport_(transport), process_(process), program_(program), number_(number) {}

  // From now on its ranks may call. Frames that have arrived earlier are processed now.
  void Start(std::vector<int64_t> process_of_rank);

  // As FrameListener's.
  void OnFrame(int64_t process, Frame frame);
  void OnGone(int64_t process, const absl::Status& why);
  // A process of the group is gone: as OnGone if it takes part in the run, else the run fails for this reason.
  void Abandon(int64_t process, const absl::Status& why);

  int64_t process() const { return process_; }
  int64_t section_bytes() const { return transport_->section_bytes(); }
  int64_t size() const { return static_cast<int64_t>(process_of_rank_.size()); }
  int64_t process_of(int64_t rank) const { return process_of_rank_[rank]; }
  // The rendezvous state of this process's ranks, by their ranks in the run.
  RunState& local() { return *local_; }

  // Sends a frame of a collective. Errors: those of the run, the call and the transport.
  absl::Status Send(int64_t process, FrameKind kind, uint64_t group, absl::Span<const absl::string_view> pieces,
                    const CollectiveCall& call);
  // Waits for the next frame of the group, of this kind, from each of the processes. `group` is
  // that of the call, and its hash.
  absl::StatusOr<std::vector<Frame>> Receive(absl::Span<const int64_t> processes, FrameKind kind, uint64_t hash,
                                             absl::Span<const int64_t> group, const CollectiveCall& call);
  // Communicator's Send and Receive for ranks of this process, to and from those of others.
  absl::Status SendMessage(int64_t rank, const CollectiveCall& call, absl::string_view data, int64_t target);
  absl::Status ReceiveMessage(int64_t rank, const CollectiveCall& call, void* data, int64_t bytes, int64_t source);
  // Tells the other processes that this one begins the run, and returns whether all of them have, for which it waits
  // as long as before it sleeps, and no longer than 0.1 ms, if it `waits`. Always false without shared memory.
  bool Begin(bool waits);
  // Ends the run, in this and in the other processes.
  void Fail(const absl::Status& status);
  absl::Status failure() const;
  // Marks a rank of this process as finished successfully.
  void Finish(int64_t rank);

 private:
  absl::Status GoneStatus(int64_t process, const absl::Status& why) const;
  void Take(int64_t process, Frame frame);
  absl::Status TakeMessage(int64_t process, const Frame& frame);
  std::vector<int64_t> RanksAt(int64_t process) const;
  FrameHeader Header(FrameKind kind, uint64_t group = 0) const {
    return {.kind = kind, .program = program_, .run = number_, .group = group};
  }
  void Tell(FrameKind kind, absl::string_view bytes);
  // Waits until `take` has returned true for each of the processes; it is called with the lock held, and takes what has
  // come from the process. When nothing has come for a while, `check` may end the wait with an error, given the
  // processes that are missing.
  using TakeFrom = absl::FunctionRef<bool(size_t i)>;
  using Check = absl::FunctionRef<absl::Status(absl::Span<const int64_t> missing)>;
  absl::Status Await(absl::Span<const int64_t> processes, TakeFrom take, Check check);
  // With the lock held: the reason why what `missing` ranks should send cannot arrive; OK if it may.
  absl::Status CheckNotEnded(absl::Span<const int64_t> missing, const CollectiveCall& call) const;
  absl::Status CheckOtherGroups(absl::Span<const int64_t> missing, uint64_t hash, absl::Span<const int64_t> group,
                                const CollectiveCall& call) const;

  Transport* const transport_;
  const int64_t process_;
  const uint64_t program_, number_;
  std::vector<int64_t> process_of_rank_;
  std::vector<int64_t> others_;  // the other processes, in order
  std::optional<RunState> local_;

  struct Channel {
    int64_t key, source, target;
    auto operator<=>(const Channel&) const = default;
  };

  mutable std::mutex mutex_;
  bool started_ = false;
  std::deque<std::pair<int64_t, Frame>> early_;
  absl::Status failure_;
  std::vector<bool> ended_;        // by rank
  std::vector<int64_t> to_begin_;  // those of others_ that have not begun yet, as far as is known
  // By group and sender; those that a thread waits for need not own their bytes.
  std::map<std::pair<uint64_t, int64_t>, std::deque<Frame>> inbox_;
  std::vector<std::pair<uint64_t, int64_t>> awaited_;  // keys of inbox_
  std::map<Channel, std::deque<std::string>> messages_;
};

// What a process states about a collective before its data; the same for all its ranks.
struct Announcement {
  std::string name, signature;
  int64_t key = 0;
  std::vector<int64_t> group;
  std::string more;  // of the collective's kind
};
// Serialized, padded so that the data after it is aligned as in the frame.
std::string EncodeAnnouncement(const Announcement& announcement);
// Sets *data_begin to the start of the data, which is within the frame. Errors: InvalidArgument.
absl::StatusOr<Announcement> DecodeAnnouncement(const Frame& frame, int64_t* data_begin);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_PROCESS_RUN_H_
