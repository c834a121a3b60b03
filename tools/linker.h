// Makes shared libraries and WebAssembly modules of the objects that the cpu platform emits.
#ifndef HILO_TOOLS_LINKER_H_
#define HILO_TOOLS_LINKER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo::tools {

// Links an object with the linker of this machine: "so" is a shared library for the object's architecture, which names
// libm if it calls that, "wasm" a WebAssembly module, which exports the object's function, its memory and __heap_base.
// Errors: InvalidArgument if the object is for another kind of file; NotFound, with what to install, if there is no
// linker; Internal, with what the linker prints, if it fails; Unavailable for files.
absl::StatusOr<std::string> Link(absl::string_view object, absl::string_view kind);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_LINKER_H_
