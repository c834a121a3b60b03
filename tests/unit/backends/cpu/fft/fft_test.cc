// Transforms of many lengths against the definition in long double. The error is that of the whole
// result: |got - want| / |want|.
#include "backends/cpu/fft/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "backends/cpu/fft/lane_plan.h"
#include "backends/cpu/fft/unit_roots.h"

namespace hilo::cpu::fft {
namespace {

using Number = std::complex<long double>;

std::vector<Number> Definition(const std::vector<Number>& x, bool inverse) {
  const size_t n = x.size();
  std::vector<Number> roots(n), result(n);
  for (size_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) result[k] += x[j] * roots[j * k % n];
    if (inverse) result[k] /= static_cast<long double>(n);
  }
  return result;
}

bool IsInverse(FftType type) { return type == FftType::kIfft || type == FftType::kIrfft; }

template <typename T>
std::vector<T> Noise(int64_t count, int64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(normal(generator));
  return values;
}

// Numbers of T in a row of the input and of the result.
int64_t InputWidth(FftType type, int64_t n) {
  return type == FftType::kRfft ? n : type == FftType::kIrfft ? 2 * (n / 2 + 1) : 2 * n;
}
int64_t ResultWidth(FftType type, int64_t n) {
  return type == FftType::kIrfft ? n : type == FftType::kRfft ? 2 * (n / 2 + 1) : 2 * n;
}

// The row as complex numbers in all n places.
template <typename T>
std::vector<Number> Expanded(FftType type, int64_t n, const T* row) {
  std::vector<Number> x(n);
  for (int64_t k = 0; k < n; ++k) {
    if (type == FftType::kRfft) {
      x[k] = row[k];
    } else if (type != FftType::kIrfft || k <= n / 2) {
      x[k] = Number(row[2 * k], row[2 * k + 1]);
    } else {
      x[k] = std::conj(Number(row[2 * (n - k)], row[2 * (n - k) + 1]));
    }
  }
  if (type == FftType::kIrfft) {
    x[0] = x[0].real();
    if (n % 2 == 0) x[n / 2] = x[n / 2].real();
  }
  return x;
}

template <typename T>
double ErrorOf(FftType type, int64_t n, int64_t rows, ThreadPool* pool = nullptr) {
  auto fft = Fft::Create(sizeof(T) == 4 ? F32 : F64, type, rows, {n});
  if (!fft.ok()) return INFINITY;
  const std::vector<T> in = Noise<T>(rows * InputWidth(type, n), n);
  std::vector<T> out(rows * ResultWidth(type, n), T(NAN));
  if (!(*fft)->Run({pool}, in.data(), out.data()).ok()) return INFINITY;
  double worst = 0;
  for (int64_t r = 0; r < rows; r += std::max<int64_t>(1, rows - 1)) {  // the first and the last one
    const std::vector<Number> want =
        Definition(Expanded(type, n, in.data() + r * InputWidth(type, n)), IsInverse(type));
    const T* got = out.data() + r * ResultWidth(type, n);
    long double error = 0, size = 0;
    for (int64_t k = 0; k < (type == FftType::kRfft ? n / 2 + 1 : n); ++k) {
      error += std::norm((type == FftType::kIrfft ? Number(got[k]) : Number(got[2 * k], got[2 * k + 1])) - want[k]);
      size += std::norm(want[k]);
    }
    worst = std::max(worst, static_cast<double>(std::sqrt(error / size)));
  }
  return worst;
}

void ExpectAccurate(int64_t n, int64_t rows) {
  const double passes = std::max(1.0, std::log2(static_cast<double>(n)));
  for (FftType type : {FftType::kFft, FftType::kIfft, FftType::kRfft, FftType::kIrfft}) {
    EXPECT_LT(ErrorOf<float>(type, n, rows), 1e-7 * passes)
        << n << " x " << rows << ", type " << static_cast<int>(type);
    EXPECT_LT(ErrorOf<double>(type, n, rows), 2e-16 * passes)
        << n << " x " << rows << ", type " << static_cast<int>(type);
  }
}

TEST(FftTest, EveryShortLength) {
  for (int64_t n = 1; n <= 200; ++n) ExpectAccurate(n, 1);
}
TEST(FftTest, RowsThatDoNotFillVectors) {
  for (int64_t rows : {2, 15, 16, 17, 37}) {
    for (int64_t n : {1, 2, 3, 4, 6, 7, 8, 11, 16, 30, 47, 53, 64, 100, 101, 121, 128, 202, 251})
      ExpectAccurate(n, rows);
  }
}
// Passes of 3, 5, 7 and 9 points, over complex numbers and over real ones; more rows than a vector has lanes.
TEST(FftTest, RowsOfSmallFactors) {
  for (int64_t n : {5, 9, 12, 15, 18, 21, 25, 27, 35, 45, 49, 63, 81, 90, 105, 135, 189, 225, 243, 315, 360, 567}) {
    for (int64_t rows : {5, 20, 33}) ExpectAccurate(n, rows);
  }
}
// Matrices of columns of 3 to 61 numbers, some with rows of a large prime number, or of fewer than a vector.
TEST(FftTest, RowsOfOddLengths) {
  for (int64_t n : {105, 121, 225, 289, 377, 437, 501, 1001}) {
    for (int64_t rows : {1, 17}) ExpectAccurate(n, rows);
  }
}
// A number that is infinite, or very large, is one of its own row alone.
TEST(FftTest, RealRowsAreApart) {
  for (int64_t n : {225, 243, 360, 377, 997}) {
    auto fft = Fft::Create(F32, FftType::kRfft, 20, {n});
    ASSERT_TRUE(fft.ok());
    const int64_t width = ResultWidth(FftType::kRfft, n);
    std::vector<float> in = Noise<float>(20 * n, n), alone(20 * width), beside(20 * width);
    ASSERT_TRUE((*fft)->Run({}, in.data(), alone.data()).ok());
    in[3 * n + 5] = INFINITY;
    in[7 * n] = 1e30f;
    ASSERT_TRUE((*fft)->Run({}, in.data(), beside.data()).ok());
    for (int64_t row = 0; row < 20; ++row) {
      if (row == 3 || row == 7) continue;
      for (int64_t k = row * width; k < (row + 1) * width; ++k) ASSERT_EQ(alone[k], beside[k]) << n << ", " << row;
    }
  }
}
TEST(FftTest, LongerLengths) {
  for (int64_t n : {256, 343, 500, 512, 625, 729, 961, 1000, 1009, 1024, 2000, 2003, 2048}) ExpectAccurate(n, 2);
}

// Several dimensions are the cascade of the transforms of each.
TEST(FftTest, DimensionsAreACascade) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {5, 6}, {64, 48}, {53, 8}, {3, 1}, {6, 5, 7}, {4, 59, 2}, {100, 1, 1}, {3, 70000, 2}}) {
    const int64_t batch = 3;
    int64_t points = 1;
    for (int64_t size : sizes) points *= size;
    const std::vector<double> in = Noise<double>(2 * batch * points, points);
    std::vector<double> got(in.size()), back(in.size());
    auto forward = Fft::Create(F64, FftType::kFft, batch, sizes);
    auto inverse = Fft::Create(F64, FftType::kIfft, batch, sizes);
    ASSERT_TRUE(forward.ok() && inverse.ok());
    ASSERT_TRUE((*forward)->Run({}, in.data(), got.data()).ok());
    ASSERT_TRUE((*inverse)->Run({}, got.data(), back.data()).ok());
    for (size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(back[i], in[i], 1e-12);
    // One number of the result, by the definition.
    std::vector<int64_t> at(sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) at[d] = (sizes[d] * 2) / 3;
    Number want = 0;
    int64_t place = 0;
    for (size_t d = 0; d < sizes.size(); ++d) place = place * sizes[d] + at[d];
    for (int64_t p = 0; p < points; ++p) {
      long double turns = 0;
      int64_t rest = p;
      for (size_t d = sizes.size(); d-- > 0;) {
        turns += static_cast<long double>(rest % sizes[d] * at[d]) / static_cast<long double>(sizes[d]);
        rest /= sizes[d];
      }
      const long double angle = -2 * std::numbers::pi_v<long double> * (turns - std::floor(turns));
      const double* x = in.data() + 2 * (points + p);
      want += Number(x[0], x[1]) * Number(std::cos(angle), std::sin(angle));
    }
    EXPECT_NEAR(got[2 * (points + place)], static_cast<double>(want.real()), 1e-10);
    EXPECT_NEAR(got[2 * (points + place) + 1], static_cast<double>(want.imag()), 1e-10);
  }
}

