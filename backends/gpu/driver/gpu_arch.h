// Architectures of NVIDIA's GPUs by name, and which code runs on which.
#ifndef HILO_BACKENDS_GPU_DRIVER_GPU_ARCH_H_
#define HILO_BACKENDS_GPU_DRIVER_GPU_ARCH_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/driver/gpu_image.h"

namespace hilo::gpu {

inline constexpr char kDefaultArch[] = "sm_90";

// sm_90 is (9, 0), and so is sm_90a, whose code runs on no other architecture.
struct Architecture {
  int major = 0, minor = 0;
  bool exact = false;

  int number() const { return 10 * major + minor; }
};

// Returns the name of the architecture whose code runs on this one alone: sm_90a for sm_90, and for itself.
std::string ExactArchitecture(absl::string_view arch);

// Errors: InvalidArgument for an invalid name.
absl::StatusOr<Architecture> ParseArchitecture(absl::string_view arch);

// Returns the architecture whose PTX is assembled for `arch`: itself, or the newest older one for which `is_known`, as
// PTX also runs on all later chips. Errors: InvalidArgument for an invalid name, and for one that is older than all
// known ones.
absl::StatusOr<std::string> PtxArchitecture(absl::string_view arch,
                                            absl::FunctionRef<bool(absl::string_view)> is_known);

absl::string_view FormatName(GpuImageFormat format);

// Returns OK if kernels for `arch` in this format run on a device of architecture `device`. Errors: FailedPrecondition
// naming both; InvalidArgument for an invalid architecture.
absl::Status CheckRunsOn(absl::string_view arch, GpuImageFormat format, absl::string_view device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_ARCH_H_
