// Work in order on a separate thread that starts with the first piece of work: that of one device, or the release of
// memory that was lent.
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
  DeviceQueue() = default;
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  // Finishes all work first, also when called from within a piece of work.
  ~DeviceQueue();

  // `work` must not throw. If no thread can be started it runs immediately. True if the queue was idle before.
  // Throws std::bad_alloc, and leaves `work` as it was.
  bool Enqueue(std::function<void()>&& work);

  // Whether there is no work, waiting or running.
  bool IsIdle() const;

  // True on the queue's thread, within a piece of work. Waiting there for later work of the queue would deadlock.
  bool IsCurrent() const;
  // Whether the calling thread is that of any queue.
  static bool OnThreadOfAny();

 private:
  // Shared with the thread, which may outlive the queue if the queue dies on it.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    bool running = false;
    bool stopping = false;
    std::atomic<bool> attention{false};  // there is work, or the queue ends
    bool IsIdle() const { return work.empty() && !running; }
  };
  // Waits for work; null at the end.
  static std::function<void()> Next(State& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_DEVICE_QUEUE_H_
