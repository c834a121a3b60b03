// Row groups (hlo/analysis/row_group.h) that the CPU computes row by row, while the row is in a cache.
#ifndef HILO_BACKENDS_CPU_KERNELS_ROW_PLAN_H_
#define HILO_BACKENDS_CPU_KERNELS_ROW_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/analysis/row_group.h"

namespace hilo::cpu {

// A member that a reduction computes and that is read again after it, expensive or compared with the result: the memory
// of a result keeps it until then, of which the row is written last.
struct KeptRow {
  const HloInstruction* member;
  int64_t leaf;
};

// A pass over the row.
struct RowPhase {
  // Of the same dimensions, computed together; empty: the last phase, which writes the results.
  std::vector<const HloInstruction*> reduces;
  absl::flat_hash_set<const HloInstruction*> evaluated = {};  // members that it computes or reads
  std::vector<KeptRow> keeps = {};
  bool is_expensive = false;  // it computes terms that take longer than adding them up
};

struct CachedRowsPlan {
  RowGroup group;
  std::vector<RowPhase> phases;
  int width = 1;
  int vectors = 1;  // in registers that a vector of `width` lanes is computed in, by the widest type

  // Returns the accumulators of a phase's sums of which cheap terms have `most`: two registers of expensive ones keep
  // the units busy, and are less code. Measured, softmax of f32[64,1024] on one thread, with 4, 2 and 1: 23.1, 23.0 and
  // 24.6 us.
  int64_t Accumulators(const RowPhase& phase, int64_t most) const {
    return phase.is_expensive ? std::min<int64_t>(most, vectors > 1 ? 1 : 2) : most;
  }
};

// Returns nullopt if `instruction` is no row group whose rows fit into a cache and fill vectors, or if a phase would
// compute again what is expensive or is compared with its results.
std::optional<CachedRowsPlan> PlanCachedRows(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                             bool strict);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_ROW_PLAN_H_
