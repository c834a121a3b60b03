// Properties of a device and its libraries, to be stored as files: the emulated device is modelled on them, and
// libraries can be queried for the device where there is none.
#ifndef HILO_BACKENDS_GPU_RUNTIME_DEVICE_FIXTURES_H_
#define HILO_BACKENDS_GPU_RUNTIME_DEVICE_FIXTURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo::gpu {

struct DeviceFixture {
  std::string file;
  std::string text;
};

// Returns the device's properties, cuDNN's description of it (CUDA alone), and the algorithms that the libraries offer
// for a list of products and convolutions, one per line as in the file of HILO_TUNE. If a library rejects one, the line
// states its error instead. Errors: those of OpenGpuDriver.
absl::StatusOr<std::vector<DeviceFixture>> DumpFixtures(absl::string_view platform, int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_RUNTIME_DEVICE_FIXTURES_H_
