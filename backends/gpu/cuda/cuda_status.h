// CUDA's errors as absl::Status.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDA_STATUS_H_
#define HILO_BACKENDS_GPU_CUDA_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/errors.h"

namespace hilo::gpu {

inline absl::Status CudaStatus(cudaError_t error, absl::string_view what) {
  switch (error) {
    case cudaSuccess: return absl::OkStatus();
    case cudaErrorMemoryAllocation: return ResourceExhausted(what, ": ", cudaGetErrorString(error));
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
      return InvalidArgument(what, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")");
    case cudaErrorSymbolNotFound: return NotFound(what, ": ", cudaGetErrorString(error));
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return Unavailable(what, ": ", cudaGetErrorString(error));
    default: return Internal(what, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")");
  }
}

// Returns from the enclosing function if a call of the CUDA runtime fails; the message names the call.
#define HILO_CUDA_RETURN_IF_ERROR(call) HILO_RETURN_IF_ERROR(::hilo::gpu::CudaStatus((call), #call))

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CUDA_STATUS_H_
