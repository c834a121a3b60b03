#include "backends/gpu/lib/cuda_libraries.h"

#ifndef HILO_HAVE_CUDA

#include "base/errors.h"

namespace hilo::gpu {
namespace {

absl::Status NoToolkit() { return Unavailable("this library was built without the CUDA toolkit"); }

}  // namespace

absl::Status GemmByCublasLt(void*, const GemmDescriptor&, const GemmOperands&, const LibraryWorkspace&,
                            const LibraryAlgorithm&) {
  return NoToolkit();
}
absl::StatusOr<std::vector<LibraryAlgorithm>> CublasLtAlgorithms(const GemmDescriptor&, int) { return NoToolkit(); }
absl::StatusOr<std::string> CublasLtVersion() { return NoToolkit(); }
absl::Status CheckCublasLtDescriptors(const GemmDescriptor&) { return NoToolkit(); }

absl::Status ConvolveByCudnn(void*, const ConvolutionDescriptor&, const ConvolutionOperands&, const LibraryWorkspace&,
                             const LibraryAlgorithm&) {
  return NoToolkit();
}
absl::StatusOr<std::vector<LibraryAlgorithm>> CudnnConvolutionAlgorithms(const ConvolutionDescriptor&, int) {
  return NoToolkit();
}
absl::StatusOr<std::string> CudnnVersion() { return NoToolkit(); }
absl::Status CheckCudnnConvolution(const ConvolutionDescriptor&) { return NoToolkit(); }

absl::Status CheckCufft() { return NoToolkit(); }
absl::StatusOr<int64_t> CufftWorkspaceBytes(const FftDescriptor&) { return NoToolkit(); }
absl::Status FftByCufft(void*, const FftDescriptor&, void*, void*, void*, int64_t) { return NoToolkit(); }

absl::Status CheckCusolver() { return NoToolkit(); }
absl::Status SolveByCusolver(void*, const SolverCall&) { return NoToolkit(); }

}  // namespace hilo::gpu

#endif  // HILO_HAVE_CUDA
