// Comparison of floats in units in the last place.
//
// The bit patterns of a float type, read as sign and magnitude, order its values; so a pattern maps
// to an integer key whose differences count the representable values between two floats. -0 and 0
// are neighbours, infinity follows the largest finite value.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "shape/literal_difference.h"
#include "shape/number_text.h"

namespace hilo {
namespace {

constexpr int64_t kFarthest = std::numeric_limits<int64_t>::max();

template <typename T>
constexpr bool kIsFloat = is_small_float<T> || std::is_floating_point_v<T>;

template <typename T>
double ToDouble(T value) {
  return static_cast<double>(value);
}

// Values in order as integers: -0 is -1, 0 is 0.
template <typename T>
int64_t OrderKey(T value) {
  if constexpr (std::is_same_v<T, double>) {
    const int64_t bits = std::bit_cast<int64_t>(value);
    return bits >= 0 ? bits : ~(bits & std::numeric_limits<int64_t>::max());
  } else if constexpr (std::is_same_v<T, float>) {
    const int32_t bits = std::bit_cast<int32_t>(value);
    return bits >= 0 ? bits : ~(bits & std::numeric_limits<int32_t>::max());
  } else if constexpr (T::format.specials == FloatSpecials::kScale) {
    return value.bits;
  } else {
    const int64_t sign = int64_t{1} << (T::format.exponent_bits + T::format.mantissa_bits);
    const int64_t magnitude = value.bits & (sign - 1);
    return (value.bits & sign) != 0 ? ~magnitude : magnitude;
  }
}

template <typename T>
int64_t UlpDistance(T a, T b) {
  const bool a_nan = std::isnan(ToDouble(a));
  const bool b_nan = std::isnan(ToDouble(b));
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : kFarthest;
  const int64_t x = OrderKey(a);
  const int64_t y = OrderKey(b);
  int64_t distance;
  if (__builtin_sub_overflow(std::max(x, y), std::min(x, y), &distance)) return kFarthest;
  return distance;
}

// Whether an element passes, and how far it is off.
struct Verdict {
  bool matches = true;
  int64_t ulps = 0;
};

template <typename T>
Verdict CompareFloats(T expected, T actual, const ErrorSpec& spec) {
  const double e = ToDouble(expected);
  const double a = ToDouble(actual);
  if (std::isnan(e) && std::isnan(a)) return {spec.nans_are_equal, spec.nans_are_equal ? 0 : kFarthest};
  const int64_t ulps = UlpDistance(expected, actual);
  if (ulps <= spec.ulps) return {true, ulps};
  const bool has_tolerance = spec.absolute > 0 || spec.relative > 0;
  const bool close = has_tolerance && std::isfinite(e) && std::isfinite(a) &&
                     std::abs(e - a) <= spec.absolute + spec.relative * std::abs(e);
  return {close, ulps};
}

template <typename T>
Verdict CompareElements(const T& expected, const T& actual, const ErrorSpec& spec) {
  if constexpr (is_complex<T>) {
    const Verdict real = CompareFloats(expected.real(), actual.real(), spec);
    const Verdict imag = CompareFloats(expected.imag(), actual.imag(), spec);
    return {real.matches && imag.matches, std::max(real.ulps, imag.ulps)};
  } else if constexpr (kIsFloat<T>) {
    return CompareFloats(expected, actual, spec);
  } else {
    const bool equal = std::memcmp(&expected, &actual, sizeof(T)) == 0;
    return {equal, equal ? 0 : kFarthest};
  }
}

struct Mismatches {
  int64_t count = 0;
  int64_t first = 0;
  int64_t worst = 0;
  int64_t worst_ulps = -1;
};

template <typename T>
Mismatches FindMismatches(const Literal& expected, const Literal& actual, const ErrorSpec& spec) {
  Mismatches found;
  const auto e = expected.data<T>();
  const auto a = actual.data<T>();
  for (size_t i = 0; i < e.size(); ++i) {
    const Verdict verdict = CompareElements(e[i], a[i], spec);
    if (verdict.matches) continue;
    const int64_t at = static_cast<int64_t>(i);
    if (found.count++ == 0) found.first = at;
    if (verdict.ulps > found.worst_ulps) {
      found.worst = at;
      found.worst_ulps = verdict.ulps;
    }
  }
  return found;
}

std::string DescribeElement(const Literal& expected, const Literal& actual, int64_t linear) {
  const Shape& shape = expected.shape();
  const PrimitiveType type = shape.element_type();
  const int64_t offset = linear * PrimitiveTypeByteSize(type);
  Shape row_major(type, shape.dimensions());
  std::string text =
      absl::StrCat("element {", absl::StrJoin(IndexUtil::LinearIndexToMultidimensionalIndex(row_major, linear), ","),
                   "}: expected ");
  AppendNumber(type, expected.untyped_data().data() + offset, &text);
  text += ", actual ";
  AppendNumber(type, actual.untyped_data().data() + offset, &text);
  ArrayTypeSwitch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsFloat<T> || is_complex<T>) {
      const int64_t ulps = CompareElements(expected.data<T>()[linear], actual.data<T>()[linear], ErrorSpec{}).ulps;
      if (ulps != kFarthest) absl::StrAppend(&text, " (", ulps, " ulps apart)");
    }
  });
  return text;
}