TEST(FftTest, RealDimensionsComeBack) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{8, 8}, {7, 9}, {5, 40, 22}, {59, 106}}) {
    const int64_t batch = 2;
    int64_t points = batch, spectrum = batch;
    for (size_t d = 0; d < sizes.size(); ++d) {
      points *= sizes[d];
      spectrum *= d + 1 < sizes.size() ? sizes[d] : sizes[d] / 2 + 1;
    }
    const std::vector<float> in = Noise<float>(points, points);
    std::vector<float> between(2 * spectrum), back(points);
    auto forward = Fft::Create(F32, FftType::kRfft, batch, sizes);
    auto inverse = Fft::Create(F32, FftType::kIrfft, batch, sizes);
    ASSERT_TRUE(forward.ok() && inverse.ok());
    ASSERT_TRUE((*forward)->Run({}, in.data(), between.data()).ok());
    ASSERT_TRUE((*inverse)->Run({}, between.data(), back.data()).ok());
    for (int64_t i = 0; i < points; ++i) ASSERT_NEAR(back[i], in[i], 5e-6);
  }
}

// Bits are the same whatever the number of threads; long rows are shared by threads, many are
// handed out.
TEST(FftTest, ThreadsDoNotChangeResults) {
  const auto run = [](FftType type, int64_t batch, std::vector<int64_t> sizes, ThreadPool* pool) {
    auto fft = Fft::Create(F32, type, batch, sizes);
    EXPECT_TRUE(fft.ok());
    int64_t count = 2 * batch;
    for (int64_t size : sizes) count *= size + 2;
    const std::vector<float> in = Noise<float>(count, count);
    std::vector<float> out(count);
    EXPECT_TRUE((*fft)->Run({pool}, in.data(), out.data()).ok());
    return out;
  };
  for (int threads : {2, 3}) {
    auto pool = CreateThreadPool(threads);
    ASSERT_TRUE(pool.ok());
    for (FftType type : {FftType::kFft, FftType::kRfft, FftType::kIrfft}) {
      EXPECT_EQ(run(type, 1, {1 << 16}, nullptr), run(type, 1, {1 << 16}, pool->get()));
      EXPECT_EQ(run(type, 1, {70001}, nullptr), run(type, 1, {70001}, pool->get()));
      EXPECT_EQ(run(type, 700, {120}, nullptr), run(type, 700, {120}, pool->get()));
      // One row more than fills vectors; a length for which a single row is transformed in another way.
      EXPECT_EQ(run(type, 65, {101}, nullptr), run(type, 65, {101}, pool->get()));
      EXPECT_EQ(run(type, 3, {200, 150}, nullptr), run(type, 3, {200, 150}, pool->get()));
    }
  }
}

