// The device that a library runs on, and types shared by libraries that offer several algorithms.
#ifndef HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_
#define HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_

#include <cstdint>
#include <string>

#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

struct LibraryDevice {
  bool is_emulated = false;
  GpuDriver* driver = nullptr;  // null: no device is available, as when code is only inspected
};

// Device memory that a library may use during a call.
struct LibraryWorkspace {
  void* memory = nullptr;
  int64_t bytes = 0;
};

// One of a library's algorithms for an operation.
struct LibraryAlgorithm {
  std::string code;             // the library's own description, one word; empty: the library chooses when it runs
  int64_t workspace_bytes = 0;  // required
};

// An algorithm, and the device and library that its code is for.
struct LibraryChoice {
  LibraryAlgorithm algorithm;
  std::string version;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_
