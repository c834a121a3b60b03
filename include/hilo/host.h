// What the program that embeds Hilo may supply or control: threads, memory, the log, and the end of a run.
#ifndef HILO_HOST_H_
#define HILO_HOST_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hilo/export.h"

namespace hilo {

// --- threads ---

// The interface that Hilo requires of a thread pool; embedders may supply their own.
class HILO_EXPORT ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  // Threads that take part in a ParallelFor, the caller included; at least 1.
  virtual int num_threads() const = 0;
  // Calls body(0) ... body(n - 1), in any order, and returns when all have returned. The caller takes part. A call from
  // within a body runs on the calling thread alone. `body` does not throw.
  virtual void ParallelFor(int64_t n, absl::FunctionRef<void(int64_t)> body) = 0;
};

// Hilo's own pool of num_threads - 1 threads; with 1 there are none. An idle thread spins for some 10 microseconds and
// then sleeps: a parallel loop right after another starts within 0.2 us, and an idle program costs nothing. The threads
// block all signals, so that the embedder's handlers run on the embedder's threads. Errors: InvalidArgument if
// num_threads < 1; ResourceExhausted if the system starts no thread at all (with some, the pool is smaller).
HILO_EXPORT absl::StatusOr<std::unique_ptr<ThreadPool>> CreateThreadPool(int num_threads);

// --- memory ---

// Every buffer is aligned to this many bytes.
inline constexpr int64_t kBufferAlignment = 64;

// An embedder's allocator for buffers. Thread-safe; must outlive the client and all of its
// buffers.
class HILO_EXPORT HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  // `size` > 0 bytes at a multiple of `alignment`; null if memory is exhausted.
  virtual void* Allocate(int64_t size, int64_t alignment) = 0;
  virtual void Free(void* memory, int64_t size) = 0;
};

struct MemoryStats {
  int64_t bytes_in_use = 0;  // buffers, and temporary memory of runs in progress
  int64_t peak_bytes = 0;
  int64_t limit = 0;  // 0: none
};

// --- cancellation ---

// Ends a run or a compilation from outside: by an explicit call, or by a deadline. Thread-safe. Running code polls
// flag() through a plain pointer, so the flag is a separate 32-bit word.
class CancellationToken {
 public:
  // The first reason is kept.
  void Cancel() { Set(kCancelled); }
  void Expire() { Set(kExpired); }
  bool stopped() const { return state_.load(std::memory_order_relaxed) != kRunning; }
  // OK while running, else Cancelled or DeadlineExceeded of `what`.
  absl::Status status(absl::string_view what = "run") const {
    switch (state_.load(std::memory_order_relaxed)) {
      case kRunning: return absl::OkStatus();
      case kExpired: return absl::DeadlineExceededError(absl::StrCat("the ", what, " was ended by its deadline"));
      default: return absl::CancelledError(absl::StrCat("the ", what, " was cancelled"));
    }
  }
  // 0 while running.
  const volatile int32_t* flag() const { return reinterpret_cast<const volatile int32_t*>(&state_); }

 private:
  enum State : int32_t { kRunning = 0, kCancelled = 1, kExpired = 2 };
  void Set(State state) {
    int32_t running = kRunning;
    state_.compare_exchange_strong(running, state);
  }
  std::atomic<int32_t> state_{kRunning};
  static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t) && std::atomic<int32_t>::is_always_lock_free);
};

// --- log ---

enum class LogSeverity { kInfo, kWarning };

using LogSink = std::function<void(LogSeverity severity, absl::string_view message)>;

// Sends the log messages of the whole process to `sink`, from then on and from any thread, one at a time; a null sink
// silences them, which is the state at start. `sink` itself must not log or set the sink.
HILO_EXPORT void SetLogSink(LogSink sink);

}  // namespace hilo

#endif  // HILO_HOST_H_
