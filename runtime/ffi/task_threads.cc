// A run's own pool only supports loops whose caller waits, but a handler schedules tasks and goes on, and may wait for
// them in ways that are not visible here. So tasks have separate threads, which sleep while idle. They are never
// joined: at the end of the process nothing may wait for them.
#include "runtime/ffi/task_threads.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/signals_blocked.h"
#include "runtime/fork_guard.h"

namespace hilo::ffi {
namespace {

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  int threads = 0, idle = 0;
};

void Work(Queue* queue) {
  std::unique_lock<std::mutex> lock(queue->mutex);
  while (true) {
    ++queue->idle;
    queue->changed.wait(lock, [&] { return !queue->tasks.empty(); });
    --queue->idle;
    std::function<void()> task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

// Of this process; threads do not survive a fork.
Queue* ProcessQueue() {
  static std::mutex mutex;
  static Queue* queue = nullptr;
  static int generation = 0;
  std::lock_guard<std::mutex> lock(mutex);
  if (queue == nullptr || generation != ForkGeneration()) {
    queue = new Queue();
    generation = ForkGeneration();
  }
  return queue;
}

}  // namespace

void ScheduleTask(std::function<void()> task, int threads) {
  if (threads <= 1) return task();
  Queue* queue = ProcessQueue();
  {
    std::unique_lock<std::mutex> lock(queue->mutex);
    if (static_cast<size_t>(queue->idle) <= queue->tasks.size() && queue->threads < threads) {
      try {
        const SignalsBlocked blocked;
        std::thread(Work, queue).detach();
        ++queue->threads;
      } catch (const std::system_error&) {
        // With those that there are.
      }
    }
    if (queue->threads == 0) {
      lock.unlock();
      return task();
    }
    queue->tasks.push_back(std::move(task));
  }
  queue->changed.notify_one();
}

}  // namespace hilo::ffi
