// One run on the devices of several processes, as seen by one of the processes. Private to
// collectives.
#ifndef HILO_COLLECTIVES_PROCESS_RUN_H_
#define HILO_COLLECTIVES_PROCESS_RUN_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/mesh.h"
#include "collectives/rendezvous.h"

namespace hilo {

class ProcessRun {
 public:
  // `mesh` must outlive it.
  ProcessRun(Mesh* mesh, int64_t process, uint64_t program, uint64_t number)
      : mesh_(mesh), process_(process), program_(program), number_(number) {}

  // From now on its ranks may call. Frames that have arrived earlier are processed now.
  void Start(std::vector<int64_t> process_of_rank);

  // On the mesh's thread.
  void OnFrame(int64_t process, Frame frame);
  void OnGone(int64_t process, const absl::Status& why);

  int64_t process() const { return process_; }
  int64_t size() const { return static_cast<int64_t>(process_of_rank_.size()); }
  int64_t process_of(int64_t rank) const { return process_of_rank_[rank]; }
  // The rendezvous state of this process's ranks, by their ranks in the run.
  RunState& local() { return *local_; }

  // Sends a frame of a collective or a message. Errors: those of the run, the call and the mesh.
  absl::Status Send(int64_t process, FrameKind kind, uint64_t group, absl::Span<const absl::string_view> pieces,
                    const CollectiveCall& call);
  // Waits for the next frame of the group, of this kind, from each of the processes. `group` is
  // that of the call, and its hash.
  absl::StatusOr<std::vector<Frame>> Receive(absl::Span<const int64_t> processes, FrameKind kind, uint64_t hash,
                                             absl::Span<const int64_t> group, const CollectiveCall& call);
  // Ends the run, in this and in the other processes.
  void Fail(const absl::Status& status);
  absl::Status failure() const;
  // Marks a rank of this process as finished successfully.
  void Finish(int64_t rank);

 private:
  absl::Status GoneStatus(int64_t process, const absl::Status& why) const;
  void Take(int64_t process, Frame frame);
  void TakeMessage(int64_t process, const Frame& frame);
  std::vector<int64_t> RanksAt(int64_t process) const;
  FrameHeader Header(FrameKind kind, uint64_t group = 0) const {
    return {.kind = kind, .program = program_, .run = number_, .group = group};
  }
  void Tell(FrameKind kind, absl::string_view bytes);
  // With the lock held: the reason why the awaited frames cannot arrive; OK if they may.
  absl::Status Hopeless(absl::Span<const int64_t> missing, uint64_t hash, absl::Span<const int64_t> group,
                        const CollectiveCall& call) const;

  Mesh* const mesh_;
  const int64_t process_;
  const uint64_t program_, number_;
  std::vector<int64_t> process_of_rank_;
  std::optional<RunState> local_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  std::deque<std::pair<int64_t, Frame>> early_;
  absl::Status failure_;
  std::vector<bool> ended_;  // by rank
  // By group and sender.
  std::map<std::pair<uint64_t, int64_t>, std::deque<Frame>> inbox_;
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
// Sets *data_begin to the start of the data. Errors: InvalidArgument.
absl::StatusOr<Announcement> DecodeAnnouncement(const Frame& frame, int64_t* data_begin);

constexpr int64_t kFrameAlignment = 64;

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESS_RUN_H_
