// A length without large prime factors is done by lanes (lane_fft.h) in one of two ways.
//
// Rows in lanes: a vector's worth of rows is transposed into a buffer and transformed together. Best for short rows.
//
// Two steps: n = n1 * n2, and a row is taken as a matrix of n1 rows. Its columns are transformed, a vector of neighbouring columns at a time,
// the results multiplied by exp(-2 pi i j k / n), and then its rows, whose results are stored as columns. Everything stays in the first caches
// and no row needs company; the steps of a long row can be shared by threads.
//
// With a large prime factor a transform is a convolution with exp(pi i k^2 / n) (Bluestein), done by transforms of a longer smooth length.
#include "backends/cpu/fft/row_fft.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "base/errors.h"
#include "base/status_macros.h"

namespace hilo::cpu::fft {
namespace {

constexpr int64_t kKeptScratch = int64_t{64} << 20;  // bytes
constexpr int64_t kMaxLength = int64_t{1} << 40;    // beyond any memory; keeps sizes far from overflow

// The radices of the passes for n; empty optional if a prime factor is too large.
std::optional<std::vector<int>> RadicesOf(int64_t n) {
  std::vector<int> radices;
  int twos = 0;
  while (n % 2 == 0) {
    n /= 2;
    ++twos;
  }
  // Eights, and fours in place of a single two.
  while (twos > 4 || twos == 3) {
    radices.push_back(8);
    twos -= 3;
  }
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos == 1) radices.push_back(2);
  for (int p = 3; p <= kMaxRadix && n > 1; p += 2) {
    while (n % p == 0) {
      radices.push_back(p);
      n /= p;
    }
  }
  if (n > 1) return std::nullopt;
  return radices;
}

// Time of the passes for one point of one lane vector, in units of a simple pass.
double PassCost(const std::vector<int>& radices) {
  double cost = 1;  // in and out
  for (int radix : radices) cost += radix <= 5 ? 1 : radix <= 8 ? 1.4 : radix * 0.5;
  return cost;
}

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

// A lane transform and the memory that its stages point to.
template <typename T>
struct OwnedLaneFft {
  LaneFft<T> fft;
  std::vector<std::unique_ptr<T[]>> tables;
  double pass_cost = 1;

  OwnedLaneFft(int64_t length, const std::vector<int>& radices) : pass_cost(PassCost(radices)) {
    fft.length = length;
    int64_t stride = 1;
    for (int radix : radices) {
      Stage<T>& stage = fft.stages[fft.stage_count++];
      stage.radix = radix;
      stage.stride = stride;
      const int64_t rest = length / stride;
      stage.groups = rest / radix;
      stride *= radix;
      auto twiddles = std::make_unique<T[]>(2 * stage.groups * (radix - 1));
      const UnitRoots<T> roots(rest);
      for (int64_t p = 0; p < stage.groups; ++p) {
        for (int j = 1; j < radix; ++j) {
          T* at = twiddles.get() + 2 * (p * (radix - 1) + j - 1);
          roots.At(p * j, at, at + 1);
        }
      }
      stage.twiddles = twiddles.get();
      tables.push_back(std::move(twiddles));
      auto circle = std::make_unique<T[]>(2 * radix);
      for (int k = 0; k < radix; ++k) {
        circle[2 * k] = static_cast<T>(std::cos(2 * std::numbers::pi_v<long double> * k / radix));
        circle[2 * k + 1] = static_cast<T>(std::sin(2 * std::numbers::pi_v<long double> * k / radix));
      }
      stage.roots = circle.get();
      tables.push_back(std::move(circle));
    }
  }

  int64_t scratch() const { return 4 * fft.length * HostLaneKernels<T>().lanes; }  // numbers
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

template <typename T>
UnitRoots<T>::UnitRoots(int64_t n) : block_(std::max<int64_t>(1, static_cast<int64_t>(std::sqrt(static_cast<double>(n))))) {
  const auto fill = [&](std::vector<long double>* table, int64_t count, int64_t step) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t k = i * step % n;
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
      table->push_back(std::cos(angle));
      table->push_back(-std::sin(angle));
    }
  };
  fill(&fine_, block_, 1);
  fill(&coarse_, CeilDiv(n, block_), block_);
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

absl::Status ScratchCache::With(int64_t bytes, absl::FunctionRef<absl::Status(uint8_t*)> body) {
  AlignedBuffer buffer;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // The smallest one that is large enough.
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->size() >= bytes && (best == idle_.end() || it->size() < best->size())) best = it;
    }
    if (best != idle_.end()) {
      std::swap(*best, idle_.back());
      buffer = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (buffer.size() < bytes) {
    HILO_ASSIGN_OR_RETURN(buffer, AlignedBuffer::Create(bytes));
  }
  const absl::Status status = body(buffer.data());
  if (bytes <= kKeptScratch) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < 64) idle_.push_back(std::move(buffer));
  }
  return status;
}

