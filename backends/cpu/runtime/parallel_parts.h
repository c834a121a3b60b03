// Parallel loops of runtime calls.
#ifndef HILO_BACKENDS_CPU_RUNTIME_PARALLEL_PARTS_H_
#define HILO_BACKENDS_CPU_RUNTIME_PARALLEL_PARTS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "hilo/host.h"

namespace hilo::cpu {

// The resources of a run.
struct Workers {
  ThreadPool* pool = nullptr;                       // null: the calling thread alone
  const CancellationToken* cancellation = nullptr;  // null: never stopped
};

// Calls body(begin, end) for parts of [0, count) on the threads of the pool. `work` is the cost of one
// index, in nanoseconds: parts are large enough that the cost of scheduling them is negligible. Parts
// do not depend on the number of threads. Returns the first error, or the status of a run that is
// stopped.
absl::Status ForParts(const Workers& workers, int64_t count, double work,
                      absl::FunctionRef<absl::Status(int64_t begin, int64_t end)> body);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_PARALLEL_PARTS_H_
