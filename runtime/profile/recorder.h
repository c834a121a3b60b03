// Records when the steps of programs begin and end, while a profile is being recorded.
//
// A step is an instruction, or a few short ones that are computed together. Compiled code notifies the recorder of its
// thread of marks; a mark takes some 15 ns, and the compiler places marks so that steps are estimated to take much
// longer. Without a session a run costs one relaxed load, and a mark in the code a predicted branch.
#ifndef HILO_RUNTIME_PROFILE_RECORDER_H_
#define HILO_RUNTIME_PROFILE_RECORDER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hilo::profile {

// What a profile contains of a step besides its times.
struct Step {
  std::string name;  // of the instruction; of several, that with the highest estimate, like the fields below
  int64_t instruction_count = 1;
  std::string category;  // the opcode; of a fusion, how it is computed
  std::string text;      // the instruction in HLO, possibly cut off
  std::string op_name;
  std::string source_file;  // empty: unknown
  int64_t source_line = 0;
  // Of one execution of all instructions of the step; negative: unknown.
  double flops = -1, bytes = -1;
};

// The steps of a program. Step 0 begins with the run.
struct StepTable {
  std::string program;
  std::vector<Step> steps;
};

// Marks other than the beginning of a step, whose mark is its index. Steps at one level follow each other: a step ends
// where the next begins. Between kEnter and kLeave is a level within the current step.
inline constexpr int64_t kEnter = -1, kLeave = -2;

// Events of one thread in one session. One thread writes, any thread may read what has been written.
class Recorder {
 public:
  explicit Recorder(int64_t thread);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  void BeginRun(const std::shared_ptr<const StepTable>& table, int device);
  void Mark(int64_t mark);
  void EndRun();

 private:
  friend class Session;  // reads the events
  struct Event {
    uint64_t ticks;
    int64_t mark;
  };
  struct Chunk {
    std::array<Event, 4096> events;
    std::atomic<size_t> size{0};
    std::atomic<Chunk*> next{nullptr};
  };
  struct Program {
    std::shared_ptr<const StepTable> table;
    int device;
  };

  void Record(uint64_t ticks, int64_t mark);

  const int64_t thread_;
  Chunk* const first_;
  Chunk* last_;
  int64_t chunk_count_ = 1;
  std::atomic<bool> exhausted_{false};
  mutable std::mutex mutex_;
  std::vector<Program> programs_;  // by index, which the beginning of a run states
};

// A time from `begin` to `end`, in nanoseconds since the session's start.
struct Span {
  int64_t step = -1;  // in the table of the run; -1: the run itself
  int64_t begin = 0, end = 0;
  int64_t within = 0;  // nanoseconds of the steps within this one
};

// One run of a program by one thread. Its spans are in the order of their beginnings, the first being the run itself;
// spans either follow or contain each other.
struct Run {
  std::shared_ptr<const StepTable> table;
  int device = 0;
  int64_t thread = 0;  // threads are numbered from 0 in the order of their first runs
  std::vector<Span> spans;
};

struct Profile {
  int64_t start_unix_ns = 0;
  int64_t duration_ns = 0;
  std::vector<Run> runs;    // by thread, in the order of their ends
  bool is_complete = true;  // false: the memory for events was exhausted, and later ones are missing
};

// A recording of all runs that begin while it lasts. There is at most one at a time in a process.
class Session {
 public:
  // Errors: FailedPrecondition if there is a session already.
  static absl::StatusOr<std::shared_ptr<Session>> Start();
  // Ends the recording. Runs that have not ended are recorded until now. Only the first call has an effect.
  void Stop();

  // What was recorded until Stop, which must have been called.
  Profile Collect() const;

  // Returns the recorder of this thread if a session is recording, or null.
  static std::shared_ptr<Recorder> OfThisThread() {
    return is_recording_.load(std::memory_order_relaxed) ? FindOfThisThread() : nullptr;
  }

 private:
  Session() = default;
  static std::shared_ptr<Recorder> FindOfThisThread();

  static std::atomic<bool> is_recording_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Recorder>> recorders_;
  int64_t start_unix_ns_ = 0;
  uint64_t start_ticks_ = 0, stop_ticks_ = 0;
  int64_t start_ns_ = 0, stop_ns_ = 0;
  bool stopped_ = false;
};

}  // namespace hilo::profile

#endif  // HILO_RUNTIME_PROFILE_RECORDER_H_
