#include "runtime/shape_bytes.h"

#include "hlo/memory/buffer_assignment.h"

namespace hilo {

void WriteShape(const Shape& shape, ByteWriter* out) { out->Text(shape.ToString(/*print_layout=*/true)); }

Shape ReadShape(ByteReader* in) {
  const absl::string_view text = in->Text();
  if (!in->ok()) return Shape();
  absl::StatusOr<Shape> shape = ParseShape(text);
  if (shape.ok()) {
    if (const absl::Status valid = ShapeUtil::Validate(*shape); !valid.ok()) shape = valid;
  }
  if (shape.ok()) return *std::move(shape);
  in->Fail(absl::StrCat("a shape (", shape.status().message(), ")"));
  return Shape();
}

void WriteProgramShape(const ProgramShape& shape, ByteWriter* out) {
  out->U64(shape.parameters.size());
  for (const Shape& parameter : shape.parameters) WriteShape(parameter, out);
  out->U64(shape.parameter_names.size());
  for (const std::string& name : shape.parameter_names) out->Text(name);
  WriteShape(shape.result, out);
}

ProgramShape ReadProgramShape(ByteReader* in) {
  ProgramShape shape;
  for (uint64_t count = in->Count(8); count > 0 && in->ok(); --count) {
    ShapeUtil::AddMissingLayouts(&shape.parameters.emplace_back(ReadShape(in)));
  }
  for (uint64_t count = in->Count(8); count > 0 && in->ok(); --count) shape.parameter_names.emplace_back(in->Text());
  shape.result = ReadShape(in);
  ShapeUtil::AddMissingLayouts(&shape.result);
  return shape;
}

int64_t ParameterLeafCount(const ProgramShape& shape) {
  int64_t count = 0;
  for (const Shape& parameter : shape.parameters) count += LeafCount(parameter);
  return count;
}

}  // namespace hilo
