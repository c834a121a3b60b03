// Attributes of MLIR as text.
#ifndef HILO_HLO_IMPORT_STABLEHLO_ATTRIBUTE_TEXT_H_
#define HILO_HLO_IMPORT_STABLEHLO_ATTRIBUTE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// A string in quotes; non-printable bytes are written as a backslash and two hexadecimal digits.
std::string Quoted(absl::string_view text);

// A dictionary as the backend_config of a typed FFI call has it: `{b = true, i = 3 : i64, a = dense<[1, 2]> :
// tensor<2xi64>}`. Errors: Unimplemented for attributes that such calls cannot have; InvalidArgument for an invalid
// constant; ResourceExhausted if the text is longer than `*bytes_left`, which is reduced by its length.
absl::StatusOr<std::string> DictionaryText(const Attribute& dictionary, int64_t* bytes_left);

// `{name="text",...}` of the entries that are strings: the frontend_attributes of HLO.
std::string FrontendAttributesText(const Attribute& dictionary);

// The names in an attribute, in a list of them, or in a list of lists; none if it is missing.
std::vector<absl::string_view> NamesIn(const Attribute* value);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_ATTRIBUTE_TEXT_H_
