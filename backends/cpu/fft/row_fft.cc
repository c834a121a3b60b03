// A length without large prime factors is transformed in lanes (lane_fft.h) in one of two ways.
//
// Rows in lanes: a vector's worth of rows is transposed into a buffer and transformed together.
// Best for short rows.
//
// Two steps: n = n1 * n2, and a row is viewed as a matrix of n1 rows. Its columns are transformed, a vector of adjacent
// columns at a time, the results multiplied by exp(-2 pi i j k / n), and then its rows, whose results are stored as
// columns. All data stays in the inner caches and a single row fills the lanes; the steps of a long row can be split
// across threads.
//
// Bluestein: with a large prime factor a transform is a convolution with exp(pi i k^2 / n), computed by transforms of a
// longer smooth length. Prime factors up to kMaxRadix may also be passes, by the definition: as many rows as there are
// lanes are then faster in lanes, single ones by the convolution.
#include "backends/cpu/fft/row_fft.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backends/cpu/fft/lane_plan.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::cpu::fft {
namespace {

constexpr int64_t kMaxLength = int64_t{1} << 30;
// How much longer a convolution takes than its transforms in lanes that are all busy.
constexpr double kBluesteinCost = 2.5;

int64_t NextSmooth(int64_t n) {
  for (;; ++n) {
    int64_t rest = n;
    for (int p : {2, 3, 5, 7}) {
      while (rest % p == 0) rest /= p;
    }
    // Odd lengths do not fill vectors.
    if (rest == 1 && (n % 16 == 0 || n < 64)) return n;
  }
}

}  // namespace

template <typename T>
struct RowFft<T>::Tables : LanePlan<T> {};

template <typename T>
struct RowFft<T>::TwoSteps {
  TwoSteps(int64_t n1, const std::vector<int>& r1, int64_t n2, const std::vector<int>& r2)
      : first(LanePlan<T>::Complex(n1, r1)), second(LanePlan<T>::Complex(n2, r2)) {}
  LanePlan<T> first, second;
  AlignedBuffer memory;
  T* twiddles = nullptr;  // [group][point of first][2][lane]
  double cost = 0;
  int64_t scratch() const { return std::max(first.scratch(), second.scratch()); }
};

template <typename T>
struct RowFft<T>::Bluestein {
  std::unique_ptr<RowFft> inner;
  AlignedBuffer chirp_memory, filter_memory;
  T* chirp = nullptr;   // exp(-pi i k^2 / n), n of them
  T* filter = nullptr;  // the transform of the conjugated chirp, wrapped around, of inner length
  double cost = 0;
};

template <typename T>
RowFft<T>::~RowFft() = default;

template <typename T>
absl::StatusOr<std::unique_ptr<RowFft<T>>> RowFft<T>::Create(int64_t length) {
  if (length < 1 || length > kMaxLength) {
    return ResourceExhausted("fft: a transform of ", length, " points is beyond what Hilo can do");
  }
  std::unique_ptr<RowFft> plan(new RowFft());
  plan->length_ = length;
  const auto radices = RadicesOf(length);
  if (!radices || (!radices->empty() && std::ranges::max(*radices) > kLargeRadix))
    HILO_RETURN_IF_ERROR(plan->PlanBluestein());
  const int lanes = HostLaneKernels<T>().lanes;
  if (radices && length <= kMaxLaneLength) {
    plan->tables_ = std::make_unique<Tables>(LanePlan<T>::Complex(length, *radices));
    const int64_t bytes = plan->tables_->scratch() * static_cast<int64_t>(sizeof(T));
    // Rows whose numbers lie in the same sets of the first-level cache evict each other.
    const bool evicted = lanes > 8 && 2 * length * static_cast<int64_t>(sizeof(T)) % 4096 == 0;
    plan->lane_cost_ =
        (kPassCost * CacheCost(bytes) * plan->tables_->pass_cost + (evicted ? 6 : 0)) * static_cast<double>(length);
  }
  if (radices && length >= 4 * lanes) HILO_RETURN_IF_ERROR(plan->PlanSteps());
  switch (plan->MethodFor(lanes)) {
    case Method::kLanes: plan->cost_ = plan->lane_cost_ / lanes; break;
    case Method::kSteps: plan->cost_ = plan->steps_->cost; break;
    case Method::kBluestein: plan->cost_ = plan->bluestein_->cost; break;
  }
  return plan;
}

