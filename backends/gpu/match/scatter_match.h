// Scatters as kernels see them: windows of updates at origins that indices select.
#ifndef HILO_BACKENDS_GPU_MATCH_SCATTER_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_SCATTER_MATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/gpu/match/operands.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {

struct Scatter {
  const HloInstruction* instruction;
  const HloInstruction* scatter;
  const ScatterAttrs* attrs;
  int64_t count;  // operands
  Shape operand, updates;
  std::vector<int64_t> window_dims;  // operand dimensions that update windows run over, ascending
  std::vector<int64_t> index_dims;   // update dimensions that select an index vector

  int64_t WindowSize(int64_t operand_dimension) const;
  // Returns the position of an input batching dimension among index_dims.
  int64_t BatchPosition(size_t j) const;
  // Sizes of the updates: of the dimensions that select an index vector, and of the window's.
  std::vector<int64_t> BatchSizes() const;
  std::vector<int64_t> WindowSizes() const;
  const HloComputation& computation() const { return *scatter->called_computation(); }
};
Scatter ScatterOf(const HloInstruction& instruction);

// Returns true for sums of F32 or F64 that begin with 0 and whose updates are whole numbers, constants or converted
// from small integers, so few that all sums are exact and fit 32 bits: any order of the updates gives the same result.
bool IsSumOfWholeNumbers(const Scatter& scatter);
// Returns the operation of a computation that is one operation which the machine applies atomically and whose order
// does not matter: on integers of at least 32 bits, or the sum of whole numbers; nullopt for others.
std::optional<HloOpcode> AtomicOperation(const Scatter& scatter);
// Returns true for the maximum or the minimum of floats that fit the words which the machine compares and exchanges:
// any order of the updates gives the same result.
bool IsExtremumOfFloats(const Scatter& scatter);

// Returns true if the program promises that no two updates overlap: indices are unique, and windows either fill a
// dimension or are one wide.
bool AreIndependent(const Scatter& scatter);

// Returns true if the updates of an element follow each other: the program promises that the indices, which are a list,
// are sorted, and windows are the same or have no element in common.
bool AreSorted(const Scatter& scatter);
// Returns true if windows either fill a dimension or are one wide, so that two of them are the same or disjoint.
bool AreSameOrDisjoint(const Scatter& scatter);

// Returns true if adjacent update elements are adjacent in the operand too, as windows fill the minor-most dimension of
// both.
bool WritesWholeLines(const Scatter& scatter);

// How result elements are divided among threads that each iterate over indices in order: batching dimensions and those
// that windows fill have a thread per index; the others are shared by `owners`, which also iterate.
struct ScatterDivision {
  std::vector<bool> is_batching, fills;  // by index_dims and window_dims
  std::vector<bool> shared;              // by operand dimension
  std::vector<int64_t> thread_sizes;     // with 1 at owner_position, in place of the number of owners
  std::vector<int64_t> iteration_sizes;
  std::vector<int64_t> shared_sizes;
  size_t owner_position = 0;
};
ScatterDivision DivisionOf(const Scatter& scatter);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_SCATTER_MATCH_H_
