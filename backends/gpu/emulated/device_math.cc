// After LLVM's pipeline some thirty intrinsics of libdevice remain: arithmetic with a rounding mode, approximations,
// and decompositions of doubles. Modes other than to-nearest are set around the operation; nothing else in this process
// runs on this thread meanwhile.
#include "backends/gpu/emulated/device_math.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hilo::gpu {
namespace {

// ---- rounding ---------------------------------------------------------------------------------------------------

enum class Operation { kAdd, kMul, kFma, kDiv, kSqrt, kRcp };

// Hidden from the optimizer, which assumes the default mode.
template <typename T>
[[gnu::noinline]] T Compute(Operation operation, T a, T b, T c) {
  volatile T x = a, y = b, result;
  switch (operation) {
    case Operation::kAdd: result = x + y; break;
    case Operation::kMul: result = x * y; break;
    case Operation::kFma: result = std::fma(static_cast<T>(x), static_cast<T>(y), c); break;
    case Operation::kDiv: result = x / y; break;
    case Operation::kSqrt: result = std::sqrt(static_cast<T>(x)); break;
    case Operation::kRcp: result = T(1) / x; break;
  }
  return result;
}

template <typename T>
T Rounded(Operation operation, int mode, T a, T b = 0, T c = 0) {
  if (mode == FE_TONEAREST) return Compute(operation, a, b, c);
  const int before = std::fegetround();
  std::fesetround(mode);
  const T result = Compute(operation, a, b, c);
  std::fesetround(before);
  return result;
}

template <typename T, Operation operation, int mode>
T Unary(T a) {
  return Rounded<T>(operation, mode, a);
}
template <typename T, Operation operation, int mode>
T Binary(T a, T b) {
  return Rounded<T>(operation, mode, a, b);
}
template <typename T, int mode>
T Fma(T a, T b, T c) {
  return Rounded<T>(Operation::kFma, mode, a, b, c);
}

// ---- one by one -------------------------------------------------------------------------------------------------

float Flushed(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }
float Exp2(float x) { return std::exp2(x); }
float Exp2Flushed(float x) { return Flushed(std::exp2(Flushed(x))); }
float Log2(float x) { return std::log2(x); }
float Log2Flushed(float x) { return std::log2(Flushed(x)); }
template <typename T>
T Rsqrt(T x) {
  return T(1) / std::sqrt(x);
}
float RcpFlushed(float x) { return Flushed(1.0f / Flushed(x)); }
template <typename T>
T Sin(T x) {
  return std::sin(x);
}
template <typename T>
T Cos(T x) {
  return std::cos(x);
}
float Tanh(float x) { return std::tanh(x); }
template <typename T>
T Abs(T x) {
  return std::fabs(x);
}
// Rounds half to even in any `mode`, by the default environment.
template <typename T>
T RoundEven(T x) {
  return std::nearbyint(x);
}
template <typename T>
T Trunc(T x) {
  return std::trunc(x);
}
template <typename T>
T Floor(T x) {
  return std::floor(x);
}
template <typename T>
T Ceil(T x) {
  return std::ceil(x);
}
template <typename T>
T Min(T x, T y) {
  return std::fmin(x, y);
}
template <typename T>
T Max(T x, T y) {
  return std::fmax(x, y);
}
float Saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// Conversions saturate, and NaN is 0.
template <typename To, typename From, From (*round)(From)>
To ToInteger(From x) {
  if (std::isnan(x)) return 0;
  const From rounded = round(x);
  constexpr From kTooLarge = -static_cast<From>(
      std::numeric_limits<int64_t>::min());  // 2^63, which both integer types bound from their power of two
  const From bound = sizeof(To) == 4 ? static_cast<From>(int64_t{1} << 31) : kTooLarge;
  if (rounded >= bound) return std::numeric_limits<To>::max();
  if (rounded < -bound) return std::numeric_limits<To>::min();
  return static_cast<To>(rounded);
}
int32_t HighWord(double x) { return static_cast<int32_t>(std::bit_cast<uint64_t>(x) >> 32); }
int32_t LowWord(double x) { return static_cast<int32_t>(std::bit_cast<uint64_t>(x)); }
double FromWords(int32_t low, int32_t high) {
  return std::bit_cast<double>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low));
}

