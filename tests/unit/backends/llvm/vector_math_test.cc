// Every function at every width against the C library in the next wider precision: arguments over all exponents, over
// the ranges where functions bend, around multiples of pi / 2, and the values that are special. All widths must agree
// bit for bit. HILO_PRINT_ULPS=1 prints the errors. (tests/accuracy measures whole programs and keeps
// docs/numerics.md.)
#include "backends/llvm/math/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "backends/llvm/math/math_functions.h"
#include "tests/support/math_kernel.h"

namespace hilo::codegen {
namespace {

// Largest error allowed, in ULP, about twice the measured one and at most 4.
struct Limit {
  HloOpcode function;
  double f32;
  double f64;
};

constexpr Limit kLimits[] = {
    {HloOpcode::kAcos, 2, 2.5},
    {HloOpcode::kAcosh, 3.5, 3.5},
    {HloOpcode::kAsin, 4, 4},
    {HloOpcode::kAsinh, 3, 3},
    {HloOpcode::kAtanh, 4, 3.5},
    {HloOpcode::kCbrt, 2, 2.5},
    {HloOpcode::kCeil, 0, 0},
    {HloOpcode::kCos, 4, 4},
    {HloOpcode::kCosh, 3, 3},
    {HloOpcode::kErf, 3.5, 4},
    {HloOpcode::kExp, 2, 2},
    {HloOpcode::kExpm1, 3.5, 3.5},
    {HloOpcode::kFloor, 0, 0},
    {HloOpcode::kLog, 1.5, 1.5},
    {HloOpcode::kLog1p, 2.5, 1.5},
    {HloOpcode::kLogistic, 4, 4},
    {HloOpcode::kRoundNearestAfz, 0, 0},
    {HloOpcode::kRoundNearestEven, 0, 0},
    {HloOpcode::kRsqrt, 3, 3},
    {HloOpcode::kSign, 0, 0},
    {HloOpcode::kSin, 4, 3.5},
    {HloOpcode::kSinh, 4, 4},
    {HloOpcode::kSqrt, 0.5, 0.5},
    {HloOpcode::kTan, 4, 4},
    {HloOpcode::kTanh, 4, 4},
    {HloOpcode::kAtan2, 3.5, 4},
    {HloOpcode::kPower, 1, 1},
    {HloOpcode::kRemainder, 0, 0},
};
consteval bool EachHasALimit() {
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (IsMathFunction(opcode) && std::none_of(std::begin(kLimits), std::end(kLimits),
                                               [&](const Limit& limit) { return limit.function == opcode; }))
      return false;
  }
  return true;
}
static_assert(EachHasALimit());

template <typename Wide>
Wide Reference(HloOpcode function, Wide x, Wide y) {
  switch (function) {
    case HloOpcode::kAcos: return std::acos(x);
    case HloOpcode::kAcosh: return std::acosh(x);
    case HloOpcode::kAsin: return std::asin(x);
    case HloOpcode::kAsinh: return std::asinh(x);
    case HloOpcode::kAtanh: return std::atanh(x);
    case HloOpcode::kCbrt: return std::cbrt(x);
    case HloOpcode::kCeil: return std::ceil(x);
    case HloOpcode::kCos: return std::cos(x);
    case HloOpcode::kCosh: return std::cosh(x);
    case HloOpcode::kErf: return std::erf(x);
    case HloOpcode::kExp: return std::exp(x);
    case HloOpcode::kExpm1: return std::expm1(x);
    case HloOpcode::kFloor: return std::floor(x);
    case HloOpcode::kLog: return std::log(x);
    case HloOpcode::kLog1p: return std::log1p(x);
    case HloOpcode::kLogistic: return 1 / (1 + std::exp(-x));
    case HloOpcode::kRoundNearestAfz: return std::round(x);
    case HloOpcode::kRoundNearestEven: return std::nearbyint(x);
    case HloOpcode::kRsqrt: return 1 / std::sqrt(x);
    case HloOpcode::kSign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case HloOpcode::kSin: return std::sin(x);
    case HloOpcode::kSinh: return std::sinh(x);
    case HloOpcode::kSqrt: return std::sqrt(x);
    case HloOpcode::kTan: return std::tan(x);
    case HloOpcode::kTanh: return std::tanh(x);
    case HloOpcode::kAtan2: return std::atan2(x, y);
    case HloOpcode::kPower: return std::pow(x, y);
    case HloOpcode::kRemainder: return std::fmod(x, y);
    default: return 0;
  }
}

// The distance in units of the last place of the exact value; infinite where NaN, infinities or the signs of zeros
// differ.
template <typename T, typename Wide>
double UlpError(T got, Wide exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : kWrong;
  const T nearest = static_cast<T>(exact);
  if (std::bit_cast<std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>(got) ==
      std::bit_cast<std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>(nearest)) {
    return exact == 0 || std::isinf(exact) || std::isinf(got)
               ? 0
               : static_cast<double>(
                     std::fabs(static_cast<Wide>(got) - exact) /
                     std::ldexp(Wide{1}, std::max(std::ilogb(exact), Limits::min_exponent - 1) - (Limits::digits - 1)));
  }
  if (std::isinf(exact) || exact == 0 || std::signbit(got) != std::signbit(exact)) return kWrong;
  const Wide top = std::ldexp(Wide{1}, Limits::max_exponent - 1) * 2;  // what infinity stands for
  const Wide value = std::isinf(got) ? std::copysign(top, static_cast<Wide>(got)) : static_cast<Wide>(got);
  const int exponent = std::clamp(std::ilogb(exact), Limits::min_exponent - 1, Limits::max_exponent - 1);
  return static_cast<double>(std::fabs(value - exact) / std::ldexp(Wide{1}, exponent - (Limits::digits - 1)));
}

template <typename T>
std::vector<T> Specials() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           T(0.5),
                           T(0.25),
                           T(1.5),
                           T(2.5),
                           10,
                           100,
                           127,
                           128,
                           1000,
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::min(),
                           Limits::denorm_min(),
                           Limits::max(),
                           Limits::epsilon(),
                           Limits::min() / 2,
                           T(88.72283),
                           T(88.7229),
                           T(89.41598),
                           T(89.4160),
                           T(103.97),
                           T(104),
                           T(709.782712893384),
                           T(709.7827128933841),
                           T(745.13),
                           T(745.14),
                           T(710.4758600739439),
                           T(0x1p22),
                           T(0x1p23),
                           T(0x1p24),
                           T(0x1p16),
                           T(0x1p30),
                           T(0x1p52),
                           T(1e22),
                           T(16777215)};
  for (size_t i = 0, n = values.size(); i < n; ++i) {
    values.push_back(std::nextafter(values[i], Limits::infinity()));
    values.push_back(std::nextafter(values[i], T(0)));
  }
  for (size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  return values;
}

