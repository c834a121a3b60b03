// Types of the objects that handlers keep or receive, by name and number.
#ifndef HILO_RUNTIME_FFI_TYPE_REGISTRY_H_
#define HILO_RUNTIME_FFI_TYPE_REGISTRY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo::ffi {

struct TypeInfo {
  void (*deleter)(void* object) = nullptr;  // null: objects of the type are not deleted
};

// The number of type `name` in this process, from 1; assigned at the first registration. `type_id` 0 queries it; others
// must equal it. Errors: InvalidArgument if the number is another type's, or the type has another one.
absl::StatusOr<int64_t> RegisterType(absl::string_view name, int64_t type_id, const TypeInfo& info);
// nullopt if no type has this number.
std::optional<TypeInfo> FindType(int64_t type_id);

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_TYPE_REGISTRY_H_
