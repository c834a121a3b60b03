// Attributes of MLIR bytecode: the dialects builtin, vhlo, chlo and sdy.
#include <cstring>
#include <iterator>

#include "base/errors.h"
#include "hilo/primitive_type.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/bytecode_entries.h"
#include "hlo/import/stablehlo/mlir_text_values.h"

namespace hilo::stablehlo {
namespace {

using Kind = Attribute::Kind;

// Names of an enumeration's values; empty where a code has none.
struct EnumCode {
  uint64_t code;
  std::vector<absl::string_view> names;
};
const std::vector<EnumCode>& VhloEnums() {
  static const auto* const enums = new std::vector<EnumCode>{
      {3, {"EQ", "NE", "GE", "GT", "LE", "LT"}},
      {4, {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
      {5,
       {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}},
      {7, {"FFT", "IFFT", "RFFT", "IRFFT"}},
      {11, {"DEFAULT", "HIGH", "HIGHEST"}},
      {12, {"DEFAULT", "THREE_FRY", "PHILOX"}},
      {13, {"", "UNIFORM", "NORMAL"}},
      {16, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
      {19, {"DEFAULT", "HIGHEST", "TOLERANCE"}},
  };
  return *enums;
}

void Skip(absl::string_view what, Attribute* attribute, BytecodeCursor& cursor) {
  attribute->kind = Kind::kForeign;
  attribute->text = what;
  while (!cursor.AtEnd()) cursor.Byte();
}

double FloatOf(PrimitiveType type, uint64_t bits) {
  switch (type) {
    case F64: {
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case F32: {
      const auto low = static_cast<uint32_t>(bits);
      float value;
      std::memcpy(&value, &low, sizeof value);
      return value;
    }
    case BF16: {
      const uint32_t high = static_cast<uint32_t>(bits & 0xffff) << 16;
      float value;
      std::memcpy(&value, &high, sizeof value);
      return value;
    }
    default: return 0;
  }
}

}  // namespace

const Attribute* BytecodeEntries::AttributeAt(uint64_t number, BytecodeCursor& cursor) const {
  if (number < attributes_.size()) return attributes_[number];
  cursor.Fail(absl::StrCat("there is no attribute ", number));
  return nullptr;
}

absl::string_view BytecodeEntries::ReadString(BytecodeCursor& cursor) const {
  const uint64_t number = cursor.Varint();
  if (number < strings_.size()) return strings_[number];
  cursor.Fail(absl::StrCat("there is no string ", number));
  return {};
}

std::vector<const Attribute*> BytecodeEntries::ReadAttributes(BytecodeCursor& cursor) const {
  std::vector<const Attribute*> list(cursor.Count());
  for (const Attribute*& attribute : list) attribute = ReadAttribute(cursor);
  return list;
}

absl::string_view BytecodeEntries::ReadName(BytecodeCursor& cursor) const {
  const Attribute* name = ReadAttribute(cursor);
  if (!cursor.ok()) return {};
  if (name->kind != Kind::kString) cursor.Fail("expected a string as a name");
  return name->text;
}

std::vector<NamedAttribute> BytecodeEntries::ReadEntries(BytecodeCursor& cursor) const {
  std::vector<NamedAttribute> entries(cursor.Count());
  for (NamedAttribute& entry : entries) {
    entry.name = ReadName(cursor);
    entry.value = ReadAttribute(cursor);
    if (!cursor.ok()) return {};
  }
  return entries;
}

void BytecodeEntries::ReadInteger(Attribute* attribute, BytecodeCursor& cursor) const {
  attribute->kind = Kind::kInteger;
  const uint64_t number = cursor.Varint();
  attribute->type = TypeAt(number, cursor);
  if (!cursor.ok()) return;
  const RawType& raw = raw_types_[number];
  if (raw.bits == 0) return cursor.Fail("an integer of what is no integer type");
  uint64_t value = cursor.Integer(raw.bits);
  if (raw.bits < 64) {
    value &= (uint64_t{1} << raw.bits) - 1;
    if (!raw.is_unsigned && raw.bits > 1 && (value >> (raw.bits - 1)) != 0) value |= ~uint64_t{0} << raw.bits;
  }
  attribute->integer = static_cast<int64_t>(value);
  if (attribute->type->element == PRED) attribute->kind = Kind::kBool;
}

void BytecodeEntries::ReadFloat(Attribute* attribute, BytecodeCursor& cursor) const {
  attribute->kind = Kind::kFloat;
  const uint64_t number = cursor.Varint();
  attribute->type = TypeAt(number, cursor);
  if (!cursor.ok()) return;
  if (raw_types_[number].bits == 0) return cursor.Fail("a float of what is no float type");
  const uint64_t bits = cursor.Integer(raw_types_[number].bits);
  attribute->integer = static_cast<int64_t>(bits);
  attribute->number = FloatOf(attribute->type->element, bits);
}

void BytecodeEntries::VhloAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor) {
  for (const EnumCode& known : VhloEnums()) {
    if (known.code != code) continue;
    const uint64_t value = cursor.Varint();
    if (value >= known.names.size() || known.names[value].empty())
      return cursor.Fail(absl::StrCat("an enumeration has no value ", value));
    attribute->kind = Kind::kEnum;
    attribute->text = known.names[value];
    return;
  }
  switch (code) {
    case 1:
      attribute->kind = Kind::kArray;
      attribute->elements = ReadAttributes(cursor);
      return;
    case 2:
      attribute->kind = Kind::kBool;
      attribute->integer = cursor.Varint() != 0 ? 1 : 0;
      return;
    case 6:
      attribute->kind = Kind::kDictionary;
      attribute->entries = ReadEntries(cursor);
      return;
    case 8: return ReadFloat(attribute, cursor);
    case 9: return ReadInteger(attribute, cursor);
    case 10:
      attribute->kind = Kind::kAlias;
      attribute->integers = cursor.SignedVarints();
      attribute->integer = cursor.SignedVarint();
      attribute->more_integers = cursor.SignedVarints();
      return;
    case 14:
      attribute->kind = Kind::kString;
      attribute->text = ReadString(cursor);
      return;
    case 15:
      attribute->kind = Kind::kDense;
      attribute->type = ReadType(cursor);
      attribute->text = cursor.Bytes(cursor.Varint());
      return;
    case 17:
      attribute->kind = Kind::kType;
      attribute->type = ReadType(cursor);
      return;
    case 18:
      attribute->kind = Kind::kIntegers;
      attribute->integers = cursor.SignedVarints();
      return;
    case 21:
      attribute->kind = Kind::kSubAxis;
      attribute->integers = {cursor.SignedVarint(), cursor.SignedVarint()};
      return;
    case 22:
      attribute->kind = Kind::kAxisRef;
      attribute->text = ReadName(cursor);
      if (cursor.Varint() != 0) attribute->elements = {ReadAttribute(cursor)};
      return;
    case 23:
      attribute->kind = Kind::kMeshGroups;
      attribute->elements = {ReadAttribute(cursor), ReadAttribute(cursor)};
      return;
    case 24:
      attribute->kind = Kind::kMeshAxis;
      attribute->text = ReadName(cursor);
      attribute->integer = cursor.SignedVarint();
      return;
    case 25: {
      attribute->kind = Kind::kMesh;
      attribute->elements = {ReadAttribute(cursor)};
      const auto [number, present] = cursor.FlaggedVarint();
      if (present) attribute->more_elements = {AttributeAt(number, cursor)};
      return;
    }
    default: return Skip("vhlo attribute", attribute, cursor);  // accuracy
  }
}

void BytecodeEntries::BuiltinAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor) {
  switch (code) {
    case 0:
      attribute->kind = Kind::kArray;
      attribute->elements = ReadAttributes(cursor);
      return;
    case 1:
      attribute->kind = Kind::kDictionary;
      attribute->entries = ReadEntries(cursor);
      return;
    case 2:
    case 3:
      attribute->kind = Kind::kString;
      attribute->text = ReadString(cursor);
      if (code == 3) attribute->type = ReadType(cursor);
      return;
    case 4:
    case 5:  // the innermost name counts, and there is one
      attribute->kind = Kind::kSymbol;
      attribute->elements = {ReadAttribute(cursor)};
      if (code == 5) ReadAttributes(cursor);
      if (cursor.ok()) attribute->text = attribute->elements[0]->text;
      return;
    case 6:
      attribute->kind = Kind::kType;
      attribute->type = ReadType(cursor);
      return;
    case 7: attribute->kind = Kind::kUnit; return;
    case 8: return ReadInteger(attribute, cursor);
    case 9: return ReadFloat(attribute, cursor);
    case 10:  // callee, then caller
      attribute->kind = Kind::kLocation;
      attribute->elements = {ReadAttribute(cursor), ReadAttribute(cursor)};
      return;
    case 11: {
      attribute->kind = Kind::kLocation;
      const Attribute* file = ReadAttribute(cursor);
      if (cursor.ok()) attribute->text = file->text;
      attribute->integer = static_cast<int64_t>(cursor.Varint());
      cursor.Varint();
      return;
    }
    case 12:
    case 13:
      attribute->kind = Kind::kLocation;
      attribute->elements = ReadAttributes(cursor);
      if (code == 13) ReadAttribute(cursor);
      return;
    case 14: {
      attribute->kind = Kind::kLocation;
      const Attribute* name = ReadAttribute(cursor);
      if (cursor.ok()) attribute->text = name->text;
      attribute->elements = {ReadAttribute(cursor)};
      return;
    }
    case 15: attribute->kind = Kind::kLocation; return;
    case 17: {
      attribute->kind = Kind::kDense;
      const Type* element = ReadType(cursor);
      const uint64_t count = cursor.Varint();
      attribute->text = cursor.Bytes(cursor.Varint());
      if (!cursor.ok()) return;
      if (element->kind != Type::Kind::kElement || count > attribute->text.size())
        return cursor.Fail("an array that does not fit its bytes");
      Type* type = module_.AddType();
      if (absl::Status status = SetTensor(element->element, {static_cast<int64_t>(count)}, {}, type); !status.ok())
        cursor.Fail(status.message());
      attribute->type = type;
      return;
    }
    case 18:
      attribute->kind = Kind::kDense;
      attribute->type = ReadType(cursor);
      attribute->text = cursor.Bytes(cursor.Varint());
      return;
    case 22: {  // a range in a file: line, column, last line, last column, as far as they are known
      attribute->kind = Kind::kLocation;
      const Attribute* file = ReadAttribute(cursor);
      if (cursor.ok()) attribute->text = file->text;
      const uint64_t count = cursor.Varint();
      if (count > 4) return cursor.Fail("a range of lines and columns");
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t number = cursor.Varint();
        if (i == 0) attribute->integer = static_cast<int64_t>(number);
      }
      return;
    }
    default: return Skip("builtin attribute", attribute, cursor);
  }
}

// Of its own dialect; only what compares is encoded, the rest is text.
void BytecodeEntries::ChloAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor) {
  if (code > 1) return Skip("chlo attribute", attribute, cursor);
  VhloAttribute(code + 3, attribute, cursor);  // directions and types of comparison have the same values in vhlo
}

void BytecodeEntries::ReadTextAttribute(absl::string_view text, Attribute* attribute) {
  attribute->text = text;
  MlirCursor cursor(text);
  const absl::StatusOr<const Attribute*> read = MlirValueReader(&cursor, &module_).ReadAttribute();
  if (read.ok() && (*read)->kind != Kind::kForeign) *attribute = **read;
}

void BytecodeEntries::SdyAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor) {
  switch (code) {
    case 0:
      attribute->kind = Kind::kManualAxes;
      attribute->elements = ReadAttributes(cursor);
      return;
    case 1:
      attribute->kind = Kind::kMeshAxis;
      attribute->text = ReadString(cursor);
      attribute->integer = cursor.SignedVarint();
      return;
    case 2:
      attribute->kind = Kind::kMesh;
      attribute->elements = ReadAttributes(cursor);
      attribute->integers = cursor.SignedVarints();
      return;
    case 3:
      attribute->kind = Kind::kSubAxis;
      attribute->integers = {cursor.SignedVarint(), cursor.SignedVarint()};
      return;
    case 4: {
      attribute->kind = Kind::kAxisRef;
      attribute->text = ReadString(cursor);
      const auto [number, present] = cursor.FlaggedVarint();
      if (present) attribute->elements = {AttributeAt(number, cursor)};
      return;
    }
    case 5:
      attribute->kind = Kind::kDimSharding;
      attribute->elements = ReadAttributes(cursor);
      attribute->integer = cursor.Byte() != 0 ? 1 : 0;
      if (!cursor.AtEnd()) {
        const auto [priority, present] = cursor.FlaggedVarint();
        if (present) attribute->integers = {static_cast<int64_t>(priority)};
      }
      return;
    case 6:
    case 15:
    case 17: {
      attribute->kind = Kind::kTensorSharding;
      attribute->elements = {ReadAttribute(cursor)};
      for (const Attribute* dimension : ReadAttributes(cursor)) attribute->elements.push_back(dimension);
      attribute->more_elements = ReadAttributes(cursor);
      if (code != 6) attribute->unreduced_axes = ReadAttributes(cursor);
      if (code == 17) attribute->integer = cursor.SignedVarint();
      return;
    }
    case 7:
    case 16:
      attribute->kind = Kind::kPerValue;
      attribute->elements = ReadAttributes(cursor);
      return;
    default: return Skip("sdy attribute", attribute, cursor);
  }
}

