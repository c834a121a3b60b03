// hilo bench: times compilation, transfers and runs of modules, on one platform or side by side on several.
#include <cstdio>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "tools/bench_report.h"
#include "tools/command.h"
#include "tools/measurement.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

absl::Status Bench(const Flags& flags) {
  if (flags.positional().empty()) return InvalidArgument("expected a module file");
  if (flags.positional().size() > 1 && (flags.Has("input") || flags.Has("inputs")))
    return InvalidArgument("--input and --inputs are for one module, and ", flags.positional().size(), " are given");
  HILO_ASSIGN_OR_RETURN(const int64_t iterations, flags.Integer("iterations", 0, 1));
  std::vector<Measurement> all;
  absl::flat_hash_map<std::string, Roofs> roofs;
  absl::Status missing;
  for (const std::string& path : flags.positional()) {
    HILO_ASSIGN_OR_RETURN(const Program program, LoadProgram(path, flags));
    const std::vector<std::string> platforms = absl::StrSplit(flags.Get("platform", program.platform), ',');
    for (const std::string& platform : platforms) HILO_RETURN_IF_ERROR(CompilerFrom(platform, flags).status());
    for (std::string platform : platforms) {
      absl::StatusOr<Measurement> measured = Measure(program, platform, flags, iterations);
      if (absl::IsUnavailable(measured.status())) {
        // The other platforms are worth having, and what is known of a GPU's kernels without one.
        std::fprintf(stderr, "hilo: %s\n", std::string(measured.status().message()).c_str());
        if (platform == "cuda" && platforms.size() > 1) {
          std::fprintf(stderr, "hilo: cuda-emulated runs the same kernels, and is measured instead\n");
          platform = "cuda-emulated";
          measured = Measure(program, platform, flags, iterations);
        } else if (platform == "cuda") {
          std::fprintf(stderr, "hilo: --platform=cuda-emulated runs the same kernels without a GPU\n");
        }
      }
      if (absl::IsUnavailable(measured.status())) {
        missing = measured.status();
        continue;
      }
      HILO_RETURN_IF_ERROR(measured.status());
      if (!IsEmulated(platform) && platform != "interpreter" && !flags.Has("no-roofs")) {
        if (!roofs.contains(platform)) {
          HILO_ASSIGN_OR_RETURN(roofs[platform], MeasureRoofs(platform, flags));
        }
        measured->roofs = roofs[platform];
      }
      const std::string text = flags.Has("json") ? ReportJsonLine(*measured) : ReportText(*measured);
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
      all.push_back(*std::move(measured));
    }
  }
  if (all.empty()) return missing;
  if (flags.Has("plot")) HILO_RETURN_IF_ERROR(WriteFile(flags.Get("plot"), ReportHtml(all)));
  if (flags.Has("benchmark-out"))
    HILO_RETURN_IF_ERROR(WriteFile(flags.Get("benchmark-out"), ReportGoogleBenchmark(all)));
  return absl::OkStatus();
}

}  // namespace

Command BenchCommand() {
  return {.name = "bench",
          .arguments = "MODULE...",
          .summary = "time compilation, transfers and runs, on one platform or several side by side",
          .details =
              "Arguments are on the device before the clock of a run starts, and results stay there; transfers are "
              "timed apart. Without --input and\n"
              "--inputs the arguments are random. A platform that is not there is named, and the others are measured. "
              "MODULE may be an executable\n"
              "that hilo compile -o wrote; what is called compilation is then loading. The roofs are a sum of two long "
              "arrays and a product of two large\n"
              "matrices, measured on the platform itself.\n"
              "\n"
              "Examples:\n"
              "  hilo bench step.hlo --inputs=in.npz\n"
              "  hilo bench step.hlo --platform=cpu,cuda --plot=step.html\n"
              "  hilo bench step.hlo attention.mlir --iterations=100 --json\n",
          .flags = Join(Join(RunFlags(), {{"iterations", "N", "runs; default: as many as fit into a second"},
                                          {"json", "", "one JSON object a line"},
                                          {"benchmark-out", "F.json", "write a file in Google Benchmark's form", true},
                                          {"plot", "F.html", "write a page with plots", true},
                                          {"no-roofs", "", "do not measure what the platform can do at the most"}}),
                        CompileFlags()),
          .run = &Bench};
}

}  // namespace hilo::tools
