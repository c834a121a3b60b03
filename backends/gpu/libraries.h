// Which work goes to NVIDIA's libraries rather than to kernels of our own, decided while a module is compiled.
#ifndef HILO_BACKENDS_GPU_LIBRARIES_H_
#define HILO_BACKENDS_GPU_LIBRARIES_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "backends/gpu/lib/algorithm_selector.h"
#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/fft.h"
#include "backends/gpu/lib/gemm.h"
#include "backends/gpu/lib/solver.h"

namespace hilo::gpu {

// From which size on; calls of libraries cost some microseconds on the host that small work is not worth.
struct LibraryThresholds {
  int64_t gemm_products = int64_t{1} << 20;  // multiplications in all
  int64_t gemm_matrix = int64_t{1} << 12;    // and in each matrix of a batch
  int64_t convolution_products = int64_t{1} << 20;
  int64_t fft_points = int64_t{1} << 12;     // of all transforms
  int64_t solver_rows = 128;                 // of the matrices that are factored or solved for
  int64_t solver_batch = 64;                 // at most, as they go one after the other

  // All sizes, and none.
  static LibraryThresholds Always() {
    return {.gemm_products = 0, .gemm_matrix = 0, .convolution_products = 0, .fft_points = 0, .solver_rows = 0, .solver_batch = INT64_MAX};
  }
  static LibraryThresholds Never() {
    return {.gemm_products = INT64_MAX, .gemm_matrix = INT64_MAX, .convolution_products = INT64_MAX, .fft_points = INT64_MAX, .solver_rows = INT64_MAX};
  }
};

// For one compilation.
class Libraries {
 public:
  Libraries(const LibraryDevice& device, const LibraryThresholds& thresholds)
      : device_(device), thresholds_(thresholds), algorithms_(device, AlgorithmSelector::TuneFileFromEnvironment()) {}

  const LibraryThresholds& thresholds() const { return thresholds_; }
  // Nullopt if the library is not there or has no algorithm.
  std::optional<LibraryAlgorithm> SelectGemm(const GemmDescriptor& gemm);
  std::optional<LibraryAlgorithm> SelectConvolution(const ConvolutionDescriptor& convolution);
  // Bytes of workspace; nullopt as above, or if the transform is small.
  std::optional<int64_t> SelectFft(const FftDescriptor& fft);
  // Whether a batch of square matrices goes to the library.
  bool SelectSolver(absl::string_view routine, PrimitiveType type, int64_t rows, int64_t batch);
  // A line for each library that was wanted and cannot be loaded.
  std::string Missing() const;

 private:
  std::optional<LibraryAlgorithm> Select(const char* what, const LibraryWork& work);
  // Notes why if the library is not there.
  void Note(const char* what, const absl::Status& status);

  const LibraryDevice device_;
  const LibraryThresholds thresholds_;
  AlgorithmSelector algorithms_;
  std::set<std::string> missing_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIBRARIES_H_
