// Selects the work that runs in NVIDIA's libraries rather than in our own kernels, when a module is compiled.
#ifndef HILO_BACKENDS_GPU_LIB_LIBRARIES_H_
#define HILO_BACKENDS_GPU_LIB_LIBRARIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "backends/gpu/lib/algorithm_selector.h"
#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/fft.h"
#include "backends/gpu/lib/gemm.h"
#include "backends/gpu/lib/library_decisions.h"
#include "backends/gpu/lib/library_thresholds.h"
#include "backends/gpu/lib/solver.h"

namespace hilo::gpu {

// For one compilation.
class Libraries {
 public:
  Libraries(const LibraryDevice& device, const LibraryThresholds& thresholds)
      : device_(device), thresholds_(thresholds), algorithms_(device, AlgorithmSelector::TuneFileFromEnvironment()) {}

  const LibraryThresholds& thresholds() const { return thresholds_; }
  const LibraryDecisions& decisions() const { return decisions_; }
  // Returns nullopt if the library is not available or has no algorithm.
  std::optional<LibraryChoice> SelectGemm(const GemmDescriptor& gemm);
  std::optional<LibraryChoice> SelectConvolution(const ConvolutionDescriptor& convolution);
  // Returns the bytes of workspace; nullopt as above, or if the transform is small.
  std::optional<int64_t> SelectFft(const FftDescriptor& fft);
  // Returns true if a batch of square matrices is assigned to the library.
  bool SelectSolver(absl::string_view routine, PrimitiveType type, int64_t rows, int64_t batch);

 private:
  std::optional<LibraryChoice> Select(const char* what, const LibraryWork& work);

  const LibraryDevice device_;
  const LibraryThresholds thresholds_;
  AlgorithmSelector algorithms_;
  LibraryDecisions decisions_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_LIBRARIES_H_
