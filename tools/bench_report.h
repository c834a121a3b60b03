// The output formats of `hilo bench`.
#ifndef HILO_TOOLS_BENCH_REPORT_H_
#define HILO_TOOLS_BENCH_REPORT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/measurement.h"

namespace hilo::tools {

// A few lines for people.
std::string ReportText(const Measurement& measured);
// One JSON object on one line.
std::string ReportJsonLine(const Measurement& measured);
// A file in Google Benchmark's form, which its compare.py reads: for each program and platform the mean run, and
// aggregates of it.
std::string ReportGoogleBenchmark(absl::Span<const Measurement> all);
// A page with a plot for each program: compilation, transfers and runs on each platform, on one scale of time. Needs no
// network.
std::string ReportHtml(absl::Span<const Measurement> all);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_BENCH_REPORT_H_
