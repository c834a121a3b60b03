// Detects reduce-windows that are running reductions: cumulative sums, products, maxima.
#ifndef HILO_HLO_ANALYSIS_PREFIX_SCAN_H_
#define HILO_HLO_ANALYSIS_PREFIX_SCAN_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Each window covers all elements up to its index, or (from_back) all from its index on, in one dimension.
struct ScanWindow {
  int64_t dimension = 0;
  bool from_back = false;
};

// nullopt for reduce-windows of another kind.
std::optional<ScanWindow> ScanWindowOf(const HloInstruction& reduce_window);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_PREFIX_SCAN_H_
