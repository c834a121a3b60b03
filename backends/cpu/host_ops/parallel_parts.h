// Host ops' way to share a loop between threads.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_PARALLEL_PARTS_H_
#define HILO_BACKENDS_CPU_HOST_OPS_PARALLEL_PARTS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/cancellation.h"
#include "base/thread_pool.h"

namespace hilo::cpu {

// What a run works with.
struct Workers {
  ThreadPool* pool = nullptr;                       // null: the calling thread alone
  const CancellationToken* cancellation = nullptr;  // null: never stopped
};

// Calls body(begin, end) for parts of [0, count) on the threads of the pool. `work` is the cost of
// one of the count, in nanoseconds: parts are made so large that handing them out does not show.
// Parts do not depend on the number of threads. Returns the first error; a run that is stopped
// returns its status.
absl::Status ForParts(const Workers& workers, int64_t count, double work,
                      absl::FunctionRef<absl::Status(int64_t begin, int64_t end)> body);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_PARALLEL_PARTS_H_
