#include "hlo/import/hlo_proto_shape.h"

#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

absl::StatusOr<Layout> LayoutFromProto(const WireMessage& proto) {
  Layout layout;
  HILO_ASSIGN_OR_RETURN(layout.minor_to_major, proto.Ints(1));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> level_types, proto.Ints(9));
  for (const int64_t type : level_types) {
    if (type != 0) return InvalidArgument("expected a dense layout; got dimension level type ", type);
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> tiles, proto.Messages(6));
  for (const WireMessage& tile : tiles) {
    HILO_ASSIGN_OR_RETURN(layout.tiles.emplace_back().dimensions, tile.Ints(1));
  }
  layout.element_size_in_bits = proto.Int(7);
  layout.memory_space = proto.Int(8);
  return layout;
}

absl::StatusOr<WireWriter> LayoutToProto(const Layout& layout) {
  if (!layout.padded_dimensions.empty()) {
    return Unimplemented("layout ", layout.ToString(), " has padding, for which LayoutProto has no field");
  }
  WireWriter out;
  out.Ints(1, layout.minor_to_major);
  for (const Tile& tile : layout.tiles) {
    WireWriter dimensions;
    dimensions.Ints(1, tile.dimensions);
    out.Message(6, dimensions);
  }
  out.Int(7, layout.element_size_in_bits);
  out.Int(8, layout.memory_space);
  return out;
}

absl::StatusOr<Shape> ArrayShapeFromProto(const WireMessage& proto, PrimitiveType type) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, proto.Ints(3));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dynamic, proto.Ints(6));
  if (!dynamic.empty() && dynamic.size() != dimensions.size()) {
    return InvalidArgument("expected ", dimensions.size(), " dynamic flags, one a dimension; got ", dynamic.size());
  }
  Shape shape(type, dimensions, std::vector<bool>(dynamic.begin(), dynamic.end()));
  if (proto.Has(5)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage layout, proto.Message(5));
    HILO_ASSIGN_OR_RETURN(Layout read, LayoutFromProto(layout));
    if (!shape.IsScalar() || read != Layout()) shape.set_layout(std::move(read));
  }
  return shape;
}

// Recursion is bounded by kMaxTupleDepth.
absl::StatusOr<Shape> NestedShapeFromProto(const WireMessage& proto, int depth) {
  const int64_t number = proto.Int(2);
  const PrimitiveType type =
      number > 0 && number < kPrimitiveTypeCount ? static_cast<PrimitiveType>(number) : PRIMITIVE_TYPE_INVALID;
  if (type == PRIMITIVE_TYPE_INVALID) return InvalidArgument("there is no element type of number ", number);
  if (type != TUPLE) return IsArrayType(type) ? ArrayShapeFromProto(proto, type) : Shape(type);
  if (depth >= ShapeUtil::kMaxTupleDepth)
    return InvalidArgument("tuples are nested deeper than ", ShapeUtil::kMaxTupleDepth, " levels");
  std::vector<Shape> elements;
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, proto.Messages(4));
  for (const WireMessage& element : protos) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), NestedShapeFromProto(element, depth + 1));
  }
  return Shape(std::move(elements));
}

}  // namespace

absl::StatusOr<Shape> ShapeFromProto(const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(Shape shape, NestedShapeFromProto(proto, 0));
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  return shape;
}

absl::StatusOr<ProgramShape> ProgramShapeFromProto(const WireMessage& proto) {
  ProgramShape shape;
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> parameters, proto.Messages(1));
  for (const WireMessage& parameter : parameters) {
    HILO_ASSIGN_OR_RETURN(shape.parameters.emplace_back(), ShapeFromProto(parameter));
  }
  HILO_ASSIGN_OR_RETURN(const WireMessage result, proto.Message(2));
  HILO_ASSIGN_OR_RETURN(shape.result, ShapeFromProto(result));
  return shape;
}

absl::StatusOr<WireWriter> ShapeToProto(const Shape& shape) {
  WireWriter out;
  out.Int(2, shape.element_type());
  out.Ints(3, shape.dimensions());
  for (const Shape& element : shape.tuple_shapes()) {
    HILO_ASSIGN_OR_RETURN(const WireWriter written, ShapeToProto(element));
    out.Message(4, written);
  }
  if (shape.IsArray()) {  // XLA requires a layout of every array
    HILO_ASSIGN_OR_RETURN(
        const WireWriter layout,
        LayoutToProto(shape.has_layout() ? shape.layout() : LayoutUtil::MakeDescendingLayout(shape.rank())));
    out.Message(5, layout);
  }
  std::vector<int64_t> dynamic;
  for (int64_t i = 0; i < shape.rank(); ++i) dynamic.push_back(shape.is_dynamic_dimension(i));
  out.Ints(6, dynamic);
  return out;
}

absl::StatusOr<WireWriter> ProgramShapeToProto(const ProgramShape& shape) {
  WireWriter out;
  for (const Shape& parameter : shape.parameters) {
    HILO_ASSIGN_OR_RETURN(const WireWriter written, ShapeToProto(parameter));
    out.Message(1, written);
  }
  HILO_ASSIGN_OR_RETURN(const WireWriter result, ShapeToProto(shape.result));
  out.Message(2, result);
  for (const std::string& name : shape.parameter_names) out.PutBytes(3, name);
  return out;
}

}  // namespace hilo
