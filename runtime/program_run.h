// One run of a program on one device: a record that holds everything it uses (the program, its arguments' values, its
// results' values). It is run in place, or handed to the device's queue; either way nobody has to wait before letting
// go of executables and buffers. Private to the runtime.
#ifndef HILO_RUNTIME_PROGRAM_RUN_H_
#define HILO_RUNTIME_PROGRAM_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/client_core.h"
#include "runtime/executable.h"
#include "runtime/loaded_program.h"

namespace hilo {

// Up to eight leaves take no memory beside the stack's.
template <typename T>
using FewLeaves = absl::InlinedVector<T, 8>;

struct Argument {
  std::shared_ptr<BufferValue> value;
  bool donated = false;
};

// Programs that are guessed to take less run on the calling thread: to hand a run to another thread and back takes some
// 10 us.
constexpr int64_t kInlineNanoseconds = 50'000;

// Whether the calling thread may run the program, as it takes less than `nanoseconds` by its estimate. On devices with
// memory of their own no run is so short: the caller prepares the next one meanwhile.
bool RunsInline(const LoadedProgram& program, const ClientCore& core, int64_t nanoseconds = kInlineNanoseconds);

// Another number at every call.
int64_t NextRunId();

struct ProgramRun {
  const LoadedProgram& program;
  ClientCore& core;
  FewLeaves<Argument> arguments;
  FewLeaves<BufferValue*> results;
  RunContext context;
  std::shared_ptr<const HostCallbacks> host_callbacks;

  // Takes the values of all arguments, and those that are donated from their buffers.
  // Errors: InvalidArgument if they do not fit; what Buffer::Share returns.
  absl::Status TakeArguments(absl::Span<Buffer* const> buffers, const ExecuteOptions& options);
  // New buffers for the results, which `done` (null: this call) defines. Keeps their values alive in `values` if it is
  // given.
  std::vector<std::unique_ptr<Buffer>> MakeResults(std::shared_ptr<Event> done,
                                                   FewLeaves<std::shared_ptr<BufferValue>>* values);
  // Whether the arguments are defined.
  bool IsReady() const;
  // Runs on defined arguments. Results get their memory, and then their elements.
  absl::Status RunNow();
  // Waits for the arguments first.
  absl::Status AwaitAndRun();

 private:
  absl::Status RunProgram();
  // What a run that failed leaves in the queues to and from the host is for nobody.
  absl::Status Ended(absl::Status status);
};

// The token of a run, or of a compilation, and the deadline that watches it.
class RunLimits {
 public:
  // `always`: there is a token even if nobody asked for one.
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
