// Event: completes once, with a status.
#ifndef HILO_RUNTIME_EVENT_H_
#define HILO_RUNTIME_EVENT_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "absl/status/status.h"

namespace hilo {

// Thread-safe.
class Event {
 public:
  // Only the first call has an effect. Wakes waiters, then runs the callbacks on the calling thread.
  void Set(absl::Status status);
  bool done() const { return done_.load(std::memory_order_acquire); }
  // Waits, and returns the status of Set.
  absl::Status Await() const;
  // Calls `callback` once the event has completed: immediately on this thread if it has.
  void OnDone(std::function<void(const absl::Status&)> callback);

 private:
  std::atomic<bool> done_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable happened_;
  absl::Status status_;
  std::vector<std::function<void(const absl::Status&)>> callbacks_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_EVENT_H_
