// hilo profile: where the time of a program goes.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/errors.h"
#include "base/file.h"
#include "base/json.h"
#include "hilo/status_macros.h"
#include "runtime/profile/export.h"
#include "runtime/profile/summary.h"
#include "tools/command.h"
#include "tools/measurement.h"
#include "tools/progress_line.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr int64_t kMeasuredNanoseconds = 1'000'000'000;

// One row of the table. Rates are negative if the work is unknown.
struct ProfileRow {
  const profile::Step* step;
  int64_t executions;
  double own_ms, share, gigabytes_per_second = -1, gigaflops = -1, roof = -1;
};

ProfileRow RowOf(const profile::StepTimes& times, int64_t total_ns, const Roofs& roofs) {
  const double own_ns = static_cast<double>(times.own_ns);
  ProfileRow row{.step = times.step,
                 .executions = times.executions,
                 .own_ms = own_ns * 1e-6,
                 .share = total_ns > 0 ? own_ns / static_cast<double>(total_ns) : 0};
  if (times.step->flops < 0 || times.step->flops + times.step->bytes == 0 || own_ns <= 0) return row;
  const double executions = static_cast<double>(times.executions);
  row.gigabytes_per_second = times.step->bytes * executions / own_ns;
  row.gigaflops = times.step->flops * executions / own_ns;
  if (roofs.gigaflops > 0)
    row.roof = std::max(row.gigabytes_per_second / roofs.gigabytes_per_second, row.gigaflops / roofs.gigaflops);
  return row;
}

std::string Milliseconds(double ms) {
  return ms >= 1 ? absl::StrFormat("%.2f ms", ms) : absl::StrFormat("%.2f us", ms * 1e3);
}

std::string Rate(double rate) { return rate < 0 ? "-" : absl::StrFormat("%.2f", rate); }

std::string SourceOf(const profile::Step& step) {
  return step.source_file.empty() ? "" : absl::StrCat(step.source_file, ":", step.source_line);
}

void PrintTable(const profile::ProgramTimes& times, const std::vector<ProfileRow>& rows, const Roofs& roofs,
                size_t shown) {
  const double runs = static_cast<double>(std::max<int64_t>(1, times.runs));
  const double total_ms = static_cast<double>(times.total_ns) * 1e-6;
  const double named =
      times.total_ns > 0 ? static_cast<double>(times.OwnNanoseconds()) / static_cast<double>(times.total_ns) : 0;
  std::printf("%s: %d runs of %s, %.1f %% of it in instructions\n", times.program->program.c_str(),
              static_cast<int>(times.runs), Milliseconds(total_ms / runs).c_str(), named * 100);
  std::printf("%12s %7s %9s %9s %9s %9s  %s\n", "time a run", "share", "times", "GB/s", "GFLOP/s", "roof",
              "instruction");
  for (const ProfileRow& row : std::vector<ProfileRow>(rows.begin(), rows.begin() + static_cast<int64_t>(shown))) {
    const double executions = static_cast<double>(row.executions) / runs;
    std::string name = row.step->name;
    if (row.step->instruction_count > 1) absl::StrAppend(&name, " and ", row.step->instruction_count - 1, " more");
    std::printf("%12s %6.1f%% %9.4g %9s %9s %9s  %s (%s)%s\n", Milliseconds(row.own_ms / runs).c_str(), row.share * 100,
                executions, Rate(row.gigabytes_per_second).c_str(), Rate(row.gigaflops).c_str(),
                row.roof < 0 ? "-" : roofs.FractionText(row.gigabytes_per_second, row.gigaflops).c_str(), name.c_str(),
                row.step->category.c_str(),
                row.step->source_file.empty() ? "" : absl::StrCat("  ", SourceOf(*row.step)).c_str());
  }
  if (shown < rows.size()) {
    double rest = 0;
    for (size_t i = shown; i < rows.size(); ++i) rest += rows[i].share;
    std::printf("%12s %6.1f%%  %d more; --top=0 lists all\n", "", rest * 100, static_cast<int>(rows.size() - shown));
  }
}

