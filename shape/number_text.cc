#include "shape/number_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "shape/convert.h"

namespace hilo {
namespace {

// Bit patterns of any float type, as seen by text.
template <typename T>
struct FloatTraits {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr int kMantissaBits = std::numeric_limits<T>::digits - 1;
  static constexpr FloatSpecials kSpecials = FloatSpecials::kIeee;
  static constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  static constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  static Bits ToBits(T value) { return std::bit_cast<Bits>(value); }
  static T FromBits(Bits bits) { return std::bit_cast<T>(bits); }
  static double ToDouble(T value) { return value; }
};
template <PrimitiveType kType, typename B, FloatFormat kFormat>
struct FloatTraits<SmallFloat<kType, B, kFormat>> {
  using T = SmallFloat<kType, B, kFormat>;
  using Bits = uint32_t;
  static constexpr int kMantissaBits = kFormat.mantissa_bits;
  static constexpr FloatSpecials kSpecials = kFormat.specials;
  static constexpr Bits kInfinity = ((1u << kFormat.exponent_bits) - 1) << kMantissaBits;
  static constexpr Bits kSign = 1u << (kFormat.exponent_bits + kMantissaBits);
  static Bits ToBits(T value) { return value.bits; }
  static T FromBits(Bits bits) { return T::FromBits(static_cast<B>(bits)); }
  static double ToDouble(T value) { return static_cast<double>(value); }
};

// Decimal or hexadecimal digits to the nearest F (float or double). Nothing if `text` is no number;
// sets *overflow if it is a finite one beyond F's range.
template <typename F>
std::optional<F> ParseFinite(absl::string_view text, bool* overflow) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (!negative) absl::ConsumePrefix(&text, "+");
  const bool hex = absl::StartsWithIgnoreCase(text, "0x");
  if (hex) text.remove_prefix(2);
  const auto is_digit = [hex](char c) {
    return hex ? absl::ascii_isxdigit(static_cast<unsigned char>(c))
               : absl::ascii_isdigit(static_cast<unsigned char>(c));
  };
  if (text.empty() || !(is_digit(text[0]) || text[0] == '.')) return std::nullopt;
  F value = 0;
  const auto result = absl::from_chars(text.data(), text.data() + text.size(), value,
                                       hex ? absl::chars_format::hex : absl::chars_format::general);
  if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) {
    return std::nullopt;
  }
  // Numbers too small come back as zero or the smallest value, which is how they round.
  *overflow = result.ec == std::errc::result_out_of_range && value > 1;
  return negative ? -value : value;
}

absl::Status NotA(absl::string_view text, PrimitiveType type) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected a value of ", PrimitiveTypeName(type), ", got '", text.substr(0, 40), "'"));
}

absl::Status OutOfRange(absl::string_view text, PrimitiveType type) {
  return absl::InvalidArgumentError(
      absl::StrCat("value ", text.substr(0, 40), " is out of the range of ", PrimitiveTypeName(type)));
}

// "nan", "nan(0x1)" or "inf" without sign.
template <typename T>
absl::Status ParseSpecial(absl::string_view word, bool negative, T* out) {
  using Traits = FloatTraits<T>;
  using Bits = typename Traits::Bits;
  constexpr PrimitiveType kType = NativeToPrimitiveType<T>();
  constexpr bool kIsIeee = Traits::kSpecials == FloatSpecials::kIeee;
  const double infinity = std::numeric_limits<double>::infinity();
  if (word == "inf") {
    if (!kIsIeee) return OutOfRange(word, kType);
    *out = T(negative ? -infinity : infinity);
    return absl::OkStatus();
  }
  if (!absl::ConsumePrefix(&word, "nan")) return NotA(word, kType);
  if (Traits::kSpecials == FloatSpecials::kFiniteOnly) return OutOfRange("nan", kType);
  if (word.empty()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    *out = T(negative ? -nan : nan);
    return absl::OkStatus();
  }
  uint64_t payload;
  if (!absl::ConsumePrefix(&word, "(") || !absl::ConsumeSuffix(&word, ")") || !absl::StartsWith(word, "0x") ||
      !absl::SimpleHexAtoi(word, &payload)) {
    return NotA(absl::StrCat("nan", word), kType);
  }
  if (!kIsIeee || payload == 0 || payload >> Traits::kMantissaBits != 0) {
    return OutOfRange(absl::StrCat("nan(", word, ")"), kType);
  }
  *out = Traits::FromBits((negative ? Traits::kSign : 0) | Traits::kInfinity | static_cast<Bits>(payload));
  return absl::OkStatus();
}

template <typename T>
absl::Status ParseFloat(absl::string_view text, T* out) {
  constexpr PrimitiveType kType = NativeToPrimitiveType<T>();
  using Parsed = std::conditional_t<std::is_same_v<T, float>, float, double>;
  bool overflow = false;
  const std::optional<Parsed> value = ParseFinite<Parsed>(text, &overflow);
  if (!value.has_value()) {
    absl::string_view word = text;
    const bool negative = absl::ConsumePrefix(&word, "-");
    if (!negative) absl::ConsumePrefix(&word, "+");
    return ParseSpecial(word, negative, out);
  }
  *out = T(*value);
  if constexpr (is_small_float<T>) {
    const double rounded = static_cast<double>(*out);
    overflow |= !std::isfinite(rounded);
    if (T::format.specials == FloatSpecials::kFiniteOnly) {
      // Saturates; what would round to the next value above if there were one is out of range.
      overflow |= std::abs(*value) >= 7;
    }
  }
  return overflow ? OutOfRange(text, kType) : absl::OkStatus();
}

