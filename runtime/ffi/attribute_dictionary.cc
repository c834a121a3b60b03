#include "runtime/ffi/attribute_dictionary.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"

namespace hilo::ffi {
namespace {

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxElements = int64_t{1}
                                 << 24;  // of a splat; elements that are written out are bounded by their text

// How an integer type takes its values: MLIR's iN takes both signed and unsigned ones.
enum class Sign { kNone, kSigned, kUnsigned };
struct ElementType {
  PrimitiveType type;
  Sign sign = Sign::kNone;
};

std::optional<ElementType> TypeFromName(absl::string_view name) {
  struct Row {
    absl::string_view name;
    ElementType type;
  };
  static constexpr Row kRows[] = {{"i1", {PRED}},
                                  {"i4", {S4}},
                                  {"i8", {S8}},
                                  {"i16", {S16}},
                                  {"i32", {S32}},
                                  {"i64", {S64}},
                                  {"index", {S64, Sign::kSigned}},
                                  {"si8", {S8, Sign::kSigned}},
                                  {"si16", {S16, Sign::kSigned}},
                                  {"si32", {S32, Sign::kSigned}},
                                  {"si64", {S64, Sign::kSigned}},
                                  {"ui8", {U8, Sign::kUnsigned}},
                                  {"ui16", {U16, Sign::kUnsigned}},
                                  {"ui32", {U32, Sign::kUnsigned}},
                                  {"ui64", {U64, Sign::kUnsigned}},
                                  {"bf16", {BF16}},
                                  {"f16", {F16}},
                                  {"f32", {F32}},
                                  {"f64", {F64}}};
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

bool IsFloat(PrimitiveType type) { return type == BF16 || type == F16 || type == F32 || type == F64; }

class Reader {
 public:
  explicit Reader(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<NamedAttribute>> ReadAll() {
    std::vector<NamedAttribute> entries;
    HILO_RETURN_IF_ERROR(ReadDictionary(&entries, 0));
    SkipSpace();
    if (offset_ < text_.size()) return Expected("the end of the dictionary");
    return entries;
  }

 private:
  absl::Status Expected(absl::string_view what) {
    SkipSpace();
    const absl::string_view rest = text_.substr(offset_);
    const absl::string_view found = rest.empty() ? "the end" : rest.substr(0, 24);
    return InvalidArgument("attributes: expected ", what, " at offset ", offset_, ", got ", absl::CEscape(found));
  }
  void SkipSpace() {
    while (offset_ < text_.size() && absl::ascii_isspace(text_[offset_])) ++offset_;
  }
  char Peek() {
    SkipSpace();
    return offset_ < text_.size() ? text_[offset_] : '\0';
  }
  bool Take(absl::string_view token) {
    SkipSpace();
    if (!absl::StartsWith(text_.substr(offset_), token)) return false;
    offset_ += token.size();
    return true;
  }
  absl::Status Expect(absl::string_view token) { return Take(token) ? absl::OkStatus() : Expected(token); }
  // Letters, digits and the characters of `more`.
  absl::string_view Word(absl::string_view more) {
    SkipSpace();
    const size_t begin = offset_;
    while (offset_ < text_.size() && (absl::ascii_isalnum(text_[offset_]) || absl::StrContains(more, text_[offset_])))
      ++offset_;
    return text_.substr(begin, offset_ - begin);
  }

  // "..." with \" \\ \n \t and two hexadecimal digits.
  absl::Status ReadString(std::string* value) {
    HILO_RETURN_IF_ERROR(Expect("\""));
    while (offset_ < text_.size() && text_[offset_] != '"') {
      char c = text_[offset_++];
      if (c == '\\') {
        const absl::string_view rest = text_.substr(offset_);
        if (rest.empty()) return Expected("a character after \\");
        c = rest[0];
        offset_ += 1;
        if (rest.size() >= 2 && absl::ascii_isxdigit(rest[0]) && absl::ascii_isxdigit(rest[1])) {
          c = absl::HexStringToBytes(rest.substr(0, 2))[0];
          offset_ += 1;
        } else if (c == 'n' || c == 't') {
          c = c == 'n' ? '\n' : '\t';
        } else if (c != '"' && c != '\\') {
          return Expected("one of \\\" \\\\ \\n \\t, or two hexadecimal digits, before what follows \\");
        }
      }
      value->push_back(c);
    }
    return Expect("\"");
  }

  absl::Status ReadDictionary(std::vector<NamedAttribute>* entries, int depth) {
    if (depth > kMaxDepth) return InvalidArgument("attributes: dictionaries are nested more than ", kMaxDepth, " deep");
    HILO_RETURN_IF_ERROR(Expect("{"));
    if (Take("}")) return absl::OkStatus();
    do {
      NamedAttribute& entry = entries->emplace_back();
      if (Peek() == '"') {
        HILO_RETURN_IF_ERROR(ReadString(&entry.name));
      } else {
        entry.name = std::string(Word("_$."));
      }
      if (entry.name.empty()) return Expected("the name of an attribute");
      HILO_RETURN_IF_ERROR(Expect("="));
      HILO_RETURN_IF_ERROR(ReadValue(&entry.value, depth + 1));
    } while (Take(","));
    HILO_RETURN_IF_ERROR(Take("}") ? absl::OkStatus() : Expected("} or a comma"));
    std::sort(entries->begin(), entries->end(),
              [](const NamedAttribute& a, const NamedAttribute& b) { return a.name < b.name; });
    for (size_t i = 1; i < entries->size(); ++i) {
      if ((*entries)[i - 1].name == (*entries)[i].name)
        return InvalidArgument("attributes: ", (*entries)[i].name, " is given twice");
    }
    return absl::OkStatus();
  }

  absl::Status ReadValue(Attribute* value, int depth) {
    const char next = Peek();
    if (next == '{') {
      value->kind = Attribute::Kind::kDictionary;
      return ReadDictionary(&value->entries, depth);
    }
    if (next == '"') {
      value->kind = Attribute::Kind::kString;
      std::string characters;
      HILO_RETURN_IF_ERROR(ReadString(&characters));
      value->bytes.assign(characters.begin(), characters.end());
      return absl::OkStatus();
    }
    if (Take("array<")) return ReadArray(value);
    if (Take("dense<")) return ReadDense(value);
    if (next == '-' || next == '+' || next == '.' || absl::ascii_isalnum(next)) return ReadScalar(value);
    return Expected("a number, true, false, a string, array<...>, dense<...> or a dictionary");
  }

  absl::string_view ReadNumberWord() {
    SkipSpace();
    const size_t begin = offset_;
    if (Peek() == '-' || Peek() == '+') ++offset_;
    while (offset_ < text_.size()) {
      const char c = text_[offset_], before = text_[offset_ == 0 ? 0 : offset_ - 1];
      const bool exponent_sign = (c == '-' || c == '+') && (before == 'e' || before == 'E') &&
                                 !absl::StrContains(text_.substr(begin, offset_ - begin), "x");
      if (!absl::ascii_isalnum(c) && c != '.' && !exponent_sign) break;
      ++offset_;
    }
    return text_.substr(begin, offset_ - begin);
  }

  absl::StatusOr<ElementType> ReadType() {
    const std::optional<ElementType> type = TypeFromName(Word(""));
    if (!type.has_value())
      return Expected(
          "one of the types i1, i8 to i64, si8 to si64, ui8 to ui64, index, bf16, f16, f32, f64, before what follows "
          "it");
    return *type;
  }

  absl::Status ReadScalar(Attribute* value) {
    value->kind = Attribute::Kind::kScalar;
    const absl::string_view word = ReadNumberWord();
    ElementType type{.type = S64};
    if (word == "true" || word == "false") {
      type.type = PRED;
    } else if (Take(":")) {
      HILO_ASSIGN_OR_RETURN(type, ReadType());
    } else if (!absl::StartsWith(word, "0x") && absl::StrContains(word, ".")) {
      type.type = F64;
    }
    value->type = type.type;
    return AppendNumber(word, type, &value->bytes);
  }

  // "i64: 1, 2>" or "i64>".
  absl::Status ReadArray(Attribute* value) {
    value->kind = Attribute::Kind::kArray;
    HILO_ASSIGN_OR_RETURN(const ElementType type, ReadType());
    value->type = type.type;
    if (Take(">")) return absl::OkStatus();
    HILO_RETURN_IF_ERROR(Expect(":"));
    do {
      HILO_RETURN_IF_ERROR(AppendNumber(ReadNumberWord(), type, &value->bytes));
    } while (Take(","));
    return Expect(">");
  }

  // "[[1, 2], [3, 4]]> : tensor<2x2xi32>", "1.0> : tensor<8xf32>", "\"0x0001\"> : tensor<1xi16>": the elements in
  // row-major order.
  absl::Status ReadDense(Attribute* value) {
    value->kind = Attribute::Kind::kArray;
    std::vector<absl::string_view> words;
    std::string raw;
    bool listed = false;
    if (Peek() == '"') {
      HILO_RETURN_IF_ERROR(ReadString(&raw));
    } else {
      int open = 0;
      while (Peek() != '>') {
        if (Take("[")) {
          listed = true;
          ++open;
        } else if (Take("]")) {
          if (--open < 0) return Expected(">");
        } else if (!Take(",")) {
          words.push_back(ReadNumberWord());
          if (words.back().empty()) return Expected("a number, [, ] or >");
        }
      }
      if (open != 0) return Expected("]");
    }
    HILO_RETURN_IF_ERROR(Expect(">"));
    HILO_RETURN_IF_ERROR(Expect(":"));
    HILO_RETURN_IF_ERROR(Expect("tensor<"));
    int64_t elements = 1;
    ElementType type;
    HILO_RETURN_IF_ERROR(ReadTensorType(&elements, &type));
    value->type = type.type;
    if (!raw.empty()) return AppendRaw(raw, elements, value);
    if (!listed && words.size() == 1) {  // a splat
      words.assign(static_cast<size_t>(elements), words[0]);
    }
    if (static_cast<int64_t>(words.size()) != elements) {
      return InvalidArgument("attributes: a dense tensor of ", elements, " elements has ", words.size());
    }
    for (absl::string_view word : words) HILO_RETURN_IF_ERROR(AppendNumber(word, type, &value->bytes));
    return absl::OkStatus();
  }

  // "2x3xi32>".
  absl::Status ReadTensorType(int64_t* elements, ElementType* type) {
    while (absl::ascii_isdigit(Peek())) {
      int64_t size = 0;
      const char* end = text_.data() + text_.size();
      const auto [after, error] = std::from_chars(text_.data() + offset_, end, size);
      offset_ = static_cast<size_t>(after - text_.data());
      if (error != std::errc() || size > kMaxElements || (size > 0 && *elements > kMaxElements / size)) {
        return InvalidArgument("attributes: a dense tensor has more than ", kMaxElements, " elements");
      }
      *elements *= size;
      HILO_RETURN_IF_ERROR(Expect("x"));
    }
    HILO_ASSIGN_OR_RETURN(*type, ReadType());
    return Expect(">");
  }

  static absl::Status AppendRaw(absl::string_view raw, int64_t elements, Attribute* value) {
    const int64_t bytes = elements * PrimitiveTypeByteSize(value->type);
    const bool hex = absl::StartsWith(raw, "0x") &&
                     std::all_of(raw.begin() + 2, raw.end(), [](char c) { return absl::ascii_isxdigit(c); });
    if (!hex || static_cast<int64_t>(raw.size()) != 2 + 2 * bytes) {
      return InvalidArgument("attributes: expected 0x and ", 2 * bytes, " hexadecimal digits for a dense tensor");
    }
    const std::string data = absl::HexStringToBytes(raw.substr(2));
    value->bytes.assign(data.begin(), data.end());
    return absl::OkStatus();
  }

  template <typename T>
  static void Append(T value, std::vector<uint8_t>* bytes) {
    const auto* begin = reinterpret_cast<const uint8_t*>(&value);
    bytes->insert(bytes->end(), begin, begin + sizeof(T));
  }

  absl::Status AppendNumber(absl::string_view word, ElementType type, std::vector<uint8_t>* bytes) {
    if (word == "true" || word == "false") {
      if (type.type != PRED) return InvalidArgument("attributes: ", word, " is of type i1 only");
      Append<uint8_t>(word == "true", bytes);
      return absl::OkStatus();
    }
    return IsFloat(type.type) ? AppendFloat(word, type.type, bytes) : AppendInteger(word, type, bytes);
  }

  absl::Status BadNumber(absl::string_view word, PrimitiveType type) {
    if (word.empty()) return Expected("a number");
    return InvalidArgument("attributes: ", word, " is not a value of ", PrimitiveTypeName(type));
  }

  absl::Status AppendInteger(absl::string_view word, ElementType type, std::vector<uint8_t>* bytes) {
    absl::string_view digits = word;
    const bool negative = !digits.empty() && digits[0] == '-';
    if (negative) digits.remove_prefix(1);
    const bool hex = absl::StartsWith(digits, "0x");
    if (hex) digits.remove_prefix(2);
    uint64_t magnitude = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
      return BadNumber(word, type.type);
    const int bits = type.type == PRED ? 1
                     : type.type == S4 ? 4
                                       : static_cast<int>(8 * PrimitiveTypeByteSize(type.type));
    const uint64_t half = uint64_t{1} << (bits - 1);
    const uint64_t all = half - 1 + half;
    const uint64_t most =
        negative ? (type.sign == Sign::kUnsigned ? 0 : half) : (type.sign == Sign::kSigned ? half - 1 : all);
    if (magnitude > most) return BadNumber(word, type.type);
    const uint64_t value = negative ? 0 - magnitude : magnitude;
    if (type.type == PRED) {
      Append<uint8_t>(magnitude != 0, bytes);
    } else if (type.type == S4) {  // one byte each, sign-extended
      Append<int8_t>(static_cast<int8_t>(static_cast<int8_t>(static_cast<uint8_t>(value << 4)) >> 4), bytes);
    } else {
      const auto* begin = reinterpret_cast<const uint8_t*>(&value);
      bytes->insert(bytes->end(), begin, begin + bits / 8);
    }
    return absl::OkStatus();
  }

  // Decimal, or the bits in hexadecimal.
  absl::Status AppendFloat(absl::string_view word, PrimitiveType type, std::vector<uint8_t>* bytes) {
    const int64_t size = PrimitiveTypeByteSize(type);
    if (absl::StartsWith(word, "0x")) {
      uint64_t bits = 0;
      const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
      if (error != std::errc() || end != word.data() + word.size() || (size < 8 && bits >> (8 * size) != 0))
        return BadNumber(word, type);
      const auto* begin = reinterpret_cast<const uint8_t*>(&bits);
      bytes->insert(bytes->end(), begin, begin + size);
      return absl::OkStatus();
    }
    absl::string_view digits = word;
    if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
    const char* last = digits.data() + digits.size();
    const bool decimal = std::all_of(digits.begin(), digits.end(),
                                     [](char c) { return absl::ascii_isdigit(c) || absl::StrContains("+-.eE", c); });
    if (digits.empty() || !decimal) return BadNumber(word, type);
    if (type == F32) {
      float value = 0;
      const auto [end, error] = std::from_chars(digits.data(), last, value);
      if (error != std::errc() || end != last) return BadNumber(word, type);
      Append(value, bytes);
      return absl::OkStatus();
    }
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), last, value);
    if (error != std::errc() || end != last) return BadNumber(word, type);
    const Literal literal = LiteralUtil::FromDouble(type, value);
    bytes->insert(bytes->end(), literal.untyped_data().begin(), literal.untyped_data().end());
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t offset_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<NamedAttribute>> ParseAttributeDictionary(absl::string_view text) {
  if (absl::StripAsciiWhitespace(text).empty()) return std::vector<NamedAttribute>();
  return Reader(text).ReadAll();
}

}  // namespace hilo::ffi
