// NVIDIA's libraries behind the interfaces of this folder, each loaded on first use. Implemented in backends/gpu/cuda;
// without CUDA's toolkit by cuda_libraries.cc, where every function returns Unavailable.
#ifndef HILO_BACKENDS_GPU_LIB_CUDA_LIBRARIES_H_
#define HILO_BACKENDS_GPU_LIB_CUDA_LIBRARIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/lib/library_device.h"

namespace hilo::gpu {

struct ConvolutionDescriptor;
struct ConvolutionOperands;
struct FftDescriptor;
struct GemmDescriptor;
struct GemmOperands;
struct SolverCall;

// Functions with a stream queue on it; it is one of the current device. Algorithms are those for the current device.
// The checks need no device. Errors: Unavailable without the library; otherwise those of the interface.

// cuBLASLt (gemm.h). Without an algorithm, the library's first choice is cached for each descriptor and device.
absl::Status GemmByCublasLt(void* stream, const GemmDescriptor& gemm, const GemmOperands& operands,
                            const LibraryWorkspace& workspace, const LibraryAlgorithm& algorithm);
absl::StatusOr<std::vector<LibraryAlgorithm>> CublasLtAlgorithms(const GemmDescriptor& gemm, int most);
absl::StatusOr<std::string> CublasLtVersion();
// Creates and drops the library's descriptors for a product. Errors: Unimplemented with its message.
absl::Status CheckCublasLtDescriptors(const GemmDescriptor& gemm);

// cuDNN (convolution.h).
absl::Status ConvolveByCudnn(void* stream, const ConvolutionDescriptor& convolution,
                             const ConvolutionOperands& operands, const LibraryWorkspace& workspace,
                             const LibraryAlgorithm& algorithm);
absl::StatusOr<std::vector<LibraryAlgorithm>> CudnnConvolutionAlgorithms(const ConvolutionDescriptor& convolution,
                                                                         int most);
// Returns "cudnn 91900".
absl::StatusOr<std::string> CudnnVersion();
// Creates and drops the library's descriptors, and leaves CheckConvolution's rules to the library. Errors:
// Unimplemented and InvalidArgument with its message.
absl::Status CheckCudnnConvolution(const ConvolutionDescriptor& convolution);

// cuFFT (fft.h).
absl::Status CheckCufft();
// For the current device, from a cached plan.
absl::StatusOr<int64_t> CufftWorkspaceBytes(const FftDescriptor& fft);
absl::Status FftByCufft(void* stream, const FftDescriptor& fft, void* in, void* out, void* workspace,
                        int64_t workspace_bytes);

// cuSOLVER and cuBLAS (solver.h).
absl::Status CheckCusolver();
absl::Status SolveByCusolver(void* stream, const SolverCall& call);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_CUDA_LIBRARIES_H_
