// hilo opt: runs passes on a module and prints what they make of it.
#include <algorithm>
#include <cstdio>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/kernels/cpu_target.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/copy_insertion.h"
#include "hlo/memory/scheduler.h"
#include "hlo/passes/standard_pipeline.h"
#include "hlo/text/hlo_printer.h"
#include "runtime/watchdog.h"
#include "tools/command.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

// Stages that passes lead to, in order; those after kFused come from the memory stage.
constexpr HloStage kStages[] = {HloStage::kInput, HloStage::kCore,      HloStage::kLaidOut,
                                HloStage::kFused, HloStage::kScheduled, HloStage::kAliased};

absl::Status RunPass(HloPass& pass, HloModule* module, const PassContext& context) {
  HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
  const absl::StatusOr<bool> changed = pass.Run(module, context);
  if (!changed.ok()) return AddContext(changed.status(), absl::StrCat("; in pass ", pass.name()));
  return AddContext(VerifyHloModule(*module, HloStage::kInput), absl::StrCat("; after pass ", pass.name()));
}

void ListPasses(const PassPipeline& pipeline) {
  for (const PassPipeline::Stage& stage : pipeline.stages()) {
    std::printf("to stage %s%s:\n", std::string(HloStageName(stage.stage)).c_str(),
                stage.max_iterations > 1 ? ", repeated until nothing changes" : "");
    for (const auto& pass : stage.passes) {
      std::printf("  %s%s\n", std::string(pass->name()).c_str(), pass->optional() ? "" : " (always runs)");
    }
  }
}

absl::Status RunNamed(std::initializer_list<const PassPipeline*> pipelines, const std::vector<std::string>& names,
                      HloModule* module, const PassContext& context) {
  std::vector<std::string> known;
  for (const std::string& name : names) {
    HloPass* found = nullptr;
    for (const PassPipeline* pipeline : pipelines) {
      for (const PassPipeline::Stage& stage : pipeline->stages()) {
        for (const auto& pass : stage.passes) {
          if (pass->name() == name) found = pass.get();
          if (std::find(known.begin(), known.end(), pass->name()) == known.end()) known.emplace_back(pass->name());
        }
      }
    }
    if (found == nullptr) {
      return InvalidArgument("there is no pass '", name, "'; there are ", absl::StrJoin(known, ", "),
                             DidYouMean(name, known));
    }
    HILO_RETURN_IF_ERROR(RunPass(*found, module, context));
  }
  return absl::OkStatus();
}

absl::Status RunToStage(PassPipeline& partitioning, PassPipeline& pipeline, HloStage wanted, HloModule* module,
                        const CompileOptions& options, const PassContext& context) {
  if (wanted > HloStage::kInput) HILO_RETURN_IF_ERROR(partitioning.Run(module, {.cancellation = context.cancellation}));
  HILO_RETURN_IF_ERROR(pipeline.Run(module, {.last_stage = wanted, .cancellation = context.cancellation}));
  if (wanted >= HloStage::kScheduled) HILO_RETURN_IF_ERROR(ScheduleModule(module));
  if (wanted >= HloStage::kAliased) {
    HILO_RETURN_IF_ERROR(InsertCopies(module));
    HILO_RETURN_IF_ERROR(cpu::ChooseMissingKernels(module, options));
  }
  return VerifyHloModule(*module, wanted);
}

absl::StatusOr<HloStage> StageNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const HloStage stage : kStages) {
    if (HloStageName(stage) == name) return stage;
    names.emplace_back(HloStageName(stage));
  }
  return InvalidArgument("--stage: there is no stage '", name, "'; there are ", absl::StrJoin(names, ", "),
                         DidYouMean(name, names));
}

absl::StatusOr<std::string> Serialize(const HloModule& module, const std::string& format) {
  if (format == "text") return PrintHloModule(module);
  if (format == "proto") return HloModuleToProto(module);
  return InvalidArgument("--format: expected text or proto, got '", format, "'");
}

absl::Status Opt(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(flags));
  const std::unique_ptr<Target> target = cpu::CreateCpuTarget(options);
  PassPipeline partitioning = InputPipeline(), pipeline = cpu::CpuPipeline(target.get(), options);
  if (flags.Has("list-passes")) {
    ListPasses(partitioning);
    ListPasses(pipeline);
    return absl::OkStatus();
  }
  if (flags.Has("passes") == flags.Has("stage")) return InvalidArgument("give either --passes or --stage");
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, LoadModule(flags));
  const CompileDeadline deadline(&options);
  const PassContext context{.cancellation = options.cancellation.get()};
  if (flags.Has("passes")) {
    HILO_RETURN_IF_ERROR(RunNamed({&partitioning, &pipeline}, flags.List("passes"), module.get(), context));
  } else {
    HILO_ASSIGN_OR_RETURN(const HloStage stage, StageNamed(flags.Get("stage")));
    HILO_RETURN_IF_ERROR(RunToStage(partitioning, pipeline, stage, module.get(), options, context));
  }
  HILO_ASSIGN_OR_RETURN(const std::string text, Serialize(*module, flags.Get("format", "text")));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

}  // namespace

Command OptCommand() {
  return {.name = "opt",
          .arguments = "MODULE",
          .summary = "run passes on a module and print the result",
          .details =
              "Passes are those of the cpu platform.\n"
              "\n"
              "Examples:\n"
              "  hilo opt step.hlo --passes=inline-calls,simplify,dce\n"
              "  hilo opt step.hlo --stage=fused\n"
              "  hilo opt step.hlo --stage=input --format=proto > step.pb\n"
              "  hilo opt --list-passes\n",
          .flags = Join(ModuleFlags(), {{"passes", "A,B", "these passes, in this order"},
                                        {"stage", "NAME", "all passes up to this stage"},
                                        {"format", "NAME", "text (default), or proto: a serialized HloModuleProto"},
                                        {"strict", "", "only what keeps every bit"},
                                        {"cpu", "NAME", "processor that kernels are chosen for, as of hilo compile"},
                                        {"deadline", "SECONDS", "end passes that take longer"},
                                        {"list-passes", "", "the passes, stage by stage"}}),
          .run = &Opt};
}

}  // namespace hilo::tools