// ---- 16-bit floats, as the code generator's helpers; both are passed as _Float16 is --------------------------------

using Bits16 = _Float16;

float HalfToFloat(Bits16 x) { return static_cast<float>(x); }
Bits16 FloatToHalf(float x) { return static_cast<Bits16>(x); }
Bits16 DoubleToHalf(double x) { return static_cast<Bits16>(x); }
Bits16 FloatToBfloat(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t high = bits >> 16;
  if (std::isnan(x)) {
    high |= 0x40;
  } else {
    high = static_cast<uint32_t>((uint64_t{bits} + 0x7fff + (high & 1)) >> 16);
  }
  return std::bit_cast<Bits16>(static_cast<uint16_t>(high));
}
// Through f32, rounded to odd so that the second rounding sees what the first dropped.
Bits16 DoubleToBfloat(double x) {
  float narrow = static_cast<float>(x);
  if (!std::isnan(x) && !std::isinf(narrow) && static_cast<double>(narrow) != x) {
    uint32_t bits = std::bit_cast<uint32_t>(narrow);
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(x)) --bits;
    narrow = std::bit_cast<float>(bits | 1);
  }
  return FloatToBfloat(narrow);
}

template <typename Function>
codegen::HostSymbol Row(std::string name, Function* function) {
  return {std::move(name), reinterpret_cast<void*>(function)};
}

template <int mode>
void AddRounded(const std::string& suffix, std::vector<codegen::HostSymbol>* rows) {
  const auto add = [&](const char* name, auto* for32, auto* for64) {
    rows->push_back(Row(absl::StrCat("hilo_nvvm_", name, ".", suffix, ".f"), for32));
    rows->push_back(Row(absl::StrCat("hilo_nvvm_", name, ".", suffix, ".d"), for64));
  };
  add("add", Binary<float, Operation::kAdd, mode>, Binary<double, Operation::kAdd, mode>);
  add("mul", Binary<float, Operation::kMul, mode>, Binary<double, Operation::kMul, mode>);
  add("div", Binary<float, Operation::kDiv, mode>, Binary<double, Operation::kDiv, mode>);
  add("fma", Fma<float, mode>, Fma<double, mode>);
  add("sqrt", Unary<float, Operation::kSqrt, mode>, Unary<double, Operation::kSqrt, mode>);
  add("rcp", Unary<float, Operation::kRcp, mode>, Unary<double, Operation::kRcp, mode>);
}

// As cvt.rna.tf32.f32: to the nearest number, halves away from zero.
uint32_t ToTf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::isfinite(x) ? (bits + 0x1000) & ~0x1FFFU : bits;
}