void PrintJson(const profile::ProgramTimes& times, const std::vector<ProfileRow>& rows) {
  const auto number = [](double value) { return value < 0 ? "null" : absl::StrFormat("%.6g", value); };
  std::string text =
      absl::StrFormat(R"({"program":%s,"runs":%d,"total_ms":%.6g,"instructions":[)", JsonQuoted(times.program->program),
                      times.runs, static_cast<double>(times.total_ns) * 1e-6);
  for (size_t i = 0; i < rows.size(); ++i) {
    const ProfileRow& row = rows[i];
    absl::StrAppendFormat(
        &text,
        R"(%s{"name":%s,"category":%s,"count":%d,"executions":%d,"own_ms":%.6g,"share":%.6g,"gb_per_s":%s,)"
        R"("gflop_per_s":%s,"roof":%s,"op_name":%s,"source":%s,"hlo":%s})",
        i == 0 ? "" : ",", JsonQuoted(row.step->name), JsonQuoted(row.step->category), row.step->instruction_count,
        row.executions, row.own_ms, row.share, number(row.gigabytes_per_second), number(row.gigaflops),
        number(row.roof), JsonQuoted(row.step->op_name), JsonQuoted(SourceOf(*row.step)), JsonQuoted(row.step->text));
  }
  std::printf("%s]}\n", text.c_str());
}

absl::Status Profile(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const Program program, LoadProgram(flags));
  const std::string platform = flags.Get("platform", program.platform);
  if (platform != "cpu")
    return Unimplemented("profiles of instructions are recorded on the platform cpu, not on ", platform);
  HILO_ASSIGN_OR_RETURN(const int64_t iterations, flags.Integer("iterations", 0, 1));
  HILO_ASSIGN_OR_RETURN(const int64_t top, flags.Integer("top", 20, 0));
  Roofs roofs;
  if (!flags.Has("no-roofs")) {
    HILO_ASSIGN_OR_RETURN(roofs, MeasureRoofs(platform, flags));
  }
  const bool random = !flags.Has("input") && !flags.Has("inputs");
  HILO_ASSIGN_OR_RETURN(const Session session, OpenSession(program, platform, flags,
                                                           random ? ArgumentSource::kRandom : ArgumentSource::kFlags));
  std::optional<ProgressLine> progress("recording");
  HILO_RETURN_IF_ERROR(session.Run().status());  // the first run touches its memory for the first time
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<profile::Session> recording, profile::Session::Start());
  const int64_t start = NowNanoseconds();
  for (int64_t i = 0; iterations > 0 ? i < iterations : i == 0 || NowNanoseconds() < start + kMeasuredNanoseconds; ++i)
    HILO_RETURN_IF_ERROR(session.Run().status());
  recording->Stop();
  progress.reset();
  const profile::Profile recorded = recording->Collect();
  for (const profile::ProgramTimes& times : profile::Summarize(recorded)) {
    std::vector<ProfileRow> rows;
    for (const profile::StepTimes& step : times.steps) rows.push_back(RowOf(step, times.total_ns, roofs));
    if (flags.Has("json")) {
      PrintJson(times, rows);
    } else {
      PrintTable(times, rows, roofs, top == 0 ? rows.size() : std::min<size_t>(rows.size(), top));
    }
  }
  if (flags.Has("trace"))
    HILO_RETURN_IF_ERROR(WriteFile(flags.Get("trace"), profile::ToChromeTrace(recorded, platform)));
  if (flags.Has("xspace")) {
    const profile::Peaks peaks = {.gigaflops = roofs.gigaflops, .gigabytes_per_second = roofs.gigabytes_per_second};
    HILO_RETURN_IF_ERROR(WriteFile(flags.Get("xspace"), profile::ToXSpace(recorded, platform, peaks)));
  }
  return absl::OkStatus();
}

}  // namespace

Command ProfileCommand() {
  return {
      .name = "profile",
      .arguments = "MODULE",
      .summary = "measure the instructions of a program: time, share, rates, source lines",
      .details =
          "Runs the program, by default for a second and on random arguments, and lists its instructions by the time "
          "that they took. Short\n"
          "instructions that follow each other are listed under the longest of them. A loop's own time is what its "
          "instructions do not\n"
          "take. The rates follow from the cost model's counts, and the roof is the larger part of what the machine "
          "reaches in a sum of\n"
          "two long arrays and a product of two large matrices.\n"
          "\n"
          "Examples:\n"
          "  hilo profile step.hlo\n"
          "  hilo profile step.hlo --inputs=in.npz --trace=step.json     # for ui.perfetto.dev\n"
          "  hilo profile step.mlir --xspace=step.xplane.pb              # for xprof and TensorBoard\n",
      .flags = Join(Join(RunFlags(), {{"iterations", "N", "runs; default: as many as fit into a second"},
                                      {"top", "N", "instructions to list (20); 0: all"},
                                      {"trace", "F.json", "write the timeline as a Chrome trace, for Perfetto", true},
                                      {"xspace", "F.xplane.pb", "write the profile as an XSpace, for xprof", true},
                                      {"json", "", "one JSON object instead of the table"},
                                      {"no-roofs", "", "do not measure what the platform can do at the most"}}),
                    CompileFlags({.help = "cpu (default)"})),
      .run = &Profile};
}

}  // namespace hilo::tools
