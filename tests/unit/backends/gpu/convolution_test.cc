// Convolutions by the library: what is refused, what the real library says of the same descriptors, and on every device
// that is there the results.
#include "backends/gpu/lib/convolution.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "backends/gpu/lib/cuda_libraries.h"
#include "hilo/primitive_type.h"
#include "tests/support/gpu_device_test.h"

namespace hilo::gpu {
namespace {

// 3 x 3 over 6 x 5, padded by one.
ConvolutionDescriptor Same(PrimitiveType type = F32) {
  return {.type = type,
          .result_type = type,
          .images = 2,
          .in_features = 16,
          .out_features = 8,
          .in = {6, 5},
          .taps = {3, 3},
          .out = {6, 5},
          .strides = {1, 1},
          .dilations = {1, 1},
          .padding_low = {1, 1},
          .padding_high = {1, 1}};
}

template <typename Change>
ConvolutionDescriptor With(Change change) {
  ConvolutionDescriptor convolution = Same();
  change(convolution);
  return convolution;
}

using Descriptors = std::vector<ConvolutionDescriptor>;

Descriptors Good() {
  Descriptors good;
  for (PrimitiveType type : {F16, BF16, F32, F64}) {
    for (ConvolutionKind kind :
         {ConvolutionKind::kForward, ConvolutionKind::kBackwardInput, ConvolutionKind::kBackwardFilter}) {
      for (bool features_last : {false, true}) {
        ConvolutionDescriptor convolution = Same(type);
        convolution.kind = kind;
        convolution.features_last = features_last;
        good.push_back(convolution);
        convolution.strides = {2, 3};
        convolution.out = {3, 2};
        good.push_back(convolution);
        convolution.groups = 4;
        good.push_back(convolution);
      }
    }
  }
  using C = ConvolutionDescriptor;
  good.push_back(With([](C& c) { c.dilations = {2, 1}, c.out = {4, 5}; }));
  good.push_back(With([](C& c) { c.is_reversed = true; }));
  good.push_back(With([](C& c) { c.padding_low = {0, 2}, c.padding_high = {2, 0}; }));
  good.push_back(With([](C& c) { c.groups = 8; }));
  good.push_back(With([](C& c) { c.type = BF16; }));
  good.push_back(With([](C& c) {
    c.in = {4, 5, 6}, c.taps = {2, 3, 1}, c.out = {3, 3, 6};
    c.strides = c.dilations = {1, 1, 1};
    c.padding_low = c.padding_high = {0, 0, 0};
  }));
  for (PrimitiveType type : {F16, BF16, F32}) {
    ConvolutionDescriptor convolution = Same(type);
    convolution.features_last = true;
    convolution.has_bias = true;
    good.push_back(convolution);
    convolution.activation = ConvolutionActivation::kRelu;
    good.push_back(convolution);
    convolution.has_residual = true;
    convolution.activation = ConvolutionActivation::kRelu6;
    good.push_back(convolution);
  }
  return good;
}

// What the library refuses when it is asked for an operation. The rest of CheckConvolution's rules are about engines.
Descriptors Bad() {
  using C = ConvolutionDescriptor;
  return {With([](C& c) { c.out = {5, 5}; }),
          With([](C& c) { c.out = {6, 6}; }),
          With([](C& c) { c.padding_high = {0, 1}; }),
          With([](C& c) { c.strides = {0, 1}; }),
          With([](C& c) { c.dilations = {1, 0}; }),
          With([](C& c) { c.padding_low = {-1, 1}; }),
          With([](C& c) { c.groups = 3; }),
          With([](C& c) { c.groups = 16; }),
          With([](C& c) { c.images = 0; }),
          With([](C& c) { c.taps = {9, 9}; }),
          With([](C& c) { c.in_features = 0; }),
          With([](C& c) { c.strides = {1}; }),
          With([](C& c) { c.kind = ConvolutionKind::kBackwardInput, c.out = {4, 5}; }),
          With([](C& c) { c.kind = ConvolutionKind::kBackwardFilter, c.out = {6, 4}; })};
}

TEST(ConvolutionTest, Checks) {
  for (const ConvolutionDescriptor& convolution : Good()) EXPECT_EQ(CheckConvolution(convolution), absl::OkStatus());
  for (const ConvolutionDescriptor& convolution : Bad())
    EXPECT_EQ(CheckConvolution(convolution).code(), absl::StatusCode::kInvalidArgument) << convolution.ToString();
  using C = ConvolutionDescriptor;
  const auto code = [](auto change) { return CheckConvolution(With(change)).code(); };
  const auto unimplemented = absl::StatusCode::kUnimplemented;
  EXPECT_EQ(code([](C& c) { c.type = c.result_type = S8; }), unimplemented);
  EXPECT_EQ(code([](C& c) { c.result_type = BF16; }), unimplemented);
  EXPECT_EQ(
      code([](C& c) { c.in = c.taps = c.out = c.strides = c.dilations = {1}, c.padding_low = c.padding_high = {0}; }),
      unimplemented);
  EXPECT_EQ(code([](C& c) { c.images = int64_t{1} << 31; }), unimplemented);
  EXPECT_EQ(code([](C& c) { c.padding_low = {int64_t{1} << 31, 1}; }), unimplemented);
  EXPECT_EQ(code([](C& c) { c.kind = ConvolutionKind::kBackwardInput, c.has_bias = true; }), unimplemented);
  EXPECT_EQ(code([](C& c) { c.type = c.result_type = F64, c.has_bias = true; }), unimplemented);
  EXPECT_EQ(code([](C& c) { c.type = c.result_type = F16, c.in_features = 12, c.has_bias = true; }), unimplemented);

  alignas(16) char memory[64];
  const auto refusal = [&](const ConvolutionOperands& operands) {
    return CheckConvolution(With([](C& c) { c.has_bias = true; }), operands).code();
  };
  EXPECT_EQ(refusal({.lhs = memory, .rhs = memory, .result = memory, .bias = memory}), absl::StatusCode::kOk);
  EXPECT_EQ(refusal({.lhs = memory, .rhs = memory, .result = memory}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.lhs = memory + 4, .rhs = memory, .result = memory, .bias = memory}),
            absl::StatusCode::kInvalidArgument);
}

// The real library makes its descriptors without a device, and finds the same faults.
TEST(ConvolutionTest, CudnnTakesTheDescriptors) {
  if (const absl::Status status = CheckCudnnConvolution(Same()); absl::IsUnavailable(status)) GTEST_SKIP() << status;
  for (const ConvolutionDescriptor& convolution : Good())
    EXPECT_EQ(CheckCudnnConvolution(convolution), absl::OkStatus()) << convolution.ToString();
  for (const ConvolutionDescriptor& convolution : Bad())
    EXPECT_FALSE(CheckCudnnConvolution(convolution).ok()) << convolution.ToString();
}

class GpuConvolutionTest : public GpuDeviceTest {
 protected:
  // By every algorithm that the library offers; skipped where it has none.
  template <typename T>
  std::vector<T> Run(const ConvolutionDescriptor& convolution, ConvolutionOperands operands) {
    const auto algorithms = ConvolutionAlgorithms(device_, convolution, 8);
    EXPECT_TRUE(algorithms.ok()) << algorithms.status();
    std::vector<T> result, first;
    for (const LibraryAlgorithm& algorithm : algorithms.ok() ? *algorithms : std::vector<LibraryAlgorithm>()) {
      result.assign(static_cast<size_t>(convolution.ElementsOfResult()), T(-1));
      operands.result = ToDevice(result);
      const LibraryWorkspace workspace{*driver_->Allocate(algorithm.workspace_bytes), algorithm.workspace_bytes};
      const absl::Status status = RunConvolution(stream_.get(), convolution, operands, workspace, algorithm);
      EXPECT_TRUE(status.ok()) << status;
      result = ToHost(static_cast<const T*>(operands.result), result.size());
      if (first.empty()) first = result;
      EXPECT_EQ(result, first) << algorithm.code;
    }
    return first;
  }
};

// One image of 2 x 3, one feature, a window of 1 x 2 with stride 1 and one column of padding before.
ConvolutionDescriptor Tiny(ConvolutionKind kind) {
  return {.kind = kind,
          .in = {2, 3},
          .taps = {1, 2},
          .out = {2, 3},
          .strides = {1, 1},
          .dilations = {1, 1},
          .padding_low = {0, 1},
          .padding_high = {0, 0}};
}

TEST_P(GpuConvolutionTest, ThreeKinds) {
  float *x = ToDevice<float>({1, 2, 3, 4, 5, 6}), *w = ToDevice<float>({10, 1}),
        *y = ToDevice<float>({1, 0, 2, 0, 1, 1});
  EXPECT_EQ(Run<float>(Tiny(ConvolutionKind::kForward), {.lhs = x, .rhs = w}),
            std::vector<float>({1, 12, 23, 4, 45, 56}));
  EXPECT_EQ(Run<float>(Tiny(ConvolutionKind::kBackwardInput), {.lhs = y, .rhs = w}),
            std::vector<float>({1, 20, 2, 10, 11, 1}));
  EXPECT_EQ(Run<float>(Tiny(ConvolutionKind::kBackwardFilter), {.lhs = x, .rhs = y}), std::vector<float>({13, 18}));
  ConvolutionDescriptor reversed = Tiny(ConvolutionKind::kForward);
  reversed.is_reversed = true;
  EXPECT_EQ(Run<float>(reversed, {.lhs = x, .rhs = w}), std::vector<float>({10, 21, 32, 40, 54, 65}));
}

// Residual, then bias, then the activation; in both orders of dimensions.
TEST_P(GpuConvolutionTest, Epilogue) {
  ConvolutionDescriptor convolution = Tiny(ConvolutionKind::kForward);
  convolution.in = convolution.out = {1, 2};
  convolution.taps = {1, 1};
  convolution.padding_low = {0, 0};
  convolution.out_features = 2;
  convolution.has_residual = convolution.has_bias = true;
  convolution.activation = ConvolutionActivation::kRelu6;
  float *x = ToDevice<float>({1, 2}), *w = ToDevice<float>({1, -1}), *residual = ToDevice<float>({0, 5, 10, 0}),
        *bias = ToDevice<float>({0.5f, -1});
  const ConvolutionOperands operands{.lhs = x, .rhs = w, .residual = residual, .bias = bias};
  EXPECT_EQ(Run<float>(convolution, operands),
            std::vector<float>({1.5f, 6, 6, 0}));  // 1 + 0 + 0.5, 2 + 5 + 0.5, -1 + 10 - 1, -2 + 0 - 1
  convolution.features_last = true;
  EXPECT_EQ(Run<float>(convolution, operands),
            std::vector<float>({1.5f, 3, 6, 0}));  // 1 + 0 + 0.5, -1 + 5 - 1, 2 + 10 + 0.5, -2 + 0 - 1
}

TEST_P(GpuConvolutionTest, Refusals) {
  float* x = ToDevice<float>({1, 2, 3, 4, 5, 6});
  const ConvolutionDescriptor convolution = Tiny(ConvolutionKind::kForward);
  const ConvolutionOperands operands{.lhs = x, .rhs = x, .result = x};
  EXPECT_EQ(RunConvolution(stream_.get(), convolution, operands, {}, {.code = "e0", .workspace_bytes = 1}).code(),
            absl::StatusCode::kInvalidArgument);
  absl::Status status = RunConvolution(stream_.get(), convolution, operands, {}, {.code = "no such"});
  if (status.ok()) status = stream_->Synchronize();
  EXPECT_FALSE(status.ok());
}

// The emulated library's fastest algorithm is the second.
TEST(ConvolutionTunerTest, ChoosesTheFastestAndKeepsIt) {
  auto driver = OpenGpuDriver(kEmulatedPlatform, 0);
  ASSERT_TRUE(driver.ok());
  const LibraryDevice device{.is_emulated = true, .driver = driver->get()};
  const std::string file = testing::TempDir() + "/hilo_convolution_tuner_test.txt";
  std::remove(file.c_str());
  EXPECT_EQ(AlgorithmSelector(device, file).Select(ConvolutionWork(device, Same()))->code, "e1");
  std::ifstream written(file);
  const std::string text((std::istreambuf_iterator<char>(written)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, "emulated sm_90\temulated\t" + Same().ToString() + "\te1\t0\n");
  EXPECT_EQ(AlgorithmSelector(device, "").Select(ConvolutionWork(device, Same()))->code, "e0");
  std::remove(file.c_str());
}

HILO_TEST_ON_GPUS(GpuConvolutionTest);

}  // namespace
}  // namespace hilo::gpu
