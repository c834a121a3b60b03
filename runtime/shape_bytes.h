// Shapes in serialized executables: their text, layouts included.
#ifndef HILO_RUNTIME_SHAPE_BYTES_H_
#define HILO_RUNTIME_SHAPE_BYTES_H_

#include "base/byte_stream.h"
#include "hilo/shape.h"

namespace hilo {

void WriteShape(const Shape& shape, ByteWriter* out);
void WriteProgramShape(const ProgramShape& shape, ByteWriter* out);
// A valid shape; an invalid one is the reader's error.
Shape ReadShape(ByteReader* in);
// Every array has a layout.
ProgramShape ReadProgramShape(ByteReader* in);

// Leaves of all parameters, depth first.
int64_t ParameterLeafCount(const ProgramShape& shape);

}  // namespace hilo

#endif  // HILO_RUNTIME_SHAPE_BYTES_H_
