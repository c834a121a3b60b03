// Matrix products by the library: what is refused, and on every device that is there the results.
#include "backends/gpu/lib/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/lib/algorithm_selector.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "hilo/primitive_type.h"
#include "tests/support/gpu_device_test.h"

namespace hilo::gpu {
namespace {

GemmDescriptor Plain(PrimitiveType type, int64_t m, int64_t n, int64_t k) {
  return {.a_type = type, .b_type = type, .d_type = type, .m = m, .n = n, .k = k, .lda = m, .ldb = k, .ldd = m};
}

alignas(16) float memory[64];
const GemmOperands kSome = {.a = memory, .b = memory, .c = memory, .d = memory, .bias = memory};

absl::StatusCode Refusal(const GemmDescriptor& gemm, const GemmOperands& operands = kSome) {
  return CheckGemm(gemm, operands).code();
}

TEST(GemmTest, Refusals) {
  const auto ok = absl::StatusCode::kOk, invalid = absl::StatusCode::kInvalidArgument,
             unimplemented = absl::StatusCode::kUnimplemented;
  const auto with = [](auto change) {
    GemmDescriptor gemm = Plain(F32, 4, 3, 2);
    change(gemm);
    return Refusal(gemm);
  };
  EXPECT_EQ(with([](GemmDescriptor&) {}), ok);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.m = -1; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.batch = 0; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.lda = 3; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.transpose_a = true, g.lda = 2; }), ok);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.ldb = 1; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.transpose_b = true; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.ldd = 3; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.batch = 2, g.stride_d = 11; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.batch = 2, g.stride_d = 12; }), ok);
  // Side by side within the leading dimension.
  EXPECT_EQ(with([](GemmDescriptor& g) { g.batch = 2, g.ldd = 2 * g.m, g.stride_d = g.m; }), ok);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.batch = 2, g.ldd = 2 * g.m, g.stride_d = g.m - 1; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.batch = 3, g.ldd = 2 * g.m, g.stride_d = g.m; }), invalid);
  EXPECT_EQ(with([](GemmDescriptor& g) { g.b_type = F64; }), unimplemented);
  EXPECT_EQ(Refusal(Plain(S16, 4, 4, 4)), unimplemented);
  EXPECT_EQ(Refusal(Plain(F32, 4, 3, 2), {.a = memory, .b = memory}), invalid);
  EXPECT_EQ(Refusal(Plain(F32, 4, 3, 2), {.a = reinterpret_cast<char*>(memory) + 2, .b = memory, .d = memory}),
            invalid);
  EXPECT_EQ(Refusal(Plain(F32, 4, 0, 2), {}), ok);
  GemmDescriptor bytes = Plain(S8, 8, 3, 8);
  bytes.transpose_a = true;
  EXPECT_EQ(Refusal(bytes), unimplemented);
  bytes.d_type = S32;
  EXPECT_EQ(Refusal(bytes), ok);
  for (auto change : {+[](GemmDescriptor& g) { g.transpose_a = false; },
                      +[](GemmDescriptor& g) { g.transpose_b = true; }, +[](GemmDescriptor& g) { g.m = 6; },
                      +[](GemmDescriptor& g) { g.k = 6; }, +[](GemmDescriptor& g) { g.ldb = 9; }}) {
    GemmDescriptor changed = bytes;
    change(changed);
    EXPECT_EQ(Refusal(changed), unimplemented) << changed.ToString();
  }
  EXPECT_EQ(Refusal(bytes, {.a = reinterpret_cast<char*>(memory) + 2, .b = memory, .d = memory}), invalid);
  GemmDescriptor eight = Plain(F8E4M3FN, 16, 16, 16);
  eight.d_type = BF16;
  EXPECT_EQ(Refusal(eight), unimplemented);
  eight.transpose_a = true;
  EXPECT_EQ(Refusal(eight), ok);
  eight.b_type = F8E5M2;
  EXPECT_EQ(Refusal(eight), ok);
  eight.a_type = F8E5M2;
  EXPECT_EQ(Refusal(eight), unimplemented);
  GemmDescriptor wide = Plain(F64, 4, 4, 4);
  wide.has_bias = true;
  EXPECT_EQ(Refusal(wide), unimplemented);
}

// The real library makes its descriptors without a device.
TEST(GemmTest, CublasLtTakesTheDescriptors) {
  for (PrimitiveType type : {F16, BF16, F32, F64, C64, C128}) {
    GemmDescriptor gemm = Plain(type, 8, 8, 8);
    gemm.transpose_b = true;
    gemm.batch = 3;
    gemm.stride_a = gemm.stride_b = gemm.stride_d = 64;
    gemm.has_bias = type == F32;
    const absl::Status status = CheckCublasLtDescriptors(gemm);
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
  }
}

