#include "backends/cpu/fft/lane_fft.h"

namespace hilo::cpu::fft {

template <typename T>
const LaneKernels<T>& HostLaneKernels() {
  const auto choose = [](const LaneKernels<float>& f, const LaneKernels<double>& d) -> const LaneKernels<T>& {
    if constexpr (sizeof(T) == sizeof(float)) {
      (void)d;
      return f;
    } else {
      (void)f;
      return d;
    }
  };
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx512) return choose(avx512::kFloat, avx512::kDouble);
  if (has_avx2) return choose(avx2::kFloat, avx2::kDouble);
#endif
  return choose(baseline::kFloat, baseline::kDouble);
}
template const LaneKernels<float>& HostLaneKernels<float>();
template const LaneKernels<double>& HostLaneKernels<double>();

}  // namespace hilo::cpu::fft