absl::Status BytecodeEntries::DecodeAttribute(const EncodedEntry& entry, bool strings_only, Attribute* attribute) {
  BytecodeCursor cursor(bytes_, entry.begin, entry.end);
  if (!entry.has_encoding) {
    const absl::string_view text = cursor.NulTerminated();
    if (strings_only) {
      attribute->text = text;
    } else if (cursor.ok() && (entry.dialect == "chlo" || entry.dialect == "complex")) {
      ReadTextAttribute(text, attribute);
    }
    return cursor.status();
  }
  const uint64_t code = cursor.Varint();
  const bool is_string =
      (entry.dialect == "vhlo" && code == 14) || (entry.dialect == "builtin" && (code == 2 || code == 3));
  if (is_string != strings_only) return cursor.status();
  if (entry.dialect == "vhlo") {
    VhloAttribute(code, attribute, cursor);
  } else if (entry.dialect == "builtin") {
    BuiltinAttribute(code, attribute, cursor);
  } else if (entry.dialect == "sdy") {
    SdyAttribute(code, attribute, cursor);
  } else if (entry.dialect == "chlo") {
    ChloAttribute(code, attribute, cursor);
  } else {
    Skip("attribute of a foreign dialect", attribute, cursor);
  }
  return cursor.ExpectEnd("an attribute");
}

}  // namespace hilo::stablehlo
