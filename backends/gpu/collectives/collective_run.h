// Collectives at run time: the communicators of one run on one device, their stream beside the program's own, and the
// watchdog that monitors them.
//
// Ranks of one process record on a board which op they have reached, so that an error can name the ranks that are
// missing, that are at another op, or that have already ended their run. A watchdog polls every active run: if its
// deadline has passed, it is cancelled, a rank can never arrive or a communicator reports an error, the watchdog breaks
// the communicators of the run, so that its streams complete.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_RUN_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_RUN_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/gpu/collectives/cliques.h"
#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

// Progress of the ranks of one run that are in this process. Thread-safe.
class CollectiveBoard {
 public:
  explicit CollectiveBoard(std::vector<CliqueSpec> cliques)
      : cliques_(std::move(cliques)), progress_(cliques_.size()) {}

  // `rank` joins the run in this process.
  void Join(int64_t rank);
  // `rank` reaches its next op on the clique. Errors: InvalidArgument if others have reached a different one.
  absl::Status Enter(int64_t clique, int64_t rank, const std::string& op);
  // `rank` has queued the op.
  void Queued(int64_t clique, int64_t rank);
  // `rank` reaches no more ops: it waits for those that it has queued.
  void QueuedAll(int64_t rank);
  // The run of `rank` is over, with `status`.
  void Leave(int64_t rank, const absl::Status& status);

  // Returns an error if `rank` waits at an op that another rank can never reach.
  absl::Status Hopeless(int64_t rank) const;
  // Adds to `why` what the run of `rank` may be waiting for: "all-reduce %x: ... while waiting for ranks 2, 3 of the
  // group {0,1,2,3}". `why` is the reason for the query.
  absl::Status Unfinished(int64_t rank, const absl::Status& why) const;

 private:
  struct Progress {
    absl::flat_hash_map<int64_t, int64_t> entered, queued;  // ops, by rank
    int64_t first = 0;                                      // the number of ops[0]
    std::deque<std::string> ops;                            // that not all ranks here have queued
    std::string last;
  };
  const std::string& Op(const Progress& progress, int64_t number) const {
    return progress.ops[number - progress.first];
  }

  const std::vector<CliqueSpec> cliques_;
  mutable std::mutex mutex_;
  std::vector<Progress> progress_;  // by clique
  absl::flat_hash_set<int64_t> here_, all_queued_;
  absl::flat_hash_map<int64_t, absl::Status> gone_;
};

// The state that the watchdog monitors for one run on one device. Thread-safe.
class WatchedRun {
 public:
  // `host`, which reports failures of ranks of other processes, may be null.
  WatchedRun(std::shared_ptr<CollectiveBoard> board, int64_t rank, const CancellationToken* cancellation,
             const Communicator* host, std::vector<std::shared_ptr<CliqueMember>> members)
      : board_(std::move(board)), rank_(rank), cancellation_(cancellation), host_(host), members_(std::move(members)) {}

  // Breaks the communicators; the first reason is kept.
  void Fail(const absl::Status& why);
  // Calls Fail if a communicator has failed.
  void LookAtCommunicators();
  // Calls Fail if there is any reason to.
  void Look();
  absl::Status status() const;
  CollectiveBoard& board() { return *board_; }
  int64_t rank() const { return rank_; }
  CliqueMember* member(int64_t clique) { return members_[clique].get(); }

 private:
  // Returns what the host says of the failure that a communicator has reported, which names the process; else `error`.
  absl::Status ReasonOf(const absl::Status& error) const;

  const std::shared_ptr<CollectiveBoard> board_;
  const int64_t rank_;
  const CancellationToken* const cancellation_;
  const Communicator* const host_;
  const std::vector<std::shared_ptr<CliqueMember>> members_;  // by clique
  mutable std::mutex mutex_;
  absl::Status status_;
};

// One thread for all runs of a client, started by the first run.
class CollectiveWatchdog {
 public:
  ~CollectiveWatchdog();
  void Add(std::shared_ptr<WatchedRun> run);
  void Remove(const std::shared_ptr<WatchedRun>& run);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<WatchedRun>> runs_;
  bool stopping_ = false;
  std::thread thread_;
};

// State shared by the collectives of a client.
struct CollectiveContext {
  explicit CollectiveContext(std::shared_ptr<DeviceCommunicatorLibrary> library) : cliques(std::move(library)) {}
  // Returns the board of a run, created by the first of its ranks.
  std::shared_ptr<CollectiveBoard> BoardOf(int64_t run_id, const CollectivePlan& plan);

  Cliques cliques;
  CollectiveWatchdog watchdog;

