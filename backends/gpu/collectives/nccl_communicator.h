// Communicators of NCCL, 2.18 or later, which is loaded when the first is requested.
//
// They are non-blocking: pending calls are polled until they are done, the communicator is broken, or the waiting
// caller gives up, so none of them can hang.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_NCCL_COMMUNICATOR_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_NCCL_COMMUNICATOR_H_

#include <memory>

#include "backends/gpu/collectives/device_communicator.h"

namespace hilo::gpu {

// Supports only streams and drivers of CUDA devices.
std::shared_ptr<DeviceCommunicatorLibrary> CreateNcclLibrary();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_NCCL_COMMUNICATOR_H_
