// Implements backends/gpu/lib/convolution.h with cuDNN.
#ifndef HILO_BACKENDS_GPU_CUDA_CONVOLUTION_CUDNN_H_
#define HILO_BACKENDS_GPU_CUDA_CONVOLUTION_CUDNN_H_

#include "absl/status/status.h"
#include "backends/gpu/cuda/cudnn_graph.h"
#include "backends/gpu/lib/convolution.h"

namespace hilo::gpu {

// Queues on a stream of the current device. Errors: as RunConvolution.
absl::Status ConvolveByCudnn(void* stream, const ConvolutionDescriptor& convolution,
                             const ConvolutionOperands& operands, const LibraryWorkspace& workspace,
                             const LibraryAlgorithm& algorithm);
// As ConvolutionAlgorithms, for the current device.
absl::StatusOr<std::vector<LibraryAlgorithm>> CudnnConvolutionAlgorithms(const ConvolutionDescriptor& convolution,
                                                                         int most);
// Creates and drops the library's descriptors; needs no device, and leaves CheckConvolution's rules to the library.
// Errors: as CheckCudnnGraph.
absl::Status CheckCudnnConvolution(const ConvolutionDescriptor& convolution);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CONVOLUTION_CUDNN_H_
