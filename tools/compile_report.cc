#include "tools/compile_report.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/signals_blocked.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr double kQuietSeconds = 2;

void PrintRow(const std::string& phase, int64_t nanoseconds, int64_t total, const std::string& runs) {
  std::fprintf(stderr, "  %-32s %10.2f ms  %5.1f %%  %s\n", phase.c_str(), static_cast<double>(nanoseconds) * 1e-6,
               100.0 * static_cast<double>(nanoseconds) / static_cast<double>(std::max<int64_t>(total, 1)),
               runs.c_str());
}

std::string TimesText(int64_t count) { return count == 1 ? "" : absl::StrCat(count, " times"); }

}  // namespace

CompileReport::CompileReport(const Flags& flags) : timing_(flags.Has("timing")), start_(NowNanoseconds()) {
  times_.Install();
  if (isatty(STDERR_FILENO) == 0) return;
  const SignalsBlocked blocked;
  progress_ = std::thread([this] { ShowProgress(); });
}

CompileReport::~CompileReport() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (progress_.joinable()) progress_.join();
  if (timing_) PrintTable();
}

void CompileReport::ShowProgress() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto ended = [this] { return done_; };
  if (changed_.wait_for(lock, std::chrono::duration<double>(kQuietSeconds), ended)) return;
  do {
    std::fprintf(stderr, "\r\033[Kcompiling for %.1f s: %s", MillisecondsSince(start_) * 1e-3,
                 times_.current().c_str());
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, std::chrono::milliseconds(200), ended));
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

void CompileReport::PrintTable() const {
  const int64_t total = NowNanoseconds() - start_;
  int64_t known = 0;
  std::fprintf(stderr, "phases of the compilation:\n");
  const std::vector<PhaseTimes::Row> rows = times_.rows();
  for (const PhaseTimes::Row& row : rows) {
    if (row.on_workers) continue;
    known += row.nanoseconds;
    PrintRow(absl::StrCat(row.group, " ", row.name), row.nanoseconds, total, TimesText(row.count));
    if (row.name != "compile LLVM IR") continue;
    for (const PhaseTimes::Row& part : rows) {
      if (part.on_workers) {
        PrintRow(absl::StrCat("  ", part.name, ", all threads"), part.nanoseconds, total, TimesText(part.count));
      }
    }
  }
  PrintRow("other", total - known, total, "");
  PrintRow("total", total, total, "");
}

}  // namespace hilo::tools
