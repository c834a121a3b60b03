// Several dimensions are transformed one after the other: the minor-most one as rows, the others as columns of the
// dimensions below them.
//
// Rows of real numbers are lanes (real_rows.h) if there are enough of them. Fewer ones are transformed on their own: a
// row of 2h real numbers is viewed as h complex ones; their transform and a pass over its pairs k and h - k give the h
// + 1 results. Rows of odd length are matrices (odd_rows.h), or, without a factor for that, converted to complex ones
// whose imaginary part is 0.
#include "backends/cpu/fft/fft.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "backends/cpu/fft/odd_rows.h"
#include "backends/cpu/fft/real_rows.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::cpu::fft {
namespace {

template <typename T>
class TypedFft : public Fft {
 public:
  absl::Status Run(const Workers& workers, const void* in, void* out) const override {
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    switch (type_) {
      case FftType::kFft:
      case FftType::kIfft:
        HILO_RETURN_IF_ERROR(rows_->RunParallel(workers, {from, row_length_, to, row_length_, row_count_},
                                                type_ == FftType::kIfft, scale_));
        return OtherDimensions(workers, to, to, type_ == FftType::kIfft);
      case FftType::kRfft:
        HILO_RETURN_IF_ERROR(ForwardRealRows(workers, from, to));
        return OtherDimensions(workers, to, to, false);
      case FftType::kIrfft:
        if (columns_.empty()) return InverseRealRows(workers, from, to);
        return scratch_.With(2 * row_count_ * spectrum_length() * static_cast<int64_t>(sizeof(T)),
                             [&](uint8_t* memory) -> absl::Status {
                               T* between = reinterpret_cast<T*>(memory);
                               HILO_RETURN_IF_ERROR(OtherDimensions(workers, from, between, true));
                               return InverseRealRows(workers, between, to);
                             });
    }
    return Internal("fft: no such type");
  }

  absl::Status Init(FftType type, int64_t batch, absl::Span<const int64_t> lengths) {
    type_ = type;
    row_length_ = lengths.back();
    const bool real = type == FftType::kRfft || type == FftType::kIrfft;
    halved_ = real && row_length_ % 2 == 0;
    if (real && !halved_) {
      HILO_ASSIGN_OR_RETURN(odd_rows_, OddRows<T>::Create(row_length_));
    }
    if (odd_rows_ == nullptr) {
      HILO_ASSIGN_OR_RETURN(rows_, RowFft<T>::Create(halved_ ? row_length_ / 2 : row_length_));
    }
    row_count_ = batch;
    long double points = static_cast<long double>(row_length_);
    for (size_t d = 0; d + 1 < lengths.size(); ++d) {
      HILO_ASSIGN_OR_RETURN(auto column, RowFft<T>::Create(lengths[d]));
      columns_.push_back(std::move(column));
      row_count_ *= lengths[d];
      points *= static_cast<long double>(lengths[d]);
    }
    if (type == FftType::kIfft || type == FftType::kIrfft) scale_ = static_cast<T>(1 / points);
    if (real) {
      lane_rows_ = RealRows<T>::Create(row_length_);
      const int lanes = HostLaneKernels<T>().lanes;
      in_lanes_ =
          lane_rows_.has_value() && lane_rows_->cost() * static_cast<double>(CeilDiv(row_count_, lanes) * lanes) <
                                        RowCost() * static_cast<double>(row_count_);
    }
    if (!halved_) return absl::OkStatus();
    const UnitRoots<T> roots(row_length_);
    const int64_t count = row_length_ / 4 + 1;
    HILO_ASSIGN_OR_RETURN(roots_memory_, AlignedBuffer::Create(2 * count * static_cast<int64_t>(sizeof(T))));
    w_re_ = reinterpret_cast<T*>(roots_memory_.data());
    w_im_ = w_re_ + count;
    for (int64_t k = 0; k < count; ++k) roots.At(k, &w_re_[k], &w_im_[k]);
    return absl::OkStatus();
  }

 private:
  // Complex numbers of a row in the frequency domain.
  int64_t spectrum_length() const {
    return type_ == FftType::kRfft || type_ == FftType::kIrfft ? row_length_ / 2 + 1 : row_length_;
  }

  // Transforms all dimensions but the rows. Each is a set of columns of contiguous blocks; blocks of width 1 are rows
  // themselves.
  absl::Status OtherDimensions(const Workers& workers, const T* in, T* out, bool inverse) const {
    int64_t width = spectrum_length();
    int64_t blocks = row_count_;
    for (size_t i = columns_.size(); i-- > 0;) {
      const RowFft<T>& column = *columns_[i];
      blocks /= column.length();
      if (width == 1) {
        HILO_RETURN_IF_ERROR(
            column.RunParallel(workers, {in, column.length(), out, column.length(), blocks}, inverse, T(1)));
      } else {
        HILO_RETURN_IF_ERROR(Columns(workers, column, in, out, blocks, width, inverse));
      }
      width *= column.length();
      in = out;
    }
    return absl::OkStatus();
  }

