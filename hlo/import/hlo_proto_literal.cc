// Every element type has a separate field in LiteralProto. Most hold the elements' bytes as they are in memory; those
// of 32 and 64 bits and PRED are lists of numbers. Elements follow the order of the literal's layout.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_shape.h"

namespace hilo {
namespace {

enum class Coding { kBytes, kVarints, kFixed32, kFixed64 };

struct ElementField {
  int number = 0;  // 0: no array has this type
  Coding coding = Coding::kBytes;
};

ElementField FieldOf(PrimitiveType type) {
  switch (type) {
    case PRED: return {2, Coding::kVarints};
    case S32: return {4, Coding::kVarints};
    case S64: return {5, Coding::kVarints};
    case U32: return {6, Coding::kVarints};
    case U64: return {7, Coding::kVarints};
    case F32: return {8, Coding::kFixed32};
    case F64: return {9, Coding::kFixed64};
    case C64: return {12, Coding::kFixed32};
    case C128: return {18, Coding::kFixed64};
    case U8: return {3};
    case F16: return {11};
    case BF16: return {13};
    case S8: return {15};
    case U16: return {16};
    case S16: return {17};
    // From here on a type's field has its own number.
    case F8E5M2:
    case F8E4M3FN:
    case S4:
    case U4:
    case F8E4M3B11FNUZ:
    case F8E5M2FNUZ:
    case F8E4M3FNUZ:
    case S2:
    case U2:
    case F8E4M3:
    case F8E3M4:
    case S1:
    case U1:
    case F4E2M1FN:
    case F8E8M0FNU: return {static_cast<int>(type)};
    default: return {};
  }
}

// The numbers of a list as elements of `width` bytes, little end first.
std::string NarrowNumbers(const std::vector<int64_t>& numbers, size_t width) {
  std::string bytes(numbers.size() * width, '\0');
  for (size_t i = 0; i < numbers.size(); ++i) std::memcpy(&bytes[i * width], &numbers[i], width);
  return bytes;
}

std::vector<int64_t> WidenNumbers(const std::string& bytes, PrimitiveType type) {
  const size_t width = PrimitiveTypeByteSize(type);
  std::vector<int64_t> numbers(bytes.size() / width, 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::memcpy(&numbers[i], &bytes[i * width], width);
    if (type == S32) numbers[i] = static_cast<int32_t>(numbers[i]);
  }
  return numbers;
}

absl::StatusOr<std::string> ElementBytes(const WireMessage& proto, const Shape& shape) {
  const ElementField field = FieldOf(shape.element_type());
  switch (field.coding) {
    case Coding::kVarints: {
      HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, proto.Ints(field.number));
      return NarrowNumbers(numbers, PrimitiveTypeByteSize(shape.element_type()));
    }
    case Coding::kFixed32: return proto.PackedFixed(field.number, WireType::kFixed32);
    case Coding::kFixed64: return proto.PackedFixed(field.number, WireType::kFixed64);
    default: return std::string(proto.Bytes(field.number));
  }
}

absl::StatusOr<Literal> ArrayFromProto(const WireMessage& proto, const Shape& shape) {
  HILO_ASSIGN_OR_RETURN(const std::string bytes, ElementBytes(proto, shape));
  const int64_t expected = ShapeUtil::ElementsIn(shape) * PrimitiveTypeByteSize(shape.element_type());
  if (static_cast<int64_t>(bytes.size()) != expected) {
    return InvalidArgument("expected ", expected, " bytes of elements in a literal of ", shape.ToString(), "; got ",
                           bytes.size());
  }
  HILO_ASSIGN_OR_RETURN(Literal elements, LiteralFromBytes(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                           ShapeUtil::MakeStaticShape(shape)));
  if (shape.is_static()) return elements;
  // The message has no sizes of dynamic dimensions: they are at their bounds.
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  std::copy(elements.untyped_data().begin(), elements.untyped_data().end(), literal.untyped_data().begin());
  return literal;
}

absl::StatusOr<Literal> NestedLiteralFromProto(const WireMessage& proto, const Shape& shape) {
  if (shape.IsArray()) return ArrayFromProto(proto, shape);
  if (!shape.IsTuple()) return Literal::Create(shape);
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, proto.Messages(10));
  if (static_cast<int64_t>(protos.size()) != shape.tuple_shapes_size()) {
    return InvalidArgument("expected ", shape.tuple_shapes_size(), " elements in a literal of ", shape.ToString(),
                           "; got ", protos.size());
  }
  std::vector<Literal> elements;
  for (size_t i = 0; i < protos.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(),
                          NestedLiteralFromProto(protos[i], shape.tuple_shapes(static_cast<int64_t>(i))));
  }
  return Literal::MakeTuple(std::move(elements));
}

// The bits of an element that its type does not use are zero on the wire.
void ClearUnusedBits(PrimitiveType type, std::string* bytes) {
  if (!IsSubByteType(type)) return;
  for (char& byte : *bytes) byte = static_cast<char>(byte & ((1 << PrimitiveTypeBitWidth(type)) - 1));
}

void PutElements(const Literal& literal, const Shape& shape, WireWriter* out) {
  std::string bytes(literal.untyped_data().size(), '\0');
  LiteralToBytes(literal, ShapeUtil::MakeStaticShape(shape), reinterpret_cast<uint8_t*>(bytes.data()));
  ClearUnusedBits(shape.element_type(), &bytes);
  const ElementField field = FieldOf(shape.element_type());
  if (field.coding == Coding::kVarints) {
    out->Ints(field.number, WidenNumbers(bytes, shape.element_type()));
  } else {
    out->Bytes(field.number, bytes);
  }
}

}  // namespace

absl::StatusOr<Literal> LiteralFromProto(const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(const WireMessage shape_proto, proto.Message(1));
  HILO_ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(shape_proto));
  return NestedLiteralFromProto(proto, shape);
}

absl::StatusOr<WireWriter> LiteralToProto(const Literal& literal, const Shape& shape) {
  WireWriter out;
  HILO_ASSIGN_OR_RETURN(const WireWriter written, ShapeToProto(shape));
  out.Message(1, written);
  if (shape.IsArray()) {
    if (literal.ActualDimensions() != std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end())) {
      return Unimplemented("a proto has no room for the sizes of dynamic dimensions, as in a literal of ",
                           shape.ToString());
    }
    PutElements(literal, shape, &out);
  }
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    HILO_ASSIGN_OR_RETURN(const WireWriter element, LiteralToProto(literal.element(i), shape.tuple_shapes(i)));
    out.Message(10, element);
  }
  return out;
}

}  // namespace hilo
