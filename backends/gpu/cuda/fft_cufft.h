// Implements backends/gpu/lib/fft.h with cuFFT, which is loaded for the first transform.
#ifndef HILO_BACKENDS_GPU_CUDA_FFT_CUFFT_H_
#define HILO_BACKENDS_GPU_CUDA_FFT_CUFFT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/lib/fft.h"

namespace hilo::gpu {

// Returns OK if the library can be loaded. Errors: Unavailable.
absl::Status CheckCufft();
// For the current device, from a cached plan. Errors: as FftWorkspaceBytes.
absl::StatusOr<int64_t> CufftWorkspaceBytes(const FftDescriptor& fft);
// Queues on a stream of the current device. Errors: as RunFft.
absl::Status FftByCufft(void* stream, const FftDescriptor& fft, void* in, void* out, void* workspace,
                        int64_t workspace_bytes);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_FFT_CUFFT_H_
