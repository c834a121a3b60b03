// The transposes in a loop over elements that read along another dimension than the loop writes.
#ifndef HILO_BACKENDS_CPU_KERNELS_TRANSPOSED_READS_H_
#define HILO_BACKENDS_CPU_KERNELS_TRANSPOSED_READS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/analysis/loop_results.h"

namespace hilo::cpu {

struct TransposedReads {
  // The dimension of the results along which the operands of `transposes` are contiguous; not the minor-most one.
  int64_t dim = 0;
  // Each is needed at the index that the loop writes.
  std::vector<const HloInstruction*> transposes;
};

// Returns nullopt if there are none, or if their operands are contiguous along different dimensions.
std::optional<TransposedReads> TransposedReadsOf(const LoopResults& loop);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_TRANSPOSED_READS_H_
