#include "hilo/npy.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "shape/text_scanner.h"

namespace hilo {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);

struct DtypeName {
  absl::string_view name;
  PrimitiveType type;
};
constexpr DtypeName kDtypes[] = {{"b1", PRED}, {"i1", S8},  {"i2", S16}, {"i4", S32},  {"i8", S64},
                                 {"u1", U8},   {"u2", U16}, {"u4", U32}, {"u8", U64},  {"f2", F16},
                                 {"f4", F32},  {"f8", F64}, {"c8", C64}, {"c16", C128}};

// The contents of the header.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// A Python string without escapes.
absl::Status ConsumeString(TextScanner* scanner, std::string* value) {
  const bool single = scanner->TryConsume("'");
  if (!single) HILO_RETURN_IF_ERROR(scanner->Expect("\""));
  const absl::string_view quote = single ? "'" : "\"";
  const size_t end = scanner->rest().find(quote);
  if (end == absl::string_view::npos) return scanner->Expected("a closing quote");
  *value = std::string(scanner->rest().substr(0, end));
  scanner->TryConsume(*value);
  return scanner->Expect(quote);
}

absl::Status ConsumeBool(TextScanner* scanner, bool* value) {
  *value = scanner->TryConsume("True");
  if (*value || scanner->TryConsume("False")) return absl::OkStatus();
  return scanner->Expected("True or False");
}

// "(2, 3)", "(3,)", "()"
absl::Status ConsumeTuple(TextScanner* scanner, std::vector<int64_t>* values) {
  HILO_RETURN_IF_ERROR(scanner->Expect("("));
  while (!scanner->TryConsume(")")) {
    int64_t value;
    HILO_RETURN_IF_ERROR(scanner->ConsumeInt64(&value));
    scanner->TryConsume("L");  // Python 2
    values->push_back(value);
    if (!scanner->TryConsume(",")) {
      HILO_RETURN_IF_ERROR(scanner->Expect(")"));
      break;
    }
  }
  return absl::OkStatus();
}

// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
absl::StatusOr<Header> ParseHeader(absl::string_view text) {
  Header header;
  TextScanner scanner(text);
  HILO_RETURN_IF_ERROR(scanner.Expect("{"));
  int keys = 0;
  while (!scanner.TryConsume("}")) {
    std::string key;
    HILO_RETURN_IF_ERROR(ConsumeString(&scanner, &key));
    HILO_RETURN_IF_ERROR(scanner.Expect(":"));
    if (key == "descr") {
      HILO_RETURN_IF_ERROR(ConsumeString(&scanner, &header.descr));
    } else if (key == "fortran_order") {
      HILO_RETURN_IF_ERROR(ConsumeBool(&scanner, &header.fortran_order));
    } else if (key == "shape") {
      header.shape.clear();
      HILO_RETURN_IF_ERROR(ConsumeTuple(&scanner, &header.shape));
    } else {
      return scanner.Expected("descr, fortran_order or shape as key");
    }
    ++keys;
    scanner.TryConsume(",");
  }
  if (keys != 3) return scanner.Expected("the keys descr, fortran_order and shape");
  return header;
}

// Splits `bytes` into the header's text and the elements.
absl::Status SplitFile(absl::string_view bytes, absl::string_view* header, absl::string_view* data) {
  if (!absl::ConsumePrefix(&bytes, kMagic) || bytes.size() < 4) {
    return absl::InvalidArgumentError("npy: expected a file that starts with \\x93NUMPY");
  }
  const int version = static_cast<uint8_t>(bytes[0]);
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError(absl::StrCat("npy: expected version 1 to 3, got ", version));
  }
  bytes.remove_prefix(2);
  const size_t length_bytes = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes && i < bytes.size(); ++i) {
    length |= static_cast<size_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  if (bytes.size() < length_bytes + length) {
    return absl::InvalidArgumentError(
        absl::StrCat("npy: expected a header of ", length, " bytes, the file ends before"));
  }
  *header = bytes.substr(length_bytes, length);
  *data = bytes.substr(length_bytes + length);
  return absl::OkStatus();
}

