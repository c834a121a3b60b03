// What the kernels of running reductions share: values of the operands, and words by which blocks tell each other the
// totals of their parts (look_back.h).
#ifndef HILO_BACKENDS_GPU_EMITTERS_SCAN_SCAN_KERNEL_H_
#define HILO_BACKENDS_GPU_EMITTERS_SCAN_SCAN_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/llvm/elements/terms.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

class ScanKernel {
 public:
  // The instruction's kernel has the width of a group.
  ScanKernel(KernelEmitter& k, const PrefixScan& s) : k_(k), b_(k.b()), s_(s), group_(s.instruction->kernel()->width) {}

  // The bytes of what blocks share: a counter, and words for the totals of parts and of groups of each of `lines` lines
  // or columns.
  static int64_t SharedBytes(const PrefixScan& s, int64_t lines, int64_t parts);

 protected:
  // Parts whose totals are combined by the last of them.
  static constexpr int64_t kGroupParts = kWarp;

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  // Stores a total, and returns those of `numbers`, of the types of `like`, when they are stored.
  void StoreTotal(llvm::Value* number, const Elements& total);
  std::vector<Elements> AwaitTotals(absl::Span<llvm::Value* const> numbers, const Elements& like);

  // Maps a step to a position in the array.
  codegen::LaneIndex Position(const codegen::LaneIndex& step);
  absl::StatusOr<Elements> Input(const codegen::Index& index);
  absl::StatusOr<Elements> Inits();
  void Output(const codegen::Index& index, const Elements& values);

  absl::StatusOr<Elements> Combine(const Elements& a, const Elements& b);
  Elements Select(llvm::Value* condition, const Elements& a, const Elements& b);
  codegen::Carried Zeros(const codegen::Carried& like);

  // Of cells in shared memory.
  Elements LoadCellsAt(const codegen::Carried& cells, llvm::Value* at, const codegen::Carried& like);
  void StoreCellsAt(const codegen::Carried& cells, llvm::Value* at, const Elements& values);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrefixScan& s_;
  const int64_t group_;  // adjacent elements in memory that a thread processes together

 private:
  llvm::Value* WordAt(llvm::Value* number, int64_t word);
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_SCAN_SCAN_KERNEL_H_
