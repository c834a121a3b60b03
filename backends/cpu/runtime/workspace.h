// Memory that a function of the runtime needs while it runs. Functions of compiled programs throw nothing: null tells
// that there is too little memory.
#ifndef HILO_BACKENDS_CPU_RUNTIME_WORKSPACE_H_
#define HILO_BACKENDS_CPU_RUNTIME_WORKSPACE_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace hilo::cpu {

struct FreeWorkspace {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Workspace = std::unique_ptr<T[], FreeWorkspace>;

// Returns room for `count` elements, which are not initialized, or null.
template <typename T>
Workspace<T> AllocateWorkspace(int64_t count) {
  return Workspace<T>(static_cast<T*>(std::malloc(std::max<int64_t>(1, count) * sizeof(T))));
}

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_WORKSPACE_H_