class GpuGemmTest : public GpuDeviceTest {
 protected:
  template <typename T>
  std::vector<T> Run(const GemmDescriptor& gemm, const GemmOperands& operands, size_t count) {
    const LibraryWorkspace workspace{*driver_->Allocate(kGemmWorkspaceBytes), kGemmWorkspaceBytes};
    const absl::Status status = RunGemm(stream_.get(), gemm, operands, workspace);
    EXPECT_TRUE(status.ok()) << status;
    return ToHost(static_cast<const T*>(operands.d), count);
  }
};

// Column-major: A = [1 3; 2 4], B = [5 7; 6 8].
TEST_P(GpuGemmTest, Transposes) {
  float *a = ToDevice<float>({1, 2, 3, 4}), *b = ToDevice<float>({5, 6, 7, 8}), *d = ToDevice<float>({0, 0, 0, 0});
  GemmDescriptor gemm = Plain(F32, 2, 2, 2);
  const GemmOperands operands{.a = a, .b = b, .d = d};
  EXPECT_EQ(Run<float>(gemm, operands, 4), std::vector<float>({23, 34, 31, 46}));
  gemm.transpose_a = true;
  EXPECT_EQ(Run<float>(gemm, operands, 4), std::vector<float>({17, 39, 23, 53}));
  gemm.transpose_b = true;
  EXPECT_EQ(Run<float>(gemm, operands, 4), std::vector<float>({19, 43, 22, 50}));
}

TEST_P(GpuGemmTest, BatchScalesBiasAndRelu) {
  float *a = ToDevice<float>({1, -2, 3, 4}), *b = ToDevice<float>({1, 1}), *d = ToDevice<float>({10, 20, 30, 40}),
        *bias = ToDevice<float>({0.5f, -100});
  const GemmDescriptor gemm = {.m = 2,
                               .n = 1,
                               .k = 1,
                               .lda = 2,
                               .ldb = 1,
                               .ldd = 2,
                               .batch = 2,
                               .stride_a = 2,
                               .stride_b = 1,
                               .stride_d = 2,
                               .alpha = 2,
                               .beta = 1,
                               .has_bias = true,
                               .activation = GemmActivation::kRelu};
  EXPECT_EQ(Run<float>(gemm, {.a = a, .b = b, .c = d, .d = d, .bias = bias}, 4),
            std::vector<float>({12.5f, 0, 36.5f, 0}));
}

