// Types of MLIR text.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/mlir_text_values.h"

namespace hilo::stablehlo {

absl::Status MlirValueReader::CheckDepth(int depth) const {
  constexpr int kMaxDepth = 64;
  return depth > kMaxDepth ? cursor_.Error("types or attributes are nested too deeply") : absl::OkStatus();
}

absl::StatusOr<const Type*> MlirValueReader::ReadType() { return ReadType(0); }

// i32 is s32, i1 pred; names of floats are XLA's except for case.
absl::Status MlirValueReader::ReadElement(absl::string_view word, Type* type) {
  type->kind = Type::Kind::kElement;
  std::string name = absl::AsciiStrToLower(word);
  if (word == "index") {
    type->is_index = true;
    type->element = S64;
    return absl::OkStatus();
  }
  if (name == "i1") name = "pred";
  if (name.size() > 1 && name[0] == 'i' && absl::ascii_isdigit(name[1])) name[0] = 's';
  if (absl::StartsWith(name, "si")) name.erase(1, 1);
  if (absl::StartsWith(name, "ui")) name.erase(1, 1);
  const absl::StatusOr<PrimitiveType> known = PrimitiveTypeFromName(name);
  if (known.ok() && IsArrayType(*known)) {
    type->element = *known;
  } else {
    type->kind = Type::Kind::kForeign;
    type->name = std::string(word);
  }
  return absl::OkStatus();
}

// The text between the brackets of tensor<...>.
absl::Status MlirValueReader::ReadTensor(int depth, Type* type) {
  std::vector<int64_t> sizes, bounds;
  for (int64_t size; cursor_.TakeDimension(&size);) sizes.push_back(size < 0 ? kDynamicSize : size);
  if (cursor_.Take("*x")) {
    type->name = "unranked tensor";
    HILO_RETURN_IF_ERROR(ReadType(depth + 1).status());
    return cursor_.Expect(">");
  }
  HILO_ASSIGN_OR_RETURN(const Type* element, ReadType(depth + 1));
  if (cursor_.Take(",")) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("#stablehlo.bounds<"));
    do {
      const bool is_open = cursor_.Take("?");
      bounds.push_back(kDynamicSize);
      if (!is_open) {
        HILO_ASSIGN_OR_RETURN(bounds.back(), cursor_.Integer());
      }
    } while (cursor_.Take(","));
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  if (element->kind == Type::Kind::kForeign) {
    type->name = absl::StrCat("tensor of ", element->name);
    return absl::OkStatus();
  }
  if (element->kind != Type::Kind::kElement) return cursor_.Error("a tensor of what is no element type");
  type->quantization = element->quantization;
  const absl::Status status = SetTensor(element->element, std::move(sizes), bounds, type);
  return status.ok() ? status : cursor_.Error(status.message());
}

