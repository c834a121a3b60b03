#include "runtime/profile/recorder.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/errors.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace hilo::profile {
namespace {

// A mark that ends a run, and the mark that begins a run of program 0 of the recorder; the next ones count down.
constexpr int64_t kRunEnd = -3, kRunBegin = -4;
// Of one thread: 16 million events.
constexpr int64_t kMaxChunks = 4096;

// The time stamp counter takes 10 ns to read, half of what a clock takes.
uint64_t Ticks() {
#ifdef __x86_64__
  return __rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

template <typename Clock>
int64_t NanosecondsNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

std::mutex current_mutex;
std::shared_ptr<Session>& Current() {
  static auto* const current = new std::shared_ptr<Session>();
  return *current;
}

// Makes spans of the events of a thread.
class RunBuilder {
 public:
  explicit RunBuilder(int64_t thread) : thread_(thread) {}

  void Begin(std::shared_ptr<const StepTable> table, int device, int64_t now) {
    open_.push_back({.run = {.table = std::move(table), .device = device, .thread = thread_}});
    Open(-1, now);
  }
  // Marks that do not belong here are ignored.
  void Mark(int64_t mark, int64_t now) {
    if (open_.empty()) return;
    OpenRun& run = open_.back();
    if (mark >= 0) {
      CloseStep(now);
      if (mark < static_cast<int64_t>(run.run.table->steps.size())) Open(mark, now);
    } else if (mark == kEnter) {
      run.stack.push_back(kLevel);
    } else if (mark == kLeave) {
      CloseStep(now);
      if (run.stack.back() == kLevel) run.stack.pop_back();
    }
  }
  void End(int64_t now) {
    if (open_.empty()) return;
    std::vector<int64_t>& stack = open_.back().stack;
    while (!stack.empty()) {
      if (stack.back() == kLevel) {
        stack.pop_back();
      } else {
        Close(now);
      }
    }
    finished_.push_back(std::move(open_.back().run));
    open_.pop_back();
  }
  std::vector<Run> Finish(int64_t now) {
    while (!open_.empty()) End(now);
    return std::move(finished_);
  }

 private:
  static constexpr int64_t kLevel = -1;  // on the stack: the beginning of a level; else the index of an open span
  struct OpenRun {
    Run run;
    std::vector<int64_t> stack;
  };

  void Open(int64_t step, int64_t now) {
    OpenRun& run = open_.back();
    run.stack.push_back(static_cast<int64_t>(run.run.spans.size()));
    run.run.spans.push_back({.step = step, .begin = now, .end = now});
  }
  // Ends the innermost span, and adds its time to that of the span around it.
  void Close(int64_t now) {
    OpenRun& run = open_.back();
    Span& span = run.run.spans[run.stack.back()];
    span.end = std::max(now, span.begin);
    run.stack.pop_back();
    for (auto outer = run.stack.rbegin(); outer != run.stack.rend(); ++outer) {
      if (*outer == kLevel) continue;
      run.run.spans[*outer].within += span.end - span.begin;
      return;
    }
  }
  // Ends the current step of this level, if there is one.
  void CloseStep(int64_t now) {
    const OpenRun& run = open_.back();
    if (run.stack.back() != kLevel && run.run.spans[run.stack.back()].step >= 0) Close(now);
  }

  const int64_t thread_;
  std::vector<OpenRun> open_;  // a run may call the host, which runs another program
  std::vector<Run> finished_;
};

}  // namespace

std::atomic<bool> Session::is_recording_{false};

Recorder::Recorder(int64_t thread) : thread_(thread), first_(new Chunk()), last_(first_) {}

Recorder::~Recorder() {
  for (Chunk* chunk = first_; chunk != nullptr;) {
    Chunk* const next = chunk->next.load(std::memory_order_acquire);
    delete chunk;
    chunk = next;
  }
}

void Recorder::BeginRun(const std::shared_ptr<const StepTable>& table, int device) {
  int64_t index = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = std::find_if(programs_.begin(), programs_.end(), [&](const Program& program) {
      return program.table == table && program.device == device;
    });
    index = known - programs_.begin();
    if (known == programs_.end()) programs_.push_back({table, device});
  }
  const uint64_t now = Ticks();
  Record(now, kRunBegin - index);
  if (!table->steps.empty()) Record(now, 0);
}

