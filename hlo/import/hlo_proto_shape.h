// Shapes and literals as XLA's ShapeProto, LayoutProto, ProgramShapeProto and LiteralProto.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_SHAPE_H_
#define HILO_HLO_IMPORT_HLO_PROTO_SHAPE_H_

#include "absl/status/statusor.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hlo/import/hlo_proto_wire.h"

namespace hilo {

// Layout fields that Shape does not store are ignored.
// Errors: InvalidArgument for element types that Hilo does not support, sparse layouts and what ShapeUtil::Validate
// rejects.
absl::StatusOr<Shape> ShapeFromProto(const WireMessage& proto);
absl::StatusOr<ProgramShape> ProgramShapeFromProto(const WireMessage& proto);

// Arrays without layout are written with the default one. Errors: Unimplemented for layouts with padding, which the
// message cannot represent.
absl::StatusOr<WireWriter> ShapeToProto(const Shape& shape);
absl::StatusOr<WireWriter> ProgramShapeToProto(const ProgramShape& shape);

// The literal's own shape, layout included. Errors: InvalidArgument unless the number of elements matches the shape.
absl::StatusOr<Literal> LiteralFromProto(const WireMessage& proto);
// Elements in the order of the layout of `shape`, which has the literal's dimensions and types (row-major where it has
// none).
absl::StatusOr<WireWriter> LiteralToProto(const Literal& literal, const Shape& shape);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_SHAPE_H_
