#include "backends/gpu/compile/kernel_choices.h"

#include "base/byte_stream.h"

namespace hilo::gpu {
namespace {

template <typename Choices, typename Flag, typename Number>
void VisitFields(Choices& choices, Flag flag, Number number) {
  flag(choices.sequences);
  flag(choices.overlap_collectives);
  flag(choices.line_info);
  number(choices.radix_sort_from);
  number(choices.group_elements_from);
  auto& libraries = choices.library_thresholds;
  for (auto* threshold : {&libraries.gemm_products, &libraries.gemm_matrix, &libraries.convolution_products,
                          &libraries.fft_points, &libraries.solver_rows, &libraries.solver_batch}) {
    number(*threshold);
  }
}

}  // namespace

void Encode(const KernelChoices& choices, ByteWriter* out) {
  VisitFields(choices, [&](bool value) { out->Bool(value); }, [&](int64_t value) { out->I64(value); });
}

KernelChoices DecodeKernelChoices(ByteReader* in) {
  KernelChoices choices;
  VisitFields(choices, [&](bool& value) { value = in->Bool(); }, [&](int64_t& value) { value = in->I64(); });
  return choices;
}

}  // namespace hilo::gpu
