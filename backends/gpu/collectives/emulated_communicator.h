// Communicators between emulated devices, of one process or several. They compute what NCCL would, in the order of the
// ranks, and reject what NCCL would silently corrupt: ranks that do not make the same calls with the same counts,
// types, reductions and roots in the same order, and receives whose size differs from the send's.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_COMMUNICATOR_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_COMMUNICATOR_H_

#include <memory>

#include "backends/gpu/collectives/device_communicator.h"

namespace hilo::gpu {

struct EmulatedCommunicatorOptions {
  bool has_all_to_all = true;  // false: as in libraries before NCCL 2.28
};

// Supports only streams of emulated devices.
std::shared_ptr<DeviceCommunicatorLibrary> CreateEmulatedCommunicatorLibrary(
    const EmulatedCommunicatorOptions& options = {});

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_EMULATED_COMMUNICATOR_H_
