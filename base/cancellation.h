// Ends a run or a compilation from outside: by an explicit call, or by a deadline.
#ifndef HILO_BASE_CANCELLATION_H_
#define HILO_BASE_CANCELLATION_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hilo {

// Thread-safe. Running code polls flag() through a plain pointer, so the flag is a separate 32-bit word.
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

}  // namespace hilo

#endif  // HILO_BASE_CANCELLATION_H_