// "i8<-127:127>:f32:1, {0.1:3, 0.2}>", behind the opening bracket.
absl::Status MlirValueReader::ReadQuantized(Type* type) {
  auto quantization = std::make_shared<Quantization>();
  Type storage, expressed;
  HILO_RETURN_IF_ERROR(ReadElement(cursor_.Word(), &storage));
  quantization->storage = storage.element;
  SetStorageRange(quantization.get());
  if (cursor_.Take("<")) {
    HILO_ASSIGN_OR_RETURN(quantization->min, cursor_.Integer());
    HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
    HILO_ASSIGN_OR_RETURN(quantization->max, cursor_.Integer());
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
  HILO_RETURN_IF_ERROR(ReadElement(cursor_.Word(), &expressed));
  quantization->expressed = expressed.element;
  if (cursor_.Take(":")) {
    if (cursor_.Peek() == '{') {
      type->name = "an element type quantised by blocks";
      HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
      HILO_RETURN_IF_ERROR(cursor_.Expect(","));
      if (cursor_.Peek() != '{') return cursor_.Expected("'{'");
      HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
      return cursor_.Expect(">");
    }
    HILO_ASSIGN_OR_RETURN(quantization->dimension, cursor_.Integer());
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(","));
  const bool is_list = cursor_.Take("{");
  do {
    const absl::string_view scale = cursor_.Number();
    if (!absl::SimpleAtod(scale, &quantization->scales.emplace_back())) return cursor_.Expected("a scale");
    quantization->zero_points.push_back(0);
    if (cursor_.Take(":")) {
      HILO_ASSIGN_OR_RETURN(quantization->zero_points.back(), cursor_.Integer());
    }
  } while (is_list && cursor_.Take(","));
  if (is_list) HILO_RETURN_IF_ERROR(cursor_.Expect("}"));
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  if (absl::Status status = CheckQuantization(*quantization); !status.ok()) return cursor_.Error(status.message());
  type->kind = Type::Kind::kElement;
  type->element = quantization->storage;
  type->quantization = std::move(quantization);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<const Type*>> MlirValueReader::ReadTypeList(int depth) {
  std::vector<const Type*> types;
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  if (cursor_.Take(")")) return types;
  do {
    HILO_ASSIGN_OR_RETURN(types.emplace_back(), ReadType(depth + 1));
  } while (cursor_.Take(","));
  HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  return types;
}

absl::StatusOr<const Type*> MlirValueReader::ReadType(int depth) {
  HILO_RETURN_IF_ERROR(CheckDepth(depth));
  Type* type = module_.AddType();
  if (cursor_.Peek() == '(') {
    type->kind = Type::Kind::kFunction;
    HILO_ASSIGN_OR_RETURN(type->inputs, ReadTypeList(depth));
    HILO_RETURN_IF_ERROR(cursor_.Expect("->"));
    if (cursor_.Peek() == '(') {
      HILO_ASSIGN_OR_RETURN(type->results, ReadTypeList(depth));
    } else {
      HILO_ASSIGN_OR_RETURN(type->results.emplace_back(), ReadType(depth + 1));
    }
    return type;
  }
  if (cursor_.Take("!")) {
    const absl::string_view name = cursor_.Word();
    if (const auto alias = type_aliases_.find(name); alias != type_aliases_.end()) return alias->second;
    if (name == "stablehlo.token" || name == "mhlo.token") {
      type->kind = Type::Kind::kToken;
      type->shape = ShapeUtil::MakeTokenShape();
    } else if (name == "quant.uniform" && cursor_.Take("<")) {
      HILO_RETURN_IF_ERROR(ReadQuantized(type));
    } else {
      type->name = absl::StrCat("!", name);
      if (cursor_.Peek() == '<') HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
    }
    return type;
  }
  const absl::string_view word = cursor_.Word();
  if (word == "tensor" && cursor_.Take("<")) {
    HILO_RETURN_IF_ERROR(ReadTensor(depth, type));
  } else if (word == "complex" && cursor_.Take("<")) {
    HILO_ASSIGN_OR_RETURN(const Type* part, ReadType(depth + 1));
    if (part->element != F32 && part->element != F64) return cursor_.Error("expected a complex type of f32 or f64");
    type->kind = Type::Kind::kElement;
    type->element = part->element == F32 ? C64 : C128;
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  } else if (word == "tuple" && cursor_.Take("<")) {
    std::vector<Shape> shapes;
    while (!cursor_.Take(">")) {
      HILO_ASSIGN_OR_RETURN(const Type* part, ReadType(depth + 1));
      if (!part->IsValue() || !part->IsStatic()) return cursor_.Error(absl::StrCat("a tuple of ", TypeText(*part)));
      shapes.push_back(part->shape);
      if (!cursor_.Take(",") && !cursor_.At(">")) return cursor_.Expected("',' or '>'");
    }
    type->kind = Type::Kind::kTuple;
    type->shape = Shape(std::move(shapes));
  } else if (word == "none") {
    type->kind = Type::Kind::kNone;
  } else if (word.empty()) {
    return cursor_.Expected("a type");
  } else {
    HILO_RETURN_IF_ERROR(ReadElement(word, type));
    if (cursor_.Peek() == '<' && type->kind == Type::Kind::kForeign) HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
  }
  return type;
}

absl::StatusOr<MlirValueReader::Signature> MlirValueReader::ReadSignature() {
  Signature signature;
  if (cursor_.Peek() == '(') {
    HILO_ASSIGN_OR_RETURN(signature.operands, ReadTypeList(0));
  } else {
    do {
      HILO_ASSIGN_OR_RETURN(signature.operands.emplace_back(), ReadType());
    } while (cursor_.Take(","));
  }
  signature.has_arrow = cursor_.Take("->");
  if (!signature.has_arrow) return signature;
  if (cursor_.Peek() == '(') {
    HILO_ASSIGN_OR_RETURN(signature.results, ReadTypeList(0));
  } else {
    HILO_ASSIGN_OR_RETURN(signature.results.emplace_back(), ReadType());
  }
  return signature;
}

}  // namespace hilo::stablehlo
