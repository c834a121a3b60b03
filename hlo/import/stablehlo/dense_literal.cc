#include "hlo/import/stablehlo/dense_literal.h"

#include <cstring>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {
namespace {

// Splats may represent any number of elements; lists in attributes are short.
constexpr int64_t kMaxListed = 1 << 20;

bool IsSignedNarrow(PrimitiveType type) { return type == S4 || type == S2 || type == S1; }

int NarrowBits(PrimitiveType type) {
  switch (type) {
    case S4:
    case U4:
    case F4E2M1FN: return 4;
    case S2:
    case U2: return 2;
    case S1:
    case U1: return 1;
    default: return 8;
  }
}

void CopyNarrow(PrimitiveType type, absl::string_view from, absl::Span<uint8_t> to) {
  const int bits = NarrowBits(type);
  const auto mask = static_cast<uint8_t>((1 << bits) - 1);
  for (size_t i = 0; i < to.size(); ++i) {
    uint8_t value = static_cast<uint8_t>(from[i]) & mask;
    if (IsSignedNarrow(type) && (value >> (bits - 1)) != 0) value |= static_cast<uint8_t>(~mask);
    to[i] = value;
  }
}

absl::StatusOr<Literal> Predicates(const Shape& shape, int64_t count, absl::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  const bool is_splat = size == 1 && count != 1 && (count > 8 || bytes[0] == '\xff');
  const bool is_packed = size == (count + 7) / 8;
  if (!is_splat && !is_packed && size != count) {
    return InvalidArgument("a constant of ", shape.ToString(), " with ", size, " bytes");
  }
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(is_splat ? ShapeUtil::MakeScalarShape(PRED) : shape));
  const absl::Span<uint8_t> elements = literal.untyped_data();
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[is_splat ? 0 : is_packed ? i / 8 : i]);
    elements[i] = is_splat || !is_packed ? byte != 0 : (byte >> (i % 8)) & 1;
  }
  return literal;
}

}  // namespace

absl::StatusOr<Literal> DenseElements(const Attribute& dense) {
  if (dense.kind != Attribute::Kind::kDense || dense.type == nullptr) return InvalidArgument("expected a dense array");
  const Type& type = *dense.type;
  if (type.kind == Type::Kind::kForeign) return Unimplemented("a constant of ", type.name);
  if (type.kind != Type::Kind::kTensor || !type.IsStatic() || !type.shape.is_static()) {
    return InvalidArgument("a constant of ", TypeText(type));
  }
  const int64_t count = ShapeUtil::ElementsIn(type.shape);
  if (type.element == PRED) return Predicates(type.shape, count, dense.text);
  const auto size = static_cast<int64_t>(dense.text.size());
  const int64_t width = PrimitiveTypeByteSize(type.element);
  const bool is_splat = size == width && count != 1;
  if (!is_splat && (size % width != 0 || size / width != count)) {
    return InvalidArgument("a constant of ", type.shape.ToString(), " with ", size, " bytes");
  }
  HILO_ASSIGN_OR_RETURN(Literal literal,
                        Literal::Create(is_splat ? ShapeUtil::MakeScalarShape(type.element) : type.shape));
  if (NarrowBits(type.element) < 8) {
    CopyNarrow(type.element, dense.text, literal.untyped_data());
  } else if (size > 0) {
    std::memcpy(literal.untyped_data().data(), dense.text.data(), static_cast<size_t>(size));
  }
  return literal;
}

absl::StatusOr<std::vector<int64_t>> IntegersOf(const Attribute& attribute) {
  std::vector<int64_t> integers;
  switch (attribute.kind) {
    case Attribute::Kind::kIntegers: return attribute.integers;
    case Attribute::Kind::kArray:
      for (const Attribute* element : attribute.elements) {
        if (element->kind != Attribute::Kind::kInteger && element->kind != Attribute::Kind::kBool) {
          return InvalidArgument("expected a list of integers");
        }
        integers.push_back(element->integer);
      }
      return integers;
    case Attribute::Kind::kDense: {
      HILO_ASSIGN_OR_RETURN(const Literal elements, DenseElements(attribute));
      const Shape& shape = attribute.type->shape;
      const int64_t count = ShapeUtil::ElementsIn(shape);
      const PrimitiveType type = shape.element_type();
      if (type != PRED && !IsIntegralType(type)) return InvalidArgument("expected integers, got ", shape.ToString());
      if (count > kMaxListed) return InvalidArgument("a list of ", count, " integers");
      for (int64_t i = 0; i < count; ++i) integers.push_back(elements.GetAsInt64(elements.shape().IsScalar() ? 0 : i));
      return integers;
    }
    default: return InvalidArgument("expected a list of integers");
  }
}

}  // namespace hilo::stablehlo
