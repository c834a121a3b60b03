// The work of an emulated device's streams: queued without running, run in a random legal order when a caller waits, or
// by a thread per stream.
#ifndef HILO_BACKENDS_GPU_EMULATED_EMULATED_QUEUE_H_
#define HILO_BACKENDS_GPU_EMULATED_EMULATED_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/gpu/emulated/stream_order.h"

namespace hilo::gpu {

struct QueuedWork {
  std::string what;
  std::vector<GpuSlice> slices;
  std::function<absl::Status()> run;
  bool always = false;  // also after a fault
  // Polled until it returns true before the work runs; null: true. Other streams continue in the meantime.
  std::function<bool()> is_ready;
  // For captured work: makes is_ready for one launch of the graph, when that is queued.
  std::function<std::function<bool()>()> begin = nullptr;
  // Called after the work has run: if it returns false, the work is first in its stream again. Null: true.
  std::function<bool()> is_done = nullptr;
};

// Work captured on several streams, with its order.
struct CapturedWork {
  struct Node {
    QueuedWork work;
    std::vector<size_t> after;  // nodes that must precede this one
  };
  std::vector<Node> nodes;
};

// One launch of captured work, which runs as far as it can, and continues when other ranks are ready.
class CapturedRun {
 public:
  // Starts the nodes that wait for other ranks.
  explicit CapturedRun(std::shared_ptr<const CapturedWork> work);
  bool IsReady() const { return !Ready().empty(); }
  bool IsDone() const { return left_ == 0; }
  // Runs nodes in a legal order chosen by `dice` until none is ready.
  absl::Status Advance(const std::function<size_t()>& dice);

 private:
  std::vector<size_t> Ready() const;

  const std::shared_ptr<const CapturedWork> work_;
  std::vector<std::function<bool()>> is_ready_;  // by node
  std::vector<bool> done_;
  size_t left_;
};

// Thread-safe. A stream's operations are run one at a time and outside the lock, by the waiting threads, or, if
// `asynchronous`, by a thread of the stream.
class EmulatedQueue {
 public:
  EmulatedQueue(uint32_t seed, bool asynchronous) : asynchronous_(asynchronous), random_(seed) {}

  int AddStream();
  // Waits for the stream first.
  void RemoveStream(int stream);
  void Queue(int stream, QueuedWork work);
  StreamPoint Record(int stream);
  void Wait(int stream, const StreamPoint& point);
  // Call when the memory is freed.
  void Forget(const void* memory, int64_t bytes);
  // Runs work until the point is reached. Errors: the device's first fault.
  absl::Status Reach(const StreamPoint& point);
  absl::Status Synchronize(int stream) { return Reach(Record(stream)); }
  // Runs one operation if the point is not reached; returns whether it is now.
  bool Poll(const StreamPoint& point);
  // Runs all queued work. A no-op if called from queued work, which would wait for itself.
  void Drain();

  // While paused, no operation begins: callers that wait for one wait until this ends.
  void SetPaused(bool paused);
  // Returns the number of operations that have not begun.
  int64_t PendingCount();

  void Report(EmulatedReport report);
  std::vector<EmulatedReport> TakeReports();
  absl::Status status();

  // Runs all ready nodes of `run`, in a random legal order. For use within queued work.
  absl::Status Advance(CapturedRun& run);

 private:
  struct Pending {
    QueuedWork work;
    uint64_t sequence = 0;
    std::vector<std::pair<int, uint64_t>> waits;  // (stream, sequence) that must be done
  };
  struct Stream {
    std::deque<Pending> pending;
    std::vector<std::pair<int, uint64_t>> waits;  // of the next operation
    uint64_t done = 0;
    bool running = false;
    std::thread worker;  // if asynchronous, from the first operation on
    bool stopping = false;
  };

  bool IsDone(int stream, uint64_t sequence) const;
  // Returns true if the stream's next operation may run. Sets `others` if it waits for what is outside of this queue.
  bool IsReady(const Stream& stream, bool* others) const;
  std::vector<int> Ready(bool* others) const;
  bool AnyRunning() const;
  // Runs one ready operation; returns false if there is none.
  bool RunOne(std::unique_lock<std::mutex>& lock);
  void RunFront(Stream& stream, std::unique_lock<std::mutex>& lock);
  // The body of a stream's thread.
  void Work(Stream& stream);
  void Fail(EmulatedReport report);

  const bool asynchronous_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;
  std::map<int, Stream> streams_;
  int next_stream_ = 0;
  bool waits_for_others_ = false;  // seen by the last RunOne
  StreamOrder order_;
  std::minstd_rand random_;
  std::vector<EmulatedReport> reports_;
  absl::Status status_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_EMULATED_QUEUE_H_
