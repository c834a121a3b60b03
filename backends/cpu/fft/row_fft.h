// Plans for one-dimensional Fourier transforms of any length, and of many rows or columns of that
// length at once.
#ifndef HILO_BACKENDS_CPU_FFT_ROW_FFT_H_
#define HILO_BACKENDS_CPU_FFT_ROW_FFT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/fft/lane_fft.h"
#include "backends/cpu/fft/scratch_cache.h"
#include "backends/cpu/fft/unit_roots.h"
#include "backends/cpu/host_ops/parallel_parts.h"

namespace hilo::cpu::fft {

// A transform of `length` points. T is float or double; complex numbers lie as two of them, real
// part first.
template <typename T>
class RowFft {
 public:
  // Errors: ResourceExhausted for more than 2^30 points, or if memory is short.
  static absl::StatusOr<std::unique_ptr<RowFft>> Create(int64_t length);
  ~RowFft();

  int64_t length() const { return length_; }
  // A guess of the time for one row, in nanoseconds.
  double cost() const { return cost_; }

  // Row r of the input starts at in + r * in_stride (strides in complex numbers), its result at out
  // + r * out_stride. In place if both are the same.
  struct Rows {
    const T* in;
    int64_t in_stride;
    T* out;
    int64_t out_stride;
    int64_t count;
  };
  // On the calling thread. The inverse is exp(+...), multiplied by `scale` alone.
  absl::Status Run(const Rows& rows, bool inverse, T scale) const;
  // One row, by many threads.
  absl::Status RunOne(const Workers& workers, const T* in, T* out, bool inverse, T scale) const;
  // The rows on the threads of the pool: rows in parts if there are many, each by all threads if
  // they are few and long.
  absl::Status RunParallel(const Workers& workers, const Rows& rows, bool inverse, T scale) const;

  // Columns: point i of column c is at 2 * (i * stride + c), of `count` columns, in place or not.
  absl::Status RunColumns(const T* in, T* out, int64_t stride, int64_t count, bool inverse, T scale) const;

 private:
  struct Tables;
  struct TwoSteps;
  struct Bluestein;

  RowFft() = default;
  absl::Status PlanSteps();
  absl::Status PlanBluestein();
  void RunLanes(const Rows& rows, bool inverse, T scale, T* scratch) const;
  void FirstStep(const T* in, T* out, int64_t group, bool inverse, T* scratch) const;
  void SecondStep(const T* in, T* out, int64_t group, bool inverse, T scale, T* scratch) const;
  absl::Status RunBluestein(const Workers& workers, const T* in, T* out, bool inverse, T scale) const;
  bool StepsPay(int64_t rows) const;

  int64_t length_ = 1;
  double cost_ = 0;
  double lane_cost_ = 0;                  // of a vector of rows by lanes
  std::unique_ptr<Tables> tables_;        // lanes over rows or columns; null for long ones and Bluestein's
  std::unique_ptr<TwoSteps> steps_;       // null if the length does not split well
  std::unique_ptr<Bluestein> bluestein_;  // null unless there is a large prime factor
  mutable ScratchCache scratch_;
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_ROW_FFT_H_
