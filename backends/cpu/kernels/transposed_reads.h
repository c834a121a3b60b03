// The transposes in a loop over elements that read along another dimension than the loop writes.
#ifndef HILO_BACKENDS_CPU_KERNELS_TRANSPOSED_READS_H_
#define HILO_BACKENDS_CPU_KERNELS_TRANSPOSED_READS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/analysis/loop_results.h"

namespace hilo::cpu {

struct TransposedReads {
  // Dimensions of the results, in the order of the operands of `transposes`, whose minor-most dimensions they are; not
  // the minor-most one of the results. Several if the last one alone is short.
  std::vector<int64_t> dims;
  // Each is needed at the index that the loop writes.
  std::vector<const HloInstruction*> transposes;
};

// Returns nullopt if there are none, or if their operands are contiguous along different dimensions.
std::optional<TransposedReads> TransposedReadsOf(const LoopResults& loop);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_TRANSPOSED_READS_H_
