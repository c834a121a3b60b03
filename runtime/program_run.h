// One run of a program on one device: a record that holds everything it uses (the program, its arguments' values, its
// results' values). It is run in place, or passed to the device's queue; in either case executables and buffers may be
// destroyed without waiting. Private to the runtime.
#ifndef HILO_RUNTIME_PROGRAM_RUN_H_
#define HILO_RUNTIME_PROGRAM_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hilo/executable.h"
#include "runtime/buffer_value.h"
#include "runtime/client_core.h"
#include "runtime/loaded_program.h"
#include "runtime/time_thresholds.h"

namespace hilo {

struct ProgramRun;

// Up to eight leaves are stored inline on the stack.
template <typename T>
using FewLeaves = absl::InlinedVector<T, 8>;

struct Argument {
  std::shared_ptr<BufferValue> value;
  bool donated = false;
};

// Whether the calling thread may run the program, as its estimate is less than `nanoseconds`. On devices with
// separate memory no run is that short: the caller prepares the next one meanwhile.
bool RunsInline(const LoadedProgram& program, const ClientCore& core, int64_t nanoseconds);

// The same for a run on one device, for the habits of the program's callers: if they wait at once, longer runs are run
// at once too, and what counts is the estimate or the time that the last runs took, whichever is less.
bool RunsInlineByHabit(const LoadedProgram& program, const ClientCore& core);

// Whether nothing orders the run among others of its device but its arguments, which are defined: it may run beside
// another such run, on one thread each.
bool IsIndependent(const ProgramRun& run);

// Whether the call alone can report the run's error: there are no results to await, the caller takes no events, and no
// transfers, which would fail with it. Such a call returns when the run has ended.
bool OnlyTheCallReports(const LoadedProgram& program, const ExecuteOptions& options);

// A unique number for every call.
int64_t NextRunId();

struct ProgramRun {
  const LoadedProgram& program;
  ClientCore& core;
  FewLeaves<Argument> arguments;
  FewLeaves<BufferValue*> results;
  RunContext context;
  std::shared_ptr<const HostCallbacks> host_callbacks;
  FewLeaves<std::shared_ptr<Event>> unfinished;  // definitions of arguments that were pending when the run began

  // Takes the values of all arguments; the buffers keep them.
  // Errors: InvalidArgument if they do not fit, or donations name others; what Buffer::Share returns.
  absl::Status TakeArguments(absl::Span<Buffer* const> buffers, const ExecuteOptions& options);
  // Takes the donated arguments from their buffers, once nothing refuses the run any more.
  void TakeDonations(absl::Span<Buffer* const> buffers, absl::Span<const int64_t> donate);
  // New buffers for the results, which `done` (null: this call) defines. Keeps their values alive in `values` if
  // not null.
  std::vector<std::unique_ptr<Buffer>> MakeResults(std::shared_ptr<Event> done,
                                                   FewLeaves<std::shared_ptr<BufferValue>>* values);
  // Whether the arguments are defined.
  bool IsReady() const;
  // Runs on defined arguments. Allocates the results, and then computes them.
  absl::Status RunNow();
  // Waits for the arguments first.
  absl::Status AwaitAndRun();
  // As AwaitAndRun, but does not wait for the device if that orders the run after those that define its arguments.
  // `pending` remains null if the run is complete.
  absl::Status AwaitAndBegin(std::unique_ptr<PendingRun>* pending);

 private:
  // Runs the program to its end, and notes the time it takes.
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs) const;
  // If `pending` is null, waits for the device.
  absl::Status RunProgram(std::unique_ptr<PendingRun>* pending);
  // After a failed run, discards the remaining items in the queues to and from the host.
  absl::Status Ended(absl::Status status);
};

// Runs on the thread of the device's queue, with the values of the results. Returns once the device has the work;
// `ended` is called when the run has ended and its arguments are released, here or by the thread of the completions.
void StartRun(std::shared_ptr<ProgramRun> run, FewLeaves<std::shared_ptr<BufferValue>> values,
              std::function<void(absl::Status)> ended);

// The token of a run, or of a compilation, and its deadline in the watchdog.
class RunLimits {
 public:
  // `always`: creates a token even if neither token nor deadline is requested.
  RunLimits(ClientCore* core, const ExecuteOptions& options, bool always = false);
  RunLimits(ClientCore* core, std::shared_ptr<CancellationToken> token, absl::Duration deadline);
  RunLimits(const RunLimits&) = delete;
  RunLimits& operator=(const RunLimits&) = delete;
  ~RunLimits();
  const std::shared_ptr<CancellationToken>& token() const { return token_; }

 private:
  ClientCore* core_;
  std::shared_ptr<CancellationToken> token_;
  std::optional<Watchdog::Watch> watch_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_PROGRAM_RUN_H_