absl::StatusOr<PrimitiveType> TypeOfDescr(absl::string_view descr, PrimitiveType hint) {
  absl::string_view name = descr;
  if (!name.empty() && absl::StrContains("<>|=", name.substr(0, 1))) name.remove_prefix(1);
  for (const DtypeName& dtype : kDtypes) {
    if (dtype.name == name) return dtype.type;
  }
  const int raw_bytes = name == "V1" || name == "f1" ? 1 : name == "V2" ? 2 : 0;
  if (raw_bytes != 0 && PrimitiveTypeByteSize(hint) == raw_bytes) return hint;
  // The only small float with a type name in NumPy.
  if (name == "f1" && hint == PRIMITIVE_TYPE_INVALID) return F8E5M2;
  if (raw_bytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("npy: raw elements of ", raw_bytes, " bytes ('", descr, "') need a type of that size, such as ",
                     raw_bytes == 1 ? "f8e4m3fn" : "bf16", "; got ", PrimitiveTypeName(hint)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("npy: expected elements of a number type such as '<f4', got '", descr.substr(0, 40), "'"));
}

void SwapBytes(Literal* literal) {
  const int64_t width = PrimitiveTypeByteSize(ComplexComponentType(literal->shape().element_type()));
  const auto data = literal->untyped_data();
  for (auto at = data.begin(); at != data.end(); at += width) std::reverse(at, at + width);
}

std::string DescrOfType(PrimitiveType type) {
  for (const DtypeName& dtype : kDtypes) {
    if (dtype.type == type) {
      return absl::StrCat(PrimitiveTypeByteSize(type) == 1 ? "|" : "<", dtype.name);
    }
  }
  return absl::StrCat("|V", PrimitiveTypeByteSize(type));
}

std::string MakeHeader(const Shape& shape) {
  std::string text =
      absl::StrCat("{'descr': '", DescrOfType(shape.element_type()), "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(shape.dimensions(), ", "), shape.rank() == 1 ? ",), }" : "), }");
  // Elements begin at a multiple of 64 bytes.
  const int version = text.size() < 60000 ? 1 : 2;
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = kMagic.size() + 2 + length_bytes;
  text.append(63 - (start + text.size()) % 64, ' ');
  text.push_back('\n');
  std::string header = absl::StrCat(kMagic, std::string{static_cast<char>(version), '\0'});
  for (size_t i = 0; i < length_bytes; ++i) {
    header.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  }
  return header + text;
}

// NumPy's integers of fewer than 8 bits have no bits above their own.
void MaskSubBytes(PrimitiveType type, char* data, int64_t size) {
  const int mask = (1 << PrimitiveTypeBitWidth(type)) - 1;
  for (int64_t i = 0; i < size; ++i) data[i] = static_cast<char>(data[i] & mask);
}

}  // namespace

absl::StatusOr<Literal> ParseNpy(absl::string_view bytes, PrimitiveType hint) {
  absl::string_view header_text;
  absl::string_view data;
  HILO_RETURN_IF_ERROR(SplitFile(bytes, &header_text, &data));
  absl::StatusOr<Header> header = ParseHeader(header_text);
  if (!header.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("npy header: ", header.status().message()));
  }
  HILO_ASSIGN_OR_RETURN(const PrimitiveType type, TypeOfDescr(header->descr, hint));
  Shape shape = ShapeUtil::MakeShape(type, header->shape);
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  const int64_t size = ShapeUtil::ByteSizeOf(shape);
  if (size > static_cast<int64_t>(data.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("npy: expected ", size, " bytes for ", shape.ToString(), ", got ", data.size()));
  }
  if (header->fortran_order) shape.set_layout(LayoutUtil::MakeAscendingLayout(shape.rank()));
  HILO_ASSIGN_OR_RETURN(Literal literal, LiteralFromBytes(reinterpret_cast<const uint8_t*>(data.data()), shape));
  if (absl::StartsWith(header->descr, ">")) SwapBytes(&literal);
  ShapeUtil::SetToDefaultLayout(literal.mutable_shape_do_not_resize());
  return literal;
}

absl::StatusOr<Literal> ReadNpy(const std::string& path, PrimitiveType hint) {
  HILO_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Literal> literal = ParseNpy(bytes, hint);
  if (literal.ok()) return literal;
  return absl::Status(literal.status().code(), absl::StrCat(path, ": ", literal.status().message()));
}

absl::StatusOr<std::string> SerializeNpy(const Literal& literal) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat("npy: expected an array, got ", shape.ToString()));
  }
  const auto data = literal.untyped_data();
  std::string bytes = MakeHeader(shape);
  const size_t start = bytes.size();
  bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
  if (IsSubByteType(shape.element_type())) {
    MaskSubBytes(shape.element_type(), bytes.data() + start, static_cast<int64_t>(data.size()));
  }
  return bytes;
}

absl::Status WriteNpy(const std::string& path, const Literal& literal) {
  HILO_ASSIGN_OR_RETURN(const std::string bytes, SerializeNpy(literal));
  return WriteFile(path, bytes);
}

}  // namespace hilo
