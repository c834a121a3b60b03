#include "tools/compile_report.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

void PrintRow(const std::string& phase, int64_t nanoseconds, int64_t total, const std::string& runs) {
  std::fprintf(stderr, "  %-32s %10.2f ms  %5.1f %%  %s\n", phase.c_str(), static_cast<double>(nanoseconds) * 1e-6,
               100.0 * static_cast<double>(nanoseconds) / static_cast<double>(std::max<int64_t>(total, 1)),
               runs.c_str());
}

std::string TimesText(int64_t count) { return count == 1 ? "" : absl::StrCat(count, " times"); }

}  // namespace

CompileReport::CompileReport(const Flags& flags) : timing_(flags.Has("timing")), start_(NowNanoseconds()) {
  times_.Install();
  progress_.emplace("compiling", [this] { return times_.current(); });
}

CompileReport::~CompileReport() {
  progress_.reset();  // before the table
  if (timing_) PrintTable();
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