template <typename T>
absl::Status ParseInteger(absl::string_view text, T* out) {
  using Wide = std::conditional_t<IsSignedInteger<T>(), int64_t, uint64_t>;
  constexpr PrimitiveType kType = NativeToPrimitiveType<T>();
  Wide value;
  if (text == "-0") text.remove_prefix(1);
  if (!absl::SimpleAtoi(text, &value)) {
    const bool digits =
        text.find_first_not_of("0123456789", text.empty() || text[0] != '-' ? 0 : 1) == absl::string_view::npos;
    return digits && text.size() > 1 ? OutOfRange(text, kType) : NotA(text, kType);
  }
  if (value < static_cast<Wide>(LowestInteger<T>()) || value > static_cast<Wide>(HighestInteger<T>())) {
    return OutOfRange(text, kType);
  }
  *out = T(value);
  return absl::OkStatus();
}

absl::Status ParsePred(absl::string_view text, bool* out) {
  *out = text == "true" || text == "1";
  if (*out || text == "false" || text == "0") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected true, false, 1 or 0, got '", text.substr(0, 40), "'"));
}

template <typename T>
void AppendNan(typename FloatTraits<T>::Bits bits, std::string* out) {
  using Traits = FloatTraits<T>;
  constexpr bool kSigned = Traits::kSpecials == FloatSpecials::kIeee || Traits::kSpecials == FloatSpecials::kFiniteNan;
  if (kSigned && (bits & Traits::kSign) != 0) out->push_back('-');
  *out += "nan";
  if constexpr (Traits::kSpecials == FloatSpecials::kIeee) {
    using Bits = typename Traits::Bits;
    const Bits payload = bits & ((Bits{1} << Traits::kMantissaBits) - 1);
    if (payload != Bits{1} << (Traits::kMantissaBits - 1)) {
      absl::StrAppend(out, "(0x", absl::Hex(payload), ")");
    }
  }
}

// Small floats have no shortest printer: digits are added until the text reads back, unless the
// exact value as a float is no longer (448 rather than 4.5e+02).
template <typename T>
void AppendSmallFloat(T value, std::string* out) {
  constexpr int kEnough = 9;  // digits of a float
  const double exact = static_cast<double>(value);
  char buffer[64];
  char* end = buffer;
  for (int digits = 1; digits <= kEnough; ++digits) {
    end = std::to_chars(buffer, buffer + sizeof(buffer), exact, std::chars_format::general, digits).ptr;
    double read = 0;
    absl::from_chars(buffer, end, read);
    if (T(read).bits == value.bits) break;
  }
  char exact_buffer[64];
  char* const exact_end =
      std::to_chars(exact_buffer, exact_buffer + sizeof(exact_buffer), static_cast<float>(value)).ptr;
  if (exact_end - exact_buffer <= end - buffer) {
    out->append(exact_buffer, exact_end);
  } else {
    out->append(buffer, end);
  }
}

template <typename T>
void AppendFloat(T value, std::string* out) {
  if (std::isnan(FloatTraits<T>::ToDouble(value))) {
    AppendNan<T>(FloatTraits<T>::ToBits(value), out);
  } else if (std::isinf(FloatTraits<T>::ToDouble(value))) {
    *out += FloatTraits<T>::ToDouble(value) < 0 ? "-inf" : "inf";
  } else if constexpr (is_small_float<T>) {
    AppendSmallFloat(value, out);
  } else {
    char buffer[64];
    out->append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  }
}

}  // namespace

void AppendNumber(PrimitiveType type, const uint8_t* element, std::string* out) {
  ArrayTypeSwitch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    std::memcpy(&value, element, sizeof(T));
    if constexpr (is_complex<T>) {
      out->push_back('(');
      AppendFloat(value.real(), out);
      *out += ", ";
      AppendFloat(value.imag(), out);
      out->push_back(')');
    } else if constexpr (is_small_float<T> || std::is_floating_point_v<T>) {
      AppendFloat(value, out);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      absl::StrAppend(out, value);
    } else {
      absl::StrAppend(out, ConvertElement<T, int64_t>(value));
    }
  });
}

absl::Status ParseNumber(absl::string_view text, PrimitiveType type, uint8_t* element) {
  return ArrayTypeSwitch(type, [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    T value{};
    absl::Status status;
    if constexpr (is_complex<T>) {
      return NotA(text, type);
    } else if constexpr (std::is_same_v<T, bool>) {
      status = ParsePred(text, &value);
    } else if constexpr (is_small_float<T> || std::is_floating_point_v<T>) {
      status = ParseFloat(text, &value);
    } else {
      status = ParseInteger(text, &value);
    }
    std::memcpy(element, &value, sizeof(T));
    return status;
  });
}

}  // namespace hilo