absl::Status CompareArrays(const Literal& expected, const Literal& actual, const ErrorSpec& spec,
                           const std::string& where) {
  if (!expected.shape().is_static() || !actual.shape().is_static()) {
    const std::vector<int64_t> wanted = expected.ActualDimensions(), got = actual.ActualDimensions();
    if (wanted != got) {
      return absl::InvalidArgumentError(absl::StrCat(where, "sizes of ", expected.shape().ToString(),
                                                     " differ: expected (", absl::StrJoin(wanted, ","), "), actual (",
                                                     absl::StrJoin(got, ","), ")"));
    }
    HILO_ASSIGN_OR_RETURN(const Literal e, expected.ToStatic());
    HILO_ASSIGN_OR_RETURN(const Literal a, actual.ToStatic());
    return CompareArrays(e, a, spec, where);
  }
  const Mismatches found = ArrayTypeSwitch(expected.shape().element_type(), [&](auto tag) -> Mismatches {
    return FindMismatches<typename decltype(tag)::type>(expected, actual, spec);
  });
  if (found.count == 0) return absl::OkStatus();
  std::string text =
      absl::StrCat(where, found.count, " of ", expected.element_count(), " elements of ", expected.shape().ToString(),
                   " differ; first ", DescribeElement(expected, actual, found.first));
  if (found.worst != found.first) {
    absl::StrAppend(&text, "; worst ", DescribeElement(expected, actual, found.worst));
  }
  return absl::InvalidArgumentError(text);
}

// Calls f(expected array, actual array, index) on the leaves of two literals of compatible shapes.
template <typename F>
absl::Status ForEachArrayPair(const Literal& expected, const Literal& actual, ShapeIndex* index, const F& f) {
  if (expected.shape().IsArray()) return f(expected, actual, *index);
  for (int64_t i = 0; i < expected.tuple_size(); ++i) {
    index->push_back(i);
    absl::Status status = ForEachArrayPair(expected.element(i), actual.element(i), index, f);
    if (!status.ok()) return status;
    index->pop_back();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompareLiterals(const Literal& expected, const Literal& actual, const ErrorSpec& spec) {
  if (!ShapeUtil::Compatible(expected.shape(), actual.shape())) {
    return absl::InvalidArgumentError(
        absl::StrCat("shapes differ: expected ", expected.shape().ToString(), ", actual ", actual.shape().ToString()));
  }
  ShapeIndex root;
  return ForEachArrayPair(expected, actual, &root, [&](const Literal& e, const Literal& a, const ShapeIndex& index) {
    std::string where;
    if (!index.empty()) {
      where = absl::StrCat("tuple element {", absl::StrJoin(index, ","), "}: ");
    }
    return CompareArrays(e, a, spec, where);
  });
}

namespace {

template <typename T>
double Distance(const T& a, const T& b) {
  if constexpr (is_complex<T>) {
    return std::max(Distance(a.real(), b.real()), Distance(a.imag(), b.imag()));
  } else {
    const double x = ToDouble(a), y = ToDouble(b);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    const double distance = std::abs(x - y);
    return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
  }
}

template <typename T>
double Magnitude(const T& value) {
  if constexpr (is_complex<T>) {
    return std::max(Magnitude(value.real()), Magnitude(value.imag()));
  } else {
    const double magnitude = std::abs(ToDouble(value));
    return std::isfinite(magnitude) ? magnitude : 0;
  }
}

// The digits of the significand, the hidden one included; 0 for integers.
template <typename T>
constexpr int SignificandDigits() {
  if constexpr (is_complex<T>) {
    return SignificandDigits<typename T::value_type>();
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::digits;
  } else if constexpr (is_small_float<T>) {
    return T::format.mantissa_bits + 1;
  } else {
    return 0;
  }
}

template <typename T>
LiteralDifference DifferenceOfType(const Literal& expected, const Literal& actual, int digits) {
  LiteralDifference found{.elements = expected.element_count()};
  const auto e = expected.data<T>();
  const auto a = actual.data<T>();
  double largest = 0;
  int64_t worst = -1;
  for (size_t i = 0; i < e.size(); ++i) {
    largest = std::max(largest, Magnitude(e[i]));
    const Verdict verdict = CompareElements(e[i], a[i], ErrorSpec{});
    if (verdict.matches) continue;
    const double distance = Distance(e[i], a[i]);
    ++found.differing;
    found.max_ulps = std::max(found.max_ulps, verdict.ulps);
    if (worst < 0 || distance > found.max_absolute) worst = static_cast<int64_t>(i);
    found.max_absolute = std::max(found.max_absolute, distance);
  }
  if (worst < 0) return found;
  found.worst = DescribeElement(expected, actual, worst);
  if (found.max_absolute > 0) found.max_relative = found.max_absolute / largest;
  digits = std::min(digits, SignificandDigits<T>());
  found.within_rounding = digits > 0 && found.max_relative <= std::ldexp(1.0, -digits / 2);
  return found;
}

}  // namespace

LiteralDifference DifferenceOf(const Literal& expected, const Literal& actual, int digits) {
  return ArrayTypeSwitch(expected.shape().element_type(), [&](auto tag) {
    return DifferenceOfType<typename decltype(tag)::type>(expected, actual, digits);
  });
}

int64_t MaxUlpDistance(const Literal& expected, const Literal& actual) {
  if (!ShapeUtil::Compatible(expected.shape(), actual.shape())) return kFarthest;
  int64_t worst = 0;
  ShapeIndex root;
  ForEachArrayPair(expected, actual, &root, [&](const Literal& e, const Literal& a, const ShapeIndex&) {
    ArrayTypeSwitch(e.shape().element_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto x = e.data<T>();
      const auto y = a.data<T>();
      for (size_t i = 0; i < x.size(); ++i) {
        worst = std::max(worst, CompareElements(x[i], y[i], ErrorSpec{}).ulps);
      }
    });
    return absl::OkStatus();
  }).IgnoreError();
  return worst;
}

}  // namespace hilo
