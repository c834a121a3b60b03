#include "backends/cpu/fft/real_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hilo::cpu::fft {

template <typename T>
std::optional<RealRows<T>> RealRows<T>::Create(int64_t length) {
  if (length < 2 || length > kMaxLaneLength) return std::nullopt;
  RealRows rows;
  rows.length_ = length;
  const int64_t points = length % 2 == 0 ? length / 2 : length;
  if (length % 2 == 0) {
    const auto radices = RadicesOf(points);
    if (!radices || (!radices->empty() && std::ranges::max(*radices) > kLargeRadix)) return std::nullopt;
    rows.plan_ = LanePlan<T>::Complex(points, *radices);
  } else {
    std::optional<LanePlan<T>> plan = LanePlan<T>::Real(points);
    if (!plan) return std::nullopt;
    rows.plan_ = *std::move(plan);
  }
  const int lanes = HostLaneKernels<T>().lanes;
  // Even lengths are taken apart in another pass, odd ones have half as many complex numbers a pass.
  const double passes = length % 2 == 0 ? rows.plan_.pass_cost + 1 : rows.plan_.pass_cost / 2;
  rows.cost_ = kPassCost * CacheCost(rows.scratch_numbers() * static_cast<int64_t>(sizeof(T))) * passes *
               static_cast<double>(points) / lanes;
  return rows;
}

template <typename T>
void RealRows<T>::Run(const T* in, T* out, int64_t count, bool inverse, T scale, const T* w_re, const T* w_im,
                      T* scratch) const {
  const LaneKernels<T>& kernels = HostLaneKernels<T>();
  RealLaneJob<T> job;
  job.fft = &plan_.fft;
  job.length = length_;
  job.in_stride = inverse ? 2 * (length_ / 2 + 1) : length_;
  job.out_stride = inverse ? length_ : 2 * (length_ / 2 + 1);
  job.inverse = inverse;
  job.scale = scale;
  job.w_re = w_re;
  job.w_im = w_im;
  job.scratch = scratch;
  for (int64_t r = 0; r < count; r += kernels.lanes) {
    job.in = in + r * job.in_stride;
    job.out = out + r * job.out_stride;
    job.lanes = static_cast<int>(std::min<int64_t>(kernels.lanes, count - r));
    kernels.run_real(job);
  }
}

template class RealRows<float>;
template class RealRows<double>;

}  // namespace hilo::cpu::fft
