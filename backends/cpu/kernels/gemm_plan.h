// Dots as matrix products: which ones become library calls, and how the library reads their operands. Independent of
// LLVM.
//
// The operands' free and contracting dimensions must each have one stride, one of which is 1, which covers every order
// of dimensions that attention and its gradient use.
#ifndef HILO_BACKENDS_CPU_KERNELS_GEMM_PLAN_H_
#define HILO_BACKENDS_CPU_KERNELS_GEMM_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/gemm/gemm_calls.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// A matrix as the library reads it: `leading` elements between rows of the stored form.
struct Matrix {
  bool transposed = false;
  int64_t leading = 1;
};

struct Gemm {
  int64_t m, n, k, batch = 1;
  Matrix a, b;
  std::vector<gemm::Batch> batches;  // their product is `batch`; those of one stride in both factors are one
};

// Returns the product that the library can read in place, if the dot is one.
std::optional<Gemm> GemmOf(const HloInstruction& dot);

// Returns true if the tiles of gemm/ compute the product, false if it is the library's.
bool IsTileProduct(const HloInstruction& dot);

// Returns the runtime function that computes the product; null if there is none for the element types.
const char* GemmSymbol(const HloInstruction& dot);

// Returns true for matrix products large enough for a library call, whose operands the library can read in place.
bool IsLibraryDot(const HloInstruction& dot);
// Returns true for those that the library computes as fast as streams, if few rows are multiplied with weights that are
// in memory.
bool IsLibraryStream(const HloInstruction& dot);
// Returns true if both factors are floats narrower than F32 and the result is no wider than F32.
bool HasNarrowOperands(const HloInstruction& dot);
// Returns true for products of narrower floats or integers that would be library dots with other types of operands or
// results.
bool IsWidenedDot(const HloInstruction& dot);
// Returns true for products large enough for a library call that are matrix products, whose rows calls and tiles read,
// only after their operands are transposed.
bool IsTransposedDot(const HloInstruction& dot);

// Returns true for products, with batch dimensions that are the minor-most ones of both factors, that are computed
// faster as sums whose lanes are products of the batch.
bool IsFasterInBatchLanes(const HloInstruction& dot);

// Returns true for products of few rows and a matrix of weights whose rows or columns are contiguous, so that loops can
// read the weights as streams, whatever computes their elements.
bool CanStream(const HloInstruction& dot);
// Returns true for those among them that are faster so than as calls of the library: the weights are large, and the
// rows fewer still unless sums are along contiguous weights or the weights are converted from a narrower type.
bool IsStreamDot(const HloInstruction& dot);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_GEMM_PLAN_H_
