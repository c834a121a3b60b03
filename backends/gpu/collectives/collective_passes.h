// Passes that prepare collective instructions for communicators.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_PASSES_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_PASSES_H_

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// Rewrites collectives into the form that communicators support: the dimension that is gathered, scattered or split
// becomes the most major one, with transposes around it, and sums, products, minima and maxima of integer types that
// communicators lack are computed in wider types.
//
//   y = f32[4,8] all-gather(f32[4,2] x), dimensions={1}   =>   r = f32[1,4,2] reshape(x)
//                                                              g = f32[4,4,2] all-gather(r), dimensions={0}
//                                                              t = f32[4,4,2] transpose(g), dimensions={1,0,2}
//                                                              y = f32[4,8] reshape(t)
std::unique_ptr<HloPass> MakeCollectiveRewriter();
// Combines small all-reduces that do not depend on each other into one instruction: their calls form one group, which a
// library launches as one kernel.
std::unique_ptr<HloPass> MakeCollectiveCombiner();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_PASSES_H_
