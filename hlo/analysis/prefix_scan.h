// Detects reduce-windows that are prefix scans: cumulative sums, products, maxima.
#ifndef HILO_HLO_ANALYSIS_PREFIX_SCAN_H_
#define HILO_HLO_ANALYSIS_PREFIX_SCAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Each window covers all elements up to its index, or (from_back) all from its index on, in one dimension.
struct ScanWindow {
  int64_t dimension = 0;
  bool from_back = false;
};

// Returns nullopt for reduce-windows of another kind.
std::optional<ScanWindow> ScanWindowOf(const HloInstruction& reduce_window);

// A prefix scan as kernels see it: arrays viewed as [outer, size, inner].
struct PrefixScan {
  const HloInstruction* instruction;  // the reduce-window or the fusion around it
  const HloInstruction* hero;
  bool from_back = false;
  int64_t count = 0;  // operands
  int64_t outer = 1, size = 1, inner = 1;
  std::vector<int64_t> dimensions;
  std::vector<PrimitiveType> types;  // of the operands
  std::optional<HloOpcode> opcode;   // of a computation of one associative and commutative operation

  const HloComputation& computation() const { return *hero->called_computation(); }
};
// Returns nullopt if the hero of `instruction` is no prefix scan, and for empty arrays.
std::optional<PrefixScan> PrefixScanOf(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_PREFIX_SCAN_H_
