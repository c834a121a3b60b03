// A loop is published as one record: a body, sections of the indices, each with a counter from which threads take them,
// and a generation number. A thread begins with the section that it began with in the last loops, and so with elements
// that are in its caches if the loops are over the same arrays; then it helps with the others. Workers watch the
// generation, first spinning, then asleep on a condition variable; they spin longer where loops have been coming soon
// one after the other, since waking a worker takes as long as a small kernel. The caller takes indices too and, when
// none are left, waits until the workers that joined have left the loop, again spinning first: on a busy machine an
// endless spin would burn the very time slice that the worker waits for. One loop runs at a time; a second caller
// meanwhile runs its loop alone.
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/spin.h"
#include "hilo/host.h"

namespace hilo {
namespace {

// Workers expect the next loop soon if the last one came within this time: the callers of a program of some 20 us in
// Python come back after 10 us or so.
constexpr std::chrono::microseconds kShortGap{60};

constexpr int kSpinsBetweenYields = 60;  // some 2 us

// Sections of a loop: each thread looks at all of them before it leaves.
constexpr int64_t kMostSections = 8;

// Whether this thread is inside a body of any pool.
thread_local bool inside_body = false;

class OwnThreadPool : public ThreadPool {
 public:
  ~OwnThreadPool() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool Start(int workers) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // what a new thread inherits
    for (int i = 0; i < workers; ++i) {
      try {
        threads_.emplace_back([this, i] { Work(i + 1); });
      } catch (const std::system_error&) {
        break;  // as many as the system gives
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return workers == 0 || !threads_.empty();
  }

  int num_threads() const override { return static_cast<int>(threads_.size()) + 1; }

  void ParallelFor(int64_t n, absl::FunctionRef<void(int64_t)> body) override {
    if (n <= 0) return;
    bool free = false;
    if (n == 1 || threads_.empty() || inside_body || !busy_.compare_exchange_strong(free, true)) {
      const bool outer = std::exchange(inside_body, true);
      for (int64_t i = 0; i < n; ++i) body(i);
      inside_body = outer;
      return;
    }
    body_ = &body;
    sections_ = std::min<int64_t>({n, num_threads(), kMostSections});
    int64_t begin = 0;
    for (int64_t s = 0; s < sections_; ++s) {
      section_[s].next.store(begin);
      section_[s].end = begin += n / sections_ + (s < n % sections_ ? 1 : 0);
    }
    open_.store(true);
    {
      // Under the lock, so that a worker about to sleep sees the new generation.
      std::lock_guard<std::mutex> lock(mutex_);
      generation_.fetch_add(1);
    }
    if (sleeping_.load() > 0) wake_.notify_all();
    Take(0);
    open_.store(false);
    SpinUntil([&] { return joined_.load() == 0; });
    for (int joined = joined_.load(); joined != 0; joined = joined_.load()) joined_.wait(joined);
    busy_.store(false);
  }

 private:
  struct alignas(64) Section {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  // `thread`: 0 is the caller.
  void Take(int64_t thread) {
    inside_body = true;
    for (int64_t s = 0; s < sections_; ++s) {
      Section& section = section_[(thread + s) % sections_];
      while (section.next.load() < section.end) {
        if (const int64_t i = section.next.fetch_add(1); i < section.end) (*body_)(i);
      }
    }
    inside_body = false;
  }

  void Work(int64_t thread) {
    uint64_t seen = 0;
    bool expects_loop_soon = false;
    while (true) {
      const auto called = [&] { return generation_.load() != seen; };
      const auto start = std::chrono::steady_clock::now();
      const auto soon = [&] { return std::chrono::steady_clock::now() - start < kShortGap; };
      bool ready = SpinUntil(called);
      // Other threads of a busy machine go first.
      while (!ready && expects_loop_soon && soon()) {
        std::this_thread::yield();
        ready = SpinUntil(called, kSpinsBetweenYields);
      }
      if (!ready) {
        std::unique_lock<std::mutex> lock(mutex_);
        sleeping_.fetch_add(1);
        wake_.wait(lock, called);
        sleeping_.fetch_sub(1);
      }
      expects_loop_soon = soon();
      seen = generation_.load();
      if (stopping_) return;
      joined_.fetch_add(1);
      if (open_.load()) Take(thread);
      joined_.fetch_sub(1);
      joined_.notify_one();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> busy_{false};  // a loop is published
  std::atomic<bool> open_{false};  // workers may still join it
  std::atomic<int> joined_{0};     // workers inside the loop
  const absl::FunctionRef<void(int64_t)>* body_ = nullptr;
  int64_t sections_ = 0;
  std::array<Section, kMostSections> section_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadPool>> CreateThreadPool(int num_threads) {
  if (num_threads < 1) return InvalidArgument("a thread pool needs at least 1 thread, got ", num_threads);
  auto pool = std::make_unique<OwnThreadPool>();
  if (!pool->Start(num_threads - 1)) return ResourceExhausted("the system starts no thread for the thread pool");
  return std::unique_ptr<ThreadPool>(std::move(pool));
}

}  // namespace hilo
