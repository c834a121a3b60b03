// Maxima and minima of arrays of which a program wants the positions of these, too.
#ifndef HILO_BACKENDS_GPU_COMPILE_CHOSEN_EXTREMA_H_
#define HILO_BACKENDS_GPU_COMPILE_CHOSEN_EXTREMA_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "chosen-extrema": a maximum or a minimum is the value that an argmax or argmin of the same array chooses, as of the
// distance to the nearest center. Of zeros it may be one of the other sign.
std::unique_ptr<HloPass> MakeChosenExtrema();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_CHOSEN_EXTREMA_H_
