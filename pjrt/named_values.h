// Attributes and options of the PJRT C API: names with values.
#ifndef HILO_PJRT_NAMED_VALUES_H_
#define HILO_PJRT_NAMED_VALUES_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/abi.h"

namespace hilo::pjrt {

// `name` must outlive the result.
inline PJRT_NamedValue Named(const char* name, PJRT_NamedValue_Type type, size_t size = 1) {
  PJRT_NamedValue value = {};
  value.struct_size = sizeof(PJRT_NamedValue);
  value.name = name;
  value.name_size = std::strlen(name);
  value.type = type;
  value.value_size = size;
  return value;
}
inline PJRT_NamedValue NamedInt(const char* name, int64_t number) {
  PJRT_NamedValue value = Named(name, PJRT_NamedValue_kInt64);
  value.int64_value = number;
  return value;
}
inline PJRT_NamedValue NamedInts(const char* name, absl::Span<const int64_t> numbers) {
  PJRT_NamedValue value = Named(name, PJRT_NamedValue_kInt64List, numbers.size());
  value.int64_array_value = numbers.data();
  return value;
}
inline PJRT_NamedValue NamedFloat(const char* name, float number) {
  PJRT_NamedValue value = Named(name, PJRT_NamedValue_kFloat);
  value.float_value = number;
  return value;
}

inline absl::string_view NameOf(const PJRT_NamedValue& value) { return {value.name, value.name_size}; }

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_NAMED_VALUES_H_
