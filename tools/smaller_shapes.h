// Changes the sizes of dimensions throughout a module, for hilo minimise.
#ifndef HILO_TOOLS_SMALLER_SHAPES_H_
#define HILO_TOOLS_SMALLER_SHAPES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::tools {

// A size `from` of dimensions becomes `to`, which is smaller; with `multiples`, k * from becomes k * to as well.
struct SizeChange {
  int64_t from = 0, to = 0;
  bool multiples = false;
};

// The sizes of dimensions above 1 that arrays of the module have, each once, largest first.
std::vector<int64_t> SizesIn(const HloModule& module);

// The elements of all arrays that the module computes or takes.
double ElementsIn(const HloModule& module);

// Applies `change` to every shape of the module, to the attributes that depend on sizes (of slices, padding, gathers,
// windows and Fourier transforms), and to constants, of which the first elements are kept. The module may be invalid
// afterwards: a reshape, for example, whose sides no longer have as many elements.
// Errors: ResourceExhausted if a constant cannot be copied.
absl::Status ChangeSizes(const SizeChange& change, HloModule* module);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_SMALLER_SHAPES_H_
