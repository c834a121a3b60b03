// Profiles as frameworks request them (jax.profiler.trace): an XSpace with all runs of the process.
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "base/cpu_count.h"
#include "hilo/status_macros.h"
#include "pjrt/compile.h"
#include "pjrt/error.h"
#include "pjrt/extensions.h"
#include "pjrt/program.h"
#include "pjrt/program_steps.h"
#include "runtime/profile/export.h"

struct PLUGIN_Profiler {
  std::shared_ptr<hilo::profile::Session> session;  // since start
  std::optional<std::string> bytes;                 // since the first collect_data
};

struct PLUGIN_Profiler_Error {
  absl::Status status;
};

namespace hilo::pjrt {
namespace {

template <typename Args, absl::Status (*function)(Args*)>
PLUGIN_Profiler_Error* ProfilerBoundary(Args* args) noexcept {
  absl::Status status = Guarded([args]() -> absl::Status {
    if (args == nullptr) return InvalidArgument("expected a struct of arguments, got null");
    return function(args);
  });
  return status.ok() ? nullptr : new PLUGIN_Profiler_Error{std::move(status)};
}

// By the cost model, of all processors; memory is shared by them. A measurement would take time while the user waits.
profile::Peaks EstimatedPeaks() {
  const absl::StatusOr<MachineFacts> machine = cpu::MachineFactsOf("");
  if (!machine.ok()) return {};
  return {.gigaflops = machine->product_flops_per_ns * UsableCpuCount(),
          .gigabytes_per_second = machine->memory[1].bytes_per_ns};
}

// The programs of a profile are optimized again for their HLO, which takes as long as their compilation without LLVM's
// part; those beyond a limit of time or size are left out.
profile::HloOfSteps HloWithinLimits() {
  constexpr absl::Duration kMaxTime = absl::Seconds(10);
  constexpr size_t kMaxBytes = size_t{256} << 20;
  return [end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(kMaxTime),
          left = kMaxBytes](const profile::StepTable& steps) mutable -> std::string {
    const std::shared_ptr<const Program> program = ProgramOfSteps(steps);
    if (program == nullptr) return "";
    // Its fields are also those of an HloProto.
    absl::StatusOr<std::string> hlo = OptimizedHlo(*program, absl::FromChrono(end - std::chrono::steady_clock::now()));
    if (!hlo.ok() || hlo->size() > left) return "";
    left -= hlo->size();
    return *std::move(hlo);
  };
}

absl::Status CreateProfiler(PLUGIN_Profiler_Create_Args* args) {
  args->profiler = new PLUGIN_Profiler();
  return absl::OkStatus();
}

absl::Status StopProfiler(PLUGIN_Profiler_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->profiler, "PLUGIN_Profiler"));
  if (args->profiler->session != nullptr) args->profiler->session->Stop();
  return absl::OkStatus();
}

absl::Status DestroyProfiler(PLUGIN_Profiler_Args* args) {
  if (args->profiler == nullptr) return absl::OkStatus();
  HILO_RETURN_IF_ERROR(StopProfiler(args));
  delete args->profiler;
  return absl::OkStatus();
}

absl::Status StartProfiler(PLUGIN_Profiler_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->profiler, "PLUGIN_Profiler"));
  args->profiler->bytes.reset();
  HILO_ASSIGN_OR_RETURN(args->profiler->session, profile::Session::Start());
  return absl::OkStatus();
}

absl::Status CollectData(PLUGIN_Profiler_CollectData_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->profiler, "PLUGIN_Profiler"));
  PLUGIN_Profiler& profiler = *args->profiler;
  if (!profiler.bytes.has_value()) {
    if (profiler.session == nullptr) return FailedPrecondition("the profiler has not been started");
    profiler.session->Stop();
    profiler.bytes = profile::ToXSpace(profiler.session->Collect(), "cpu", EstimatedPeaks(), HloWithinLimits());
    profiler.session = nullptr;
  }
  const bool copies = args->buffer != nullptr && args->buffer != reinterpret_cast<uint8_t*>(profiler.bytes->data());
  if (copies) {
    std::memcpy(args->buffer, profiler.bytes->data(), profiler.bytes->size());
  } else {
    args->buffer = reinterpret_cast<uint8_t*>(profiler.bytes->data());
  }
  args->buffer_size_in_bytes = profiler.bytes->size();
  return absl::OkStatus();
}

void DestroyError(PLUGIN_Profiler_Error_Destroy_Args* args) { delete args->error; }

void GetMessage(PLUGIN_Profiler_Error_Message_Args* args) {
  const absl::string_view message = args->error->status.message();
  args->message = message.data();
  args->message_size = message.size();
}

PLUGIN_Profiler_Error* GetCode(PLUGIN_Profiler_Error_GetCode_Args* args) {
  args->code = static_cast<int>(args->error->status.code());
  return nullptr;
}

PLUGIN_Profiler_Api profiler_api = {
    .struct_size = sizeof(PLUGIN_Profiler_Api),
    .priv = nullptr,
    .error_destroy = DestroyError,
    .error_message = GetMessage,
    .error_get_code = GetCode,
    .create = ProfilerBoundary<PLUGIN_Profiler_Create_Args, CreateProfiler>,
    .destroy = ProfilerBoundary<PLUGIN_Profiler_Args, DestroyProfiler>,
    .start = ProfilerBoundary<PLUGIN_Profiler_Args, StartProfiler>,
    .stop = ProfilerBoundary<PLUGIN_Profiler_Args, StopProfiler>,
    .collect_data = ProfilerBoundary<PLUGIN_Profiler_CollectData_Args, CollectData>,
};

}  // namespace

PJRT_Extension_Base* ProfilerExtension(PJRT_Extension_Base* next) {
  static PJRT_Profiler_Extension extension = {
      .base = {.struct_size = sizeof(PJRT_Profiler_Extension), .type = PJRT_Extension_Type_Profiler, .next = next},
      .profiler_api = &profiler_api,
      .traceme_context_id = 0};
  return &extension.base;
}

}  // namespace hilo::pjrt
