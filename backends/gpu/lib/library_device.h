// Where a library is to work.
#ifndef HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_
#define HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_

#include "backends/gpu/gpu_driver.h"

namespace hilo::gpu {

struct LibraryDevice {
  bool is_emulated = false;
  GpuDriver* driver = nullptr;  // null: none is at hand, as when code is only looked at
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_LIBRARY_DEVICE_H_
