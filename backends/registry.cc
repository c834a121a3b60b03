#include "backends/registry.h"

#include "absl/strings/str_join.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/kernels/cpu_target.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/compile/gpu_target.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "base/errors.h"
#include "hilo/client.h"
#include "hilo/status_macros.h"
#include "runtime/runtime_access.h"

namespace hilo {
namespace {

struct Backend {
  const char* platform;
  std::unique_ptr<Compiler> (*create)(const std::optional<std::string>& cache_dir, int64_t cache_limit);
  EmissionRow (*emission)(HloOpcode opcode);
};

EmissionRow OnCpu(HloOpcode opcode) { return cpu::CpuEmission(opcode); }
EmissionRow OnGpu(HloOpcode opcode) { return gpu::GpuEmission(opcode); }

// A backend is one line here and a folder.
constexpr Backend kBackends[] = {
    {"interpreter", [](const auto&, int64_t) { return CreateInterpreterCompiler(); }, InterpreterEmission},
    {"cpu",
     [](const auto& cache_dir, int64_t cache_limit) {
       return cpu::CreateCpuCompiler({.cache_dir = cache_dir, .cache_limit = cache_limit});
     },
     OnCpu},
    {"cuda",
     [](const auto& cache_dir, int64_t) {
       return gpu::CreateGpuCompiler(gpu::kCudaPlatform, {.cache_dir = cache_dir});
     },
     OnGpu},
    {"cuda-emulated",
     [](const auto& cache_dir, int64_t) {
       return gpu::CreateGpuCompiler(gpu::kEmulatedPlatform, {.cache_dir = cache_dir});
     },
     OnGpu},
};

}  // namespace

std::vector<std::string> PlatformNames() {
  std::vector<std::string> names;
  for (const Backend& backend : kBackends) names.emplace_back(backend.platform);
  return names;
}

EmissionRow EmissionOn(absl::string_view platform, HloOpcode opcode) {
  for (const Backend& backend : kBackends) {
    if (platform == backend.platform) return backend.emission(opcode);
  }
  return {opcode, Emission::kRewritten};
}

absl::StatusOr<std::unique_ptr<Compiler>> CreateCompiler(absl::string_view platform,
                                                         const std::optional<std::string>& cache_dir,
                                                         int64_t cache_limit) {
  for (const Backend& backend : kBackends) {
    if (platform == backend.platform) return backend.create(cache_dir, cache_limit);
  }
  return InvalidArgument("there is no platform '", platform, "'; expected one of ",
                         absl::StrJoin(PlatformNames(), ", "));
}

// Declared in hilo/client.h; defined here because the runtime does not depend on backends.
absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler,
                        CreateCompiler(options.platform, options.cache_dir, options.cache_limit));
  return RuntimeAccess::CreateClient(options, std::move(compiler));
}

}  // namespace hilo
