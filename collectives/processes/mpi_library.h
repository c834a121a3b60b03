// MPI as it is found at run time: Open MPI, MPICH and its relatives, or any library of the standard ABI. Private to
// collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_MPI_LIBRARY_H_
#define HILO_COLLECTIVES_PROCESSES_MPI_LIBRARY_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hilo {

// A handle of MPI: a pointer in some libraries, an int in others, which fills the lower half. Both are passed alike.
using MpiHandle = uintptr_t;

// Thread-safe; never destroyed.
class MpiLibrary {
 public:
  // Loads the library (docs/distributed.md lists them), once in a process, and initializes MPI unless the program has.
  // What it has initialized it finalizes when the process exits. Errors: Unavailable if there is none, if it does not
  // support several threads (MPI_THREAD_MULTIPLE), or if this process is not one of several of an MPI job.
  static absl::StatusOr<MpiLibrary*> Get();

  // "Open MPI v4.1.4, ..."
  const std::string& version() const { return version_; }
  // Equal in processes that can talk to each other, as far as is known.
  const std::string& job() const { return job_; }
  int rank() const { return rank_; }  // in MPI_COMM_WORLD
  int size() const { return size_; }

  // Whether the other processes of the job outlive one that fails (ULFM: Open MPI's `mpirun --with-ft ulfm`): a request
  // that has returned an error is complete, a communicator of which a process has failed can be freed, and MPI can be
  // finalized. The same in all processes of the job.
  bool survives_failures() const { return survives_failures_; }
  // Another means says that the rank is gone: FailedRanks waits for MPI to notice.
  void Suspect(int rank);
  // The ranks of MPI_COMM_WORLD that MPI knows to have failed, in order; none unless survives_failures().
  absl::StatusOr<std::vector<int>> FailedRanks();

  // A communicator of these ranks of MPI_COMM_WORLD, which all call this, in which they are numbered in this order. Its
  // errors are returned. `failed` is the union of what all of them have got from FailedRanks, in order; if a rank has
  // failed since the last call, `ranks` must be all others of the job. An error of `give_up`, unless that is null, ends
  // the wait for the others. Errors: DeadlineExceeded; of all functions Unavailable with MPI's text.
  absl::StatusOr<MpiHandle> CreateCommunicator(std::vector<int> ranks, std::vector<int> failed, absl::Time deadline,
                                               const std::function<absl::Status()>& give_up);
  void FreeCommunicator(MpiHandle communicator);
  // Starts to send, or to receive at most `bytes`. A send is complete when its receiver has matched it (MPI_Issend).
  absl::StatusOr<MpiHandle> Send(MpiHandle communicator, int rank, int tag, const void* data, int bytes);
  absl::StatusOr<MpiHandle> Receive(MpiHandle communicator, int rank, int tag, void* data, int bytes);
  // Whether the request is complete; it is freed then.
  absl::StatusOr<bool> Test(MpiHandle* request);
  // Ends a receive. Returns whether its memory is not written any more.
  bool Cancel(MpiHandle* request);
  // A run has failed, perhaps as a process is stuck: MPI_Finalize does not wait long for the others.
  void NoteFailure();
  // After a process has died MPI_Finalize may wait for it without end (unless MPI survives failures), and a thread that
  // is left behind in MPI forbids it: it is not called then.
  void LeaveWithoutFinalizing();

 private:
  struct Functions;

  MpiLibrary() = default;
  static absl::StatusOr<MpiLibrary*> Load();
  absl::Status Open();
  absl::Status Initialize();
  absl::StatusOr<MpiHandle> CreateCommunicator(const std::vector<int>& ranks, const std::vector<int>& failed);
  absl::StatusOr<MpiHandle> CreateFrom(MpiHandle parent, const std::vector<int>& ranks);
  absl::Status Shrink(MpiHandle before);
  absl::StatusOr<std::vector<int>> RanksOf(MpiHandle group) const;
  absl::Status FindFaultTolerance();
  absl::Status StatusOf(int code, const char* function) const;

  const Functions* mpi_ = nullptr;
  // Of this library.
  MpiHandle world_ = 0, byte_ = 0, errors_return_ = 0;
  void* status_ignore_ = nullptr;
  int thread_multiple_ = 0;
  bool is_open_mpi_ = false, survives_failures_ = false;

  std::mutex mutex_;  // of the next three
  std::set<int> suspects_;
  MpiHandle base_ = 0;           // of which communicators are made; it is MPI_COMM_WORLD until a process has failed
  std::vector<int> base_ranks_;  // in MPI_COMM_WORLD

  std::string path_, version_, job_;
  int rank_ = 0, size_ = 0;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_MPI_LIBRARY_H_