  absl::Status Columns(const Workers& workers, const RowFft<T>& column, const T* in, T* out, int64_t blocks,
                       int64_t width, bool inverse) const {
    const int lanes = HostLaneKernels<T>().lanes;
    const int64_t groups = CeilDiv(width, lanes);
    return ForParts(workers, blocks * groups, column.cost() * lanes, [&](int64_t begin, int64_t end) -> absl::Status {
      while (begin < end) {
        const int64_t block = begin / groups, first = begin % groups;
        const int64_t last = std::min(groups, first + end - begin);
        const int64_t offset = 2 * (block * column.length() * width + first * lanes);
        HILO_RETURN_IF_ERROR(column.RunColumns(in + offset, out + offset, width,
                                               std::min(width, last * lanes) - first * lanes, inverse, T(1)));
        begin += last - first;
      }
      return absl::OkStatus();
    });
  }

  // Estimated time for one real row, in nanoseconds.
  double RowCost() const {
    if (in_lanes_) return lane_rows_->cost();
    return odd_rows_ != nullptr ? odd_rows_->cost() : 1.3 * rows_->cost() + static_cast<double>(row_length_) * 0.1;
  }

  // Splits rows into parts of whole vectors; a few long rows are each split across all threads.
  absl::Status ForRows(const Workers& workers,
                       absl::FunctionRef<absl::Status(const Workers&, int64_t, int64_t)> body) const {
    const double row_cost = RowCost();
    if (AreFewLongRows(row_count_, row_cost)) {
      for (int64_t r = 0; r < row_count_; ++r) HILO_RETURN_IF_ERROR(body(workers, r, r + 1));
      return absl::OkStatus();
    }
    const int lanes = HostLaneKernels<T>().lanes;
    return ForParts(workers, CeilDiv(row_count_, lanes), row_cost * lanes, [&](int64_t begin, int64_t end) {
      return body(Workers{}, begin * lanes, std::min(row_count_, end * lanes));
    });
  }

  absl::Status RealRowsInLanes(const Workers& workers, const T* in, int64_t in_stride, T* out, int64_t out_stride,
                               bool inverse) const {
    return ForRows(workers, [&](const Workers&, int64_t begin, int64_t end) {
      return scratch_.With(lane_rows_->scratch_numbers() * static_cast<int64_t>(sizeof(T)), [&](uint8_t* memory) {
        lane_rows_->Run(in + begin * in_stride, out + begin * out_stride, end - begin, inverse, scale_, w_re_, w_im_,
                        reinterpret_cast<T*>(memory));
        return absl::OkStatus();
      });
    });
  }

  absl::Status ForwardRealRows(const Workers& workers, const T* in, T* out) const {
    const LaneKernels<T>& kernels = HostLaneKernels<T>();
    const int64_t n = row_length_, half = n / 2, width = half + 1;
    if (in_lanes_) return RealRowsInLanes(workers, in, n, out, 2 * width, false);
    return ForRows(workers, [&](const Workers& inside, int64_t begin, int64_t end) -> absl::Status {
      // In groups of one vector of rows, which are still in the cache when they are unpacked.
      for (int64_t r = begin; r < end; r += kernels.lanes) {
        const int64_t count = std::min<int64_t>(kernels.lanes, end - r);
        T* to = out + 2 * r * width;
        if (halved_) {
          HILO_RETURN_IF_ERROR(Transform(inside, {in + r * n, half, to, width, count}, false, T(1)));
          for (int64_t i = 0; i < count; ++i) {
            kernels.real_from_half(to + 2 * i * width, to + 2 * i * width, half, w_re_, w_im_);
          }
          continue;
        }
        if (odd_rows_ != nullptr) {
          HILO_RETURN_IF_ERROR(
              WithOddRows(count, [&](T* scratch) { return odd_rows_->Run(inside, in + r * n, to, count, scratch); }));
          continue;
        }
        HILO_RETURN_IF_ERROR(
            scratch_.With(2 * count * n * static_cast<int64_t>(sizeof(T)), [&](uint8_t* memory) -> absl::Status {
              T* rows = reinterpret_cast<T*>(memory);
              for (int64_t i = 0; i < count * n; ++i) {
                rows[2 * i] = in[r * n + i];
                rows[2 * i + 1] = 0;
              }
              HILO_RETURN_IF_ERROR(Transform(inside, {rows, n, rows, n, count}, false, T(1)));
              for (int64_t i = 0; i < count; ++i) std::copy_n(rows + 2 * i * n, 2 * width, to + 2 * i * width);
              return absl::OkStatus();
            }));
      }
      return absl::OkStatus();
    });
  }

