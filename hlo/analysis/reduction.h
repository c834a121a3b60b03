// A reduce as kernels see it: rows of results, each of which combines a column of elements.
#ifndef HILO_HLO_ANALYSIS_REDUCTION_H_
#define HILO_HLO_ANALYSIS_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// What the computation of a reduction permits.
enum class CombinationOrder {
  kSerial,       // in row-major order, one after the other
  kAssociative,  // parts of adjacent elements, combined in order
  kAny
};

struct Reduction {
  const HloInstruction* instruction;  // the reduce or the fusion around it
  const HloInstruction* reduce;
  int64_t count;                       // operands
  Shape input;                         // dimensions of the operands
  std::vector<int64_t> kept, reduced;  // dimension numbers, ascending
  std::vector<int64_t> kept_sizes, reduced_sizes;
  std::vector<PrimitiveType> types;  // of the operands
  int64_t rows, columns;             // results, and elements of each

  const HloComputation& computation() const { return *reduce->called_computation(); }
  CombinationOrder OrderOf(bool strict) const;
  // True if the minor-most dimension of more than one index is reduced: the elements of a row are adjacent.
  bool ReducesMinor() const;
};
// The hero of `instruction` must be a reduce.
Reduction ReductionOf(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_REDUCTION_H_