template <typename T>
struct RowFft<T>::Tables : OwnedLaneFft<T> {
  using OwnedLaneFft<T>::OwnedLaneFft;
};

template <typename T>
struct RowFft<T>::TwoSteps {
  TwoSteps(int64_t n1, const std::vector<int>& r1, int64_t n2, const std::vector<int>& r2) : first(n1, r1), second(n2, r2) {}
  OwnedLaneFft<T> first, second;
  AlignedBuffer memory;
  T* twiddles = nullptr;  // [group][point of first][2][lane]
  double cost = 0;
  int64_t scratch() const { return std::max(first.scratch(), second.scratch()); }
};

template <typename T>
struct RowFft<T>::Bluestein {
  std::unique_ptr<RowFft> inner;
  std::vector<T> chirp;   // exp(-pi i k^2 / n), n of them
  std::vector<T> filter;  // the transform of the conjugated chirp, wrapped around, over the inner length
};

template <typename T>
RowFft<T>::~RowFft() = default;

template <typename T>
absl::StatusOr<std::unique_ptr<RowFft<T>>> RowFft<T>::Create(int64_t length) {
  if (length < 1 || length > kMaxLength) return ResourceExhausted("fft: a transform of ", length, " points is beyond what Hilo can do");
  const int lanes = HostLaneKernels<T>().lanes;
  const double unit = 0.6 * static_cast<double>(sizeof(T)) / 4;  // nanoseconds a point of a lane vector and pass
  std::unique_ptr<RowFft> plan(new RowFft());
  plan->length_ = length;
  if (auto radices = RadicesOf(length)) {
    plan->tables_ = std::make_unique<Tables>(length, *radices);
    const int64_t bytes = plan->tables_->scratch() * static_cast<int64_t>(sizeof(T));
    const double cache = bytes <= (32 << 10) ? 1 : bytes <= (512 << 10) ? 1.5 : 4;
    plan->lane_cost_ = unit * cache * plan->tables_->pass_cost * static_cast<double>(length);
    plan->cost_ = plan->lane_cost_ / lanes;
    // The split with the least work, lanes that idle included.
    double best = std::numeric_limits<double>::infinity();
    int64_t best_n1 = 0;
    for (int64_t n1 = 2; n1 <= length / n1 * 4 && n1 < length; ++n1) {
      if (length % n1 != 0) continue;
      const int64_t n2 = length / n1;
      const double cost = static_cast<double>(CeilDiv(n2, lanes) * n1) * (PassCost(*RadicesOf(n1)) + 1) +
                          static_cast<double>(CeilDiv(n1, lanes) * n2) * (PassCost(*RadicesOf(n2)) + 1);
      const double spread = std::abs(std::log2(static_cast<double>(n1) / static_cast<double>(n2)));
      if (cost * (1 + 0.02 * spread) < best) {
        best = cost * (1 + 0.02 * spread);
        best_n1 = n1;
      }
    }
    if (best_n1 > 0 && length >= 4 * lanes) {
      const int64_t n2 = length / best_n1;
      auto steps = std::make_unique<TwoSteps>(best_n1, *RadicesOf(best_n1), n2, *RadicesOf(n2));
      steps->cost = unit * best;
      plan->steps_ = std::move(steps);
      if (plan->StepsPay(lanes)) plan->cost_ = plan->steps_->cost;
      const int64_t groups = CeilDiv(n2, lanes);
      const int64_t bytes = groups * best_n1 * 2 * lanes * static_cast<int64_t>(sizeof(T));
      HILO_ASSIGN_OR_RETURN(plan->steps_->memory, AlignedBuffer::Create(bytes));
      T* at = plan->steps_->twiddles = reinterpret_cast<T*>(plan->steps_->memory.data());
      std::fill_n(at, groups * best_n1 * 2 * lanes, T(0));
      const UnitRoots<T> roots(length);
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t k = 0; k < best_n1; ++k, at += 2 * lanes) {
          for (int l = 0; l < lanes; ++l) {
            const int64_t column = g * lanes + l;
            if (column < n2) roots.At(column * k, at + l, at + lanes + l);
          }
        }
      }
    }
    return plan;
  }
  auto bluestein = std::make_unique<Bluestein>();
  const int64_t inner_length = NextSmooth(2 * length - 1);
  HILO_ASSIGN_OR_RETURN(bluestein->inner, Create(inner_length));
  bluestein->chirp.resize(2 * length);
  std::vector<T> wrapped(2 * inner_length, T(0));
  const UnitRoots<T> roots(2 * length);
  int64_t square = 0;  // k^2 mod 2n
  for (int64_t k = 0; k < length; ++k) {
    T* at = &bluestein->chirp[2 * k];
    roots.At(square, at, at + 1);
    for (int64_t place : {k, (inner_length - k) % inner_length}) {
      wrapped[2 * place] = at[0];
      wrapped[2 * place + 1] = -at[1];
    }
    square = (square + 2 * k + 1) % (2 * length);
  }
  bluestein->filter.resize(2 * inner_length);
  HILO_RETURN_IF_ERROR(bluestein->inner->Run({wrapped.data(), 0, bluestein->filter.data(), 0, 1}, false, T(1)));
  plan->cost_ = 2 * bluestein->inner->cost() + static_cast<double>(2 * inner_length) / lanes;
  plan->bluestein_ = std::move(bluestein);
  return plan;
}

