#include "tests/accuracy/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hilo::accuracy {
namespace {

constexpr double kWrong = std::numeric_limits<double>::infinity();

using C = WideComplex;

C Expm1(C z) {
  const Wide half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}
C Log1p(C z) {
  const Wide a = z.real(), b = z.imag();
  if (std::fabs(a) > 0.5L || std::fabs(b) > 0.5L) return std::log(1.0L + z);
  return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
}
C Cbrt(C z) { return z == C(0) ? z : std::polar(std::cbrt(std::abs(z)), std::arg(z) / 3); }
C Logistic(C z) {
  if (z.real() >= 0) return 1.0L / (1.0L + std::exp(-z));
  const C e = std::exp(z);
  return e / (1.0L + e);
}

// NaN, which is not compared, where the exponent |y log x| is above 1: the error of the result is that of its logarithm
// times the exponent.
C ModeratePower(C x, C y) {
  const C exponent = y * std::log(x);
  return std::abs(exponent) <= 1 ? std::exp(exponent) : C(std::numeric_limits<Wide>::quiet_NaN());
}

constexpr Function kFunctions[] = {
    {"abs", 1, [](Wide x, Wide) { return std::fabs(x); }, [](C x, C) { return C(std::abs(x)); }},
    {"acos", 1, [](Wide x, Wide) { return std::acos(x); }, [](C x, C) { return std::acos(x); }},
    {"acosh", 1, [](Wide x, Wide) { return std::acosh(x); }, [](C x, C) { return std::acosh(x); }},
    {"asin", 1, [](Wide x, Wide) { return std::asin(x); }, [](C x, C) { return std::asin(x); }},
    {"asinh", 1, [](Wide x, Wide) { return std::asinh(x); }, [](C x, C) { return std::asinh(x); }},
    {"atanh", 1, [](Wide x, Wide) { return std::atanh(x); }, [](C x, C) { return std::atanh(x); }},
    {"cbrt", 1, [](Wide x, Wide) { return std::cbrt(x); }, [](C x, C) { return Cbrt(x); }},
    {"ceil", 1, [](Wide x, Wide) { return std::ceil(x); }, nullptr},
    {"cosh", 1, [](Wide x, Wide) { return std::cosh(x); }, [](C x, C) { return std::cosh(x); }},
    {"cosine", 1, [](Wide x, Wide) { return std::cos(x); }, [](C x, C) { return std::cos(x); }},
    {"erf", 1, [](Wide x, Wide) { return std::erf(x); }, nullptr},
    {"exponential", 1, [](Wide x, Wide) { return std::exp(x); }, [](C x, C) { return std::exp(x); }},
    {"exponential-minus-one", 1, [](Wide x, Wide) { return std::expm1(x); }, [](C x, C) { return Expm1(x); }},
    {"floor", 1, [](Wide x, Wide) { return std::floor(x); }, nullptr},
    {"imag", 1, [](Wide, Wide) { return Wide{0}; }, nullptr},
    {"log", 1, [](Wide x, Wide) { return std::log(x); }, [](C x, C) { return std::log(x); }},
    {"log-plus-one", 1, [](Wide x, Wide) { return std::log1p(x); }, [](C x, C) { return Log1p(x); }},
    {"logistic", 1, [](Wide x, Wide) { return 1 / (1 + std::exp(-x)); }, [](C x, C) { return Logistic(x); }},
    {"negate", 1, [](Wide x, Wide) { return -x; }, nullptr},
    {"real", 1, [](Wide x, Wide) { return x; }, nullptr},
    {"round-nearest-afz", 1, [](Wide x, Wide) { return std::round(x); }, nullptr},
    {"round-nearest-even", 1, [](Wide x, Wide) { return std::nearbyint(x); }, nullptr},
    {"rsqrt", 1, [](Wide x, Wide) { return 1 / std::sqrt(x); }, [](C x, C) { return 1.0L / std::sqrt(x); }},
    {"sign", 1, [](Wide x, Wide) { return x > 0   ? 1
                                          : x < 0 ? -1
                                                  : x; },
     [](C x, C) { return x == C(0) ? x : x / std::abs(x); }},
    {"sine", 1, [](Wide x, Wide) { return std::sin(x); }, [](C x, C) { return std::sin(x); }},
    {"sinh", 1, [](Wide x, Wide) { return std::sinh(x); }, [](C x, C) { return std::sinh(x); }},
    {"sqrt", 1, [](Wide x, Wide) { return std::sqrt(x); }, [](C x, C) { return std::sqrt(x); }},
    {"tan", 1, [](Wide x, Wide) { return std::tan(x); }, [](C x, C) { return std::tan(x); }},
    {"tanh", 1, [](Wide x, Wide) { return std::tanh(x); }, [](C x, C) { return std::tanh(x); }},
    {"add", 2, [](Wide x, Wide y) { return x + y; }, nullptr},
    {"atan2", 2, [](Wide x, Wide y) { return std::atan2(x, y); }, nullptr},
    {"divide", 2, [](Wide x, Wide y) { return x / y; }, [](C x, C y) { return x / y; }},
    {"multiply", 2, [](Wide x, Wide y) { return x * y; }, [](C x, C y) { return x * y; }},
    {"power", 2, [](Wide x, Wide y) { return std::pow(x, y); }, ModeratePower},
    {"remainder", 2, [](Wide x, Wide y) { return std::fmod(x, y); }, nullptr},
    {"subtract", 2, [](Wide x, Wide y) { return x - y; }, nullptr},
};

// A generator of one's own, so that arguments are the same everywhere (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double Uniform(double low, double high) { return low + (high - low) * (static_cast<double>(Bits() >> 11) * 0x1p-53); }
  int64_t Integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Bits() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

template <typename T>
std::vector<T> HardArguments() {
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
                           3 * Limits::denorm_min(),
                           Limits::max(),
                           Limits::epsilon(),
                           Limits::min() / 2,
                           std::sqrt(Limits::min()),
                           std::sqrt(Limits::max()),
                           T(0x1p16),
                           T(0x1p22),
                           T(0x1p23),
                           T(0x1p24),
                           T(0x1p30),
                           T(0x1p31),
                           T(0x1p52),
                           T(0x1p53),
                           T(1e22)};
  // Where exp, expm1, sinh, cosh and logistic overflow, become subnormal and vanish.
  for (double edge : {87.33654475055310, 88.72283905206835, 89.41598629223294, 103.2789, 103.9720770839918,
                      708.3964185322641, 709.782712893384, 710.4758600739439, 744.4400719213812, 745.1332191019412,
                      36.7368005696771, 16.635532333438683}) {
    for (int step = -4; step <= 4; ++step)
      values.push_back(static_cast<T>(edge) * (1 + static_cast<T>(step) * Limits::epsilon()));
  }
  // Multiples of pi / 2, and the numbers of each type that come closest to one.
  for (int k = 1; k <= 1000; ++k) values.push_back(static_cast<T>(k * 1.5707963267948966L));
  for (int e = 10; e < 60; ++e)
    values.push_back(static_cast<T>(std::nearbyint(std::ldexp(1.1L, e)) * 1.5707963267948966L));
  values.push_back(static_cast<T>(std::ldexp(16367173.0L, 72)));
  if constexpr (sizeof(T) == 8) values.push_back(static_cast<T>(std::ldexp(6381956970095103.0L, 797)));
  // Halves, where rounding decides; the neighbours of one, where logarithms and inverse functions begin.
  for (int k = 0; k < 64; ++k) values.push_back(T(k) + T(0.5));
  for (int e = 1; e < Limits::digits; ++e) {
    values.push_back(1 + std::ldexp(T(1), -e));
    values.push_back(1 - std::ldexp(T(1), -e));
  }
  for (size_t i = 0, n = values.size(); i < n; ++i) {
    values.push_back(std::nextafter(values[i], Limits::infinity()));
    values.push_back(std::nextafter(values[i], T(0)));
  }
  for (size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  return values;
}

}  // namespace

