#include "runtime/transfer_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// Cancelling a token does not wake waiters, so they poll it at this interval.
constexpr absl::Duration kLook = absl::Milliseconds(10);

}  // namespace

template <typename Ready>
absl::Status TransferQueue::Await(std::unique_lock<std::mutex>* lock, absl::Time deadline,
                                  const CancellationToken* cancellation, const char* what, const Ready& ready) {
  const int64_t failures = failures_;
  while (!ready()) {
    if (!error_.ok()) return error_;
    if (cancellation != nullptr && cancellation->stopped()) {
      return AddContext(cancellation->status(), absl::StrCat("; while the ", name_, " waited for ", what));
    }
    const absl::Time now = absl::Now();
    if (now >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("the deadline passed while the ", name_, " waited for ", what));
    }
    absl::Duration wait = deadline - now;
    if (cancellation != nullptr) wait = std::min(wait, kLook);
    wait = std::min(wait, absl::Seconds(60));
    changed_.wait_for(*lock, absl::ToChronoNanoseconds(wait));
    if (failures_ != failures) return last_error_;
  }
  return absl::OkStatus();
}

absl::Status TransferQueue::Push(Literal item, absl::Time deadline, const CancellationToken* cancellation) {
  const int64_t bytes = ShapeUtil::ByteSizeOf(item.shape());
  std::unique_lock<std::mutex> lock(mutex_);
  HILO_RETURN_IF_ERROR(Await(&lock, deadline, cancellation, "room",
                             [&] { return items_.empty() || (bytes_ <= max_bytes_ && bytes <= max_bytes_ - bytes_); }));
  items_.push_back(std::move(item));
  bytes_ += bytes;
  changed_.notify_all();
  return absl::OkStatus();
}

absl::StatusOr<Literal> TransferQueue::Pop(const Shape* expected, absl::Time deadline,
                                           const CancellationToken* cancellation) {
  std::unique_lock<std::mutex> lock(mutex_);
  HILO_RETURN_IF_ERROR(Await(&lock, deadline, cancellation, "an item", [&] { return !items_.empty(); }));
  Literal item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= ShapeUtil::ByteSizeOf(item.shape());
  changed_.notify_all();
  if (expected != nullptr && !ShapeUtil::Compatible(item.shape(), *expected)) {
    return InvalidArgument(name_, ": expected an item of shape ", expected->ToString(), ", got ",
                           item.shape().ToString());
  }
  return item;
}

void TransferQueue::Fail(const absl::Status& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  items_.clear();
  bytes_ = 0;
  ++failures_;
  error_ = last_error_ = error;
  changed_.notify_all();
}

void TransferQueue::Restart() {
  std::lock_guard<std::mutex> lock(mutex_);
  error_ = absl::OkStatus();
}

int64_t TransferQueue::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(items_.size());
}

}  // namespace hilo
