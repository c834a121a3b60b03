// Declared in runtime/ffi/custom_call_registry.h; defined here because the registry does not depend on its targets.
#include "runtime/lapack/lapack_targets.h"

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

}  // namespace hilo
