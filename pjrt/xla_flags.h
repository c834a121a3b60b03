// Flags of XLA's compiler that programs set (JAX: compiler_options=) and that have no effect in Hilo's.
#ifndef HILO_PJRT_XLA_FLAGS_H_
#define HILO_PJRT_XLA_FLAGS_H_

#include "absl/strings/string_view.h"

namespace hilo::pjrt {

// kNone: there is no such flag. kAny: one of many for other platforms, whose values are ignored.
enum class XlaFlagType { kNone, kBool, kInt, kFloat, kString, kAny };

XlaFlagType XlaFlagTypeOf(absl::string_view name);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_XLA_FLAGS_H_
