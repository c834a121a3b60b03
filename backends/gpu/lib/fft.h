// Fourier transforms by the platform's library: cuFFT on CUDA; on the emulated device the evaluator's transform. Arrays
// are dense and row-major, as in HLO's fft.
//
// Results are not scaled: an inverse transform is the plain sum, n times HLO's. The input of an inverse transform to
// real numbers is destroyed.
#ifndef HILO_BACKENDS_GPU_LIB_FFT_H_
#define HILO_BACKENDS_GPU_LIB_FFT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/lib/library_device.h"
#include "hilo/primitive_type.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::gpu {

struct FftDescriptor {
  FftType type = FftType::kFft;
  PrimitiveType part = F32;      // of real and imaginary parts: F32 or F64
  std::vector<int64_t> lengths;  // of the transformed dimensions in time, major to minor: 1 to 3
  int64_t batch = 1;

  bool IsInverse() const { return type == FftType::kIfft || type == FftType::kIrfft; }
  int64_t Points() const;  // Time-domain points of one transform.
  // Bytes of all transforms.
  int64_t InputBytes() const;
  int64_t OutputBytes() const;
  // One line, for caches and messages.
  std::string ToString() const;
};

// Errors: InvalidArgument for lengths, batches, null and misaligned pointers; Unimplemented for other types and more
// dimensions.
absl::Status CheckFft(const FftDescriptor& fft, const void* in, const void* out);

// Returns the bytes of workspace; without a driver an estimate. Errors: as CheckFft; Unavailable if the library cannot
// be loaded; Unimplemented if it does not support the transform.
absl::StatusOr<int64_t> FftWorkspaceBytes(const LibraryDevice& device, const FftDescriptor& fft);

// Queues the transforms; arrays and workspace must not overlap. Errors: as FftWorkspaceBytes; InvalidArgument if the
// workspace is too small.
absl::Status RunFft(GpuStream* stream, const FftDescriptor& fft, void* in, void* out, void* workspace,
                    int64_t workspace_bytes);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_FFT_H_
