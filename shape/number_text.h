// Single numbers as text, in HLO's constants and elsewhere.
#ifndef HILO_SHAPE_NUMBER_TEXT_H_
#define HILO_SHAPE_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hilo/primitive_type.h"

namespace hilo {

// Appends the element of `type` (an array type) at `element`: integers in decimal, PRED as 0 or 1, floats as the
// shortest decimal that reads back to the same bits ("inf", "nan", "-nan(0x1)" with the mantissa of a NaN that is not
// the plain one), complex numbers as "(1, -2)".
void AppendNumber(PrimitiveType type, const uint8_t* element, std::string* out);

// Reads what AppendNumber writes, for real types (a complex number's parts are of ComplexComponentType); also "true"
// and "false" for PRED and hexadecimal floats ("-0x1.8p3"). Floats round to the nearest value of the type. Errors:
// InvalidArgument if `text` is not a number, or is out of the type's range.
absl::Status ParseNumber(absl::string_view text, PrimitiveType type, uint8_t* element);

}  // namespace hilo

#endif  // HILO_SHAPE_NUMBER_TEXT_H_
