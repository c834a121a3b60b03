// The version of this Hilo library.
#ifndef HILO_VERSION_H_
#define HILO_VERSION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "hilo/export.h"

namespace hilo {

// "0.1.0".
HILO_EXPORT absl::string_view Version();

// Different for every build whose code differs: the linker's build id of libhilo in hexadecimal digits. Empty if it
// was linked without one.
HILO_EXPORT const std::string& BuildId();

}  // namespace hilo

#endif  // HILO_VERSION_H_
