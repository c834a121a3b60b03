// Fuses row groups (hlo/analysis/row_group.h) into one kernel each.
#ifndef HILO_HLO_PASSES_FUSION_ROW_FUSION_H_
#define HILO_HLO_PASSES_FUSION_ROW_FUSION_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

struct RowFusionOptions {
  int64_t max_reductions;
  // Further reductions that read what others compute, for a kernel that computes such together.
  int64_t max_siblings = 0;
  // Returns true if the backend has a good kernel for a fusion that is a row group.
  std::function<bool(const HloInstruction& fusion)> accepts;
  // Rows from which on expensive functions of one value a row, on which no element of a row depends, are left to a loop
  // over the rows: of use where that computes them in vectors, and the kernel of the rows one by one.
  int64_t min_separate_rows = std::numeric_limits<int64_t>::max();
  // Reductions across the rows compute their operands themselves (hlo/passes/dimensions/column_separation.h).
  bool separates_columns = false;
  bool separates_reads = false;  // and gathers of few elements
  // Producers that others read too, and results that others read, are computed again where that reads no more than
  // their array: of use where time is that of memory.
  bool repeats_producers = false;
  // Instructions in the time of a byte of memory: what is expensive is computed again, too, where that takes less time.
  // 0: it is stored.
  double instructions_per_byte = 0;
  // If not 0, only groups with reductions across the rows are fused, each with up to so many of them.
  int64_t max_column_reductions = 0;
};

// "fuse-rows", or "fuse-rows-and-columns" if column reductions join: makes fusions, with one or several results, that
// are row groups as the options state.
std::unique_ptr<HloPass> MakeRowFusion(const Target* target, bool strict, RowFusionOptions options);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_ROW_FUSION_H_
