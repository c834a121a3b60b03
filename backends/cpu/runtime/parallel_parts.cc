#include "backends/cpu/runtime/parallel_parts.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>

#include "hilo/status_macros.h"
#include "runtime/guarded.h"

namespace hilo::cpu {
namespace {

// Nanoseconds of a part, and parts of a loop that is not worth more or shorter ones; as many for each of some threads.
constexpr double kMinPart = 5000, kMaxPart = 20000;
constexpr int64_t kParts = 32;

int64_t PartsOf(int64_t count, double work) {
  const double total = static_cast<double>(count) * std::max(work, 1.0);
  if (total >= kMaxPart * kParts) return std::min<int64_t>(count, static_cast<int64_t>(total / kMaxPart));
  const auto parts = static_cast<uint64_t>(total / kMinPart);
  return std::min<int64_t>({count, static_cast<int64_t>(std::bit_ceil(parts)), kParts});
}

}  // namespace

absl::Status ForParts(const Workers& workers, int64_t count, double work,
                      absl::FunctionRef<absl::Status(int64_t, int64_t)> body) {
  const auto stopped = [&] {
    return workers.cancellation == nullptr ? absl::OkStatus() : workers.cancellation->status();
  };
  const int64_t parts = PartsOf(count, work);
  const auto begin_of = [&](int64_t part) { return part * (count / parts) + part * (count % parts) / parts; };
  if (parts <= 1 || workers.pool == nullptr || workers.pool->num_threads() == 1) {
    for (int64_t part = 0; part < parts; ++part) {
      HILO_RETURN_IF_ERROR(stopped());
      HILO_RETURN_IF_ERROR(body(begin_of(part), begin_of(part + 1)));
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
      status = Guarded([&] { return body(begin_of(part), begin_of(part + 1)); });  // exceptions must stay here
    if (status.ok()) return;
    failed.store(true, std::memory_order_relaxed);
    std::lock_guard<std::mutex> lock(mutex);
    if (first.ok()) first = status;
  });
  return first;
}

}  // namespace hilo::cpu
