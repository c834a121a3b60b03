// Ends runs whose deadline has passed.
#ifndef HILO_RUNTIME_WATCHDOG_H_
#define HILO_RUNTIME_WATCHDOG_H_

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "hilo/executable.h"
#include "hilo/host.h"

namespace hilo {

// One thread for all runs, started with the first deadline.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Expires `token` at `time` unless disarmed before. Throws std::system_error if the system starts
  // no thread.
  using Watch = std::pair<Clock::time_point, uint64_t>;
  Watch Arm(std::shared_ptr<CancellationToken> token, Clock::time_point time);
  void Disarm(const Watch& watch);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Watch, std::shared_ptr<CancellationToken>> watches_;  // soonest first
  uint64_t next_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

// Expires the options' token, which is made if it is null, when their deadline passes, counted from construction; no
// longer after destruction. For callers of a Compiler, which unlike a Client does not enforce deadlines.
class CompileDeadline {
 public:
  explicit CompileDeadline(CompileOptions* options);
  CompileDeadline(const CompileDeadline&) = delete;
  CompileDeadline& operator=(const CompileDeadline&) = delete;
  ~CompileDeadline();

 private:
  Watchdog* watchdog_ = nullptr;
  std::optional<Watchdog::Watch> watch_;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_WATCHDOG_H_
