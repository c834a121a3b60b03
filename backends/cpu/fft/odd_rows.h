// Fourier transforms of rows of an odd number of real numbers, in half the work of complex ones.
//
// n = R m with R odd: a row is a matrix of R rows of m numbers. The columns are transformed; as they are real, results
// k and R - k are conjugated, and R / 2 + 1 of them are computed. These rows, of m complex numbers each, are multiplied
// by exp(-2 pi i j k / n) and transformed. Result k + R l of the whole is number l of row k, or, as those are
// conjugated too, that of n - k - R l.
#ifndef HILO_BACKENDS_CPU_FFT_ODD_ROWS_H_
#define HILO_BACKENDS_CPU_FFT_ODD_ROWS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/fft/lane_fft.h"
#include "backends/cpu/fft/row_fft.h"
#include "base/aligned_buffer.h"

namespace hilo::cpu::fft {

template <typename T>
class OddRows {
 public:
  // Returns null if `length` has no factor that suits. Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<OddRows>> Create(int64_t length);

  // Estimated time for one row, in nanoseconds.
  double cost() const;

  // `count` rows of `length` numbers each at `x`, and their length / 2 + 1 complex results each at `spectrum`; one
  // after the other. `workers` share long rows. Scratch memory is `scratch_numbers(count)` numbers, aligned to vectors.
  absl::Status Run(const Workers& workers, const T* x, T* spectrum, int64_t count, T* scratch) const;
  // The inverse, multiplied by `scale`.
  absl::Status RunInverse(const Workers& workers, const T* spectrum, T* x, int64_t count, T scale, T* scratch) const;
  int64_t scratch_numbers(int64_t count) const { return 2 * count * rows() * columns_.count; }

 private:
  OddRows() = default;
  // Rows of the matrix that are computed.
  int64_t rows() const { return columns_.radix / 2 + 1; }
  absl::Status TransformRows(const Workers& workers, T* data, int64_t count, bool inverse, T scale) const;

  OddColumns<T> columns_;
  std::unique_ptr<RowFft<T>> inner_;  // of m points
  AlignedBuffer memory_;
};

}  // namespace hilo::cpu::fft

#endif  // HILO_BACKENDS_CPU_FFT_ODD_ROWS_H_
