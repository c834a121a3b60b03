#include "tools/measurement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/program_cost.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/dynamic_program.h"
#include "tools/kernel_memory.h"
#include "tools/progress_line.h"

namespace hilo::tools {
namespace {

// Without a number of iterations: until this much time has gone by, within these bounds.
constexpr double kBudgetMs = 1000;
constexpr int64_t kFewestRuns = 5;
constexpr int64_t kMaxRuns = 10000;
constexpr int kTransfers = 5;
// Programs that take longer are not run with every access counted.
constexpr double kMaxCountedMs = 100;

// 64 MB an array, past any cache; a product of 2 GFLOP.
constexpr absl::string_view kSumProgram = R"(HloModule roof_of_memory
ENTRY e {
  a = f32[16777216] parameter(0)
  b = f32[16777216] parameter(1)
  ROOT c = f32[16777216] add(a, b)
})";
constexpr absl::string_view kProductProgram = R"(HloModule roof_of_arithmetic
ENTRY e {
  a = f32[1024,1024] parameter(0)
  b = f32[1024,1024] parameter(1)
  ROOT c = f32[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

double ProcessorMs() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

absl::StatusOr<double> TimeRun(const Session& session) {
  const int64_t start = NowNanoseconds();
  HILO_RETURN_IF_ERROR(session.Run().status());
  return MillisecondsSince(start);
}

absl::Status TimeRuns(const Session& session, int64_t iterations, Measurement* measured) {
  HILO_ASSIGN_OR_RETURN(const double first, TimeRun(session));  // pages, caches and threads are cold
  const double warm_up_ms = std::min(kBudgetMs / 10, 20 * first);
  for (const int64_t start = NowNanoseconds(); MillisecondsSince(start) < warm_up_ms;)
    HILO_RETURN_IF_ERROR(TimeRun(session).status());
  std::vector<double>& times = measured->run_ms;
  const double processor = ProcessorMs();
  const int64_t start = NowNanoseconds();
  const int64_t most = iterations > 0 ? iterations : kMaxRuns;
  while (static_cast<int64_t>(times.size()) < most) {
    const bool enough = static_cast<int64_t>(times.size()) >= kFewestRuns && MillisecondsSince(start) > kBudgetMs;
    if (iterations == 0 && enough) break;
    HILO_ASSIGN_OR_RETURN(const double time, TimeRun(session));
    times.push_back(time);
  }
  measured->cpu_ms = (ProcessorMs() - processor) / static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  return absl::OkStatus();
}

double BytesOf(const Shape& shape) { return shape.IsArray() ? static_cast<double>(ShapeUtil::ByteSizeOf(shape)) : 0; }

absl::Status TimeTransfers(const Session& session, Measurement* measured) {
  std::vector<std::vector<Literal>> arguments;
  for (const std::vector<Buffer*>& device : session.arguments) {
    std::vector<Literal>& literals = arguments.emplace_back();
    for (const Buffer* buffer : device) {
      measured->argument_bytes += BytesOf(buffer->shape());
      HILO_ASSIGN_OR_RETURN(literals.emplace_back(), buffer->ToLiteral());
    }
  }
  HILO_ASSIGN_OR_RETURN(const Executable::ReplicatedResults results, session.Run());
  for (const auto& device : results) {
    for (const auto& buffer : device) measured->result_bytes += BytesOf(buffer->shape());
  }
  double to = HUGE_VAL, from = HUGE_VAL;
  for (int i = 0; i < kTransfers; ++i) {
    int64_t start = NowNanoseconds();
    std::vector<std::unique_ptr<Buffer>> sent;
    for (size_t device = 0; device < arguments.size(); ++device) {
      for (size_t i = 0; i < arguments[device].size(); ++i) {
        HILO_ASSIGN_OR_RETURN(sent.emplace_back(),
                              session.client->BufferFromLiteral(arguments[device][i], static_cast<int>(device),
                                                                &session.arguments[device][i]->shape()));
      }
    }
    for (const auto& buffer : sent) HILO_RETURN_IF_ERROR(buffer->Await());
    to = std::min(to, MillisecondsSince(start));
    start = NowNanoseconds();
    for (const auto& device : results) {
      for (const auto& buffer : device) HILO_RETURN_IF_ERROR(buffer->ToLiteral().status());
    }
    from = std::min(from, MillisecondsSince(start));
  }
  measured->to_device_ms = to;
  measured->from_device_ms = from;
  return absl::OkStatus();
}

// "name: registers=40 ...", and how many of a multiprocessor's 64 warps the registers leave room for.
std::string WithOccupancy(absl::string_view line) {
  const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits("registers=", 1));
  int64_t registers;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[1].substr(0, parts[1].find(' ')), &registers) || registers <= 0)
    return std::string(line);
  const int64_t warps = std::min<int64_t>(64, 65536 / (32 * ((registers + 7) / 8 * 8)));
  return absl::StrCat(line, " occupancy=", warps, "/64");
}

// " bytes=4096 sectors=128 sector_ratio=1.00".
std::string MemoryText(const KernelMemory& memory) {
  std::string text =
      absl::StrFormat(" bytes=%d sectors=%d sector_ratio=%.2f", memory.bytes, memory.sectors, memory.SectorRatio());
  if (memory.bank_passes > 0)
    absl::StrAppendFormat(&text, " bank_passes=%d bank_ratio=%.2f", memory.bank_passes, memory.BankRatio());
  return text;
}