template <typename T>
bool RowFft<T>::StepsPay(int64_t rows) const {
  if (steps_ == nullptr) return false;
  const int lanes = HostLaneKernels<T>().lanes;
  return steps_->cost * static_cast<double>(rows) < lane_cost_ * static_cast<double>(CeilDiv(rows, lanes));
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

// Columns [group * W, ...) of the matrix in[n1][n2], into the same places of `out`.
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

// Rows [group * W, ...) of in[n1][n2], into columns of out[n2][n1].
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
  if (bluestein_ != nullptr) {
    for (int64_t r = 0; r < rows.count; ++r) {
      HILO_RETURN_IF_ERROR(RunBluestein({}, rows.in + 2 * r * rows.in_stride, rows.out + 2 * r * rows.out_stride, inverse, scale));
    }
    return absl::OkStatus();
  }
  if (!StepsPay(rows.count)) {
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
  if (bluestein_ != nullptr) return RunBluestein(workers, in, out, inverse, scale);
  if (!StepsPay(1)) return Run({in, 0, out, 0, 1}, inverse, scale);
  const int lanes = HostLaneKernels<T>().lanes;
  const int64_t first_groups = CeilDiv(steps_->second.fft.length, lanes), second_groups = CeilDiv(steps_->first.fft.length, lanes);
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
    HILO_RETURN_IF_ERROR(step(first_groups, [&](int64_t g, T* scratch) { FirstStep(in, between, g, inverse, scratch); }));
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
    kernels.multiply(in, inverse, bluestein_->chirp.data(), a, false, T(1), n);
    std::fill(a + 2 * n, a + 2 * m, T(0));
    HILO_RETURN_IF_ERROR(inner.RunOne(workers, a, b, false, T(1)));
    kernels.multiply(b, false, bluestein_->filter.data(), b, false, T(1) / static_cast<T>(m), m);
    HILO_RETURN_IF_ERROR(inner.RunOne(workers, b, a, true, T(1)));
    kernels.multiply(a, false, bluestein_->chirp.data(), out, inverse, scale, n);
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status RowFft<T>::RunParallel(const Workers& workers, const Rows& rows, bool inverse, T scale) const {
  constexpr double kLong = 40000;  // nanoseconds from which a row is worth sharing
  if (rows.count < 16 && cost_ > kLong) {
    for (int64_t r = 0; r < rows.count; ++r) {
      HILO_RETURN_IF_ERROR(RunOne(workers, rows.in + 2 * r * rows.in_stride, rows.out + 2 * r * rows.out_stride, inverse, scale));
    }
    return absl::OkStatus();
  }
  // Parts are whole vectors of rows, so that each row is transformed in the same way however many threads there are.
  const int lanes = HostLaneKernels<T>().lanes;
  if (rows.count <= lanes && !StepsPay(rows.count) && bluestein_ == nullptr) return Run(rows, inverse, scale);
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
  if (bluestein_ != nullptr) {
    // A column after the other, through a row of its own.
    return scratch_.With(2 * length_ * sizeof(T), [&](uint8_t* memory) -> absl::Status {
      T* row = reinterpret_cast<T*>(memory);
      for (int64_t c = 0; c < count; ++c) {
        for (int64_t i = 0; i < length_; ++i) std::copy_n(in + 2 * (i * stride + c), 2, row + 2 * i);
        HILO_RETURN_IF_ERROR(RunBluestein({}, row, row, inverse, scale));
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

template <typename T>
const LaneKernels<T>& HostLaneKernels() {
  const auto choose = [](const LaneKernels<float>& f, const LaneKernels<double>& d) -> const LaneKernels<T>& {
    if constexpr (sizeof(T) == sizeof(float)) {
      (void)d;
      return f;
    } else {
      (void)f;
      return d;
    }
  };
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx512) return choose(avx512::kFloat, avx512::kDouble);
  if (has_avx2) return choose(avx2::kFloat, avx2::kDouble);
#endif
  return choose(baseline::kFloat, baseline::kDouble);
}
template const LaneKernels<float>& HostLaneKernels<float>();
template const LaneKernels<double>& HostLaneKernels<double>();

}  // namespace hilo::cpu::fft
