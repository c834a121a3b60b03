#ifndef HILO_HLO_PASSES_DIMENSIONS_CONCATENATION_SEPARATION_H_
#define HILO_HLO_PASSES_DIMENSIONS_CONCATENATION_SEPARATION_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "separate-concatenations": reductions of rows that are a long part and single elements become reductions of the long
// part, with which the single elements are combined. Sums in another order.
std::unique_ptr<HloPass> MakeConcatenationSeparation();

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DIMENSIONS_CONCATENATION_SEPARATION_H_