template <typename T>
absl::Status RowFft<T>::PlanSteps() {
  const int lanes = HostLaneKernels<T>().lanes;
  // Selects the split with the least work, including idle lanes.
  double best = std::numeric_limits<double>::infinity();
  int64_t n1 = 0;
  for (int64_t a = 2; a <= length_ / a * 4 && a < length_; ++a) {
    if (length_ % a != 0) continue;
    const int64_t b = length_ / a;
    double cost = static_cast<double>(CeilDiv(b, lanes) * a) * (PassCost(*RadicesOf(a)) + 1) +
                  static_cast<double>(CeilDiv(a, lanes) * b) * (PassCost(*RadicesOf(b)) + 1);
    // Columns that do not fill a vector are read and written number by number.
    if (b % lanes != 0) cost += static_cast<double>(4 * a);
    if (a % lanes != 0) cost += static_cast<double>(2 * b);
    const double skew = std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
    if (cost * (1 + 0.02 * skew) >= best) continue;
    best = cost * (1 + 0.02 * skew);
    n1 = a;
  }
  if (n1 == 0) return absl::OkStatus();
  const int64_t n2 = length_ / n1, groups = CeilDiv(n2, lanes);
  steps_ = std::make_unique<TwoSteps>(n1, *RadicesOf(n1), n2, *RadicesOf(n2));
  steps_->cost = kPassCost * best;
  const int64_t numbers = groups * n1 * 2 * lanes;
  HILO_ASSIGN_OR_RETURN(steps_->memory, AlignedBuffer::Create(numbers * static_cast<int64_t>(sizeof(T))));
  T* at = steps_->twiddles = reinterpret_cast<T*>(steps_->memory.data());
  std::fill_n(at, numbers, T(0));
  const UnitRoots<T> roots(length_);
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t k = 0; k < n1; ++k, at += 2 * lanes) {
      for (int l = 0; l < lanes && g * lanes + l < n2; ++l) {
        roots.At((g * lanes + l) * k, at + l, at + lanes + l);
      }
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status RowFft<T>::PlanBluestein() {
  auto bluestein = std::make_unique<Bluestein>();
  const int64_t inner_length = NextSmooth(2 * length_ - 1);
  HILO_ASSIGN_OR_RETURN(bluestein->inner, Create(inner_length));
  constexpr int64_t kBytes = 2 * sizeof(T);  // of a complex number
  HILO_ASSIGN_OR_RETURN(bluestein->chirp_memory, AlignedBuffer::Create(length_ * kBytes));
  HILO_ASSIGN_OR_RETURN(bluestein->filter_memory, AlignedBuffer::Create(inner_length * kBytes));
  bluestein->chirp = reinterpret_cast<T*>(bluestein->chirp_memory.data());
  bluestein->filter = reinterpret_cast<T*>(bluestein->filter_memory.data());
  std::fill_n(bluestein->filter, 2 * inner_length, T(0));
  const UnitRoots<T> roots(2 * length_);
  int64_t square = 0;  // k^2 mod 2n
  for (int64_t k = 0; k < length_; ++k) {
    T* at = bluestein->chirp + 2 * k;
    roots.At(square, at, at + 1);
    for (int64_t center : {k, (inner_length - k) % inner_length}) {
      bluestein->filter[2 * center] = at[0];
      bluestein->filter[2 * center + 1] = -at[1];
    }
    square = (square + 2 * k + 1) % (2 * length_);
  }
  HILO_RETURN_IF_ERROR(bluestein->inner->Run({bluestein->filter, 0, bluestein->filter, 0, 1}, false, T(1)));
  // Measured, with 16 lanes and F32: 127 points 1.0 us, 211 2.4, 251 1.7, 1009 5.9.
  bluestein->cost = kBluesteinCost *
                    (2 * bluestein->inner->cost() + static_cast<double>(2 * inner_length) / HostLaneKernels<T>().lanes);
  bluestein_ = std::move(bluestein);
  return absl::OkStatus();
}

template <typename T>
typename RowFft<T>::Method RowFft<T>::MethodFor(int64_t rows) const {
  const auto count = static_cast<double>(rows);
  const auto vectors = static_cast<double>(CeilDiv(rows, HostLaneKernels<T>().lanes));
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double lanes = tables_ != nullptr ? lane_cost_ * vectors : kNone;
  const double steps = steps_ != nullptr ? steps_->cost * count : kNone;
  const double bluestein = bluestein_ != nullptr ? bluestein_->cost * count : kNone;
  if (bluestein < std::min(lanes, steps)) return Method::kBluestein;
  return steps < lanes ? Method::kSteps : Method::kLanes;
}

template <typename T>
void RowFft<T>::RunLanes(const Rows& rows, bool inverse, T scale, T* scratch) const {
  const LaneKernels<T>& kernels = HostLaneKernels<T>();
  for (int64_t r = 0; r < rows.count; r += kernels.lanes) {
    LaneJob<T> job;
    job.fft = &tables_->fft;
    job.in = {rows.in + 2 * r * rows.in_stride, 1, rows.in_stride};
    job.out = {rows.out + 2 * r * rows.out_stride, 1, rows.out_stride};
    job.lanes = static_cast<int>(std::min<int64_t>(kernels.lanes, rows.count - r));
    job.inverse = inverse;
    job.scale = scale;
    job.scratch = scratch;
    kernels.run(job);
  }
}

// Columns [group * W, ...) of the matrix in[n1][n2], to the same positions of `out`.
template <typename T>
void RowFft<T>::FirstStep(const T* in, T* out, int64_t group, bool inverse, T* scratch) const {
  const LaneKernels<T>& kernels = HostLaneKernels<T>();
  const int64_t n1 = steps_->first.fft.length, n2 = steps_->second.fft.length;
  const int64_t column = group * kernels.lanes;
  LaneJob<T> job;
  job.fft = &steps_->first.fft;
  job.in = {in + 2 * column, n2, 1};
  job.out = {out + 2 * column, n2, 1};
  job.lanes = static_cast<int>(std::min<int64_t>(kernels.lanes, n2 - column));
  job.inverse = inverse;
  job.twiddles = steps_->twiddles + group * n1 * 2 * kernels.lanes;
  job.scratch = scratch;
  kernels.run(job);
}

// Rows [group * W, ...) of in[n1][n2], to columns of out[n2][n1].
template <typename T>
void RowFft<T>::SecondStep(const T* in, T* out, int64_t group, bool inverse, T scale, T* scratch) const {
  const LaneKernels<T>& kernels = HostLaneKernels<T>();
  const int64_t n1 = steps_->first.fft.length, n2 = steps_->second.fft.length;
  const int64_t row = group * kernels.lanes;
  LaneJob<T> job;
  job.fft = &steps_->second.fft;
  job.in = {in + 2 * row * n2, 1, n2};
  job.out = {out + 2 * row, n1, 1};
  job.lanes = static_cast<int>(std::min<int64_t>(kernels.lanes, n1 - row));
  job.inverse = inverse;
  job.scale = scale;
  job.scratch = scratch;
  kernels.run(job);
}

template <typename T>
absl::Status RowFft<T>::Run(const Rows& rows, bool inverse, T scale) const {
  // Rows that fill vectors by one method, the others by another.
  const int lanes = HostLaneKernels<T>().lanes;
  Rows full = rows, rest = rows;
  full.count = rows.count / lanes * lanes;
  rest.count = rows.count - full.count;
  rest.in += 2 * full.count * rows.in_stride;
  rest.out += 2 * full.count * rows.out_stride;
  if (full.count > 0) HILO_RETURN_IF_ERROR(RunBy(MethodFor(lanes), full, inverse, scale));
  return rest.count > 0 ? RunBy(MethodFor(rest.count), rest, inverse, scale) : absl::OkStatus();
}

template <typename T>
absl::Status RowFft<T>::RunBy(Method method, const Rows& rows, bool inverse, T scale) const {
  if (method == Method::kBluestein) {
    for (int64_t r = 0; r < rows.count; ++r) {
      HILO_RETURN_IF_ERROR(
          RunBluestein({}, rows.in + 2 * r * rows.in_stride, rows.out + 2 * r * rows.out_stride, inverse, scale));
    }
    return absl::OkStatus();
  }
  if (method == Method::kLanes) {
    return scratch_.With(tables_->scratch() * sizeof(T), [&](uint8_t* memory) {
      RunLanes(rows, inverse, scale, reinterpret_cast<T*>(memory));
      return absl::OkStatus();
    });
  }
  const int lanes = HostLaneKernels<T>().lanes;
  return scratch_.With((steps_->scratch() + 2 * length_) * sizeof(T), [&](uint8_t* memory) {
    T* scratch = reinterpret_cast<T*>(memory);
    T* between = scratch + steps_->scratch();
    for (int64_t r = 0; r < rows.count; ++r) {
      for (int64_t g = 0; g < CeilDiv(steps_->second.fft.length, lanes); ++g) {
        FirstStep(rows.in + 2 * r * rows.in_stride, between, g, inverse, scratch);
      }
      for (int64_t g = 0; g < CeilDiv(steps_->first.fft.length, lanes); ++g) {
        SecondStep(between, rows.out + 2 * r * rows.out_stride, g, inverse, scale, scratch);
      }
    }
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status RowFft<T>::RunOne(const Workers& workers, const T* in, T* out, bool inverse, T scale) const {
  const Method method = MethodFor(1);
  if (method == Method::kBluestein) return RunBluestein(workers, in, out, inverse, scale);
  if (method == Method::kLanes) return RunBy(method, {in, 0, out, 0, 1}, inverse, scale);
  const int lanes = HostLaneKernels<T>().lanes;
  const int64_t first_groups = CeilDiv(steps_->second.fft.length, lanes),
                second_groups = CeilDiv(steps_->first.fft.length, lanes);
  return scratch_.With(2 * length_ * sizeof(T), [&](uint8_t* memory) -> absl::Status {
    T* between = reinterpret_cast<T*>(memory);
    const auto step = [&](int64_t groups, auto&& body) {
      return ForParts(workers, groups, cost_ / 2 / static_cast<double>(groups), [&](int64_t begin, int64_t end) {
        return scratch_.With(steps_->scratch() * sizeof(T), [&](uint8_t* own) {
          for (int64_t g = begin; g < end; ++g) body(g, reinterpret_cast<T*>(own));
          return absl::OkStatus();
        });
      });
    };
    HILO_RETURN_IF_ERROR(
        step(first_groups, [&](int64_t g, T* scratch) { FirstStep(in, between, g, inverse, scratch); }));
    return step(second_groups, [&](int64_t g, T* scratch) { SecondStep(between, out, g, inverse, scale, scratch); });
  });
}

template <typename T>
absl::Status RowFft<T>::RunBluestein(const Workers& workers, const T* in, T* out, bool inverse, T scale) const {
  const LaneKernels<T>& kernels = HostLaneKernels<T>();
  const RowFft& inner = *bluestein_->inner;
  const int64_t n = length_, m = inner.length();
  return scratch_.With(4 * m * sizeof(T), [&](uint8_t* memory) -> absl::Status {
    T* a = reinterpret_cast<T*>(memory);
    T* b = a + 2 * m;
    kernels.multiply(in, inverse, bluestein_->chirp, a, false, T(1), n);
    std::fill(a + 2 * n, a + 2 * m, T(0));
    HILO_RETURN_IF_ERROR(inner.RunOne(workers, a, b, false, T(1)));
    kernels.multiply(b, false, bluestein_->filter, b, false, T(1) / static_cast<T>(m), m);
    HILO_RETURN_IF_ERROR(inner.RunOne(workers, b, a, true, T(1)));
    kernels.multiply(a, false, bluestein_->chirp, out, inverse, scale, n);
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status RowFft<T>::RunParallel(const Workers& workers, const Rows& rows, bool inverse, T scale) const {
  if (SharesRows(rows.count)) {
    for (int64_t r = 0; r < rows.count; ++r) {
      HILO_RETURN_IF_ERROR(
          RunOne(workers, rows.in + 2 * r * rows.in_stride, rows.out + 2 * r * rows.out_stride, inverse, scale));
    }
    return absl::OkStatus();
  }
  // Parts are whole vectors of rows, so that each row is transformed in the same way for any number of threads.
  const int lanes = HostLaneKernels<T>().lanes;
  if (rows.count <= lanes) return Run(rows, inverse, scale);
  return ForParts(workers, CeilDiv(rows.count, lanes), cost_ * lanes, [&](int64_t begin, int64_t end) {
    Rows part = rows;
    part.in += 2 * begin * lanes * rows.in_stride;
    part.out += 2 * begin * lanes * rows.out_stride;
    part.count = std::min(rows.count, end * lanes) - begin * lanes;
    return Run(part, inverse, scale);
  });
}

template <typename T>
absl::Status RowFft<T>::RunColumns(const T* in, T* out, int64_t stride, int64_t count, bool inverse, T scale) const {
  const LaneKernels<T>& kernels = HostLaneKernels<T>();
  if (tables_ == nullptr || MethodFor(kernels.lanes) == Method::kBluestein) {
    // Transforms columns one at a time, through a temporary row.
    return scratch_.With(2 * length_ * sizeof(T), [&](uint8_t* memory) -> absl::Status {
      T* row = reinterpret_cast<T*>(memory);
      for (int64_t c = 0; c < count; ++c) {
        for (int64_t i = 0; i < length_; ++i) std::copy_n(in + 2 * (i * stride + c), 2, row + 2 * i);
        HILO_RETURN_IF_ERROR(Run({row, 0, row, 0, 1}, inverse, scale));
        for (int64_t i = 0; i < length_; ++i) std::copy_n(row + 2 * i, 2, out + 2 * (i * stride + c));
      }
      return absl::OkStatus();
    });
  }
  return scratch_.With(tables_->scratch() * sizeof(T), [&](uint8_t* memory) {
    for (int64_t c = 0; c < count; c += kernels.lanes) {
      LaneJob<T> job;
      job.fft = &tables_->fft;
      job.in = {in + 2 * c, stride, 1};
      job.out = {out + 2 * c, stride, 1};
      job.lanes = static_cast<int>(std::min<int64_t>(kernels.lanes, count - c));
      job.inverse = inverse;
      job.scale = scale;
      job.scratch = reinterpret_cast<T*>(memory);
      kernels.run(job);
    }
    return absl::OkStatus();
  });
}

template class RowFft<float>;
template class RowFft<double>;

}  // namespace hilo::cpu::fft
