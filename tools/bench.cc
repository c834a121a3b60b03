// hilo bench: times compilation and runs of a module, with its arguments on the device.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "tools/command.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

// Without --iterations: until this much time has gone by, within these bounds.
constexpr double kBudgetMs = 1000;
constexpr int64_t kFewestRuns = 5;
constexpr int64_t kMostRuns = 10000;

// Milliseconds of each run, sorted.
absl::StatusOr<std::vector<double>> TimeRuns(const Session& session, int64_t iterations) {
  const auto one = [&]() -> absl::StatusOr<double> {
    const int64_t start = NowNanoseconds();
    HILO_RETURN_IF_ERROR(session.Run().status());
    return MillisecondsSince(start);
  };
  HILO_ASSIGN_OR_RETURN(const double first, one());  // pages, caches and threads are cold
  const double warm_up_ms = std::min(kBudgetMs / 10, 20 * first);
  for (const int64_t start = NowNanoseconds(); MillisecondsSince(start) < warm_up_ms;) {
    HILO_RETURN_IF_ERROR(one().status());
  }
  std::vector<double> times;
  const int64_t start = NowNanoseconds();
  const int64_t most = iterations > 0 ? iterations : kMostRuns;
  while (static_cast<int64_t>(times.size()) < most) {
    const bool enough =
        static_cast<int64_t>(times.size()) >= kFewestRuns && MillisecondsSince(start) > kBudgetMs;
    if (iterations == 0 && enough) break;
    HILO_ASSIGN_OR_RETURN(const double time, one());
    times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  return times;
}

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size()))) - 1];
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

absl::Status Bench(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const Program program, LoadProgram(flags));
  HILO_ASSIGN_OR_RETURN(const int64_t iterations, flags.Integer("iterations", 0, 1));
  const std::vector<std::string> platforms = absl::StrSplit(flags.Get("platform", program.platform), ',');
  for (const std::string& platform : platforms) {
    HILO_ASSIGN_OR_RETURN(const Session session, OpenSession(program, platform, flags));
    HILO_ASSIGN_OR_RETURN(const std::vector<double> times, TimeRuns(session, iterations));
    const double least = times.front(), median = Quantile(times, 0.5), p90 = Quantile(times, 0.9),
                 p99 = Quantile(times, 0.99);
    if (flags.Has("json")) {
      absl::PrintF(
          "{\"module\": %s, \"platform\": %s, \"iterations\": %d, \"compile_ms\": %.4g, "
          "\"run_ms\": {\"min\": %.6g, \"median\": %.6g, \"p90\": %.6g, \"p99\": %.6g}}\n",
          Quoted(program.name), Quoted(platform), times.size(), session.compile_ms, least, median,
          p90, p99);
    } else {
      absl::PrintF(
          "%s on %s: compile %.4g ms; run min %.4g, median %.4g, p90 %.4g, p99 %.4g ms (%d runs)\n",
          program.name, platform, session.compile_ms, least, median, p90, p99, times.size());
    }
  }
  return absl::OkStatus();
}

}  // namespace

Command BenchCommand() {
  return {.name = "bench",
          .arguments = "MODULE",
          .summary = "time the compilation and the runs of a module",
          .details =
              "Arguments are on the device before the clock starts; results stay there. --platform "
              "takes a list. MODULE may be an executable that hilo compile -o wrote; what is called compilation is then loading.\n"
              "\n"
              "Examples:\n"
              "  hilo bench step.hlo --inputs=in.npz\n"
              "  hilo bench step.hlo --input=random --platform=cpu,interpreter --iterations=100 "
              "--json\n",
          .flags = Join(
              Join(RunFlags(), {{"iterations", "N", "runs; default: as many as fit into a second"},
                                {"json", "", "one JSON object a line"}}),
              CompileFlags()),
          .run = &Bench};
}

}  // namespace hilo::tools
