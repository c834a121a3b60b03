// What decides the kernels of a module beside its compile options: kept with serialised programs, so that their thunks
// can be emitted again for the same kernels.
#ifndef HILO_BACKENDS_GPU_COMPILE_KERNEL_CHOICES_H_
#define HILO_BACKENDS_GPU_COMPILE_KERNEL_CHOICES_H_

#include <cstdint>

namespace hilo {
class ByteReader;
class ByteWriter;
}  // namespace hilo

namespace hilo::gpu {

// From which size on; calls of libraries cost some microseconds on the host that small work is not worth.
struct LibraryThresholds {
  int64_t gemm_products = int64_t{1} << 20;  // multiplications in all
  int64_t gemm_matrix = int64_t{1} << 12;    // and in each matrix of a batch
  int64_t convolution_products = int64_t{1} << 20;
  int64_t fft_points = int64_t{1} << 12;  // of all transforms
  int64_t solver_rows = 128;              // of the matrices that are factored or solved for
  int64_t solver_batch = 64;              // at most, as they go one after the other

  // All sizes, and none.
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

struct KernelChoices {
  bool sequences = true;  // small instructions in a row become one kernel of one thread, small loops too
  bool overlap_collectives =
      true;                // collectives work on a stream of their own, beside what does not need their results
  bool line_info = false;  // code names the instructions whose arrays it reads and writes (line_info.h)
  int64_t radix_sort_from = int64_t{1} << 18;  // elements of a list whose keys have 32 bits; others in proportion
  int64_t group_elements_from = int64_t{1}
                                << 12;  // a thread computes neighbours in results of at least this many elements
  LibraryThresholds library_thresholds;
};

void Encode(const KernelChoices& choices, ByteWriter* out);
KernelChoices DecodeKernelChoices(ByteReader* in);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_KERNEL_CHOICES_H_