absl::Span<const Function> Functions() { return kFunctions; }

Precision PrecisionOf(PrimitiveType type) {
  switch (type) {
    case F16: return {11, -14, 15};
    case BF16: return {8, -126, 127};
    case F32:
    case C64: return {24, -126, 127};
    default: return {53, -1022, 1023};
  }
}

double UlpError(const Precision& precision, Wide got, Wide exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : kWrong;
  if (std::isinf(exact)) return got == exact ? 0 : kWrong;
  if ((got == 0 || exact == 0) && std::signbit(got) != std::signbit(exact)) return kWrong;
  if (exact == 0) return got == 0 ? 0 : kWrong;
  const Wide top = std::ldexp(Wide{1}, precision.max_exponent + 1);
  if (std::isinf(got)) got = std::copysign(std::max(top, std::fabs(exact)), got);
  const int exponent = std::clamp(std::ilogb(exact), precision.min_exponent, precision.max_exponent);
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(Wide{1}, exponent - (precision.digits - 1)));
}

double UlpError(const Precision& precision, WideComplex got, WideComplex exact) {
  const Wide magnitude = std::abs(exact);
  if (!std::isfinite(magnitude) || magnitude < std::ldexp(Wide{1}, precision.min_exponent) ||
      magnitude > std::ldexp(Wide{1}, precision.max_exponent))
    return 0;
  const Wide distance = std::abs(got - exact);
  if (!std::isfinite(distance)) return kWrong;
  return static_cast<double>(distance / std::ldexp(Wide{1}, std::ilogb(magnitude) - (precision.digits - 1)));
}

