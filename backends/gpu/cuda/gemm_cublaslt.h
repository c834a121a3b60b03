// Implements backends/gpu/lib/gemm.h with cuBLASLt, which is loaded for the first product.
#ifndef HILO_BACKENDS_GPU_CUDA_GEMM_CUBLASLT_H_
#define HILO_BACKENDS_GPU_CUDA_GEMM_CUBLASLT_H_

#include "absl/status/status.h"
#include "backends/gpu/lib/gemm.h"

namespace hilo::gpu {

// Queues on a stream of the current device. Without an algorithm, the library's first choice is cached for each
// descriptor and device. Errors: as RunGemm.
absl::Status GemmByCublasLt(void* stream, const GemmDescriptor& gemm, const GemmOperands& operands,
                            const LibraryWorkspace& workspace, const LibraryAlgorithm& algorithm);

// As GemmAlgorithms and GemmLibraryVersion, for the current device.
absl::StatusOr<std::vector<LibraryAlgorithm>> CublasLtAlgorithms(const GemmDescriptor& gemm, int most);
absl::StatusOr<std::string> CublasLtVersion();

// Creates and drops the library's descriptors for a product; needs no device. Errors: Unavailable without the library;
// Unimplemented with its message.
absl::Status CheckCublasLtDescriptors(const GemmDescriptor& gemm);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_GEMM_CUBLASLT_H_