  absl::Status InverseRealRows(const Workers& workers, const T* in, T* out) const {
    const LaneKernels<T>& kernels = HostLaneKernels<T>();
    const int64_t n = row_length_, half = n / 2, width = half + 1;
    if (in_lanes_) return RealRowsInLanes(workers, in, 2 * width, out, n, true);
    return ForRows(workers, [&](const Workers& inside, int64_t begin, int64_t end) -> absl::Status {
      for (int64_t r = begin; r < end; r += kernels.lanes) {
        const int64_t count = std::min<int64_t>(kernels.lanes, end - r);
        const T* from = in + 2 * r * width;
        T* to = out + r * n;
        if (halved_) {
          for (int64_t i = 0; i < count; ++i)
            kernels.half_from_real(from + 2 * i * width, to + i * n, half, w_re_, w_im_);
          HILO_RETURN_IF_ERROR(Transform(inside, {to, half, to, half, count}, true, scale_));
          continue;
        }
        if (odd_rows_ != nullptr) {
          HILO_RETURN_IF_ERROR(WithOddRows(
              count, [&](T* scratch) { return odd_rows_->RunInverse(inside, from, to, count, scale_, scratch); }));
          continue;
        }
        HILO_RETURN_IF_ERROR(
            scratch_.With(2 * count * n * static_cast<int64_t>(sizeof(T)), [&](uint8_t* memory) -> absl::Status {
              T* rows = reinterpret_cast<T*>(memory);
              for (int64_t i = 0; i < count; ++i) Mirror(from + 2 * i * width, rows + 2 * i * n);
              HILO_RETURN_IF_ERROR(Transform(inside, {rows, n, rows, n, count}, true, scale_));
              for (int64_t i = 0; i < count * n; ++i) to[i] = rows[2 * i];
              return absl::OkStatus();
            }));
      }
      return absl::OkStatus();
    });
  }

  absl::Status WithOddRows(int64_t count, absl::FunctionRef<absl::Status(T* scratch)> body) const {
    return scratch_.With(odd_rows_->scratch_numbers(count) * static_cast<int64_t>(sizeof(T)),
                         [&](uint8_t* memory) { return body(reinterpret_cast<T*>(memory)); });
  }

  // The whole spectrum of a real row of odd length.
  void Mirror(const T* spectrum, T* row) const {
    row[0] = spectrum[0];
    row[1] = 0;
    for (int64_t k = 1; k <= row_length_ / 2; ++k) {
      row[2 * k] = row[2 * (row_length_ - k)] = spectrum[2 * k];
      row[2 * k + 1] = spectrum[2 * k + 1];
      row[2 * (row_length_ - k) + 1] = -spectrum[2 * k + 1];
    }
  }

  absl::Status Transform(const Workers& workers, const typename RowFft<T>::Rows& rows, bool inverse, T scale) const {
    if (workers.pool != nullptr && rows.count == 1) return rows_->RunOne(workers, rows.in, rows.out, inverse, scale);
    return rows_->Run(rows, inverse, scale);
  }

  FftType type_ = FftType::kFft;
  int64_t row_length_ = 1, row_count_ = 1;
  bool halved_ = false;  // rows are real and of even length
  T scale_ = 1;
  std::unique_ptr<RowFft<T>> rows_;  // null if the next one is not
  std::unique_ptr<OddRows<T>> odd_rows_;
  std::optional<RealRows<T>> lane_rows_;
  bool in_lanes_ = false;                            // rows are real and transformed by lane_rows_
  std::vector<std::unique_ptr<RowFft<T>>> columns_;  // of the other dimensions, major to minor
  AlignedBuffer roots_memory_;
  T* w_re_ = nullptr;
  T* w_im_ = nullptr;  // exp(-2 pi i k / row_length_), up to a quarter
  mutable ScratchCache scratch_;
};

template <typename T>
absl::StatusOr<std::unique_ptr<Fft>> Make(FftType type, int64_t batch, absl::Span<const int64_t> lengths) {
  auto fft = std::make_unique<TypedFft<T>>();
  HILO_RETURN_IF_ERROR(fft->Init(type, batch, lengths));
  return fft;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fft>> Fft::Create(PrimitiveType part, FftType type, int64_t batch,
                                                 absl::Span<const int64_t> lengths) {
  return part == F64 ? Make<double>(type, batch, lengths) : Make<float>(type, batch, lengths);
}

}  // namespace hilo::cpu::fft
