// What the emulated device finds out about a launch.
#ifndef HILO_BACKENDS_GPU_EMULATED_ACCESS_REPORT_H_
#define HILO_BACKENDS_GPU_EMULATED_ACCESS_REPORT_H_

#include <cstdint>
#include <string>

namespace hilo::gpu {

// A fault: its short name ("race-shared", "global-out-of-bounds" ...) and a description.
struct EmulatedReport {
  std::string kind;
  std::string text;
};

// Accesses of one instruction of a kernel, summed over warps.
struct AccessCount {
  enum class Kind { kLoad, kStore, kAtomic };
  std::string kernel;
  uint32_t site = 0;  // the index of the instruction in code order
  Kind kind = Kind::kLoad;
  bool shared = false;
  int64_t bytes = 0;     // of one thread's access
  int64_t requests = 0;  // of warps
  int64_t threads = 0;   // of these
  int64_t units = 0;     // sectors of 32 bytes (global), passes over the banks (shared)
  int64_t ideal = 0;     // the minimum number of units for these bytes
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_ACCESS_REPORT_H_
