#include "tools/kernel_memory.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/runtime/gpu_devices.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/runtime_access.h"

namespace hilo::tools {

absl::StatusOr<std::map<std::string, KernelMemory>> CountKernelMemory(const Program& program, const Session& session,
                                                                      const Flags& flags) {
  if (session.arguments.size() != 1) return Unimplemented("counting on ", session.arguments.size(), " devices");
  HILO_ASSIGN_OR_RETURN(
      std::unique_ptr<gpu::EmulatedDriver> driver,
      gpu::CreateEmulatedDriver(
          {.check_accesses = true, .count_accesses = true, .counted_blocks = std::numeric_limits<int64_t>::max()}));
  gpu::EmulatedDriver& counted = *driver;
  auto devices = std::make_shared<gpu::GpuDevices>(gpu::kEmulatedPlatform);
  devices->Use(0, std::move(driver));
  // The kernels are those that a GPU gets.
  HILO_ASSIGN_OR_RETURN(
      const std::unique_ptr<Client> client,
      RuntimeAccess::CreateClient(
          {.device_count = 1},
          gpu::CreateGpuCompiler(gpu::kEmulatedPlatform, {.optimize_for_emulation = true, .devices = devices})));
  HILO_ASSIGN_OR_RETURN(const CompileOptions options, CompileOptionsFrom(flags));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                        RuntimeAccess::Compile(client.get(), program.module->Clone(), options));
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<Buffer*> arguments;
  for (Buffer* argument : session.arguments[0]) {
    HILO_ASSIGN_OR_RETURN(const Literal literal, argument->ToLiteral());
    HILO_ASSIGN_OR_RETURN(buffers.emplace_back(), client->BufferFromLiteral(literal, 0, &argument->shape()));
    arguments.push_back(buffers.back().get());
  }
  counted.TakeAccessCounts();
  HILO_RETURN_IF_ERROR(executable->Execute(arguments, {.synchronous = true}).status());
  std::map<std::string, KernelMemory> kernels;
  for (const gpu::AccessCount& count : counted.TakeAccessCounts()) {
    KernelMemory& kernel = kernels[count.kernel];
    (count.shared ? kernel.bank_passes : kernel.sectors) += count.units;
    if (count.shared) {
      kernel.fewest_bank_passes += count.ideal;
    } else {
      kernel.bytes += count.bytes * count.threads;
    }
  }
  return kernels;
}

}  // namespace hilo::tools
