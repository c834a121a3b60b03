// Types of MLIR bytecode: element types first, then types composed of them.
#include <algorithm>
#include <bit>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/bytecode_entries.h"
#include "hlo/import/stablehlo/tuple_types.h"

namespace hilo::stablehlo {
namespace {

struct ElementCode {
  PrimitiveType type;  // PRIMITIVE_TYPE_INVALID: not one of HLO's
  int bits;
  absl::string_view name = "";
};

// Dialect vhlo, by code.
ElementCode VhloElement(uint64_t code) {
  switch (code) {
    case 0: return {PRED, 1};
    case 2: return {BF16, 16};
    case 3: return {F16, 16};
    case 4: return {F32, 32};
    case 5: return {F64, 64};
    case 6: return {F8E4M3FN, 8};
    case 7: return {F8E5M2, 8};
    case 9: return {S64, 64};
    case 10: return {S4, 4};
    case 11: return {S8, 8};
    case 12: return {S16, 16};
    case 13: return {S32, 32};
    case 14: return {S64, 64};
    case 15: return {U4, 4};
    case 16: return {U8, 8};
    case 17: return {U16, 16};
    case 18: return {U32, 32};
    case 19: return {U64, 64};
    case 27: return {F8E4M3FNUZ, 8};
    case 28: return {F8E5M2FNUZ, 8};
    case 29: return {F8E4M3B11FNUZ, 8};
    case 31: return {S2, 2};
    case 32: return {U2, 2};
    case 34: return {PRIMITIVE_TYPE_INVALID, 19, "tf32"};
    case 35: return {F8E4M3, 8};
    case 36: return {F8E3M4, 8};
    case 37: return {F4E2M1FN, 4};
    case 38: return {PRIMITIVE_TYPE_INVALID, 6, "f6E2M3FN"};
    case 39: return {PRIMITIVE_TYPE_INVALID, 6, "f6E3M2FN"};
    case 40: return {F8E8M0FNU, 8};
    default: return {PRIMITIVE_TYPE_INVALID, 0};
  }
}

// Floats of dialect builtin, by code. Programs with Shardy's operations have them.
ElementCode BuiltinFloat(uint64_t code) {
  switch (code) {
    case 3: return {BF16, 16};
    case 4: return {F16, 16};
    case 5: return {F32, 32};
    case 6: return {F64, 64};
    case 7: return {PRIMITIVE_TYPE_INVALID, 80, "f80"};
    case 8: return {PRIMITIVE_TYPE_INVALID, 128, "f128"};
    case 21: return {PRIMITIVE_TYPE_INVALID, 19, "tf32"};
    case 22: return {F8E5M2, 8};
    case 23: return {F8E4M3, 8};
    case 24: return {F8E4M3FN, 8};
    case 25: return {F8E5M2FNUZ, 8};
    case 26: return {F8E4M3FNUZ, 8};
    case 27: return {F8E4M3B11FNUZ, 8};
    case 28: return {F8E3M4, 8};
    case 29: return {F4E2M1FN, 4};
    case 30: return {PRIMITIVE_TYPE_INVALID, 6, "f6E2M3FN"};
    case 31: return {PRIMITIVE_TYPE_INVALID, 6, "f6E3M2FN"};
    case 32: return {F8E8M0FNU, 8};
    default: return {PRIMITIVE_TYPE_INVALID, 0};
  }
}

PrimitiveType IntegerType(uint64_t bits, bool is_unsigned) {
  switch (bits) {
    case 1: return is_unsigned ? U1 : PRED;
    case 2: return is_unsigned ? U2 : S2;
    case 4: return is_unsigned ? U4 : S4;
    case 8: return is_unsigned ? U8 : S8;
    case 16: return is_unsigned ? U16 : S16;
    case 32: return is_unsigned ? U32 : S32;
    case 64: return is_unsigned ? U64 : S64;
    default: return PRIMITIVE_TYPE_INVALID;
  }
}

void SetElement(const ElementCode& element, Type* type) {
  type->kind = element.type == PRIMITIVE_TYPE_INVALID ? Type::Kind::kForeign : Type::Kind::kElement;
  type->element = element.type;
  type->name = std::string(element.name);
}

void SetForeign(absl::string_view name, Type* type, BytecodeCursor& cursor) {
  type->name = std::string(name);
  while (!cursor.AtEnd()) cursor.Byte();
}

std::vector<uint64_t> Numbers(BytecodeCursor& cursor) {
  std::vector<uint64_t> numbers(cursor.Count());
  for (uint64_t& number : numbers) number = cursor.Varint();
  return numbers;
}

}  // namespace

void BytecodeEntries::ReadQuantized(bool per_axis, RawType* raw, BytecodeCursor& cursor) {
  raw->form = RawType::Form::kQuantized;
  raw->is_unsigned = (cursor.Varint() & 1) == 0;
  const uint64_t storage = cursor.Varint(), expressed = cursor.Varint();
  raw->inputs = {storage, expressed};
  raw->quantization = std::make_shared<Quantization>();
  Quantization& quantization = *raw->quantization;
  const auto read_scale = [&] { quantization.scales.push_back(std::bit_cast<double>(cursor.Integer(64))); };
  if (per_axis) {
    quantization.dimensions = {static_cast<int64_t>(std::min<uint64_t>(cursor.Varint(), 1 << 20))};
    quantization.block_sizes = {1};
  } else {
    read_scale();
    quantization.zero_points.push_back(cursor.SignedVarint());
  }
  quantization.min = cursor.SignedVarint();
  quantization.max = cursor.SignedVarint();
  if (!per_axis) return;
  for (uint64_t i = 0, count = cursor.Count(); i < count; ++i) read_scale();
  quantization.grid = {static_cast<int64_t>(quantization.scales.size())};
  quantization.zero_points = cursor.SignedVarints();
}

const Type* BytecodeEntries::TypeAt(uint64_t number, BytecodeCursor& cursor) const {
  if (number < types_.size()) return types_[number];
  cursor.Fail(absl::StrCat("there is no type ", number));
  return nullptr;
}

void BytecodeEntries::VhloType(uint64_t code, Type* type, RawType* raw, BytecodeCursor& cursor) const {
  switch (code) {
    case 1:
      raw->form = RawType::Form::kComplex;
      raw->inputs = {cursor.Varint()};
      return;
    case 8:
      raw->form = RawType::Form::kFunction;
      raw->inputs = Numbers(cursor);
      raw->results = Numbers(cursor);
      return;
    case 21: raw->encoding = static_cast<int64_t>(cursor.Varint()); [[fallthrough]];
    case 20:
    case 41:
      type->is_buffer = code == 41;
      raw->form = RawType::Form::kTensor;
      raw->dimensions = cursor.SignedVarints();
      raw->inputs = {cursor.Varint()};
      return;
    case 22:
      type->kind = Type::Kind::kToken;
      type->shape = ShapeUtil::MakeTokenShape();
      return;
    case 23:
      raw->form = RawType::Form::kTuple;
      raw->inputs = Numbers(cursor);
      return;
    case 24: return ReadQuantized(/*per_axis=*/false, raw, cursor);
    case 25: return SetForeign("unranked tensor", type, cursor);
    case 26: return SetForeign("witness", type, cursor);
    case 30: return ReadQuantized(/*per_axis=*/true, raw, cursor);
    case 33: type->kind = Type::Kind::kNone; return;
    case 42:
      raw->form = RawType::Form::kFuture;
      raw->results = Numbers(cursor);
      return;
    default: break;
  }
  const ElementCode element = VhloElement(code);
  if (element.bits == 0) return SetForeign(absl::StrCat("vhlo type ", code), type, cursor);
  SetElement(element, type);
  type->is_index = code == 9;
  raw->bits = element.bits;
  raw->is_unsigned = code == 32 || (code >= 15 && code <= 19);
}

void BytecodeEntries::BuiltinType(uint64_t code, Type* type, RawType* raw, BytecodeCursor& cursor) const {
  switch (code) {
    case 0: {
      const uint64_t value = cursor.Varint();
      raw->is_unsigned = (value & 3) == 2;
      raw->bits = static_cast<int>(std::min<uint64_t>(value >> 2, 1 << 24));
      return SetElement({IntegerType(raw->bits, raw->is_unsigned), raw->bits, "integer type"}, type);
    }
    case 1:
      type->is_index = true;
      raw->bits = 64;
      return SetElement({S64, 64}, type);
    case 2:
      raw->form = RawType::Form::kFunction;
      raw->inputs = Numbers(cursor);
      raw->results = Numbers(cursor);
      return;
    case 9:
      raw->form = RawType::Form::kComplex;
      raw->inputs = {cursor.Varint()};
      return;
    case 12: type->kind = Type::Kind::kNone; return;
    case 14: raw->encoding = static_cast<int64_t>(cursor.Varint()); [[fallthrough]];
    case 13:
      raw->form = RawType::Form::kTensor;
      raw->dimensions = cursor.SignedVarints();
      raw->inputs = {cursor.Varint()};
      return;
    case 15:
      raw->form = RawType::Form::kTuple;
      raw->inputs = Numbers(cursor);
      return;
    case 18: return SetForeign("unranked tensor", type, cursor);
    default: break;
  }
  const ElementCode element = BuiltinFloat(code);
  if (element.bits == 0) return SetForeign(absl::StrCat("builtin type ", code), type, cursor);
  raw->bits = element.bits;
  SetElement(element, type);
}

BytecodeEntries::RawType BytecodeEntries::RawTypeOf(const EncodedEntry& entry, Type* type,
                                                    BytecodeCursor& cursor) const {
  RawType raw{.begin = entry.begin};
  if (!entry.has_encoding) {
    SetForeign(absl::StrCat("type ", cursor.NulTerminated()), type, cursor);
    return raw;
  }
  const uint64_t code = cursor.Varint();
  if (entry.dialect == "vhlo") {
    VhloType(code, type, &raw, cursor);
  } else if (entry.dialect == "builtin") {
    BuiltinType(code, type, &raw, cursor);
  } else if (entry.dialect == "stablehlo" && code == 0) {
    // Tokens of Shardy's operations, which are of no version.
    type->kind = Type::Kind::kToken;
    type->shape = ShapeUtil::MakeTokenShape();
  } else {
    SetForeign(absl::StrCat("type of dialect ", entry.dialect), type, cursor);
  }
  return raw;
}

absl::Status BytecodeEntries::ResolveQuantized(size_t number) {
  const RawType& raw = raw_types_[number];
  BytecodeCursor cursor(bytes_, raw.begin, raw.begin);
  const Type *storage = TypeAt(raw.inputs[0], cursor), *expressed = TypeAt(raw.inputs[1], cursor);
  HILO_RETURN_IF_ERROR(cursor.status());
  Quantization& quantization = *raw.quantization;
  quantization.storage = IntegerType(raw_types_[raw.inputs[0]].bits, raw.is_unsigned);
  quantization.expressed = expressed->element;
  if (storage->kind != Type::Kind::kElement || expressed->kind != Type::Kind::kElement)
    cursor.Fail("a quantized type of what are no element types");
  if (absl::Status status = CheckQuantization(quantization); !status.ok()) cursor.Fail(status.message());
  HILO_RETURN_IF_ERROR(cursor.status());
  SetElement({quantization.storage, 0}, types_[number]);
  types_[number]->quantization = raw.quantization;
  return absl::OkStatus();
}

// Complex types and tensors: of element types, which are there. Functions: of types that need not be.
absl::Status BytecodeEntries::ResolveType(size_t number) {
  Type* type = types_[number];
  const RawType& raw = raw_types_[number];
  BytecodeCursor cursor(bytes_, raw.begin, raw.begin);
  auto list = [&](const std::vector<uint64_t>& numbers) {
    std::vector<const Type*> list;
    for (uint64_t part : numbers) list.push_back(TypeAt(part, cursor));
    return list;
  };
  switch (raw.form) {
    case RawType::Form::kFunction:
    case RawType::Form::kFuture:
      type->kind = raw.form == RawType::Form::kFuture ? Type::Kind::kFuture : Type::Kind::kFunction;
      type->inputs = list(raw.inputs);
      type->results = list(raw.results);
      return cursor.status();
    case RawType::Form::kTensor: {
      const Type* element = TypeAt(raw.inputs[0], cursor);
      HILO_RETURN_IF_ERROR(cursor.status());
      if (element->kind == Type::Kind::kForeign) {
        type->name = absl::StrCat("tensor of ", element->name);
        return absl::OkStatus();
      }
      if (element->kind != Type::Kind::kElement) cursor.Fail("a tensor of what is no element type");
      std::vector<int64_t> bounds;
      if (raw.encoding >= 0) {
        const Attribute* encoding = AttributeAt(raw.encoding, cursor);
        HILO_RETURN_IF_ERROR(cursor.status());
        if (encoding->kind != Attribute::Kind::kIntegers) {
          type->name = "tensor with an encoding";
          return absl::OkStatus();
        }
        bounds = encoding->integers;
      }
      HILO_RETURN_IF_ERROR(cursor.status());
      type->quantization = element->quantization;
      if (absl::Status status = SetTensor(element->element, raw.dimensions, bounds, type); !status.ok())
        cursor.Fail(status.message());
      return cursor.status();
    }
    case RawType::Form::kComplex:
    case RawType::Form::kQuantized:
    case RawType::Form::kTuple:
    case RawType::Form::kDone: return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Tuples may hold tuples. One iteration per level.
absl::Status BytecodeEntries::ResolveTuples() {
  TupleTypes tuples;
  std::vector<size_t> left;
  for (size_t i = 0; i < types_.size(); ++i) {
    if (raw_types_[i].form == RawType::Form::kTuple) left.push_back(i);
  }
  for (int depth = 0; !left.empty(); ++depth) {
    std::vector<size_t> next;
    for (size_t number : left) {
      const RawType& raw = raw_types_[number];
      BytecodeCursor cursor(bytes_, raw.begin, raw.begin);
      // Those that hold themselves are never ready.
      if (depth > ShapeUtil::kMaxTupleDepth) cursor.Fail("tuples are nested too deeply");
      bool ready = true;
      std::vector<const Type*> parts;
      for (uint64_t part : raw.inputs) {
        parts.push_back(TypeAt(part, cursor));
        HILO_RETURN_IF_ERROR(cursor.status());
        ready &= raw_types_[part].form != RawType::Form::kTuple || parts.back()->kind == Type::Kind::kTuple;
      }
      HILO_RETURN_IF_ERROR(cursor.status());
      if (!ready) {
        next.push_back(number);
        continue;
      }
      if (absl::Status status = tuples.Make(parts, types_[number]); !status.ok()) cursor.Fail(status.message());
      HILO_RETURN_IF_ERROR(cursor.status());
    }
    left = std::move(next);
  }
  return absl::OkStatus();
}

absl::Status BytecodeEntries::Decode(const std::vector<EncodedEntry>& attributes,
                                     const std::vector<EncodedEntry>& types) {
  for (size_t i = 0; i < types.size(); ++i) types_.push_back(module_.AddType());
  for (size_t i = 0; i < attributes.size(); ++i) attributes_.push_back(module_.AddAttribute());
  for (size_t i = 0; i < types.size(); ++i) {
    BytecodeCursor cursor(bytes_, types[i].begin, types[i].end);
    raw_types_.push_back(RawTypeOf(types[i], types_[i], cursor));
    HILO_RETURN_IF_ERROR(cursor.ExpectEnd("a type"));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (raw_types_[i].form != RawType::Form::kComplex) continue;
    BytecodeCursor cursor(bytes_, types[i].begin, types[i].begin);
    const Type* part = TypeAt(raw_types_[i].inputs[0], cursor);
    const bool fits =
        part != nullptr && (part->element == F32 || part->element == F64) && part->kind == Type::Kind::kElement;
    if (!fits) cursor.Fail("expected a complex type of f32 or f64");
    HILO_RETURN_IF_ERROR(cursor.status());
    SetElement({part->element == F32 ? C64 : C128, 0}, types_[i]);
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (raw_types_[i].form == RawType::Form::kQuantized) HILO_RETURN_IF_ERROR(ResolveQuantized(i));
  }
  // Keys of dictionaries are strings of the table.
  for (bool strings_only : {true, false}) {
    for (size_t i = 0; i < attributes.size(); ++i)
      HILO_RETURN_IF_ERROR(DecodeAttribute(attributes[i], strings_only, attributes_[i]));
  }
  for (size_t i = 0; i < types.size(); ++i) HILO_RETURN_IF_ERROR(ResolveType(i));
  return ResolveTuples();
}

}  // namespace hilo::stablehlo
