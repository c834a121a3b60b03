// Plans for one-dimensional Fourier transforms of any length, applied to one or many rows or columns of that
// length.
#ifndef HILO_BACKENDS_CPU_FFT_ROW_FFT_H_
#define HILO_BACKENDS_CPU_FFT_ROW_FFT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/fft/lane_fft.h"
#include "backends/cpu/fft/scratch_cache.h"
#include "backends/cpu/fft/unit_roots.h"
#include "backends/cpu/runtime/parallel_parts.h"

namespace hilo::cpu::fft {

// Returns true if so few rows take so many nanoseconds that each of them is worth all threads.
inline bool AreFewLongRows(int64_t count, double cost) { return count < 16 && cost > 40000; }

// A transform of `length` points. T is float or double; a complex number is two of them, real part
// first.
template <typename T>
class RowFft {
 public:
  // Errors: ResourceExhausted for more than 2^30 points, or if memory is short.
  static absl::StatusOr<std::unique_ptr<RowFft>> Create(int64_t length);
  ~RowFft();

  int64_t length() const { return length_; }
  // Estimated time for one row, in nanoseconds.
  double cost() const { return cost_; }

  // Row r of the input starts at in + r * in_stride (strides count complex numbers), its result at out + r *
  // out_stride. The transform is in place if both are the same.
  struct Rows {
    const T* in;
    int64_t in_stride;
    T* out;
    int64_t out_stride;
    int64_t count;
  };
  bool SharesRows(int64_t count) const { return AreFewLongRows(count, cost_); }
  // Runs on the calling thread. The inverse uses exp(+...) and multiplies by `scale` only.
  absl::Status Run(const Rows& rows, bool inverse, T scale) const;
  // Transforms one row with many threads.
  absl::Status RunOne(const Workers& workers, const T* in, T* out, bool inverse, T scale) const;
  // Transforms the rows on the threads of the pool: in groups of rows if there are many, else row by row with all
  // threads if the rows are few and long.
  absl::Status RunParallel(const Workers& workers, const Rows& rows, bool inverse, T scale) const;

  // Transforms `count` columns: point i of column c is at 2 * (i * stride + c). In place or not.
  absl::Status RunColumns(const T* in, T* out, int64_t stride, int64_t count, bool inverse, T scale) const;

 private:
  struct Tables;
  struct TwoSteps;
  struct Bluestein;

  // How rows are transformed; row_fft.cc explains.
  enum class Method { kLanes, kSteps, kBluestein };

  RowFft() = default;
  absl::Status PlanSteps();
  absl::Status PlanBluestein();
  void RunLanes(const Rows& rows, bool inverse, T scale, T* scratch) const;
  void FirstStep(const T* in, T* out, int64_t group, bool inverse, T* scratch) const;
  void SecondStep(const T* in, T* out, int64_t group, bool inverse, T scale, T* scratch) const;
  absl::Status RunBluestein(const Workers& workers, const T* in, T* out, bool inverse, T scale) const;
  // Returns the fastest method for so many rows, at most as many as a vector has lanes.
  Method MethodFor(int64_t rows) const;
  absl::Status RunBy(Method method, const Rows& rows, bool inverse, T scale) const;

  int64_t length_ = 1;
  double cost_ = 0;
  double lane_cost_ = 0;                  // of one vector of rows in lanes
  std::unique_ptr<Tables> tables_;        // lanes over rows or columns; null for long ones and very large prime factors
  std::unique_ptr<TwoSteps> steps_;       // null if the length has no balanced factorization
  std::unique_ptr<Bluestein> bluestein_;  // null unless there is a large prime factor
  mutable ScratchCache scratch_;
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_ROW_FFT_H_
