// Elements of arrays in MLIR text: dense<...>, dense_resource<...>, array<...>.
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/mlir_text_values.h"
#include "shape/number_text.h"

namespace hilo::stablehlo {

using Kind = Attribute::Kind;

namespace {

bool IsBetweenElements(char c) { return absl::string_view("[](),").find(c) != absl::string_view::npos; }

// The decimal number of an integer that may be hexadecimal, or that fills all bits of a signed type: 0xFF and 255 are
// -1 as i8. Other words as they are.
std::string DecimalText(absl::string_view word, PrimitiveType type) {
  absl::string_view digits = word;
  const bool is_negative = absl::ConsumePrefix(&digits, "-");
  const bool is_hexadecimal = absl::StartsWith(digits, "0x");
  uint64_t value;
  if (is_hexadecimal ? !absl::SimpleHexAtoi(digits, &value) : !absl::SimpleAtoi(digits, &value))
    return std::string(word);
  if (is_negative) return absl::StrCat("-", value);
  const int unused = 64 - PrimitiveTypeBitWidth(type);
  if (!IsSignedIntegralType(type) || value << unused >> unused != value) return absl::StrCat(value);
  return absl::StrCat(static_cast<int64_t>(value << unused) >> unused);
}

}  // namespace

// A number of `type`, as the bytes of a literal's element. Hexadecimal numbers are the bits of floats.
absl::Status MlirValueReader::AppendElement(absl::string_view word, PrimitiveType type, std::string* bytes) {
  const size_t width = PrimitiveTypeByteSize(type);
  uint8_t element[16] = {};
  uint64_t bits;
  if (IsComplexType(type)) {
    return cursor_.Error("expected the two parts of a complex number");
  } else if (IsFloatingPointType(type) && absl::StartsWith(word, "0x") && absl::SimpleHexAtoi(word, &bits)) {
    std::memcpy(element, &bits, width);
  } else if (absl::Status status =
                 ParseNumber(IsIntegralType(type) ? DecimalText(word, type) : std::string(word), type, element);
             !status.ok()) {
    return cursor_.Error(status.message());
  }
  bytes->append(reinterpret_cast<const char*>(element), width);
  return absl::OkStatus();
}

// The text between the brackets of dense<...>, up to and with the closing one. Numbers are counted alone: their type
// comes behind them, and a list of them would take more memory than their text.
absl::Status MlirValueReader::SkipElements(int64_t* count, bool* listed) {
  int64_t open = 0;
  while (!cursor_.Take(">")) {
    const char next = cursor_.Peek();
    if (!IsBetweenElements(next)) {
      if (cursor_.Number().empty()) return cursor_.Expected("a number");
      ++*count;
      continue;
    }
    open += next == '[' ? 1 : next == ']' ? -1 : 0;
    if (open < 0) return cursor_.Expected("'>'");
    *listed |= next == '[';
    cursor_.Take({&next, 1});
  }
  return open == 0 ? absl::OkStatus() : cursor_.Expected("']'");
}

// The next `count` numbers that the cursor comes to.
absl::Status MlirValueReader::AppendElements(int64_t count, PrimitiveType type, std::string* bytes) {
  bytes->reserve(bytes->size() + count * PrimitiveTypeByteSize(type));
  for (int64_t i = 0; i < count; ++i) {
    for (char next = cursor_.Peek(); IsBetweenElements(next); next = cursor_.Peek()) cursor_.Take({&next, 1});
    HILO_RETURN_IF_ERROR(AppendElement(cursor_.Number(), type, bytes));
  }
  return absl::OkStatus();
}

// "0x00FF" as its bytes.
absl::StatusOr<std::string> MlirValueReader::BytesOf(absl::string_view hexadecimal) const {
  if (!absl::ConsumePrefix(&hexadecimal, "0x") || hexadecimal.size() % 2 != 0 ||
      !absl::c_all_of(hexadecimal, absl::ascii_isxdigit)) {
    return cursor_.Error("expected 0x and hexadecimal digits");
  }
  return absl::HexStringToBytes(hexadecimal);
}

// "name> : tensor<4xf32>".
absl::StatusOr<const Attribute*> MlirValueReader::ReadDenseResource() {
  HILO_ASSIGN_OR_RETURN(const std::string name, ResourceName());
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = Kind::kDense;
  HILO_ASSIGN_OR_RETURN(attribute->type, ReadType());
  resources_[name].push_back(attribute);
  return attribute;
}

absl::StatusOr<std::string> MlirValueReader::ResourceName() {
  if (cursor_.Peek() == '"') return cursor_.String();
  return std::string(cursor_.Word());
}

// What stands behind the name: four bytes of the alignment, then the elements as they are in memory.
absl::Status MlirValueReader::ReadResource(absl::string_view name) {
  constexpr size_t kAlignmentBytes = 4;
  HILO_ASSIGN_OR_RETURN(const std::string text, cursor_.String());
  const auto users = resources_.find(name);
  if (users == resources_.end()) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(std::string bytes, BytesOf(text));
  if (bytes.size() < kAlignmentBytes) return cursor_.Error("expected an alignment in front of a resource's elements");
  const absl::string_view elements = module_.AddString(bytes.substr(kAlignmentBytes));
  for (Attribute* attribute : users->second) {
    const Type& type = *attribute->type;
    if (type.kind == Type::Kind::kTensor && type.IsStatic() &&
        static_cast<int64_t>(elements.size()) != ShapeUtil::ByteSizeOf(type.shape)) {
      return cursor_.Error(absl::StrCat("resource ", name, " has ", elements.size(), " bytes of ", TypeText(type)));
    }
    attribute->text = elements;
  }
  resources_.erase(users);
  return absl::OkStatus();
}

absl::Status MlirValueReader::ReadResources() {
  if (cursor_.Take("{-#")) {
    while (!cursor_.Take("#-}")) {
      const bool of_dialects = cursor_.TakeWord("dialect_resources");
      if (!of_dialects && !cursor_.TakeWord("external_resources")) return cursor_.Expected("dialect_resources");
      HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
      if (of_dialects) {
        HILO_RETURN_IF_ERROR(ReadDialectResources());
      } else {
        HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
      }
      if (!cursor_.Take(",") && !cursor_.At("#-}")) return cursor_.Expected("',' or '#-}'");
    }
  }
  if (resources_.empty()) return absl::OkStatus();
  return cursor_.Error(absl::StrCat("there is no resource ", resources_.begin()->first));
}

// "{ builtin: { a: "0x...", b: "0x..." } }".
absl::Status MlirValueReader::ReadDialectResources() {
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  while (!cursor_.Take("}")) {
    const bool is_builtin = cursor_.Word() == "builtin";
    HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
    if (!is_builtin) {
      if (cursor_.Peek() != '{') return cursor_.Expected("'{'");
      HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
    } else {
      HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
      while (!cursor_.Take("}")) {
        HILO_ASSIGN_OR_RETURN(const std::string name, ResourceName());
        HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
        HILO_RETURN_IF_ERROR(ReadResource(name));
        if (!cursor_.Take(",") && !cursor_.At("}")) return cursor_.Expected("',' or '}'");
      }
    }
    if (!cursor_.Take(",") && !cursor_.At("}")) return cursor_.Expected("',' or '}'");
  }
  return absl::OkStatus();
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadDense() {
  std::string raw;
  int64_t count = 0;
  bool listed = false;
  const MlirCursor begin = cursor_;
  if (cursor_.Peek() == '"') {
    HILO_ASSIGN_OR_RETURN(raw, cursor_.String());
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  } else {
    HILO_RETURN_IF_ERROR(SkipElements(&count, &listed));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
  HILO_ASSIGN_OR_RETURN(const Type* type, ReadType());
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = Kind::kDense;
  attribute->type = type;
  if (type->kind == Type::Kind::kForeign) return attribute;
  if (type->kind != Type::Kind::kTensor || !type->IsStatic())
    return cursor_.Error(absl::StrCat("elements of ", TypeText(*type)));
  std::string bytes;
  if (!raw.empty()) {
    HILO_ASSIGN_OR_RETURN(bytes, BytesOf(raw));
  } else {
    const bool is_complex = IsComplexType(type->element);
    const PrimitiveType part = is_complex ? (type->element == C64 ? F32 : F64) : type->element;
    const int64_t elements = ShapeUtil::ElementsIn(type->shape);
    const int64_t given = count / (is_complex ? 2 : 1);
    const bool is_splat = !listed && given == 1;
    if (!is_splat && given != elements) {
      return cursor_.Error(
          absl::StrCat("expected ", elements, " elements of ", type->shape.ToString(), ", got ", given));
    }
    const MlirCursor end = std::exchange(cursor_, begin);
    HILO_RETURN_IF_ERROR(AppendElements(count, part, &bytes));
    cursor_ = end;
    // Bits are packed, and all ones for a splat of one.
    if (type->element == PRED && is_splat && elements != 1) bytes[0] = bytes[0] != 0 ? '\xff' : '\0';
    if (type->element == PRED && !is_splat) {
      std::string packed((elements + 7) / 8, '\0');
      for (int64_t i = 0; i < elements; ++i) packed[i / 8] |= static_cast<char>((bytes[i] != 0 ? 1 : 0) << (i % 8));
      bytes = std::move(packed);
    }
  }
  attribute->text = module_.AddString(std::move(bytes));
  return attribute;
}

// "i64: 1, 2>" or "i64>".
absl::StatusOr<const Attribute*> MlirValueReader::ReadArray() {
  HILO_ASSIGN_OR_RETURN(const Type* element, ReadType());
  if (element->kind != Type::Kind::kElement || IsComplexType(element->element))
    return cursor_.Error("expected a type of numbers");
  std::string bytes;
  int64_t count = 0;
  if (cursor_.Take(":")) {
    do {
      HILO_RETURN_IF_ERROR(AppendElement(cursor_.Number(), element->element, &bytes));
      ++count;
    } while (cursor_.Take(","));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  if (element->element == PRED) {
    std::string packed((count + 7) / 8, '\0');
    for (int64_t i = 0; i < count; ++i) packed[i / 8] |= static_cast<char>((bytes[i] != 0 ? 1 : 0) << (i % 8));
    bytes = std::move(packed);
  }
  Type* type = module_.AddType();
  HILO_RETURN_IF_ERROR(SetTensor(element->element, {count}, {}, type));
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = Kind::kDense;
  attribute->type = type;
  attribute->text = module_.AddString(std::move(bytes));
  return attribute;
}

}  // namespace hilo::stablehlo
