// A bound for work whose amount depends on a program: a number of operations, and a cancellation that is polled
// periodically.
#ifndef HILO_BASE_WORK_BUDGET_H_
#define HILO_BASE_WORK_BUDGET_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/errors.h"
#include "hilo/host.h"

namespace hilo {

// Operations are counted roughly, in units of some nanoseconds. Not thread-safe: one budget per thread.
class WorkBudget {
 public:
  static constexpr int64_t kUnlimited = INT64_MAX;

  // `cancellation` (may be null: never cancelled) and the text of `what`, which names the work in errors, outlive the
  // budget.
  explicit WorkBudget(const CancellationToken* cancellation = nullptr, absl::string_view what = "run",
                      int64_t operations = kUnlimited)
      : cancellation_(cancellation), what_(what), left_(operations) {}

  // Deducts `operations` from the budget. Called before the work, for at most some 10 ms of it at a time.
  // Errors: Cancelled, DeadlineExceeded; ResourceExhausted if the budget is exceeded.
  absl::Status Spend(int64_t operations) {
    if (operations > left_) {
      left_ = 0;
      return ResourceExhausted("the ", what_, " takes more operations than it may");
    }
    left_ -= operations;
    until_poll_ -= operations;
    if (until_poll_ > 0) return absl::OkStatus();
    until_poll_ = kPollInterval;
    return cancellation_ == nullptr ? absl::OkStatus() : cancellation_->status(what_);
  }
  int64_t left() const { return left_; }

 private:
  static constexpr int64_t kPollInterval = 1 << 14;

  const CancellationToken* cancellation_;
  absl::string_view what_;
  int64_t left_;
  int64_t until_poll_ = 0;
};

}  // namespace hilo

#endif  // HILO_BASE_WORK_BUDGET_H_
