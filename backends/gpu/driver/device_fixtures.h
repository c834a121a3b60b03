// What a device and its libraries say of themselves, to be kept as files: the emulated device is made after them, and
// libraries can be asked about the device where there is none.
#ifndef HILO_BACKENDS_GPU_DRIVER_DEVICE_FIXTURES_H_
#define HILO_BACKENDS_GPU_DRIVER_DEVICE_FIXTURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo::gpu {

struct DeviceFixture {
  std::string file;
  std::string text;
};

// The device's properties, cuDNN's description of it (CUDA alone), and the algorithms that the libraries offer for a
// list of products and convolutions, a line each as in the file of HILO_TUNE. What a library refuses stands there
// instead. Errors: those of OpenGpuDriver.
absl::StatusOr<std::vector<DeviceFixture>> DumpFixtures(absl::string_view platform, int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_DEVICE_FIXTURES_H_
