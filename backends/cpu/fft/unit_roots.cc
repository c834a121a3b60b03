#include "backends/cpu/fft/unit_roots.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hilo::cpu::fft {

template <typename T>
UnitRoots<T>::UnitRoots(int64_t n)
    : block_(std::max<int64_t>(1, static_cast<int64_t>(std::sqrt(static_cast<double>(n))))) {
  const auto fill = [&](std::vector<long double>* table, int64_t count, int64_t step) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t k = i * step % n;
      const long double angle =
          2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
      table->push_back(std::cos(angle));
      table->push_back(-std::sin(angle));
    }
  };
  fill(&fine_, block_, 1);
  fill(&coarse_, (n + block_ - 1) / block_, block_);
}

template <typename T>
void UnitRoots<T>::At(int64_t k, T* re, T* im) const {
  const long double* a = &coarse_[2 * (k / block_)];
  const long double* b = &fine_[2 * (k % block_)];
  *re = static_cast<T>(a[0] * b[0] - a[1] * b[1]);
  *im = static_cast<T>(a[0] * b[1] + a[1] * b[0]);
}
template class UnitRoots<float>;
template class UnitRoots<double>;

}  // namespace hilo::cpu::fft
