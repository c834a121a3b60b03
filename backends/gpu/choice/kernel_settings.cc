#include "backends/gpu/choice/kernel_settings.h"

#include "base/byte_stream.h"

namespace hilo::gpu {

void Encode(const KernelSettings& settings, ByteWriter* out) {
  for (const bool flag :
       {settings.sequences, settings.overlap_collectives, settings.line_info, settings.always_radix_sorts})
    out->Bool(flag);
  const LibraryThresholds& libraries = settings.library_thresholds;
  for (const int64_t number :
       {settings.group_elements_from, libraries.gemm_products, libraries.gemm_matrix, libraries.convolution_products,
        libraries.fft_points, libraries.solver_rows, libraries.solver_batch}) {
    out->I64(number);
  }
}

}  // namespace hilo::gpu
