// Communicators of NCCL, 2.18 or later, loaded when the first is asked for.
//
// They are non-blocking: calls that are under way are asked about until they are done, the communicator is broken, or
// whoever waits gives up, so none of them can hang.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_NCCL_COMMUNICATOR_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_NCCL_COMMUNICATOR_H_

#include <memory>

#include "backends/gpu/collectives/device_communicator.h"

namespace hilo::gpu {

// Takes streams and drivers of CUDA devices only.
std::shared_ptr<DeviceCommunicatorLibrary> CreateNcclLibrary();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_NCCL_COMMUNICATOR_H_
