// Flat arrays whose elements a kernel computes in rows.
#ifndef HILO_HLO_PASSES_DIMENSIONS_ROW_SPLIT_H_
#define HILO_HLO_PASSES_DIMENSIONS_ROW_SPLIT_H_

#include <cstdint>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Returns true if a sum of all elements of an array with rows of `row` elements is as fast over the flat array: rows
// are a few vectors, or vectors have whole rows.
bool SumsFlatRows(int64_t row, PrimitiveType type);

// "split-rows": the minor-most dimension of the results of a loop becomes two where reshapes inside have collapsed
// computed rows into it. After fusion.
std::unique_ptr<HloPass> MakeRowSplit();

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DIMENSIONS_ROW_SPLIT_H_