 private:
  std::mutex mutex_;
  absl::flat_hash_map<int64_t, std::weak_ptr<CollectiveBoard>> boards_;
};

// A stream for collectives, and one event per collective; kept from run to run.
struct CollectiveStreams {
  std::unique_ptr<GpuStream> stream;
  std::unique_ptr<GpuEvent> begin;
  std::vector<std::unique_ptr<GpuEvent>> done;  // by collective

  // Transfers of each channel between two ranks have a stream of their own: nothing else waits for
  // them.
  struct Transfers {
    std::unique_ptr<GpuStream> stream;
    std::unique_ptr<GpuEvent> begin, done;
  };
  absl::flat_hash_map<int64_t, Transfers> transfers;  // by clique
};

class CollectiveRun {
 public:
  // Acquires the communicators; all ranks must call it before their first thunk. `plan`, `context`, `streams` and
  // `driver` must outlive the result. `overlap`: collectives run beside the program's stream. Errors: those of
  // Cliques::Acquire and of the driver.
  static absl::StatusOr<std::unique_ptr<CollectiveRun>> Create(CollectiveContext& shared, const CollectivePlan& plan,
                                                               int64_t specs, bool overlap, const RunContext& context,
                                                               GpuDriver& driver, CollectiveStreams* streams,
                                                               const GraphAgreement& graphs);
  ~CollectiveRun();

  const CollectiveRole& role(int64_t spec) const { return plan_.role(spec, watched_->rank()); }
  // Returns null if the rank is alone.
  DeviceCommunicator* communicator(int64_t clique);
  int64_t rank() const { return watched_->rank(); }

  // Returns the stream for collective `spec`, ordered after what is queued on `main`. Records on the board that the
  // rank has reached `op`.
  absl::StatusOr<GpuStream*> Begin(int64_t spec, const std::string& op, GpuStream& main);
  absl::Status End(int64_t spec, GpuStream& stream);
  // Orders what is queued on `main` from here on after collective `spec`, if that has run.
  absl::Status Await(int64_t spec, GpuStream& main);
  absl::Status AwaitAll(GpuStream& main);

  // Record on the board that the rank has reached `op`, and has queued it.
  absl::Status Enter(int64_t spec, const std::string& op);
  void Queued(int64_t spec);
  // The number of ops recorded on the board as entered and as queued.
  struct Noted {
    int64_t entered = 0, queued = 0;
  };
  Noted noted() const { return noted_; }
  // For consecutive ops from `since` on: records those that are not yet recorded, and counts them in `since`.
  absl::Status NoteSince(Noted* since, int64_t spec, const std::string& op);
  // Returns true if `mine` is true on all ranks of the run; all must call it at the same program point.
  absl::StatusOr<bool> AllSay(bool mine) { return Cliques::AllSay(mine, context_); }

  // The same for transfers between two ranks: the stream is ordered after what is queued on `main`.
  absl::StatusOr<GpuStream*> BeginTransfer(int64_t clique, const std::string& op, GpuStream& main);
  absl::Status EndTransfer(int64_t clique);
  // Orders what is queued on `main` from here on after the last transfer of the clique.
  absl::Status AwaitTransfer(int64_t clique, GpuStream& main);

  // A message that the rank has sent to itself on a channel, in device memory.
  struct Message {
    void* data;
    int64_t bytes;
  };
  std::deque<Message>& mail(int64_t channel) { return mail_[channel]; }

  GpuDriver& driver() { return driver_; }
  // Returns the error that has broken the communicators, as far as the device has reported it.
  absl::Status status() const;
  // Call when the program has queued all its work, or failed: waits for `main` and for the work beside it, and returns
  // the status of the run.
  absl::Status Finish(absl::Status status, GpuStream& main);

 private:
  CollectiveRun(CollectiveContext& shared, const CollectivePlan& plan, bool overlap, const RunContext& context,
                GpuDriver& driver, CollectiveStreams* streams, std::shared_ptr<WatchedRun> watched)
      : shared_(shared),
        plan_(plan),
        overlap_(overlap),
        context_(context),
        driver_(driver),
        streams_(*streams),
        watched_(std::move(watched)) {}

  CollectiveContext& shared_;
  const CollectivePlan& plan_;
  const bool overlap_;
  const RunContext& context_;
  GpuDriver& driver_;
  CollectiveStreams& streams_;
  const std::shared_ptr<WatchedRun> watched_;
  Noted noted_;
  std::vector<bool> pending_;                               // by collective
  absl::flat_hash_map<int64_t, std::deque<Message>> mail_;  // by channel
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_RUN_H_
