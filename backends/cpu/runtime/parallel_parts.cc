#include "backends/cpu/runtime/parallel_parts.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "hilo/status_macros.h"
#include "runtime/guarded.h"

namespace hilo::cpu {

absl::Status ForParts(const Workers& workers, int64_t count, double work,
                      absl::FunctionRef<absl::Status(int64_t, int64_t)> body) {
  const auto stopped = [&] {
    return workers.cancellation == nullptr ? absl::OkStatus() : workers.cancellation->status();
  };
  constexpr double kPart = 20000;  // nanoseconds
  const int64_t size = std::max<int64_t>(1, static_cast<int64_t>(kPart / std::max(work, 1.0)));
  const int64_t parts = (count + size - 1) / size;
  if (parts <= 1 || workers.pool == nullptr || workers.pool->num_threads() == 1) {
    for (int64_t begin = 0; begin < count; begin += size) {
      HILO_RETURN_IF_ERROR(stopped());
      HILO_RETURN_IF_ERROR(body(begin, std::min(count, begin + size)));
    }
    return absl::OkStatus();
  }
  std::mutex mutex;
  absl::Status first;
  std::atomic<bool> failed{false};
  workers.pool->ParallelFor(parts, [&](int64_t part) {
    if (failed.load(std::memory_order_relaxed)) return;
    absl::Status status = stopped();
    if (status.ok())
      status =
          Guarded([&] { return body(part * size, std::min(count, (part + 1) * size)); });  // exceptions must stay here
    if (status.ok()) return;
    failed.store(true, std::memory_order_relaxed);
    std::lock_guard<std::mutex> lock(mutex);
    if (first.ok()) first = status;
  });
  return first;
}

}  // namespace hilo::cpu
