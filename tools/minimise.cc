// hilo minimise and hilo bisect: what of a module, and what of the compiler, a failure needs.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/kernels/cpu_target.h"
#include "backends/gpu/choice/kernel_facts.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/compile/gpu_target.h"
#include "backends/gpu/driver/platform_names.h"
#include "backends/gpu/lib/libraries.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_printer.h"
#include "tools/command.h"
#include "tools/failure_check.h"
#include "tools/minimizer.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

// A line on standard error that is written over, where that is a terminal.
void ShowLine(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

absl::Status RunMinimize(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, LoadModule(flags));
  HILO_ASSIGN_OR_RETURN(const int64_t tries, flags.Integer("tries", 1000, 1));
  HILO_ASSIGN_OR_RETURN(const FailureCheck check, FailureCheck::Create(flags, *module));
  std::fprintf(stderr, "the failure: %s\n", check.failure().c_str());
  int64_t tried = 0;
  const MinimizerOptions options{
      .fails = [&](const HloModule& candidate) { return check.Fails(candidate); },
      .max_tries = tries,
      .progress =
          [&](int64_t count, const HloModule& smallest) {
            tried = count;
            ShowLine(absl::StrCat("try ", count, " of at most ", tries, ": ", SizeOf(smallest), " instructions"));
          }};
  const absl::StatusOr<std::unique_ptr<HloModule>> smallest = Minimize(*module, options);
  ShowLine("");
  HILO_RETURN_IF_ERROR(smallest.status());
  std::fprintf(stderr, "%lld of %lld instructions are left, after %lld tries%s\n",
               static_cast<long long>(SizeOf(**smallest)), static_cast<long long>(SizeOf(*module)),
               static_cast<long long>(tried), tried >= tries ? ", which were all that --tries allows" : "");
  const std::string text = PrintHloModule(**smallest, {.layouts = true});
  if (flags.Has("o")) return WriteFile(flags.Get("o"), text);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

// The passes of a pipeline that can be left out, each once, in its order.
std::vector<std::string> OptionalPassesIn(const PassPipeline& pipeline) {
  std::vector<std::string> names;
  for (const PassPipeline::Stage& stage : pipeline.stages()) {
    for (const auto& pass : stage.passes) {
      const std::string name(pass->name());
      if (pass->optional() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> OptionalPasses(const std::string& platform) {
  if (platform != gpu::kCudaPlatform && platform != gpu::kEmulatedPlatform) {
    const std::unique_ptr<Target> target = cpu::CreateCpuTarget({});
    return OptionalPassesIn(cpu::CpuPipeline(target.get(), {}));
  }
  const std::unique_ptr<Target> target = gpu::CreateGpuTarget();
  gpu::Libraries libraries(gpu::LibraryDevice{platform == gpu::kEmulatedPlatform}, {});
  return OptionalPassesIn(gpu::GpuPipeline(target.get(), {}, {.libraries = &libraries}));
}

absl::Status RunBisect(const Flags& flags) {
  using Outcome = FailureCheck::Outcome;
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, LoadModule(flags));
  HILO_ASSIGN_OR_RETURN(const FailureCheck check, FailureCheck::Create(flags, *module));
  std::fprintf(stderr, "the failure: %s\n", check.failure().c_str());
  const std::vector<std::string> passes = OptionalPasses(flags.Get("fails-on", "cpu"));
  std::vector<std::string> known, needed, rest;
  for (size_t i = 0; i < passes.size(); ++i) {
    ShowLine(absl::StrCat("without ", passes[i], " (", i + 1, " of ", passes.size(), ")"));
    HILO_ASSIGN_OR_RETURN(const Outcome outcome, check.Without({passes[i]}, *module));
    if (outcome == Outcome::kRefused) continue;
    known.push_back(passes[i]);
    (outcome == Outcome::kSame ? rest : needed).push_back(passes[i]);
  }
  ShowLine("");
  if (needed.empty()) {
    HILO_ASSIGN_OR_RETURN(const Outcome without_any, check.Without(known, *module));
    std::printf(without_any == Outcome::kSame
                    ? "the failure needs none of the passes that can be left out: %s\n"
                    : "the failure goes away without all of the passes %s, but not without any single one\n",
                absl::StrJoin(known, ", ").c_str());
    return absl::OkStatus();
  }
  std::printf("the failure goes away without %s\n", absl::StrJoin(needed, ", or without ").c_str());
  HILO_ASSIGN_OR_RETURN(const Outcome alone, check.Without(rest, *module));
  std::printf(alone == Outcome::kSame ? "and these passes alone bring it\n"
                                      : "and it needs others besides: those alone do not bring it\n");
  return absl::OkStatus();
}

}  // namespace

Command MinimizeCommand() {
  return {.name = "minimise",
          .arguments = "MODULE",
          .summary = "find a small part of a module that still shows a failure",
          .details =
              "It tries other roots, bodies instead of loops, parameters instead of instructions, and smaller sizes of "
              "dimensions, each in\n"
              "a process of its own, and keeps what fails as MODULE does. MODULE's parameters have the inputs that are "
              "given,\n"
              "all others random ones.\n"
              "\n"
              "Examples:\n"
              "  hilo minimise step.hlo --fails-on=cuda-emulated -o small.hlo\n"
              "  hilo minimise step.hlo --inputs=in.npz\n"
              "  hilo minimise step.hlo --check='hilo compile {} 2>&1 | grep -q INTERNAL'\n",
          .flags = Join(FailureFlags(), {{"tries", "N", "at most so many candidates (default 1000)"},
                                         {"o", "FILE", "where to; default: standard output", true}}),
          .run = &RunMinimize};
}

Command BisectCommand() {
  std::vector<FlagSpec> flags = FailureFlags();
  flags.pop_back();  // --check: it cannot leave out passes
  return {.name = "bisect",
          .arguments = "MODULE",
          .summary = "find the passes that a failure needs",
          .details =
              "Leaves out the optional passes of the platform, one after the other, and prints those without which the "
              "failure goes away.\n"
              "\n"
              "Examples:\n"
              "  hilo bisect step.hlo\n"
              "  hilo bisect step.hlo --fails-on=cuda-emulated --inputs=in.npz\n",
          .flags = std::move(flags),
          .run = &RunBisect};
}

}  // namespace hilo::tools
