// Work in order on a separate thread that starts with the first piece of work: that of one device, or the release of
// memory that was lent. Pieces that nothing orders may overtake others, on a second thread.
#ifndef HILO_RUNTIME_DEVICE_QUEUE_H_
#define HILO_RUNTIME_DEVICE_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace hilo {

class DeviceQueue {
 public:
  enum class Order {
    kInOrder,      // after all pieces that were enqueued before, but for those that run beside others
    kIndependent,  // may run beside another independent piece, and before pieces that were enqueued earlier
  };

  DeviceQueue() = default;
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  // Finishes all work first, also when called from within a piece of work.
  ~DeviceQueue();

  // Starts the thread, if it has not started. Returns false if the system gives none.
  bool StartThread();
  // `work` must not throw. If no thread can be started it runs immediately. True if the queue was idle before.
  // Throws std::bad_alloc, and leaves `work` as it was.
  bool Enqueue(std::function<void()>&& work, Order order = Order::kInOrder);

  // Whether there is no work, waiting or running.
  bool IsIdle() const;

  // True on the queue's threads, within a piece of work. Waiting there for later work of the queue would deadlock.
  bool IsCurrent() const;
  // Whether the calling thread is that of any queue.
  static bool OnThreadOfAny();
  // Within a piece of work: whether another one of the same queue ran or could start when this one began.
  static bool RunsBesideAnother();

 private:
  struct Piece {
    std::function<void()> work;
    Order order;
  };
  // Shared with the threads, which may outlive the queue if the queue dies on one of them.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;        // for the first thread
    std::condition_variable second_wanted;  // for the second one
    std::deque<Piece> work;
    bool running = false, second_runs = false;  // a piece of work
    // The first thread runs an independent piece and there was another one, so the second thread may take such pieces.
    bool second_may_start = false;
    bool stopping = false;
    std::atomic<bool> attention{false};  // there is work, or the queue ends
    bool IsIdle() const { return work.empty() && !running && !second_runs; }
    std::deque<Piece>::iterator FirstIndependent();
    void WakeSecond();
  };
  // Waits for work; null at the end.
  static std::function<void()> Next(State& state);
  static std::function<void()> NextOfSecond(State& state);
  // Starts a thread that runs what `next` returns until that is null. Returns false if the system gives no thread.
  bool Start(std::thread* thread, std::function<void()> (*next)(State&));

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_, second_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_DEVICE_QUEUE_H_
