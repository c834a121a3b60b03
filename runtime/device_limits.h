#ifndef HILO_RUNTIME_DEVICE_LIMITS_H_
#define HILO_RUNTIME_DEVICE_LIMITS_H_

#include <cstdint>

namespace hilo {

// Devices of a process, each of which may have a thread.
inline constexpr int64_t kMaxDevices = 1024;

}  // namespace hilo

#endif  // HILO_RUNTIME_DEVICE_LIMITS_H_
