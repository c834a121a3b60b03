#include "backends/cpu/fft/odd_rows.h"

#include <cmath>
#include <numbers>

#include "backends/cpu/fft/unit_roots.h"
#include "hilo/status_macros.h"

namespace hilo::cpu::fft {
namespace {

// Columns of up to so many numbers cost less than what they save: half of a row's transforms. Longer ones up to
// kMaxOddColumn are only there for lengths without shorter ones.
constexpr int kLongColumn = 13;

// Returns 0 if no length suits: fewer than `least` columns are numbers one by one.
int RadixOf(int64_t length, int64_t least) {
  const auto suits = [&](int radix) { return length % radix == 0 && length / radix >= least; };
  for (int radix = kLongColumn; radix >= 3; radix -= 2) {
    if (suits(radix)) return radix;
  }
  for (int radix = kLongColumn + 2; radix <= kMaxOddColumn; radix += 2) {
    if (suits(radix)) return radix;
  }
  return 0;
}

}  // namespace

template <typename T>
absl::StatusOr<std::unique_ptr<OddRows<T>>> OddRows<T>::Create(int64_t length) {
  const int radix = length % 2 == 0 ? 0 : RadixOf(length, HostLaneKernels<T>().lanes);
  if (radix == 0) return nullptr;
  std::unique_ptr<OddRows> rows(new OddRows());
  OddColumns<T>& columns = rows->columns_;
  columns.radix = radix;
  columns.count = length / radix;
  HILO_ASSIGN_OR_RETURN(rows->inner_, RowFft<T>::Create(columns.count));
  const int64_t half = radix / 2, twiddles = 2 * rows->rows() * columns.count;
  HILO_ASSIGN_OR_RETURN(rows->memory_,
                        AlignedBuffer::Create((twiddles + 2 * half * half) * static_cast<int64_t>(sizeof(T))));
  T* at = reinterpret_cast<T*>(rows->memory_.data());
  columns.twiddles = at;
  const UnitRoots<T> roots(length);
  for (int64_t k = 0; k <= half; ++k) {
    for (int64_t c = 0; c < columns.count; ++c, at += 2) roots.At(k * c, at, at + 1);
  }
  columns.roots = at;
  for (int64_t k = 1; k <= half; ++k) {
    for (int64_t r = 1; r <= half; ++r, at += 2) {
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k * r % radix) / radix;
      at[0] = static_cast<T>(std::cos(angle));
      at[1] = static_cast<T>(std::sin(angle));
    }
  }
  return rows;
}

template <typename T>
double OddRows<T>::cost() const {
  constexpr double kNumber = 0.05 * sizeof(T);  // nanoseconds to add a product to the numbers of a column
  return static_cast<double>(rows()) *
         (inner_->cost() + kNumber * static_cast<double>(columns_.count * columns_.radix) / 4);
}

template <typename T>
absl::Status OddRows<T>::TransformRows(const Workers& workers, T* data, int64_t count, bool inverse, T scale) const {
  const int64_t m = columns_.count;
  if (!inner_->SharesRows(count)) return inner_->Run({data, m, data, m, count}, inverse, scale);
  for (int64_t r = 0; r < count; ++r) {
    T* row = data + 2 * r * m;
    HILO_RETURN_IF_ERROR(workers.pool != nullptr ? inner_->RunOne(workers, row, row, inverse, scale)
                                                 : inner_->Run({row, m, row, m, 1}, inverse, scale));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status OddRows<T>::Run(const Workers& workers, const T* x, T* spectrum, int64_t count, T* scratch) const {
  const int64_t radix = columns_.radix, m = columns_.count, n = radix * m, width = n / 2 + 1;
  for (int64_t i = 0; i < count; ++i) HostLaneKernels<T>().from_real(columns_, x + i * n, scratch + 2 * i * rows() * m);
  HILO_RETURN_IF_ERROR(TransformRows(workers, scratch, count * rows(), false, T(1)));
  for (int64_t i = 0; i < count; ++i) {
    T* to = spectrum + 2 * i * width;
    for (int64_t k = 0; k < rows(); ++k) {
      const T* row = scratch + 2 * (i * rows() + k) * m;
      const int64_t direct = (n / 2 - k) / radix + 1;  // numbers of the row that are in the first half
      for (int64_t l = 0; l < direct; ++l) {
        to[2 * (k + radix * l)] = row[2 * l];
        to[2 * (k + radix * l) + 1] = row[2 * l + 1];
      }
      for (int64_t l = direct; k > 0 && l < m; ++l) {
        to[2 * (n - k - radix * l)] = row[2 * l];
        to[2 * (n - k - radix * l) + 1] = -row[2 * l + 1];
      }
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status OddRows<T>::RunInverse(const Workers& workers, const T* spectrum, T* x, int64_t count, T scale,
                                    T* scratch) const {
  const int64_t radix = columns_.radix, m = columns_.count, n = radix * m, width = n / 2 + 1;
  for (int64_t i = 0; i < count; ++i) {
    const T* from = spectrum + 2 * i * width;
    for (int64_t k = 0; k < rows(); ++k) {
      T* row = scratch + 2 * (i * rows() + k) * m;
      const int64_t direct = (n / 2 - k) / radix + 1;
      for (int64_t l = 0; l < direct; ++l) {
        row[2 * l] = from[2 * (k + radix * l)];
        row[2 * l + 1] = from[2 * (k + radix * l) + 1];
      }
      for (int64_t l = direct; l < m; ++l) {
        row[2 * l] = from[2 * (n - k - radix * l)];
        row[2 * l + 1] = -from[2 * (n - k - radix * l) + 1];
      }
    }
  }
  HILO_RETURN_IF_ERROR(TransformRows(workers, scratch, count * rows(), true, scale));
  for (int64_t i = 0; i < count; ++i) HostLaneKernels<T>().to_real(columns_, scratch + 2 * i * rows() * m, x + i * n);
  return absl::OkStatus();
}

template class OddRows<float>;
template class OddRows<double>;

}  // namespace hilo::cpu::fft
