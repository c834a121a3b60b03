#include "backends/registry.h"

#include "absl/strings/str_join.h"
#include "backends/cpu/cpu_compiler.h"
#include "backends/gpu/gpu_compiler.h"
#include "backends/gpu/gpu_platform.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "runtime/client.h"

namespace hilo {
namespace {

struct Backend {
  const char* platform;
  std::unique_ptr<Compiler> (*create)();
};

// A backend is one line here and a folder.
constexpr Backend kBackends[] = {
    {"interpreter", [] { return CreateInterpreterCompiler(); }},
    {"cpu", [] { return cpu::CreateCpuCompiler(); }},
    {"cuda", [] { return gpu::CreateGpuCompiler(gpu::kCudaPlatform); }},
    {"cuda-emulated", [] { return gpu::CreateGpuCompiler(gpu::kEmulatedPlatform); }},
};

}  // namespace

std::vector<std::string> PlatformNames() {
  std::vector<std::string> names;
  for (const Backend& backend : kBackends) names.emplace_back(backend.platform);
  return names;
}

absl::StatusOr<std::unique_ptr<Compiler>> CreateCompiler(absl::string_view platform) {
  for (const Backend& backend : kBackends) {
    if (platform == backend.platform) return backend.create();
  }
  return InvalidArgument("there is no platform '", platform, "'; expected one of ",
                         absl::StrJoin(PlatformNames(), ", "));
}

// Declared in runtime/client.h; it stands here because the runtime knows no backend.
absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler, CreateCompiler(options.platform));
  return Create(options, std::move(compiler));
}

}  // namespace hilo
