// Which reductions are short, and how lanes add up a row.
#ifndef HILO_BACKENDS_CPU_KERNELS_REDUCE_CHOICE_H_
#define HILO_BACKENDS_CPU_KERNELS_REDUCE_CHOICE_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo::cpu {

// Returns true if each result of `reduce` combines so few elements that lanes are best used for neighboring results,
// each with its own elements: loops that read it can then treat it as an element-wise operation. Fusion uses it too.
bool IsShortReduction(const HloInstruction& reduce);

// Vectors of a row that are accumulated independently.
inline constexpr int64_t kRowAccumulators = 4;

// Returns the tile of the kind reduce-rows for rows of `row` terms: accumulators, at most `most`, and the elements of a
// partial sum or 0.
std::vector<int64_t> RowTile(int64_t row, int width, bool is_float_sum, int64_t most = kRowAccumulators);

// Returns the prime factors of the `terms` of a row, ascending: how many vectors the kind reduce-short-rows combines at
// a time, step by step.
std::vector<int64_t> ShortRowFactors(int64_t terms);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_REDUCE_CHOICE_H_
