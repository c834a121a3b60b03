// The description of a reduce-window that is a prefix scan: cumulative sums, products, maxima.
#ifndef HILO_BACKENDS_CPU_KERNELS_PREFIX_SCAN_H_
#define HILO_BACKENDS_CPU_KERNELS_PREFIX_SCAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

struct PrefixScan {
  const HloInstruction* instruction;  // the reduce-window or the fusion around it
  const HloInstruction* hero;
  bool from_back = false;
  int64_t count = 0;  // operands
  // The arrays viewed as [outer, size, inner].
  int64_t outer = 1, size = 1, inner = 1;
  std::vector<int64_t> dimensions;
  std::optional<HloOpcode> opcode;  // of a computation of one associative and commutative operation
  const HloComputation* computation = nullptr;

  PrimitiveType type(int64_t i) const { return hero->operand(i)->shape().element_type(); }
};

// The hero of `instruction` must have a ScanWindowOf().
PrefixScan PrefixScanOf(const HloInstruction* instruction);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_PREFIX_SCAN_H_
