// What the fusion of rows computes again rather than store or read.
//
// Where time is that of memory, a value is better computed in two kernels than written by one and read by the other, if
// what it is computed from is read by both anyway: a normalized array, from the array and its mean.
#ifndef HILO_HLO_PASSES_FUSION_ROW_REPEATS_H_
#define HILO_HLO_PASSES_FUSION_ROW_REPEATS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/fusion/row_fusion_group.h"

namespace hilo {

class RowRepeats {
 public:
  // `repeats_producers`, `instructions_per_byte`: as in RowFusionOptions.
  RowRepeats(const Target& target, bool repeats_producers, double instructions_per_byte)
      : target_(target), repeats_producers_(repeats_producers), instructions_per_byte_(instructions_per_byte) {}

  // Returns true if recomputing it in several kernels is free: broadcasts read fewer elements than they have.
  bool IsFree(const HloInstruction& instruction) const;

  // Returns true for a producer that is computed again from what the group reads anyway, values of rows, and arrays of
  // at most its own bytes that are in memory, so that nothing is stored for the group: such as a normalized array from
  // the array and its mean. What it is computed from joins as copies, too.
  bool IsRepeated(const HloInstruction* producer, RowFusionGroup* group) const;

  // Takes out of the group what the loops that compute its operands make as well, if that is less memory: such as the
  // comparison of random numbers of 32 bits.
  void LeaveOutNarrow(const std::vector<HloInstruction*>& order, int64_t floor, int64_t last,
                      RowFusionGroup* group) const;

  // Takes out of `read` what its readers compute again from arrays in memory, of at most its own bytes, and from values
  // of rows, which become results instead: such as a normalized array, from the array and its mean. What is expensive,
  // such as the exponentials of a softmax, is left to an only reader where its instructions take less time than the
  // bytes that are not moved.
  void LeaveToReaders(const std::vector<HloInstruction*>& order, int64_t floor, int64_t last,
                      const RowFusionGroup& group, absl::flat_hash_set<const HloInstruction*>* read) const;

 private:
  // A producer of the group, and what only it needs.
  struct Narrow {
    absl::flat_hash_set<const HloInstruction*> members;
    int64_t bytes = 0;  // of the arrays that they read, less those of the result
  };

  // Returns order[at] and the members that only it needs, if they read arrays that loops compute for them alone; else,
  // or if these have no more bytes than its result, one without members.
  Narrow NarrowProducer(const std::vector<HloInstruction*>& order, int64_t floor, int64_t at,
                        const RowFusionGroup& group) const;

  // Returns true if the only reader of `result` outside of the group computes `chain` again, from arrays of
  // `read_bytes` bytes, in less time than it takes to write and read `result`.
  bool IsFasterToRepeat(const HloInstruction& result, const RowFusionGroup& group,
                        const absl::flat_hash_set<const HloInstruction*>& chain, int64_t read_bytes) const;

  // Returns true if `reader` is in the group, or computes its operands as it reads them: no sort or product. Those of a
  // view are its users.
  bool ReadsInLoop(const HloInstruction& reader, const RowFusionGroup& group) const;

  const Target& target_;
  const bool repeats_producers_;
  const double instructions_per_byte_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_ROW_REPEATS_H_
