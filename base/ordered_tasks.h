// Tasks of different sizes, the largest first, on the threads of a pool.
#ifndef HILO_BASE_ORDERED_TASKS_H_
#define HILO_BASE_ORDERED_TASKS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "hilo/host.h"

namespace hilo {

// Calls task(0) ... task(n - 1) and returns when all have returned; each thread takes the next one in this order.
// ThreadPool::ParallelFor() gives a thread neighbouring indices, which suits loops over arrays.
inline void RunInOrder(ThreadPool& pool, int64_t n, absl::FunctionRef<void(int64_t)> task) {
  std::atomic<int64_t> next{0};
  pool.ParallelFor(std::min<int64_t>(n, pool.num_threads()), [&](int64_t) {
    for (int64_t i = next.fetch_add(1); i < n; i = next.fetch_add(1)) task(i);
  });
}

}  // namespace hilo

#endif  // HILO_BASE_ORDERED_TASKS_H_
