// The sizes from which on work is done by libraries.
#ifndef HILO_BACKENDS_GPU_LIB_LIBRARY_THRESHOLDS_H_
#define HILO_BACKENDS_GPU_LIB_LIBRARY_THRESHOLDS_H_

#include <cstdint>

namespace hilo::gpu {

// Minimum sizes for library calls, which cost some microseconds on the host and do not pay for small work.
struct LibraryThresholds {
  int64_t gemm_products = int64_t{1} << 20;  // total multiplications
  int64_t gemm_matrix = int64_t{1} << 12;    // and in each matrix of a batch
  int64_t convolution_products = int64_t{1} << 20;
  int64_t fft_points = int64_t{1} << 12;  // of all transforms
  int64_t solver_rows = 128;              // of the matrices that are factored or solved for
  int64_t solver_batch = 64;              // maximum, as matrices are processed one after the other

  // Thresholds that select the libraries for all sizes.
  static LibraryThresholds Always() {
    return {.gemm_products = 0,
            .gemm_matrix = 0,
            .convolution_products = 0,
            .fft_points = 0,
            .solver_rows = 0,
            .solver_batch = INT64_MAX};
  }
  static LibraryThresholds Never() {
    return {.gemm_products = INT64_MAX,
            .gemm_matrix = INT64_MAX,
            .convolution_products = INT64_MAX,
            .fft_points = INT64_MAX,
            .solver_rows = INT64_MAX};
  }
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_LIBRARY_THRESHOLDS_H_
