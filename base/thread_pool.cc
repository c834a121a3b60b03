// A loop is published as one word, a generation number and the number of indices, beside its body. The indices are
// divided into sections, from which threads claim them one after the other. A thread begins with the section that it
// began with in the last loops, and so with elements that are in its caches if the loops are over the same arrays; then
// it helps with others whose threads are late by more than it costs to move the elements of an index to another cache.
// Workers watch the word, first spinning, then asleep on a condition variable; they spin longer where loops have been
// coming soon one after the other, since waking a worker takes as long as a small kernel. The caller takes indices too
// and, when none are left, waits until all have run, again spinning first: on a busy machine an endless spin would burn
// the very time slice that the worker waits for. One loop runs at a time; a second caller meanwhile runs its loop
// alone.
//
// Where processors share no cache, a line that another one wrote last arrives 0.3 us later. So a line is written by the
// caller alone (the loop), or by one thread unless others help (claims, and how many indices a thread has run).
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
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

constexpr int kShortSpins = 60;  // some 2 us

// Within this time every processor sees what another one wrote.
constexpr std::chrono::microseconds kPublished{100};

// What the indices left in a section must take for another thread to help with them. Measured on two processors of a
// Zen 4 that share no cache, a loop of 8 indices over 256 KB, 2.4 us on one thread: with help at any time 6.7 us, as
// the arrays move from cache to cache, with this 3.3; on processors with a common cache 1.8 and 1.6.
constexpr std::chrono::microseconds kWorthHelp{2};

// Sections of a loop: each thread looks at all of them before it leaves.
constexpr int64_t kMaxSections = 8;
// Indices of a loop at most; more are several loops.
constexpr int64_t kMaxIndices = 1 << 20;

// Whether this thread is inside a body of any pool.
thread_local bool inside_body = false;

// A generation number and a count in one word.
struct Tagged {
  uint32_t generation = 0;
  uint32_t count = 0;

  // Returns true if this generation was before the other one, which is less than 2^31 generations away.
  bool IsBefore(uint32_t other) const { return static_cast<int32_t>(generation - other) < 0; }
};
static_assert(std::atomic<Tagged>::is_always_lock_free);

class OwnThreadPool : public ThreadPool {
 public:
  ~OwnThreadPool() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      loop_.store({loop_.load().generation + 1, 0});
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool Start(int workers) {
    ran_ = std::make_unique<Line[]>(workers + 1);
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
    if (n > kMaxIndices) {
      for (int64_t first = 0; first < n; first += kMaxIndices)
        ParallelFor(std::min(kMaxIndices, n - first), [&](int64_t i) { body(first + i); });
      return;
    }
    if (n <= 0) return;
    bool free = false;
    if (n == 1 || threads_.empty() || inside_body || !busy_.compare_exchange_strong(free, true)) {
      const bool outer = std::exchange(inside_body, true);
      for (int64_t i = 0; i < n; ++i) body(i);
      inside_body = outer;
      return;
    }
    Share share;
    const Tagged loop{loop_.load(std::memory_order_relaxed).generation + 1, static_cast<uint32_t>(n)};
    if (loop.generation % kRenewal == 0) RenewTags(loop.generation - 1);
    body_.emplace(body);
    loop_.store(loop, std::memory_order_release);
    const bool wakes = sleeping_.load(std::memory_order_relaxed) > 0;
    if (wakes) WakeAll();
    // The caller runs the first index while the word is on its way to the other processors. A worker that has gone to
    // sleep meanwhile either counts here already or sees the word.
    inside_body = true;
    body(0);
    share.ran = 1;
    if (!wakes && sleeping_.fetch_add(0) > 0) WakeAll();
    Take(0, loop, /*all=*/sleeping_.load(std::memory_order_relaxed) == static_cast<int>(threads_.size()), &share);
    const auto finished = [&] { return share.ran + RanByWorkers(loop.generation) == n; };
    // A worker that does not go on in time was late, or another program has its processor.
    if (!SpinUntil(finished, kShortSpins)) Take(0, loop, /*all=*/true, &share);
    if (!SpinUntil(finished)) {
      for (waiting_.store(true); !finished(); waiting_.store(true)) waiting_.wait(true);
      waiting_.store(false);
    }
    busy_.store(false);
  }

 private:
  struct alignas(64) Line {
    std::atomic<Tagged> tagged{};
  };
  // What a thread runs of a loop.
  struct Share {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    int64_t ran = 0;
    bool skips = false;  // a section whose indices are worth no help
  };

  int64_t SectionsOf(int64_t n) const { return std::min<int64_t>({n, num_threads(), kMaxSections}); }

  void WakeAll() {
    // A worker that holds the lock may not wait yet.
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    wake_.notify_all();
  }

  // Claims and returns the next index of a section with `size` of them; `size` if none is left. While an index of the
  // loop is claimed and has not run, the caller is in the loop.
  int64_t Claim(int64_t section, uint32_t generation, int64_t size) {
    std::atomic<Tagged>& claims = claims_[section].tagged;
    Tagged seen = claims.load(std::memory_order_relaxed);
    while (true) {
      const int64_t next = NextOf(seen, section, generation, size);
      if (next == size || claims.compare_exchange_weak(seen, {generation, static_cast<uint32_t>(next + 1)}))
        return next;
    }
  }
  // Returns the first index of a section that is not claimed; `size` if there is none. The first of all is the
  // caller's. Claims of a later loop mean that all indices of this one have run.
  static int64_t NextOf(Tagged claims, int64_t section, uint32_t generation, int64_t size) {
    if (claims.IsBefore(generation)) return section == 0 ? 1 : 0;
    return claims.generation == generation ? std::min<int64_t>(claims.count, size) : size;
  }

