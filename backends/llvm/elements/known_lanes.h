// Which lanes of a vector a mask makes active, as far as that is known when code is emitted.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_KNOWN_LANES_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_KNOWN_LANES_H_

#include <optional>
#include <vector>

namespace llvm {
class Value;
}  // namespace llvm

namespace hilo::codegen {

// Returns the lanes that are active, in ascending order, if that is known at compile time. `mask` may be null.
std::optional<std::vector<int>> ActiveLanes(llvm::Value* mask, int lanes);

// Returns the lanes that may be active: those that no constant among the conditions of `mask` excludes.
std::vector<int> PossibleLanes(llvm::Value* mask, int lanes);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_KNOWN_LANES_H_