// The counts of the emulated device, after the lines of the kernels.
void AddMemory(const Program& program, const Session& session, const Flags& flags, double run_ms,
               std::vector<std::string>* lines) {
  if (run_ms > kMaxCountedMs) {
    lines->push_back(
        absl::StrFormat("memory sectors are not counted: that takes a hundred times the %.3g ms of a run", run_ms));
    return;
  }
  const auto counted = CountKernelMemory(program, session, flags);
  if (!counted.ok()) {
    lines->push_back(absl::StrCat("memory sectors are not counted: ", counted.status().message()));
    return;
  }
  for (const auto& [kernel, memory] : *counted) {
    const auto line = std::find_if(
        lines->begin(), lines->end(),
        [name = absl::StrCat(kernel, ":")](const std::string& one) { return absl::StartsWith(one, name); });
    if (line == lines->end()) {
      lines->push_back(absl::StrCat(kernel, ":", MemoryText(memory)));
    } else {
      absl::StrAppend(&*line, MemoryText(memory));
    }
  }
}

// Nothing if there is no assembler, or no module.
std::vector<std::string> Kernels(const Program& program, const std::string& platform, const Flags& flags) {
  std::vector<std::string> lines;
  const auto text = [&]() -> absl::StatusOr<std::string> {
    HILO_ASSIGN_OR_RETURN(const CompileOptions options, CompileOptionsFrom(flags));
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, CompilerFrom(platform, flags));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module,
                          PrepareModule(*compiler, program.module->Clone(), options));
    return compiler->Emit(std::move(module), options, "resources");
  }();
  if (!text.ok()) return {std::string(text.status().message())};
  for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) lines.push_back(WithOccupancy(line));
  return lines;
}

absl::StatusOr<double> LeastMs(absl::string_view text, const std::string& platform, const Flags& flags) {
  Program program;
  HILO_ASSIGN_OR_RETURN(program.module, ParseHloModule(text));
  HILO_ASSIGN_OR_RETURN(const Session session, OpenSession(program, platform, flags, ArgumentSource::kRandom));
  double least = HUGE_VAL;
  for (const int64_t start = NowNanoseconds(); MillisecondsSince(start) < 150;) {
    HILO_ASSIGN_OR_RETURN(const double time, TimeRun(session));
    least = std::min(least, time);
  }
  return least;
}

}  // namespace

bool Roofs::AreInCaches(double program_gigabytes_per_second, double program_gigaflops) const {
  const double memory = program_gigabytes_per_second / gigabytes_per_second;
  return memory > 1 && memory > program_gigaflops / gigaflops;
}
std::string Roofs::FractionText(double program_gigabytes_per_second, double program_gigaflops) const {
  if (AreInCaches(program_gigabytes_per_second, program_gigaflops)) return "in caches";
  const double fraction = std::max(program_gigabytes_per_second / gigabytes_per_second, program_gigaflops / gigaflops);
  return absl::StrFormat("%.0f%%", fraction * 100);
}

bool IsEmulated(const std::string& platform) { return absl::StrContains(platform, "emulated"); }

absl::StatusOr<Roofs> MeasureRoofs(const std::string& platform, const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const double sum, LeastMs(kSumProgram, platform, flags));
  HILO_ASSIGN_OR_RETURN(const double product, LeastMs(kProductProgram, platform, flags));
  return Roofs{.gigabytes_per_second = 3 * 4 * 16777216.0 / sum * 1e-6,
               .gigaflops = 2 * 1024.0 * 1024 * 1024 / product * 1e-6};
}

double Measurement::Quantile(double q) const {
  return run_ms[static_cast<size_t>(std::ceil(q * static_cast<double>(run_ms.size()))) - 1];
}
double Measurement::MeanMs() const {
  return std::accumulate(run_ms.begin(), run_ms.end(), 0.0) / static_cast<double>(run_ms.size());
}
double Measurement::GigabytesPerSecond() const { return (argument_bytes + result_bytes) / Quantile(0.5) * 1e-6; }
std::optional<double> Measurement::Gigaflops() const {
  if (!flops.has_value()) return std::nullopt;
  return *flops / Quantile(0.5) * 1e-6;
}
std::optional<double> Measurement::RoofFraction() const {
  if (!roofs.has_value() || !flops.has_value()) return std::nullopt;
  return std::max(GigabytesPerSecond() / roofs->gigabytes_per_second, *Gigaflops() / roofs->gigaflops);
}

absl::StatusOr<Measurement> Measure(const Program& program, const std::string& platform, const Flags& flags,
                                    int64_t iterations) {
  Measurement measured{.program = program.name, .platform = platform};
  const bool random = !flags.Has("input") && !flags.Has("inputs");
  HILO_ASSIGN_OR_RETURN(const Session session, OpenSession(program, platform, flags,
                                                           random ? ArgumentSource::kRandom : ArgumentSource::kFlags));
  measured.compile_ms = session.compile_ms;
  measured.estimated_ms = static_cast<double>(session.executable->estimated_nanoseconds()) * 1e-6;
  {
    const ProgressLine progress(absl::StrCat("measuring ", program.name, " on ", platform));
    HILO_RETURN_IF_ERROR(TimeRuns(session, iterations, &measured));
    HILO_RETURN_IF_ERROR(TimeTransfers(session, &measured));
  }
  if (program.module != nullptr) {
    HILO_ASSIGN_OR_RETURN(const ProgramCost cost, CostOfProgram(*program.module));
    measured.flops = (cost.flops + cost.transcendentals) * static_cast<double>(session.arguments.size());
  }
  if (IsEmulated(platform) && program.module != nullptr) {
    measured.kernels = Kernels(program, platform, flags);
    AddMemory(program, session, flags, measured.run_ms.front(), &measured.kernels);
  }
  return measured;
}

}  // namespace hilo::tools
