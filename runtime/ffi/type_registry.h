// Types of the objects that handlers keep or receive, by name and number.
#ifndef HILO_RUNTIME_FFI_TYPE_REGISTRY_H_
#define HILO_RUNTIME_FFI_TYPE_REGISTRY_H_

#include <cstdint>
#include <optional>

#include "hilo/ffi.h"

namespace hilo::ffi {

// nullopt if no type has this number.
std::optional<TypeInfo> FindType(int64_t type_id);

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_TYPE_REGISTRY_H_