  // Runs indices that it claims, those of the thread's own section first, and of other sections if they are many, or
  // `all`. `thread`: 0 is the caller.
  void Take(int64_t thread, Tagged loop, bool all, Share* share) {
    const int64_t n = loop.count, sections = SectionsOf(n);
    inside_body = true;
    for (int64_t s = 0; s < sections; ++s) {
      const int64_t section = (thread + s) % sections,
                    begin = section * (n / sections) + std::min(section, n % sections);
      const int64_t size = n / sections + (section < n % sections ? 1 : 0);
      if (s > 0 && share->ran > 0 && !all) {
        const Tagged claims = claims_[section].tagged.load(std::memory_order_relaxed);
        const int64_t left = size - NextOf(claims, section, loop.generation, size);
        const auto time = std::chrono::steady_clock::now() - share->start;
        if (time / share->ran * left < kWorthHelp) {
          share->skips = true;
          continue;
        }
      }
      for (int64_t i = 0; (i = Claim(section, loop.generation, size)) < size; ++share->ran) (*body_)(begin + i);
    }
    inside_body = false;
  }

  // Tells the caller how many indices of a loop a worker has run.
  void Report(int64_t thread, uint32_t generation, int64_t ran) {
    if (ran == 0) return;
    ran_[thread].tagged.store({generation, static_cast<uint32_t>(ran)});
    if (waiting_.load() && waiting_.exchange(false)) waiting_.notify_one();
  }
  int64_t RanByWorkers(uint32_t generation) const {
    int64_t sum = 0;
    for (size_t thread = 1; thread <= threads_.size(); ++thread) {
      const Tagged ran = ran_[thread].tagged.load();
      if (ran.generation == generation) sum += ran.count;
    }
    return sum;
  }

  // Between two loops: gives all tags the generation of the last one, so that none is older than kRenewal.
  static constexpr uint32_t kRenewal = 1 << 20;
  // Tags that are not renewed soon seem to be of later loops: all programs and tests depend on the renewal.
  static constexpr uint32_t kFirstGeneration = (uint32_t{1} << 31) - 100;
  void RenewTags(uint32_t generation) {
    for (Line& line : claims_) line.tagged.store({generation, static_cast<uint32_t>(kMaxIndices)});
    for (size_t thread = 1; thread <= threads_.size(); ++thread) ran_[thread].tagged.store({generation, 0});
  }

  void Work(int64_t thread) {
    Tagged seen{kFirstGeneration, 0};
    bool expects_loop_soon = false;
    while (true) {
      const auto called = [&] { return loop_.load().generation != seen.generation; };
      const auto start = std::chrono::steady_clock::now();
      const auto soon = [&] { return std::chrono::steady_clock::now() - start < kShortGap; };
      bool ready = SpinUntil(called);
      // Other threads of a busy machine go first.
      while (!ready && expects_loop_soon && soon()) {
        std::this_thread::yield();
        ready = SpinUntil(called, kShortSpins);
      }
      if (!ready) {
        std::unique_lock<std::mutex> lock(mutex_);
        sleeping_.fetch_add(1);
        // A caller that has just published a loop may not see that this worker sleeps, and looks again only when it has
        // run an index, which may wait for others.
        if (!wake_.wait_for(lock, kPublished, called)) wake_.wait(lock, called);
        sleeping_.fetch_sub(1);
      }
      expects_loop_soon = soon();
      seen = loop_.load();
      if (stopping_) return;
      Share share;
      Take(thread, seen, /*all=*/false, &share);
      Report(thread, seen.generation, share.ran);
      // What was left to others may take them longer than this thread's own indices have taken.
      if (share.skips && !SpinUntil(called, kShortSpins)) {
        Take(thread, seen, /*all=*/true, &share);
        Report(thread, seen.generation, share.ran);
      }
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> sleeping_{0};
  std::atomic<bool> busy_{false};  // a loop is published
  // The last loop; its body, which a thread reads after it has claimed an index; and whether the caller sleeps until
  // all have run.
  alignas(64) std::atomic<Tagged> loop_{Tagged{kFirstGeneration, 0}};
  std::optional<absl::FunctionRef<void(int64_t)>> body_;
  std::atomic<bool> waiting_{false};
  std::atomic<bool> stopping_{false};
  std::array<Line, kMaxSections> claims_;  // the indices of each section that are claimed
  std::unique_ptr<Line[]> ran_;            // the indices that each worker has run
};

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadPool>> CreateThreadPool(int num_threads) {
  if (num_threads < 1) return InvalidArgument("a thread pool needs at least 1 thread, got ", num_threads);
  auto pool = std::make_unique<OwnThreadPool>();
  if (!pool->Start(num_threads - 1)) return ResourceExhausted("the system starts no thread for the thread pool");
  return std::unique_ptr<ThreadPool>(std::move(pool));
}

}  // namespace hilo
