// The function of a kernel while it is emitted: what loop nests use of a backend.
#ifndef HILO_BACKENDS_LLVM_NEST_KERNEL_FUNCTION_H_
#define HILO_BACKENDS_LLVM_NEST_KERNEL_FUNCTION_H_

#include <cstdint>
#include <vector>

#include "backends/llvm/elements/elemental_emitter.h"

namespace hilo::codegen {

class KernelFunction : public OperandSource {
 public:
  virtual EmitterContext& context() = 0;
  virtual ElementEmitter& elements() = 0;
  // Returns the memory of a leaf of the kernel's instruction or of another one that is in memory.
  virtual IrArray ArrayOf(const HloInstruction* instruction, int64_t leaf) = 0;

  llvm::IRBuilder<>& b() { return context().b(); }
  // Returns the indices of row-major position `linear`, an i64, in `dimensions`: all of them uniform.
  std::vector<LaneIndex> Delinearize(llvm::Value* linear, absl::Span<const int64_t> dimensions);
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_NEST_KERNEL_FUNCTION_H_
