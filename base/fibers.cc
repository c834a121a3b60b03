#include "base/fibers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>
#include <vector>

#include "base/stack_switch.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HILO_FIBERS_WITH_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define HILO_FIBERS_WITH_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HILO_FIBERS_WITH_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define HILO_FIBERS_WITH_TSAN
#endif

#if defined(HILO_FIBERS_WITH_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace hilo {
namespace {

// As the stacks of threads by default. Untouched pages use no memory.
constexpr size_t kStackBytes = size_t{8} << 20;

unsigned FloatingPointMode() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return 0;  // nothing in Hilo changes it
#endif
}

void SetFloatingPointMode([[maybe_unused]] unsigned mode) {
#if defined(__x86_64__)
  _mm_setcsr(mode);
#endif
}

// A stack that is suspended or runs: of a fiber, or of the thread.
struct Stack {
  void* pointer = nullptr;
  const void* bottom = nullptr;
  size_t bytes = 0;
};

class Scheduler {
 public:
  ~Scheduler() { Release(); }

  bool Reserve(size_t count) {
    if (running_) return false;
    if (count <= fibers_.size()) return true;
    Release();
    const size_t guard = sysconf(_SC_PAGESIZE), stride = guard + kStackBytes;
    void* memory =
        mmap(nullptr, count * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<char*>(memory);
    mapped_ = count * stride;
    try {
      for (size_t i = 0; i < count; ++i) {
        char* const below = memory_ + i * stride;
        if (mprotect(below, guard, PROT_NONE) != 0) {
          Release();
          return false;
        }
        fibers_.push_back({.stack = {.bottom = below + guard, .bytes = kStackBytes}});
      }
    } catch (const std::bad_alloc&) {
      Release();
      return false;
    }
    return true;
  }

  void Run(absl::Span<const std::function<void()>> bodies) {
    if (bodies.empty()) return;
    for (size_t i = 0; i < bodies.size(); ++i) {
      Fiber& fiber = fibers_[i];
      fiber.body = &bodies[i];
      char* const bottom = static_cast<char*>(const_cast<void*>(fiber.stack.bottom));
      // Stack tops that are a power of two apart would map to the same cache sets.
      fiber.stack.pointer = MakeStack(bottom, bottom + kStackBytes - i * 320 % 8192, &Enter);
    }
    count_ = left_ = bodies.size();
    current_ = 0;
    running_ = true;
    mode_ = FloatingPointMode();
    Switch(&thread_, &fibers_[0].stack);
    running_ = false;
  }

  void Yield() {
    Fiber& fiber = fibers_[current_];
    current_ = Next();
    if (&fibers_[current_] != &fiber) Switch(&fiber.stack, &fibers_[current_].stack);
  }

  bool running() const { return running_; }

 private:
  struct Fiber {
    Stack stack;
    const std::function<void()>* body = nullptr;  // null: has returned
  };

  static void Enter();

  [[noreturn]] void RunCurrent() {
    FinishSwitch(nullptr);
    SetFloatingPointMode(mode_);
    Fiber& fiber = fibers_[current_];
    (*fiber.body)();
    fiber.body = nullptr;
    --left_;
    if (left_ > 0) current_ = Next();
    Switch(&fiber.stack, left_ > 0 ? &fibers_[current_].stack : &thread_, /*ends=*/true);
    __builtin_unreachable();
  }

  // The first fiber after the current one, in a cycle, that has not returned.
  size_t Next() const {
    size_t next = current_;
    do next = next + 1 == count_ ? 0 : next + 1;
    while (fibers_[next].body == nullptr);
    return next;
  }

  void Switch(Stack* from, Stack* to, [[maybe_unused]] bool ends = false) {
    const unsigned mode = FloatingPointMode();
#if defined(HILO_FIBERS_WITH_ASAN)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_stack, to->bottom, to->bytes);
    last_ = from;
#endif
    SwitchStack(&from->pointer, to->pointer);
#if defined(HILO_FIBERS_WITH_ASAN)
    FinishSwitch(fake_stack);
#endif
    SetFloatingPointMode(mode);
  }

  void FinishSwitch([[maybe_unused]] void* fake_stack) {
#if defined(HILO_FIBERS_WITH_ASAN)
    // What the sanitizer knows of the stack that was left, which for the thread's is news.
    __sanitizer_finish_switch_fiber(fake_stack, &last_->bottom, &last_->bytes);
#endif
  }

  void Release() {
    if (memory_ != nullptr) munmap(memory_, mapped_);
    memory_ = nullptr;
    fibers_.clear();
  }

  char* memory_ = nullptr;
  size_t mapped_ = 0;
  std::vector<Fiber> fibers_;
  Stack thread_;
  size_t count_ = 0, left_ = 0, current_ = 0;
  unsigned mode_ = 0;
  bool running_ = false;
#if defined(HILO_FIBERS_WITH_ASAN)
  Stack* last_ = nullptr;
#endif
};

thread_local Scheduler scheduler;

void Scheduler::Enter() { scheduler.RunCurrent(); }

}  // namespace

bool Fibers::Reserve(size_t count) {
#if defined(HILO_FIBERS_WITH_TSAN)
  static_cast<void>(count);
  return false;
#else
  return scheduler.Reserve(count);
#endif
}

void Fibers::Run(absl::Span<const std::function<void()>> bodies) { scheduler.Run(bodies); }
bool Fibers::IsInside() { return scheduler.running(); }
void Fibers::Yield() { scheduler.Yield(); }

}  // namespace hilo
