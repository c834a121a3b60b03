// Queues between the host and the programs of a device: infeed one way, outfeed the other.
#ifndef HILO_RUNTIME_TRANSFER_QUEUE_H_
#define HILO_RUNTIME_TRANSFER_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hilo/host.h"
#include "hilo/literal.h"

namespace hilo {

// Thread-safe. First in, first out.
class TransferQueue {
 public:
  // `name` is for messages: "infeed". Pushes that would exceed `max_bytes` in total wait. (A
  // single item may be larger.)
  explicit TransferQueue(std::string name, int64_t max_bytes = int64_t{1} << 30)
      : name_(std::move(name)), max_bytes_(max_bytes) {}
  TransferQueue(const TransferQueue&) = delete;
  TransferQueue& operator=(const TransferQueue&) = delete;

  // Waits for room. Errors: DeadlineExceeded; Cancelled; the argument of a Fail in the meantime.
  absl::Status Push(Literal item, absl::Time deadline, const CancellationToken* cancellation);
  // Waits for an item and takes it. Errors: as Push; InvalidArgument, the item being taken, if its shape is not
  // compatible with `expected` (null: any shape).
  absl::StatusOr<Literal> Pop(const Shape* expected, absl::Time deadline, const CancellationToken* cancellation);

  // Empties the queue and ends the calls that wait with `error`, and later ones that would wait, until Restart.
  void Fail(const absl::Status& error);
  void Restart();

  int64_t size() const;

 private:
  // Waits until `ready`; the lock is held.
  template <typename Ready>
  absl::Status Await(std::unique_lock<std::mutex>* lock, absl::Time deadline, const CancellationToken* cancellation,
                     const char* what, const Ready& ready);

  const std::string name_;
  const int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Literal> items_;
  int64_t bytes_ = 0;
  int64_t failures_ = 0;
  absl::Status error_;  // OK after Restart
  absl::Status last_error_;
};

// The queues of one device.
struct TransferQueues {
  TransferQueue infeed{"infeed"};
  TransferQueue outfeed{"outfeed"};
};

}  // namespace hilo

#endif  // HILO_RUNTIME_TRANSFER_QUEUE_H_