void Recorder::Mark(int64_t mark) { Record(Ticks(), mark); }

void Recorder::Record(uint64_t ticks, int64_t mark) {
  size_t size = last_->size.load(std::memory_order_relaxed);
  if (size == last_->events.size()) {
    Chunk* const chunk = chunk_count_ < kMaxChunks ? new (std::nothrow) Chunk() : nullptr;
    if (chunk == nullptr) {
      exhausted_.store(true, std::memory_order_relaxed);
      return;
    }
    ++chunk_count_;
    last_->next.store(chunk, std::memory_order_release);
    last_ = chunk;
    size = 0;
  }
  last_->events[size] = {ticks, mark};
  last_->size.store(size + 1, std::memory_order_release);
}

void Recorder::EndRun() { Mark(kRunEnd); }

absl::StatusOr<std::shared_ptr<Session>> Session::Start() {
  std::lock_guard<std::mutex> lock(current_mutex);
  if (Current() != nullptr) return FailedPrecondition("a profile is being recorded already");
  std::shared_ptr<Session> session(new Session());
  session->start_unix_ns_ = NanosecondsNow<std::chrono::system_clock>();
  session->start_ns_ = NanosecondsNow<std::chrono::steady_clock>();
  session->start_ticks_ = Ticks();
  Current() = session;
  is_recording_.store(true, std::memory_order_relaxed);
  return session;
}

void Session::Stop() {
  std::lock_guard<std::mutex> lock(current_mutex);
  if (stopped_) return;
  stopped_ = true;
  stop_ns_ = NanosecondsNow<std::chrono::steady_clock>();
  stop_ticks_ = Ticks();
  is_recording_.store(false, std::memory_order_relaxed);
  Current() = nullptr;
}

std::shared_ptr<Recorder> Session::FindOfThisThread() {
  struct OfThread {
    std::weak_ptr<Session> session;
    std::shared_ptr<Recorder> recorder;
  };
  thread_local OfThread mine;
  std::shared_ptr<Session> session;
  {
    std::lock_guard<std::mutex> lock(current_mutex);
    session = Current();
  }
  if (session == nullptr) return nullptr;
  if (mine.session.lock() != session) {
    std::lock_guard<std::mutex> lock(session->mutex_);
    mine = {session, std::make_shared<Recorder>(static_cast<int64_t>(session->recorders_.size()))};
    session->recorders_.push_back(mine.recorder);
  }
  return mine.recorder;
}

Profile Session::Collect() const {
  Profile profile{.start_unix_ns = start_unix_ns_, .duration_ns = stop_ns_ - start_ns_};
  const double ns_per_tick = static_cast<double>(stop_ns_ - start_ns_) /
                             static_cast<double>(std::max<uint64_t>(1, stop_ticks_ - start_ticks_));
  // What a run that has not ended has marked since is at the end.
  const auto nanoseconds = [&](uint64_t ticks) {
    const uint64_t within = std::clamp(ticks, start_ticks_, stop_ticks_) - start_ticks_;
    return std::llround(static_cast<double>(within) * ns_per_tick);
  };
  std::vector<std::shared_ptr<Recorder>> recorders;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    recorders = recorders_;
  }
  for (const std::shared_ptr<Recorder>& recorder : recorders) {
    if (recorder->exhausted_.load(std::memory_order_relaxed)) profile.is_complete = false;
    RunBuilder builder(recorder->thread_);
    for (const Recorder::Chunk* chunk = recorder->first_; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      const size_t size = chunk->size.load(std::memory_order_acquire);
      for (size_t i = 0; i < size; ++i) {
        const Recorder::Event& event = chunk->events[i];
        const int64_t now = nanoseconds(event.ticks);
        if (event.mark <= kRunBegin) {
          std::lock_guard<std::mutex> lock(recorder->mutex_);
          const Recorder::Program& program = recorder->programs_[kRunBegin - event.mark];
          builder.Begin(program.table, program.device, now);
        } else if (event.mark == kRunEnd) {
          builder.End(now);
        } else {
          builder.Mark(event.mark, now);
        }
      }
    }
    for (Run& run : builder.Finish(nanoseconds(stop_ticks_))) profile.runs.push_back(std::move(run));
  }
  return profile;
}

}  // namespace hilo::profile
