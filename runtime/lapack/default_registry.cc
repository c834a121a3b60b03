// Declared in hilo/ffi.h and runtime/lapack_handler.h; defined here because neither depends on the targets.
#include "runtime/lapack/lapack_targets.h"
#include "runtime/lapack_handler.h"

namespace hilo {

CustomCallRegistry& CustomCallRegistry::Default() {
  // Never destroyed: programs may run while the process ends. Built-in targets are in its parent, so that users
  // can override their names.
  static auto* registry = [] {
    auto* own = new CustomCallRegistry();
    lapack::RegisterTargets(own);
    return new CustomCallRegistry(own);
  }();
  return *registry;
}

bool IsLapackHandler(absl::string_view name, XLA_FFI_Handler* handler) {
  return handler != nullptr && lapack::HandlerOf(name) == handler;
}

}  // namespace hilo
