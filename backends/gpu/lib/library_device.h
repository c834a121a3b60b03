// Where a library is to work, and what is common to libraries that know several ways to do the same.
#ifndef HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_
#define HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_

#include <cstdint>
#include <string>

#include "backends/gpu/driver/gpu_driver.h"

namespace hilo::gpu {

struct LibraryDevice {
  bool is_emulated = false;
  GpuDriver* driver = nullptr;  // null: none is at hand, as when code is only looked at
};

// Memory of the device that a library may use meanwhile.
struct LibraryWorkspace {
  void* memory = nullptr;
  int64_t bytes = 0;
};

// One of the ways in which a library does something.
struct LibraryAlgorithm {
  std::string code;             // the library's own description, a word; empty: the library chooses when it runs
  int64_t workspace_bytes = 0;  // that it needs
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_