std::vector<codegen::HostSymbol> MakeTable() {
  std::vector<codegen::HostSymbol> rows = {
      Row("hilo_nvvm_ex2.approx.f", Exp2),
      Row("hilo_nvvm_ex2.approx.ftz.f", Exp2Flushed),
      Row("hilo_nvvm_lg2.approx.f", Log2),
      Row("hilo_nvvm_lg2.approx.ftz.f", Log2Flushed),
      Row("hilo_nvvm_sin.approx.f", Sin<float>),
      Row("hilo_nvvm_cos.approx.f", Cos<float>),
      Row("hilo_nvvm_tanh.approx.f", Tanh),
      Row("hilo_nvvm_rsqrt.approx.f", Rsqrt<float>),
      Row("hilo_nvvm_rsqrt.approx.d", Rsqrt<double>),
      Row("hilo_nvvm_sqrt.approx.f", Unary<float, Operation::kSqrt, FE_TONEAREST>),
      Row("hilo_nvvm_sqrt.f", Unary<float, Operation::kSqrt, FE_TONEAREST>),
      Row("hilo_nvvm_rcp.approx.f", Unary<float, Operation::kRcp, FE_TONEAREST>),
      Row("hilo_nvvm_rcp.approx.ftz.f", RcpFlushed),
      Row("hilo_nvvm_rcp.approx.ftz.d", Unary<double, Operation::kRcp, FE_TONEAREST>),
      Row("hilo_nvvm_div.approx.f", Binary<float, Operation::kDiv, FE_TONEAREST>),
      Row("hilo_nvvm_div.full.f", Binary<float, Operation::kDiv, FE_TONEAREST>),
      Row("hilo_nvvm_fabs.f", Abs<float>),
      Row("hilo_nvvm_fabs.d", Abs<double>),
      Row("hilo_nvvm_fmin.f", Min<float>),
      Row("hilo_nvvm_fmin.d", Min<double>),
      Row("hilo_nvvm_fmax.f", Max<float>),
      Row("hilo_nvvm_fmax.d", Max<double>),
      Row("hilo_nvvm_round.f", RoundEven<float>),
      Row("hilo_nvvm_round.d", RoundEven<double>),
      Row("hilo_nvvm_trunc.f", Trunc<float>),
      Row("hilo_nvvm_trunc.d", Trunc<double>),
      Row("hilo_nvvm_floor.f", Floor<float>),
      Row("hilo_nvvm_floor.d", Floor<double>),
      Row("hilo_nvvm_ceil.f", Ceil<float>),
      Row("hilo_nvvm_ceil.d", Ceil<double>),
      Row("hilo_nvvm_saturate.f", Saturate),
      Row("hilo_nvvm_f2i.rn", ToInteger<int32_t, float, RoundEven<float>>),
      Row("hilo_nvvm_f2i.rz", ToInteger<int32_t, float, Trunc<float>>),
      Row("hilo_nvvm_f2i.rm", ToInteger<int32_t, float, Floor<float>>),
      Row("hilo_nvvm_f2i.rp", ToInteger<int32_t, float, Ceil<float>>),
      Row("hilo_nvvm_d2i.rn", ToInteger<int32_t, double, RoundEven<double>>),
      Row("hilo_nvvm_d2i.rz", ToInteger<int32_t, double, Trunc<double>>),
      Row("hilo_nvvm_d2i.rm", ToInteger<int32_t, double, Floor<double>>),
      Row("hilo_nvvm_d2i.rp", ToInteger<int32_t, double, Ceil<double>>),
      Row("hilo_nvvm_f2ll.rn", ToInteger<int64_t, float, RoundEven<float>>),
      Row("hilo_nvvm_f2ll.rz", ToInteger<int64_t, float, Trunc<float>>),
      Row("hilo_nvvm_d2ll.rn", ToInteger<int64_t, double, RoundEven<double>>),
      Row("hilo_nvvm_d2ll.rz", ToInteger<int64_t, double, Trunc<double>>),
      Row("hilo_nvvm_d2i.hi", HighWord),
      Row("hilo_nvvm_d2i.lo", LowWord),
      Row("hilo_nvvm_lohi.i2d", FromWords),
      Row("hilo_nvvm_f2tf32.rna", ToTf32),
      Row("__extendhfsf2", HalfToFloat),
      Row("__truncsfhf2", FloatToHalf),
      Row("__truncdfhf2", DoubleToHalf),
      Row("__truncsfbf2", FloatToBfloat),
      Row("__truncdfbf2", DoubleToBfloat),
  };
  AddRounded<FE_TONEAREST>("rn", &rows);
  AddRounded<FE_DOWNWARD>("rm", &rows);
  AddRounded<FE_UPWARD>("rp", &rows);
  AddRounded<FE_TOWARDZERO>("rz", &rows);
  return rows;
}

const std::vector<codegen::HostSymbol>& Table() {
  static const auto* const table = new std::vector<codegen::HostSymbol>(MakeTable());
  return *table;
}

}  // namespace

std::string DeviceMathFunction(absl::string_view intrinsic) {
  const absl::string_view prefix = "llvm.nvvm.";
  std::string name = absl::StrCat("hilo_nvvm_", intrinsic.substr(prefix.size()));
  const auto known = [](const std::string& wanted) {
    return std::any_of(Table().begin(), Table().end(),
                       [&](const codegen::HostSymbol& row) { return row.first == wanted; });
  };
  if (known(name)) return name;
  // Denormals are kept: a flushing form that is not in the table stands for the plain one.
  std::vector<std::string> parts = absl::StrSplit(name, '.');
  std::erase(parts, "ftz");
  name = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) absl::StrAppend(&name, ".", parts[i]);
  return known(name) ? name : "";
}

std::vector<codegen::HostSymbol> DeviceMathSymbols() { return Table(); }

}  // namespace hilo::gpu
