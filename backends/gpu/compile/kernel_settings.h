// Decisions other than compile options that determine a module's kernels.
#ifndef HILO_BACKENDS_GPU_COMPILE_KERNEL_SETTINGS_H_
#define HILO_BACKENDS_GPU_COMPILE_KERNEL_SETTINGS_H_

#include <cstdint>

namespace hilo {
class ByteWriter;
}  // namespace hilo

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

struct KernelSettings {
  bool sequences = true;  // small consecutive instructions become one single-threaded kernel, small loops too
  bool overlap_collectives =
      true;                // collectives run on a stream of their own, beside work that does not need their results
  bool line_info = false;  // code has debug locations for the instructions whose arrays it accesses (line_info.h)
  int64_t radix_sort_from = int64_t{1} << 18;  // elements of a list with 32-bit keys; scaled for other widths
  int64_t group_elements_from = int64_t{1}
                                << 12;  // a thread computes adjacent elements of results of at least this many elements
  LibraryThresholds library_thresholds;
};

// Writes all of them: what distinguishes two settings.
void Encode(const KernelSettings& settings, ByteWriter* out);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_KERNEL_SETTINGS_H_
