// Fourier transforms of rows of real numbers, a row in each lane.
#ifndef HILO_BACKENDS_CPU_FFT_REAL_ROWS_H_
#define HILO_BACKENDS_CPU_FFT_REAL_ROWS_H_

#include <cstdint>
#include <optional>

#include "backends/cpu/fft/lane_plan.h"

namespace hilo::cpu::fft {

template <typename T>
class RealRows {
 public:
  // Returns nullopt for lengths that are too long, and for those with prime factors above 7 that are odd or above 47.
  static std::optional<RealRows> Create(int64_t length);

  // Estimated time for one row of a full vector of them, in nanoseconds.
  double cost() const { return cost_; }

  // Transforms `count` rows, one after the other in memory, with `length` real numbers or length / 2 + 1 complex ones
  // each. `w_re` and `w_im` are exp(-2 pi i k / length) for k up to length / 4, if that is even. `scratch` is memory of
  // scratch_numbers() numbers, aligned to vectors.
  void Run(const T* in, T* out, int64_t count, bool inverse, T scale, const T* w_re, const T* w_im, T* scratch) const;
  int64_t scratch_numbers() const { return 4 * (length_ / 2 + 1) * HostLaneKernels<T>().lanes; }

 private:
  RealRows() = default;
  int64_t length_ = 1;
  LanePlan<T> plan_;
  double cost_ = 0;
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_REAL_ROWS_H_
