// Types of MLIR text.
#include <map>

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

// The text between the brackets of tensor<...> or memref<...>, of which the latter may name a memory.
absl::Status MlirValueReader::ReadTensor(int depth, bool is_buffer, Type* type) {
  std::vector<int64_t> sizes, bounds;
  for (int64_t size; cursor_.TakeDimension(&size);) sizes.push_back(size < 0 ? kDynamicSize : size);
  if (cursor_.Take("*x")) {
    type->name = "unranked tensor";
    HILO_RETURN_IF_ERROR(ReadType(depth + 1).status());
    return cursor_.Expect(">");
  }
  HILO_ASSIGN_OR_RETURN(const Type* element, ReadType(depth + 1));
  const bool has_more = cursor_.Take(",");
  if (has_more && is_buffer) {
    HILO_RETURN_IF_ERROR(ReadAttribute(depth + 1).status());
  } else if (has_more) {
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
  type->is_buffer = is_buffer;
  const absl::Status status = SetTensor(element->element, std::move(sizes), bounds, type);
  return status.ok() ? status : cursor_.Error(status.message());
}

// "{0:2, 1:16}", the sizes of blocks along dimensions, or "1": a scale for each index along it.
absl::Status MlirValueReader::ReadBlocks(Quantization* quantization) {
  std::map<int64_t, int64_t> sizes;
  const bool is_list = cursor_.Take("{");
  do {
    HILO_ASSIGN_OR_RETURN(const int64_t dimension, cursor_.Integer());
    int64_t size = 1;
    if (is_list) {
      HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
      HILO_ASSIGN_OR_RETURN(size, cursor_.Integer());
    }
    if (!sizes.emplace(dimension, size).second)
      return cursor_.Error(absl::StrCat("two sizes of blocks along dimension ", dimension));
  } while (is_list && cursor_.Take(","));
  for (const auto& [dimension, size] : sizes) {
    quantization->dimensions.push_back(dimension);
    quantization->block_sizes.push_back(size);
  }
  return is_list ? cursor_.Expect("}") : absl::OkStatus();
}

// "0.1:3", "{0.1:3, 0.2}", "{{0.1:3, 0.2}, {1, 2}}": the scales, and how many there are along each dimension of the
// list.
absl::StatusOr<std::vector<int64_t>> MlirValueReader::ReadScales(Quantization* quantization) {
  constexpr int64_t kUnknown = -1;
  std::vector<int64_t> sizes, open;  // the elements so far of the lists that are open, the outermost first
  do {
    while (cursor_.Take("{")) {
      HILO_RETURN_IF_ERROR(CheckDepth(static_cast<int>(open.size())));
      if (sizes.size() == open.size()) sizes.push_back(kUnknown);
      open.push_back(0);
    }
    if (open.size() != sizes.size()) return cursor_.Expected("'{'");
    const absl::string_view scale = cursor_.Number();
    if (!absl::SimpleAtod(scale, &quantization->scales.emplace_back())) return cursor_.Expected("a scale");
    quantization->zero_points.push_back(0);
    if (cursor_.Take(":")) {
      HILO_ASSIGN_OR_RETURN(quantization->zero_points.back(), cursor_.Integer());
    }
    if (!open.empty()) ++open.back();
    while (!open.empty() && cursor_.Take("}")) {
      int64_t& size = sizes[open.size() - 1];
      if (size != kUnknown && size != open.back()) return cursor_.Error("lists of scales of different sizes");
      size = open.back();
      open.pop_back();
      if (!open.empty()) ++open.back();
    }
  } while (!open.empty() && cursor_.Take(","));
  if (!open.empty()) return cursor_.Expected("'}'");
  return sizes;
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
  bool in_blocks = false;
  if (cursor_.Take(":")) {
    in_blocks = cursor_.Peek() == '{';
    HILO_RETURN_IF_ERROR(ReadBlocks(quantization.get()));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(","));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ReadScales(quantization.get()));
  // Scales of blocks are listed in as many dimensions as the array has, others along the one dimension.
  for (const int64_t dimension : quantization->dimensions) {
    const int64_t list = in_blocks ? dimension : 0;
    if (list < 0 || list >= static_cast<int64_t>(sizes.size()))
      return cursor_.Error(absl::StrCat("no list of scales along dimension ", dimension));
    quantization->grid.push_back(sizes[list]);
  }
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
    } else if (name == "stablehlo.future" && cursor_.Take("<")) {
      type->kind = Type::Kind::kFuture;
      do {
        HILO_ASSIGN_OR_RETURN(type->results.emplace_back(), ReadType(depth + 1));
      } while (cursor_.Take(","));
      HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
    } else if (name == "quant.uniform" && cursor_.Take("<")) {
      HILO_RETURN_IF_ERROR(ReadQuantized(type));
    } else {
      type->name = absl::StrCat("!", name);
      if (cursor_.Peek() == '<') HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
    }
    return type;
  }
  const absl::string_view word = cursor_.Word();
  if ((word == "tensor" || word == "memref") && cursor_.Take("<")) {
    HILO_RETURN_IF_ERROR(ReadTensor(depth, word == "memref", type));
  } else if (word == "complex" && cursor_.Take("<")) {
    HILO_ASSIGN_OR_RETURN(const Type* part, ReadType(depth + 1));
    if (part->element != F32 && part->element != F64) return cursor_.Error("expected a complex type of f32 or f64");
    type->kind = Type::Kind::kElement;
    type->element = part->element == F32 ? C64 : C128;
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  } else if (word == "tuple" && cursor_.Take("<")) {
    std::vector<const Type*> parts;
    while (!cursor_.Take(">")) {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), ReadType(depth + 1));
      if (!cursor_.Take(",") && !cursor_.At(">")) return cursor_.Expected("',' or '>'");
    }
    if (absl::Status status = tuples_.Make(parts, type); !status.ok()) return cursor_.Error(status.message());
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
