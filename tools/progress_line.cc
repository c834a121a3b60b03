#include "tools/progress_line.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "base/signals_blocked.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr double kQuietSeconds = 2;
constexpr std::chrono::milliseconds kPeriod(200);

}  // namespace

ProgressLine::ProgressLine(std::string work, std::function<std::string()> phase)
    : work_(std::move(work)), phase_(std::move(phase)), start_(NowNanoseconds()) {
  if (isatty(STDERR_FILENO) == 0) return;
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { Show(); });
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::Show() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto ended = [this] { return done_; };
  if (changed_.wait_for(lock, std::chrono::duration<double>(kQuietSeconds), ended)) return;
  do {
    const std::string phase = phase_ ? ": " + phase_() : "";
    std::fprintf(stderr, "\r\033[K%s for %.1f s%s", work_.c_str(), MillisecondsSince(start_) * 1e-3, phase.c_str());
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, kPeriod, ended));
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace hilo::tools
