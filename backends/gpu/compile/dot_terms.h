// Products whose sums have few terms.
#ifndef HILO_BACKENDS_GPU_COMPILE_DOT_TERMS_H_
#define HILO_BACKENDS_GPU_COMPILE_DOT_TERMS_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "dot-terms": dots of floats that sum over one dimension of few elements, as with the matrix of a rotation, become
// sums of products, which are element-wise: they are better made where their results are read than by a library, which
// would wait for memory. Sums in ascending order, which may be contracted.
std::unique_ptr<HloPass> MakeDotTerms();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_DOT_TERMS_H_
