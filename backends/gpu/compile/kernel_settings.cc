#include "backends/gpu/compile/kernel_settings.h"

#include "base/byte_stream.h"

namespace hilo::gpu {
namespace {

template <typename Settings, typename Flag, typename Number>
void VisitFields(Settings& settings, Flag flag, Number number) {
  flag(settings.sequences);
  flag(settings.overlap_collectives);
  flag(settings.line_info);
  number(settings.radix_sort_from);
  number(settings.group_elements_from);
  auto& libraries = settings.library_thresholds;
  for (auto* threshold : {&libraries.gemm_products, &libraries.gemm_matrix, &libraries.convolution_products,
                          &libraries.fft_points, &libraries.solver_rows, &libraries.solver_batch}) {
    number(*threshold);
  }
}

}  // namespace

void Encode(const KernelSettings& settings, ByteWriter* out) {
  VisitFields(settings, [&](bool value) { out->Bool(value); }, [&](int64_t value) { out->I64(value); });
}

KernelSettings DecodeKernelSettings(ByteReader* in) {
  KernelSettings settings;
  VisitFields(settings, [&](bool& value) { value = in->Bool(); }, [&](int64_t& value) { value = in->I64(); });
  return settings;
}

}  // namespace hilo::gpu
