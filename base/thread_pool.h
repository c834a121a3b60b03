// Threads that share the work of a loop.
#ifndef HILO_BASE_THREAD_POOL_H_
#define HILO_BASE_THREAD_POOL_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace hilo {

// The interface that Hilo requires of a thread pool; embedders may supply their own.
class ThreadPool {
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
absl::StatusOr<std::unique_ptr<ThreadPool>> CreateThreadPool(int num_threads);

}  // namespace hilo

#endif  // HILO_BASE_THREAD_POOL_H_
