#ifndef HILO_HLO_PASSES_DOTS_FACTOR_NARROWING_H_
#define HILO_HLO_PASSES_DOTS_FACTOR_NARROWING_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "narrow-factors": dots multiply what their factors were converted from, where the products are the same. Sums may be
// in another order.
std::unique_ptr<HloPass> MakeFactorNarrowing();

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DOTS_FACTOR_NARROWING_H_
