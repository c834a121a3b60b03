// What the kernels of scatters share: the origins of windows, and updates of elements.
#ifndef HILO_BACKENDS_GPU_EMITTERS_SCATTER_SCATTER_KERNEL_H_
#define HILO_BACKENDS_GPU_EMITTERS_SCATTER_SCATTER_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/match/scatter_match.h"

namespace hilo::gpu {

class ProgramEmitter;

class ScatterKernel {
 public:
  ScatterKernel(KernelEmitter& k, const Scatter& s) : k_(k), b_(k.b()), s_(s) {}

  // Returns the origin of an index vector's window, one coordinate per dimension. `batch` has one index per index_dim.
  absl::StatusOr<std::vector<llvm::Value*>> OriginOf(const std::vector<codegen::LaneIndex>& batch);
  // Returns whether the whole window is inside the operand: a window that is partly outside is dropped entirely.
  llvm::Value* IsInside(const std::vector<llvm::Value*>& origin);
  // Returns the position in the operand of `window` (one index per window dimension).
  std::vector<codegen::LaneIndex> PositionOf(const std::vector<llvm::Value*>& origin,
                                             const std::vector<codegen::LaneIndex>& window);
  absl::StatusOr<Elements> UpdatesAt(const std::vector<codegen::LaneIndex>& batch,
                                     const std::vector<codegen::LaneIndex>& window);

  Elements Load(const codegen::Index& position);
  void Store(const codegen::Index& position, const Elements& values);
  // Returns what the computation makes of values and updates.
  absl::StatusOr<Elements> Combined(Elements values, const Elements& updates);
  absl::Status Apply(const codegen::Index& position, const Elements& updates);
  // Applies to `group` adjacent elements along the minor-most dimension, reading all before writing any.
  absl::Status ApplyToGroup(const std::vector<llvm::Value*>& origin, const std::vector<codegen::LaneIndex>& batch,
                            const std::vector<codegen::LaneIndex>& window, int64_t group);
  absl::Status ApplyAtomically(llvm::AtomicRMWInst::BinOp operation, const codegen::Index& position,
                               const codegen::ElementValue& update);
  // Applies an update by comparing and exchanging the element until it stays as it is. NaN becomes that of positive
  // sign, so that the result is the same in any order.
  absl::Status ApplyByExchange(const codegen::Index& position, const codegen::ElementValue& update);

 private:
  // Returns the address of an element of the result.
  llvm::Value* AddressOf(const codegen::Index& position);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Scatter& s_;
};

// Returns the instruction that applies an update of AtomicOperation atomically.
llvm::AtomicRMWInst::BinOp MachineOperation(const Scatter& scatter);

// Adds the kernel of an atomic scatter in parts: each is a block's, which has elements of its own.
absl::Status EmitScatterParts(ProgramEmitter& program, const Scatter& scatter);
// Adds the kernels of a sorted scatter: a thread applies up to `tile` updates of its elements in a row; 1: all of them.
absl::Status EmitSortedUpdates(ProgramEmitter& program, const Scatter& scatter, int64_t tile);
// Adds the kernels of a sorted scatter of single elements whose runs of equal indices are combined by blocks of `block`
// updates.
absl::Status EmitScatterRuns(ProgramEmitter& program, const Scatter& scatter, int64_t block);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SCATTER_SCATTER_KERNEL_H_