template <typename T>
std::vector<T> Arguments(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values = Specials<T>();
  const auto uniform = [&](double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(random));
  };
  for (int k = -2000; k <= 2000; ++k) values.push_back(static_cast<T>(k * 1.5707963267948966L));
  while (values.size() < count) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    values.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    values.push_back(uniform(-1.1, 1.1));
    values.push_back(uniform(-10, 10));
    values.push_back(uniform(0.5, 2));
    values.push_back(sizeof(T) == 8 ? uniform(-760, 760) : uniform(-110, 110));
    values.push_back(uniform(-1e5, 1e5));
    values.push_back(static_cast<T>(std::ldexp(uniform(-1, 1), static_cast<int>(random() % 80) - 50)));
    values.push_back(T(1) + static_cast<T>(std::ldexp(uniform(-1, 1), -static_cast<int>(random() % 40))));
  }
  values.resize(count);
  return values;
}

// Second operands: such as make the functions interesting, then anything.
template <typename T>
std::vector<T> SecondArguments(const std::vector<T>& x, unsigned seed) {
  std::vector<T> y = Arguments<T>(x.size(), seed);
  std::mt19937_64 random(seed + 1);
  const std::vector<T> special = Specials<T>();
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 4 == 0) y[i] = special[random() % special.size()];
    if (i % 4 == 1) y[i] = static_cast<T>(static_cast<int>(random() % 41) - 20);
    if (i % 4 == 2) y[i] = x[i] * static_cast<T>(std::uniform_real_distribution<double>(0.001, 1.5)(random));
  }
  return y;
}

template <typename T>
std::vector<T> RunKernel(HostJit& jit, HloOpcode function, int width, const std::vector<T>& x,
                         const std::vector<T>& y) {
  std::vector<HostModule> modules;
  absl::StatusOr<HostModule> module =
      BuildMathKernel(jit, {.function = function, .f64 = sizeof(T) == 8, .width = width});
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  modules.push_back(*std::move(module));
  absl::StatusOr<std::unique_ptr<CompiledCode>> code = jit.CompileModules(std::move(modules));
  EXPECT_TRUE(code.ok()) << code.status();
  if (!code.ok()) return {};
  std::vector<T> out(x.size());
  (*code)->template LookupFunction<MathKernel>("math_kernel")(x.data(), y.data(), out.data(),
                                                              static_cast<int64_t>(x.size()));
  return out;
}

// The worst error of `function` over all arguments, the kernels of all widths having agreed.
template <typename T, typename Wide>
double MeasureUlps(HostJit& jit, HloOpcode function, std::initializer_list<int> widths, size_t count,
                   std::string* worst) {
  const std::vector<T> x = Arguments<T>(count, 1);
  const std::vector<T> y = SecondArguments<T>(x, 2);
  const std::vector<T> got = RunKernel<T>(jit, function, *widths.begin(), x, y);
  if (got.empty()) return std::numeric_limits<double>::infinity();
  for (int width : widths) {
    if (width == *widths.begin()) continue;
    const std::vector<T> other = RunKernel<T>(jit, function, width, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      const bool same = std::memcmp(&got[i], &other[i], sizeof(T)) == 0 || (std::isnan(got[i]) && std::isnan(other[i]));
      EXPECT_TRUE(same) << HloOpcodeString(function).data() << " at width " << width << " of " << x[i] << ", " << y[i]
                        << ": " << other[i] << ", and " << got[i] << " at width " << *widths.begin();
      if (!same) break;
    }
  }
  double max = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Wide exact = Reference<Wide>(function, x[i], y[i]);
    const double ulps = UlpError<T, Wide>(got[i], exact);
    if (ulps > max) {
      max = ulps;
      char text[200];
      snprintf(text, sizeof text, "%a, %a: expected %La, came %a", static_cast<double>(x[i]), static_cast<double>(y[i]),
               static_cast<long double>(exact), static_cast<double>(got[i]));
      *worst = text;
    }
  }
  return max;
}

