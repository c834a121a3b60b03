#include "runtime/compile_driver.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/file.h"
#include "base/log_sink.h"
#include "base/phase_times.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/copy_insertion.h"
#include "hlo/memory/scheduler.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

constexpr absl::string_view kHlo = "hlo", kBuffers = "buffers";

// Runs a step of the lowering, which returns a Status, after a look at the cancellation.
template <typename Step>
absl::Status RunStep(const PassContext& context, absl::string_view name, const Step& step) {
  HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
  const PhaseTimer timer("memory", name);
  return step();
}

int DumpNumber(HloStage stage) { return 10 * static_cast<int>(stage); }

}  // namespace

absl::StatusOr<CompileDriver> CompileDriver::Create(const CompileOptions& options) {
  if (!options.dump_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.dump_dir, error);
    if (error) return InvalidArgument("cannot make the dump folder ", options.dump_dir, ": ", error.message());
  }
  return CompileDriver(options);
}

void CompileDriver::Dump(int number, absl::string_view name, absl::FunctionRef<std::string()> text) const {
  if (options_->dump_dir.empty()) return;
  const absl::Status written = WriteFile(absl::StrFormat("%s/%02d.%s", options_->dump_dir, number, name), text());
  if (!written.ok() && !warned_of_dumps_->exchange(true)) LogWarning("the dump is incomplete: ", written.message());
}

absl::StatusOr<LoweredModule> CompileDriver::Lower(std::unique_ptr<HloModule> module, LoweringSteps steps) const {
  const auto dump_stage = [this](HloStage stage, const HloModule& now) {
    Dump(DumpNumber(stage), absl::StrCat(HloStageName(stage), ".hlo"), [&] { return PrintHloModule(now); });
  };
  const PassContext context{.cancellation = options_->cancellation.get()};
  LoweredModule lowered{.shape = module->EntryProgramShape()};
  module->set_entry_computation_layout(lowered.shape);  // is preserved, though another instruction becomes the root
  dump_stage(HloStage::kInput, *module);
  HILO_RETURN_IF_ERROR(steps.pipeline.Run(
      module.get(), {.disabled = options_->disabled_passes,
                     .verify_each_pass = options_->verify_each_pass,
                     .cancellation = options_->cancellation.get(),
                     .observer = [&](HloStage stage, const HloModule& now) { dump_stage(stage, now); }}));
  HILO_RETURN_IF_ERROR(
      RunStep(context, "schedule", [&] { return ScheduleModule(module.get(), context.cancellation); }));
  if (steps.after_schedule) steps.after_schedule(module.get());
  HILO_RETURN_IF_ERROR(RunStep(context, "copies", [&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(InsertCopies(module.get(), steps.loop_local_bytes, context.cancellation));
    HILO_RETURN_IF_ERROR(VerifyHloModule(*module, HloStage::kAliased));
    return steps.after_copies ? steps.after_copies(module.get()) : absl::OkStatus();
  }));
  HILO_RETURN_IF_ERROR(RunStep(context, "assignment", [&]() -> absl::Status {
    BufferAssignmentOptions assignment_options;
    if (steps.assignment_options) {
      HILO_ASSIGN_OR_RETURN(assignment_options, steps.assignment_options(*module));
    }
    assignment_options.loop_local_bytes = steps.loop_local_bytes;
    assignment_options.cancellation = context.cancellation;
    HILO_ASSIGN_OR_RETURN(lowered.assignment, BufferAssignment::Create(*module, assignment_options));
    return steps.after_assignment ? steps.after_assignment(module.get(), lowered.assignment) : absl::OkStatus();
  }));
  HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
  dump_stage(HloStage::kAliased, *module);
  Dump(DumpNumber(HloStage::kAliased) + 5, "buffers.txt", [&] { return lowered.assignment.ToString(); });
  lowered.module = std::move(module);
  return lowered;
}

std::optional<std::string> LoweredModule::Text(absl::string_view kind) const {
  if (kind == kHlo) return PrintHloModule(*module);
  if (kind == kBuffers) return assignment.ToString();
  return std::nullopt;
}

absl::Status CheckEmitKind(absl::string_view platform, absl::string_view kind,
                           absl::Span<const absl::string_view> kinds) {
  if (absl::c_linear_search(kinds, kind)) return absl::OkStatus();
  return InvalidArgument("the ", platform, " platform emits ", absl::StrJoin(kinds, ", "), "; got '", kind, "'");
}

}  // namespace hilo
