// Reductions and prefix scans as kernels see them: rows and columns of an array.
#ifndef HILO_BACKENDS_GPU_MATCH_REDUCTION_H_
#define HILO_BACKENDS_GPU_MATCH_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/gpu/match/hero.h"

namespace hilo::gpu {

// What the computation of a reduction permits.
enum class CombinationOrder {
  kSerial,       // one thread per result, in row-major order
  kAssociative,  // parts of adjacent elements, combined in order
  kAny
};

struct Reduction {
  const HloInstruction* instruction;  // the reduce or the fusion around it
  const HloInstruction* reduce;
  int64_t count;  // operands
  Shape input;
  std::vector<int64_t> kept, reduced;  // dimension numbers, ascending
  std::vector<int64_t> kept_sizes, reduced_sizes;
  std::vector<PrimitiveType> types;
  int64_t rows, columns;  // results, and elements of each

  const HloComputation& computation() const { return *reduce->called_computation(); }
  CombinationOrder OrderOf(bool strict) const;
  // True if the minor-most dimension of more than one index is reduced: the elements of a row are adjacent.
  bool ReducesMinor() const;
};
Reduction ReductionOf(const HloInstruction& instruction);

// A reduce-window that is a prefix scan, over arrays viewed as [outer, size, inner].
struct Scan {
  const HloInstruction* instruction;  // the reduce-window or the fusion around it
  const HloInstruction* hero;
  bool from_back = false;
  int64_t count = 0;  // operands
  int64_t outer = 1, size = 1, inner = 1;
  std::vector<int64_t> dimensions;
  std::vector<PrimitiveType> types;
};
// Returns nullopt for other reduce-windows, and for empty arrays.
std::optional<Scan> ScanOf(const HloInstruction& instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_REDUCTION_H_
