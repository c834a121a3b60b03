// Computes convolutions of narrow integers in floats.
#ifndef HILO_HLO_PASSES_INTEGER_CONVOLUTIONS_H_
#define HILO_HLO_PASSES_INTEGER_CONVOLUTIONS_H_

#include <functional>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// "float-convolutions": convolutions of integers of up to 8 bits whose sums are all integers that F32 has become those
// of F32, which changes no bit, unless they are `kept`, those for which the target has kernels. For targets whose
// products of F32 are not rounded to fewer bits.
std::unique_ptr<HloPass> MakeIntegerConvolutions(std::function<bool(const HloInstruction& convolution)> kept);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_INTEGER_CONVOLUTIONS_H_