TEST(FftTest, StopsWhenCancelled) {
  auto fft = Fft::Create(F32, FftType::kFft, 1, {1 << 16});
  ASSERT_TRUE(fft.ok());
  CancellationToken token;
  token.Cancel();
  std::vector<float> in(2 << 16), out(2 << 16);
  EXPECT_EQ((*fft)->Run({nullptr, &token}, in.data(), out.data()).code(), absl::StatusCode::kCancelled);
}

TEST(FftTest, LengthsBeyondReasonAreRefused) {
  EXPECT_EQ(Fft::Create(F32, FftType::kFft, 1, {int64_t{1} << 41}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// All kernels that this machine can run, not only those that it would choose.
template <typename T>
void ExpectKernelsAgree(const LaneKernels<T>& kernels) {
  const int64_t n = 24;
  LaneFft<T> fft;
  fft.length = n;
  fft.stage_count = 2;
  const UnitRoots<T> roots(n);
  std::vector<T> first(2 * 3 * 7), second(2 * 2);
  for (int64_t p = 0; p < 3; ++p) {
    for (int64_t j = 1; j < 8; ++j) roots.At(p * j, &first[2 * (p * 7 + j - 1)], &first[2 * (p * 7 + j - 1) + 1]);
  }
  fft.stages[0] = {8, 1, 3, first.data(), nullptr};
  fft.stages[1] = {3, 8, 1, second.data(), nullptr};
  auto scratch = AlignedBuffer::Create(4 * n * kernels.lanes * static_cast<int64_t>(sizeof(T)));
  ASSERT_TRUE(scratch.ok());
  for (int lanes = 1; lanes <= kernels.lanes; ++lanes) {
    const std::vector<T> in = Noise<T>(2 * n * lanes, lanes);
    std::vector<T> out(in.size());
    LaneJob<T> job;
    job.fft = &fft;
    job.in = {in.data(), lanes, 1};
    job.out = {out.data(), 1, n};
    job.lanes = lanes;
    job.scratch = reinterpret_cast<T*>(scratch->data());
    kernels.run(job);
    for (int l = 0; l < lanes; ++l) {
      std::vector<Number> x(n);
      for (int64_t i = 0; i < n; ++i) x[i] = Number(in[2 * (i * lanes + l)], in[2 * (i * lanes + l) + 1]);
      const std::vector<Number> want = Definition(x, false);
      for (int64_t k = 0; k < n; ++k) {
        EXPECT_NEAR(out[2 * (l * n + k)], static_cast<double>(want[k].real()), 1e-5);
        EXPECT_NEAR(out[2 * (l * n + k) + 1], static_cast<double>(want[k].imag()), 1e-5);
      }
    }
  }
}
// Real rows of even and odd length, there and back.
template <typename T>
void ExpectRealKernelsAgree(const LaneKernels<T>& kernels) {
  for (int64_t n : {24, 315}) {
    const LanePlan<T> plan = n % 2 == 0 ? LanePlan<T>::Complex(n / 2, *RadicesOf(n / 2)) : *LanePlan<T>::Real(n);
    const int64_t width = n / 2 + 1;
    const UnitRoots<T> roots(n);
    std::vector<T> w_re(n / 4 + 1), w_im(n / 4 + 1);
    for (int64_t k = 0; k <= n / 4; ++k) roots.At(k, &w_re[k], &w_im[k]);
    auto scratch = AlignedBuffer::Create(4 * width * kernels.lanes * static_cast<int64_t>(sizeof(T)));
    ASSERT_TRUE(scratch.ok());
    for (int lanes : {1, kernels.lanes}) {
      const std::vector<T> in = Noise<T>(n * lanes, lanes);
      std::vector<T> spectrum(2 * width * lanes), back(in.size());
      RealLaneJob<T> job{.fft = &plan.fft,
                         .length = n,
                         .in = in.data(),
                         .in_stride = n,
                         .out = spectrum.data(),
                         .out_stride = 2 * width,
                         .lanes = lanes,
                         .w_re = w_re.data(),
                         .w_im = w_im.data(),
                         .scratch = reinterpret_cast<T*>(scratch->data())};
      kernels.run_real(job);
      std::swap(job.in_stride, job.out_stride);
      job.in = spectrum.data();
      job.out = back.data();
      job.inverse = true;
      job.scale = T(1) / static_cast<T>(n);
      kernels.run_real(job);
      for (size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(back[i], in[i], 2e-6);
      const std::vector<Number> want = Definition(Expanded(FftType::kRfft, n, &in[n * (lanes - 1)]), false);
      for (int64_t k = 0; k < width; ++k) {
        EXPECT_NEAR(spectrum[2 * (width * (lanes - 1) + k)], static_cast<double>(want[k].real()), 5e-5);
        EXPECT_NEAR(spectrum[2 * (width * (lanes - 1) + k) + 1], static_cast<double>(want[k].imag()), 5e-5);
      }
    }
  }
}
template <typename T>
void ExpectAgreement(const LaneKernels<T>& kernels) {
  ExpectKernelsAgree(kernels);
  ExpectRealKernelsAgree(kernels);
}
TEST(FftTest, EveryInstructionSet) {
  ExpectAgreement(baseline::kFloat);
  ExpectAgreement(baseline::kDouble);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    ExpectAgreement(avx2::kFloat);
    ExpectAgreement(avx2::kDouble);
  }
#endif
}

}  // namespace
}  // namespace hilo::cpu::fft