TEST_P(GpuGemmTest, SmallFloatsAndIntegers) {
  std::vector<bfloat16> values(64 * 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<bfloat16>(static_cast<float>(i % 7) - 3);
  bfloat16 *a = ToDevice(values), *b = ToDevice(values);
  GemmDescriptor gemm = Plain(BF16, 64, 64, 64);
  gemm.d_type = F32;
  const std::vector<float> result =
      Run<float>(gemm, {.a = a, .b = b, .d = ToDevice(std::vector<float>(64 * 64))}, 64 * 64);
  float expected = 0;
  for (int l = 0; l < 64; ++l)
    expected += static_cast<float>(values[5 + l * 64]) * static_cast<float>(values[l + 9 * 64]);
  EXPECT_EQ(result[5 + 9 * 64], expected);

  std::vector<int8_t> bytes(64 * 64);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int8_t>(i % 251 - 125);
  GemmDescriptor integers = Plain(S8, 64, 64, 64);
  integers.d_type = S32;
  integers.transpose_a = true;
  const std::vector<int32_t> products = Run<int32_t>(
      integers, {.a = ToDevice(bytes), .b = ToDevice(bytes), .d = ToDevice(std::vector<int32_t>(64 * 64))}, 64 * 64);
  int32_t sum = 0;
  for (int l = 0; l < 64; ++l) sum += bytes[l + 5 * 64] * bytes[l + 9 * 64];
  EXPECT_EQ(products[5 + 9 * 64], sum);
}

TEST_P(GpuGemmTest, ComplexAndDouble) {
  complex64 *a = ToDevice<complex64>({{1, 2}}), *b = ToDevice<complex64>({{3, -1}}), *d = ToDevice<complex64>({{0, 0}});
  EXPECT_EQ(Run<complex64>(Plain(C64, 1, 1, 1), {.a = a, .b = b, .d = d}, 1)[0], complex64(5, 5));
  double *x = ToDevice<double>({1, 1e-12}), *y = ToDevice<double>({1, 1}), *z = ToDevice<double>({0});
  EXPECT_EQ(Run<double>(Plain(F64, 1, 1, 2), {.a = x, .b = y, .d = z}, 1)[0], 1 + 1e-12);
}

// Every algorithm that the library offers gives the product.
TEST_P(GpuGemmTest, Algorithms) {
  const LibraryDevice device{.is_emulated = driver_->properties().is_emulated, .driver = driver_.get()};
  const GemmDescriptor gemm = Plain(F32, 64, 64, 64);
  const auto algorithms = GemmAlgorithms(device, gemm, 8);
  ASSERT_TRUE(algorithms.ok()) << algorithms.status();
  ASSERT_FALSE(algorithms->empty());
  std::vector<float> values(64 * 64, 1);
  float *a = ToDevice(values), *b = ToDevice(values), *d = ToDevice(values);
  const LibraryWorkspace workspace{*driver_->Allocate(kGemmWorkspaceBytes), kGemmWorkspaceBytes};
  for (const LibraryAlgorithm& algorithm : *algorithms) {
    EXPECT_LE(algorithm.workspace_bytes, kGemmWorkspaceBytes);
    const absl::Status status = RunGemm(stream_.get(), gemm, {.a = a, .b = b, .d = d}, workspace, algorithm);
    ASSERT_TRUE(status.ok()) << status;
    std::vector<float> result(64 * 64);
    EXPECT_TRUE(stream_->Copy(result.data(), d, 64 * 64 * 4).ok());
    EXPECT_TRUE(stream_->Synchronize().ok());
    EXPECT_EQ(result, std::vector<float>(64 * 64, 64)) << algorithm.code;
    if (algorithm.workspace_bytes == 0) continue;
    EXPECT_EQ(RunGemm(stream_.get(), gemm, {.a = a, .b = b, .d = d}, {workspace.memory, algorithm.workspace_bytes - 1},
                      algorithm)
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
  GemmDescriptor refused = gemm;
  refused.lda = 1;
  EXPECT_EQ(GemmAlgorithms(device, refused, 8).status().code(), absl::StatusCode::kInvalidArgument);
}

// What was tried once is in the file, for this product and this chip; the emulated library's fastest algorithm is the
// second.
TEST(GemmTunerTest, ChoosesTheFastestAndKeepsIt) {
  auto driver = OpenGpuDriver(kEmulatedPlatform, 0);
  ASSERT_TRUE(driver.ok());
  const LibraryDevice device{.is_emulated = true, .driver = driver->get()};
  const std::string file = testing::TempDir() + "/hilo_gemm_tuner_test.txt";
  std::ofstream(file) << "not a line of ours\nemulated sm_90\temulated\t" << Plain(F32, 8, 8, 8).ToString()
                      << "\t02\t0\n";
  AlgorithmSelector tuned(device, file);
  EXPECT_EQ(tuned.Select(GemmWork(device, Plain(F32, 16, 16, 16)))->code, "01");
  EXPECT_EQ(tuned.Select(GemmWork(device, Plain(F32, 8, 8, 8)))->code, "02");  // as the file says
  const auto refused = tuned.Select(GemmWork(device, Plain(S16, 16, 16, 16)));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  std::ifstream written(file);
  std::string text((std::istreambuf_iterator<char>(written)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(absl::EndsWith(
      text, absl::StrCat("emulated sm_90\temulated\t", Plain(F32, 16, 16, 16).ToString(), "\t01\t65536\n")))
      << text;
  // Another process reads it; without a file the library's first choice counts.
  EXPECT_EQ(AlgorithmSelector(device, file).Select(GemmWork(device, Plain(F32, 16, 16, 16)))->code, "01");
  EXPECT_EQ(AlgorithmSelector(device, "").Select(GemmWork(device, Plain(F32, 16, 16, 16)))->code, "00");
  std::remove(file.c_str());
}

// Those that fail when they run are passed over; if all fail, the error is the last one's.
TEST(GemmTunerTest, SkipsCandidatesThatFail) {
  auto driver = OpenGpuDriver(kEmulatedPlatform, 0);
  ASSERT_TRUE(driver.ok());
  const LibraryDevice device{.is_emulated = true, .driver = driver->get()};
  LibraryWork work = GemmWork(device, Plain(F32, 16, 16, 16));
  const auto run = work.run;
  work.run = [&](GpuStream* stream, absl::Span<void* const> arrays, const LibraryWorkspace& workspace,
                 const LibraryAlgorithm& algorithm) {
    return algorithm.code != "01" ? absl::InternalError("not this one") : run(stream, arrays, workspace, algorithm);
  };
  const auto best = FindFastest(**driver, work);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(best->code, "01");
  work.run = [](GpuStream*, absl::Span<void* const>, const LibraryWorkspace&, const LibraryAlgorithm&) {
    return absl::InternalError("none");
  };
  EXPECT_EQ(FindFastest(**driver, work).status().code(), absl::StatusCode::kInternal);
}

HILO_TEST_ON_GPUS(GpuGemmTest);

}  // namespace
}  // namespace hilo::gpu
