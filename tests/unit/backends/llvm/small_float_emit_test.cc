// The emitted conversions against shape/number_types: every pattern of every format to f32, and f32 values over all
// exponents, at and around every tie, back.
#include "backends/llvm/elements/small_float_emit.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/math_kernel.h"

namespace hilo::codegen {
namespace {

struct NamedFormat {
  const char* name;
  FloatFormat format;
};

constexpr NamedFormat kFormats[] = {
    {"f16", half::format},
    {"bf16", bfloat16::format},
    {"f8e5m2", f8e5m2::format},
    {"f8e4m3", f8e4m3::format},
    {"f8e3m4", f8e3m4::format},
    {"f8e4m3fn", f8e4m3fn::format},
    {"f8e4m3b11fnuz", f8e4m3b11fnuz::format},
    {"f8e4m3fnuz", f8e4m3fnuz::format},
    {"f8e5m2fnuz", f8e5m2fnuz::format},
    {"f8e8m0fnu", f8e8m0fnu::format},
    {"f4e2m1fn", f4e2m1fn::format},
};

int BitsOf(const FloatFormat& f) {
  return f.specials == FloatSpecials::kScale ? 8 : 1 + f.exponent_bits + f.mantissa_bits;
}

class SmallFloatEmitTest : public ::testing::TestWithParam<std::tuple<NamedFormat, int, const char*>> {
 protected:
  const FloatFormat& format() const { return std::get<0>(GetParam()).format; }

  // Null, with a failure recorded, when the kernel cannot be made.
  std::unique_ptr<CompiledCode> Compile(bool to_f32) {
    absl::StatusOr<std::unique_ptr<HostJit>> jit = HostJit::Create({.cpu = std::get<2>(GetParam())});
    if (!jit.ok()) return ADD_FAILURE() << jit.status(), nullptr;
    absl::StatusOr<HostModule> module = BuildConversionKernel(**jit, format(), to_f32, std::get<1>(GetParam()));
    if (!module.ok()) return ADD_FAILURE() << module.status(), nullptr;
    std::vector<HostModule> modules;
    modules.push_back(*std::move(module));
    absl::StatusOr<std::unique_ptr<CompiledCode>> code = (*jit)->CompileModules(std::move(modules));
    if (!code.ok()) return ADD_FAILURE() << code.status(), nullptr;
    return *std::move(code);
  }
};

TEST_P(SmallFloatEmitTest, ToF32) {
  const std::unique_ptr<CompiledCode> code = Compile(/*to_f32=*/true);
  ASSERT_NE(code, nullptr);
  const int bits = BitsOf(format());
  const size_t count = std::max<size_t>(16, size_t{1} << bits);
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<uint8_t>(i & ((1u << bits) - 1)));
    if (bits > 8) bytes.push_back(static_cast<uint8_t>(i >> 8));
  }
  std::vector<float> got(count);
  code->LookupFunction<MathKernel>("math_kernel")(bytes.data(), nullptr, got.data(), static_cast<int64_t>(count));
  for (uint32_t i = 0; i < count; ++i) {
    const float expected = DecodeFloat(format(), i & ((1u << bits) - 1));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
}

TEST_P(SmallFloatEmitTest, FromF32) {
  const std::unique_ptr<CompiledCode> code = Compile(/*to_f32=*/false);
  ASSERT_NE(code, nullptr);
  using Limits = std::numeric_limits<float>;
  std::vector<float> x = {0.0f,
                          Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::max(),
                          Limits::denorm_min(),
                          Limits::min(),
                          1e30f,
                          std::bit_cast<float>(0x7f800001u),
                          std::bit_cast<float>(0x7fffffffu)};
  const int bits = BitsOf(format());
  for (uint32_t i = 0; i + 1 < (1u << bits) && i < 65536; ++i) {
    const float a = DecodeFloat(format(), i), tie = (a + DecodeFloat(format(), i + 1)) / 2;
    for (float value : {a, tie, std::nextafter(tie, 0.0f), std::nextafter(tie, Limits::infinity())}) x.push_back(value);
  }
  std::mt19937 random(3);
  while (x.size() < 400000) x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
  x.resize(x.size() / 16 * 16);

  std::vector<uint16_t> got(x.size());
  code->LookupFunction<MathKernel>("math_kernel")(x.data(), nullptr, got.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const uint32_t value = bits > 8 ? got[i] : reinterpret_cast<const uint8_t*>(got.data())[i];
    ASSERT_EQ(value, EncodeFloat(format(), x[i])) << std::hexfloat << x[i];
  }
}

std::string TestName(const ::testing::TestParamInfo<std::tuple<NamedFormat, int, const char*>>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::to_string(std::get<1>(info.param)) + "_" +
         std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Formats, SmallFloatEmitTest,
                         ::testing::Combine(::testing::ValuesIn(kFormats), ::testing::Values(1, 16),
                                            ::testing::Values("", "x86-64")),
                         TestName);

}  // namespace
}  // namespace hilo::codegen
