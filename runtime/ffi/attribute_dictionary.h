// The attributes of a typed FFI call: its backend_config, a dictionary in MLIR's text.
#ifndef HILO_RUNTIME_FFI_ATTRIBUTE_DICTIONARY_H_
#define HILO_RUNTIME_FFI_ATTRIBUTE_DICTIONARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/primitive_type.h"

namespace hilo::ffi {

struct NamedAttribute;

struct Attribute {
  enum class Kind { kArray, kDictionary, kScalar, kString };
  Kind kind = Kind::kScalar;
  PrimitiveType type = PRIMITIVE_TYPE_INVALID;  // of scalars and array elements
  std::vector<uint8_t> bytes;                   // a scalar, the elements of an array, the characters of a string
  std::vector<NamedAttribute> entries;          // of a dictionary, sorted by name
};
struct NamedAttribute {
  std::string name;
  Attribute value;
};

// Reads "{uplo = 76 : ui8, name = "x", on = true, f = 1.0 : f32, arr = array<i64: 1, 2>, d = dense<[1, 2]> :
// tensor<2xi32>, nested = {}}". Types are kept: i1 is PRED, iN and siN are SN, uiN is UN, index is S64; a number
// without type is i64 or f64. "" is an empty dictionary. Errors: InvalidArgument with what was expected and where, for
// malformed dictionaries, duplicate names, numbers out of range of their type, other kinds of attributes, and nesting
// deeper than 64.
absl::StatusOr<std::vector<NamedAttribute>> ParseAttributeDictionary(absl::string_view text);

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_ATTRIBUTE_DICTIONARY_H_
