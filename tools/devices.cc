// hilo devices: lists the available devices.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/runtime/device_fixtures.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/gpu/runtime/library_report.h"
#include "base/errors.h"
#include "collectives/processes/process_group.h"
#include "hilo/collectives.h"
#include "hilo/status_macros.h"
#include "tools/command.h"

namespace hilo::tools {
namespace {

std::string TextOf(const gpu::GpuProperties& properties) {
  return absl::StrCat(properties.name, ", ", properties.arch(), ", ", properties.multiprocessors, " multiprocessors, ",
                      properties.memory_bytes >> 20, " MiB, L2 ", properties.l2_bytes >> 20, " MiB, ",
                      properties.max_shared_bytes_per_block >> 10, " KiB shared by a block");
}

absl::Status WriteFixtures(const std::string& platform, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  HILO_ASSIGN_OR_RETURN(const std::vector<gpu::DeviceFixture> fixtures, gpu::DumpFixtures(platform, 0));
  for (const gpu::DeviceFixture& fixture : fixtures) {
    const std::filesystem::path path = std::filesystem::path(folder) / fixture.file;
    std::ofstream file(path, std::ios::binary);
    if (!(file << fixture.text).flush()) return NotFound("cannot write ", path.string());
    std::printf("%s: %zu bytes\n", path.c_str(), fixture.text.size());
  }
  return absl::OkStatus();
}

// As one of the processes of a job: what connects them.
absl::Status ListProcesses() {
  HILO_ASSIGN_OR_RETURN(const LaunchEnvironment launch, DetectLaunch());
  if (launch.world_size == 1) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(const ProcessGroupOptions options, ProcessGroupOptionsFrom(launch));
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<ProcessGroup> group, ProcessGroup::Join(options));
  std::printf("process %lld of %lld: %s\n", static_cast<long long>(launch.rank),
              static_cast<long long>(launch.world_size), group->transport_name().c_str());
  return absl::OkStatus();
}

absl::Status Devices(const Flags& flags) {
  const std::string platform = flags.Get("platform", gpu::kCudaPlatform);
  if (platform != gpu::kCudaPlatform && platform != gpu::kEmulatedPlatform) {
    return InvalidArgument("expected --platform=", gpu::kCudaPlatform, " or ", gpu::kEmulatedPlatform, ", got '",
                           platform, "'");
  }
  HILO_RETURN_IF_ERROR(ListProcesses());
  const std::string fixtures = flags.Get("fixtures", "");
  for (const gpu::LibraryFinding& library : gpu::FindLibraries())
    std::printf("%s: %s\n", library.name.c_str(), library.found.c_str());
  for (int device = 0;; ++device) {
    const absl::StatusOr<std::unique_ptr<gpu::GpuDriver>> driver = gpu::OpenGpuDriver(platform, device);
    if (!driver.ok() && device == 0) return driver.status();
    if (!driver.ok()) return absl::OkStatus();
    std::printf("device %d: %s\n", device, TextOf((*driver)->properties()).c_str());
    if (device == 0 && !fixtures.empty()) HILO_RETURN_IF_ERROR(WriteFixtures(platform, fixtures));
    if (platform == gpu::kEmulatedPlatform) return absl::OkStatus();  // which emulates any number of devices
  }
}

}  // namespace

Command DevicesCommand() {
  return {.name = "devices",
          .arguments = "",
          .summary = "list the GPUs, and which of NVIDIA's libraries are found and where",
          .details =
              "In each of several processes (hilo launch) it also says what carries data between them.\n"
              "Libraries are looked for in HILO_CUDA_PATH, by the system, in a CUDA toolkit and among Python's nvidia "
              "packages.\n"
              "\n"
              "Examples:\n"
              "  hilo devices\n"
              "  hilo devices --platform=cuda-emulated\n",
          .flags = {{"platform", "NAME", "cuda (default) or cuda-emulated"},
                    {"fixtures", "FOLDER", "write there what the first device and its libraries say of themselves"}},
          .run = &Devices};
}

}  // namespace hilo::tools
