// MPI as it is found at run time: Open MPI, MPICH and its relatives, or any library of the standard ABI. Private to
// collectives.
#ifndef HILO_COLLECTIVES_MPI_LIBRARY_H_
#define HILO_COLLECTIVES_MPI_LIBRARY_H_

#include <cstdint>
#include <functional>
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

  // A communicator of these ranks of MPI_COMM_WORLD, which all call this, in which they are numbered in this order. Its
  // errors are returned. An error of `give_up`, unless that is null, ends the wait for the others. Errors:
  // DeadlineExceeded; of all functions Unavailable with MPI's text.
  absl::StatusOr<MpiHandle> CreateCommunicator(std::vector<int> ranks, absl::Time deadline,
                                               const std::function<absl::Status()>& give_up);
  void FreeCommunicator(MpiHandle communicator);
  // Starts to send, or to receive at most `bytes`. A send is complete when its receiver has matched it (MPI_Issend).
  absl::StatusOr<MpiHandle> Send(MpiHandle communicator, int rank, int tag, const void* data, int bytes);
  absl::StatusOr<MpiHandle> Receive(MpiHandle communicator, int rank, int tag, void* data, int bytes);
  // Whether the request is complete; it is freed then.
  absl::StatusOr<bool> Test(MpiHandle* request);
  // Ends a receive. Returns whether its memory is not written any more.
  bool Cancel(MpiHandle* request);
  // After a process has died MPI_Finalize may wait for it without end, and a thread that is left behind in MPI forbids
  // it: it is not called then.
  void LeaveWithoutFinalizing();

 private:
  struct Functions;

  MpiLibrary() = default;
  static absl::StatusOr<MpiLibrary*> Load();
  absl::Status Open();
  absl::Status Initialize();
  absl::StatusOr<MpiHandle> CreateCommunicator(const std::vector<int>& ranks);
  absl::Status StatusOf(int code, const char* function) const;

  const Functions* mpi_ = nullptr;
  // Of this library.
  MpiHandle world_ = 0, byte_ = 0, errors_return_ = 0;
  void* status_ignore_ = nullptr;
  int thread_multiple_ = 0;

  std::string path_, version_, job_;
  int rank_ = 0, size_ = 0;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_MPI_LIBRARY_H_