class VectorMathTest : public ::testing::TestWithParam<Limit> {
 protected:
  void Check(const char* cpu, size_t count) {
    absl::StatusOr<std::unique_ptr<HostJit>> jit = HostJit::Create({.cpu = cpu});
    ASSERT_TRUE(jit.ok()) << jit.status();
    if (!CheckRunsOnHost((*jit)->cpu()).ok()) GTEST_SKIP() << "this machine cannot run code for " << cpu;
    const Limit limit = GetParam();
    std::string worst32, worst64;
    const double f32 = MeasureUlps<float, double>(**jit, limit.function, {1, 8, 16}, count, &worst32);
    const double f64 = MeasureUlps<double, long double>(**jit, limit.function, {1, 2, 4, 8, 16}, count, &worst64);
    if (getenv("HILO_PRINT_ULPS") != nullptr)
      printf("| %s | %.2f | %.2f |\n", HloOpcodeString(limit.function).data(), f32, f64);
    EXPECT_LE(f32, limit.f32) << worst32;
    EXPECT_LE(f64, limit.f64) << worst64;
  }
};

TEST_P(VectorMathTest, HostCpu) { Check("", 200000); }
// Without fused multiply-add, and without AVX-512.
TEST_P(VectorMathTest, BaselineCpu) { Check("x86-64", 50000); }
TEST_P(VectorMathTest, Avx2Cpu) { Check("x86-64-v3", 50000); }

// All instruction sets with fused multiply-add give the same bits.
template <typename T>
void ExpectSameBits(HostJit& a, HostJit& b, HloOpcode function) {
  const std::vector<T> x = Arguments<T>(50000, 1), y = SecondArguments<T>(x, 2);
  const std::vector<T> of_a = RunKernel<T>(a, function, 8, x, y), of_b = RunKernel<T>(b, function, 8, x, y);
  ASSERT_EQ(of_a.size(), x.size());
  ASSERT_EQ(of_b.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const bool same = std::memcmp(&of_a[i], &of_b[i], sizeof(T)) == 0 || (std::isnan(of_a[i]) && std::isnan(of_b[i]));
    ASSERT_TRUE(same) << x[i] << ", " << y[i] << ": " << of_a[i] << " and " << of_b[i];
  }
}

TEST_P(VectorMathTest, SameBitsOnHostAndAvx2) {
  const auto host = HostJit::Create({}), avx2 = HostJit::Create({.cpu = "x86-64-v3"});
  ASSERT_TRUE(host.ok() && avx2.ok());
  if (!CheckRunsOnHost((*avx2)->cpu()).ok()) GTEST_SKIP() << "this machine has no AVX2";
  ExpectSameBits<float>(**host, **avx2, GetParam().function);
  ExpectSameBits<double>(**host, **avx2, GetParam().function);
}

// Of (1 - 2^-52) 4^k the result lies 2^-105 of its size from the middle of two numbers: bits differed there.
TEST(VectorMath, RsqrtOfF64RoundsCorrectly) {
  const auto jit = HostJit::Create({});
  ASSERT_TRUE(jit.ok()) << jit.status();
  const auto avx2 = HostJit::Create({.cpu = "x86-64-v3"});
  if (!avx2.ok() || !CheckRunsOnHost((*avx2)->cpu()).ok()) GTEST_SKIP() << "this machine has no fused multiply-add";
  std::vector<double> close, nearest;
  for (int k = -508; k < 508; ++k) {  // a multiple of the width
    close.push_back(std::ldexp(1 - 0x1p-52, 2 * k));
    nearest.push_back(std::ldexp(1 + 0x1p-52, -k));
  }
  for (HostJit* one : {jit->get(), avx2->get()}) {
    EXPECT_EQ(RunKernel<double>(*one, HloOpcode::kRsqrt, 8, close, close), nearest);
  }
  std::string worst;
  // The reference is in long double and has an error of up to 2^-11 of these units itself.
  const double ulps = MeasureUlps<double, long double>(**jit, HloOpcode::kRsqrt, {8}, 200000, &worst);
  EXPECT_LE(ulps, 0.5 + 0x1p-10) << worst;
}

std::string FunctionName(const ::testing::TestParamInfo<Limit>& info) {
  std::string name(HloOpcodeString(info.param.function).data());
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Functions, VectorMathTest, ::testing::ValuesIn(kLimits), FunctionName);

}  // namespace
}  // namespace hilo::codegen
