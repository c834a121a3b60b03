#include "runtime/lapack/lane_matrices.h"

namespace hilo::lapack {
namespace {

struct KernelTables {
  const LaneKernels<float>& of_float;
  const LaneKernels<double>& of_double;
};

KernelTables HostTables() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return {avx512::kFloat, avx512::kDouble};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {avx2::kFloat, avx2::kDouble};
#endif
  return {baseline::kFloat, baseline::kDouble};
}

}  // namespace

template <>
const LaneKernels<float>& HostLaneKernels<float>() {
  static const LaneKernels<float>& kernels = HostTables().of_float;
  return kernels;
}
template <>
const LaneKernels<double>& HostLaneKernels<double>() {
  static const LaneKernels<double>& kernels = HostTables().of_double;
  return kernels;
}

}  // namespace hilo::lapack