template <typename T>
std::vector<T> Arguments(int64_t count) {
  std::vector<T> values = HardArguments<T>();
  Random random(1);
  const int exponents = std::numeric_limits<T>::max_exponent;
  const double bend = sizeof(T) == 8 ? 760 : 110;
  while (static_cast<int64_t>(values.size()) < count) {
    const T sign = (random.Bits() & 1) != 0 ? T(1) : T(-1);
    values.push_back(sign * static_cast<T>(std::ldexp(random.Uniform(1, 2), static_cast<int>(random.Integer(
                                                                                -exponents - 20, exponents - 1)))));
    values.push_back(static_cast<T>(random.Uniform(-1.1, 1.1)));
    values.push_back(static_cast<T>(random.Uniform(-10, 10)));
    values.push_back(static_cast<T>(random.Uniform(0.5, 2)));
    values.push_back(static_cast<T>(random.Uniform(-bend, bend)));
    values.push_back(static_cast<T>(random.Uniform(-1e5, 1e5)));
    values.push_back(static_cast<T>(std::ldexp(random.Uniform(-1, 1), static_cast<int>(random.Integer(-50, 30)))));
    values.push_back(T(1) +
                     static_cast<T>(std::ldexp(random.Uniform(-1, 1), static_cast<int>(random.Integer(-40, 0)))));
    values.push_back(static_cast<T>(static_cast<Wide>(random.Integer(-1000000, 1000000)) * 1.5707963267948966L));
  }
  values.resize(static_cast<size_t>(count));
  return values;
}

template <typename T>
std::vector<T> SecondArguments(const std::vector<T>& first) {
  const std::vector<T> hard = HardArguments<T>();
  Random random(2);
  std::vector<T> values(first.size());
  const T top = std::log2(std::numeric_limits<T>::max());
  for (size_t i = 0; i < first.size(); ++i) {
    const T x = first[i];
    switch (i % 6) {
      case 0: values[i] = hard[random.Bits() % hard.size()]; break;
      case 1: values[i] = static_cast<T>(random.Integer(-20, 20)); break;
      case 2: values[i] = x * static_cast<T>(random.Uniform(0.001, 1.5)); break;
      // A power close to overflow or underflow, another anywhere.
      case 3:
        values[i] =
            (random.Bits() & 1 ? top : -top) / std::log2(std::fabs(x)) * static_cast<T>(random.Uniform(0.97, 1.02));
        break;
      case 4: values[i] = static_cast<T>(random.Uniform(-1, 1)) * top / std::log2(std::fabs(x)); break;
      default: values[i] = x / static_cast<T>(random.Integer(1, 1 << 20)); break;
    }
  }
  return values;
}

template <typename T>
std::vector<std::complex<T>> ComplexArguments(int64_t count, int64_t seed) {
  Random random(static_cast<uint64_t>(seed));
  const auto part = [&] {
    switch (random.Integer(0, 9)) {
      case 0: return 0.0;
      case 1: return std::ldexp(random.Uniform(-1, 1), static_cast<int>(random.Integer(-20, 6)));
      case 2: return static_cast<double>(random.Integer(-2, 2));
      default: return random.Uniform(-3, 3);
    }
  };
  std::vector<std::complex<T>> values(static_cast<size_t>(count));
  for (std::complex<T>& value : values) {
    const double re = part(), im = part();
    value = {static_cast<T>(re), static_cast<T>(im)};
  }
  return values;
}

template std::vector<float> Arguments<float>(int64_t);
template std::vector<double> Arguments<double>(int64_t);
template std::vector<float> SecondArguments<float>(const std::vector<float>&);
template std::vector<double> SecondArguments<double>(const std::vector<double>&);
template std::vector<std::complex<float>> ComplexArguments<float>(int64_t, int64_t);
template std::vector<std::complex<double>> ComplexArguments<double>(int64_t, int64_t);

}  // namespace hilo::accuracy
