// Fourier transforms by the library: what is refused, and on every device that is there the results.
#include "backends/gpu/lib/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "tests/support/gpu_device_test.h"

namespace hilo::gpu {
namespace {

TEST(FftTest, Refusals) {
  alignas(16) double memory[2] = {};
  const FftDescriptor good{.lengths = {8}};
  EXPECT_TRUE(CheckFft(good, memory, memory).ok());
  EXPECT_EQ(CheckFft(good, nullptr, memory).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckFft(good, memory, reinterpret_cast<char*>(memory) + 4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckFft({.part = F16, .lengths = {8}}, memory, memory).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CheckFft({.lengths = {}}, memory, memory).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CheckFft({.lengths = {2, 2, 2, 2}}, memory, memory).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CheckFft({.lengths = {8, 0}}, memory, memory).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckFft({.lengths = {8}, .batch = 0}, memory, memory).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckFft({.lengths = {int64_t{1} << 40, int64_t{1} << 40}}, memory, memory).code(),
            absl::StatusCode::kInvalidArgument);
}

class GpuFftTest : public GpuDeviceTest {
 protected:
  template <typename Out, typename In>
  std::vector<Out> Run(const FftDescriptor& fft, const std::vector<In>& values) {
    EXPECT_EQ(fft.InputBytes(), static_cast<int64_t>(values.size() * sizeof(In)));
    void *in = ToDevice(values), *out = *driver_->Allocate(fft.OutputBytes());
    const auto bytes = FftWorkspaceBytes(device_, fft);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    if (!bytes.ok()) return {};
    void* workspace = *driver_->Allocate(*bytes);
    const absl::Status status = RunFft(stream_.get(), fft, in, out, workspace, *bytes);
    EXPECT_TRUE(status.ok()) << status;
    return ToHost(static_cast<const Out*>(out), fft.OutputBytes() / sizeof(Out));
  }
};

using Complex = std::complex<float>;

// A single one at position 1 becomes the powers of a root; what comes back is not divided.
TEST_P(GpuFftTest, RoundTrip) {
  for (int64_t n : {1, 2, 7, 12, 64, 101}) {
    std::vector<Complex> x(n * 2);
    for (int64_t i = 0; i < 2 * n; ++i) x[i] = {static_cast<float>(i % 5), static_cast<float>(i % 3)};
    const std::vector<Complex> there = Run<Complex>({.lengths = {n}, .batch = 2}, x);
    ASSERT_EQ(there.size(), x.size());
    Complex sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[n + i];
    EXPECT_LT(std::abs(there[n] - sum), 1e-4f * static_cast<float>(n)) << n;
    const std::vector<Complex> back = Run<Complex>({.type = FftType::kIfft, .lengths = {n}, .batch = 2}, there);
    for (int64_t i = 0; i < 2 * n; ++i)
      EXPECT_LT(std::abs(back[i] / static_cast<float>(n) - x[i]), 1e-4f) << n << " at " << i;
  }
}

TEST_P(GpuFftTest, RealDataInThreeDimensions) {
  std::vector<double> x(3 * 4 * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 17);
  const FftDescriptor forward{.type = FftType::kRfft, .part = F64, .lengths = {3, 4, 5}};
  const std::vector<std::complex<double>> spectrum = Run<std::complex<double>>(forward, x);
  ASSERT_EQ(spectrum.size(), 3u * 4 * 3);
  double sum = 0;
  for (double value : x) sum += value;
  EXPECT_NEAR(spectrum[0].real(), sum, 1e-9);
  FftDescriptor inverse = forward;
  inverse.type = FftType::kIrfft;
  const std::vector<double> back = Run<double>(inverse, spectrum);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i] / 60, x[i], 1e-9) << i;
}

HILO_TEST_ON_GPUS(GpuFftTest);

}  // namespace
}  // namespace hilo::gpu
