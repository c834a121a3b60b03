// What a loop reads and computes, and what it would if it computed more itself.
#ifndef HILO_HLO_PASSES_FUSION_LOOP_WORK_H_
#define HILO_HLO_PASSES_FUSION_LOOP_WORK_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/passes/fusion/fusion_groups.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

using MayCompute = absl::FunctionRef<bool(const HloInstruction&)>;

struct LoopWork {
  absl::flat_hash_set<const HloInstruction*> arrays;  // read, beside its results
  std::vector<const HloInstruction*> computed;
  double instructions = 0;
};

// Returns what a loop over `elements` elements reads and computes for `values`, if it computes all that is cheap, of
// that size and for which `may_compute` is true itself. Looks at a few dozen instructions at most.
LoopWork WorkFor(std::vector<const HloInstruction*> values, int64_t elements, MayCompute may_compute);

// Returns how many elements the loop of a group has.
int64_t LoopElements(const FusionGroup& group);
// Returns the bytes that a loop over `elements` elements reads of an array: at most one element of the array each.
double BytesRead(const HloInstruction& array, int64_t elements);
// Returns the bytes that the loop of `group` writes, and those that it reads of the arrays of `work`.
double BytesOfLoop(const FusionGroup& group, const LoopWork& work);

// Arrays that are stored, as others need them, are computed again by a loop that reads them at the index of its
// results, where that takes less time than to read them: of what makes them, the loop reads most anyway.
//
//   y = f32[n] maximum(x, 0), a result                     y = f32[n] maximum(x, 0), a result
//   r = f32[] reduce(select(y > 0, x, 0))        =>        r = f32[] reduce(select(maximum(x, 0) > 0, x, 0))
//
// Gives those loops instructions of their own; groups have to be formed again if it returns true. `order` has the
// instructions of the computation, operands first; what is in `once` must not be computed twice.
absl::StatusOr<bool> RepeatReads(const std::vector<HloInstruction*>& order, const std::vector<FusionGroup>& groups,
                                 const absl::flat_hash_set<const HloInstruction*>& once, double instructions_per_byte,
                                 MayCompute may_compute, const PassContext& context);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_LOOP_WORK_H_
