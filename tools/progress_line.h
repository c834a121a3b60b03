// A line on standard error about work that takes long.
#ifndef HILO_TOOLS_PROGRESS_LINE_H_
#define HILO_TOOLS_PROGRESS_LINE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace hilo::tools {

// Lives as long as the work. When standard error is a terminal, and two seconds have passed, a line there tells for how
// long ("running for 2.2 s"); it is erased at the end.
class ProgressLine {
 public:
  // `work`: "running". `phase`, if given, is called from another thread, and its result is shown behind the time.
  explicit ProgressLine(std::string work, std::function<std::string()> phase = nullptr);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

 private:
  void Show();

  const std::string work_;
  const std::function<std::string()> phase_;
  const int64_t start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // none if standard error is no terminal
};

}  // namespace hilo::tools

#endif  // HILO_TOOLS_PROGRESS_LINE_H_
