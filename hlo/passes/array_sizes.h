// Private to hlo/passes: sizes of the arrays that instructions compute.
#ifndef HILO_HLO_PASSES_ARRAY_SIZES_H_
#define HILO_HLO_PASSES_ARRAY_SIZES_H_

#include "hilo/shape.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Returns the number of elements of the array; of a tuple, 0.
inline int64_t Elements(const HloInstruction& x) { return x.shape().IsArray() ? ShapeUtil::ElementsIn(x.shape()) : 0; }
inline int64_t Elements(const HloInstruction* x) { return Elements(*x); }

}  // namespace hilo

#endif  // HILO_HLO_PASSES_ARRAY_SIZES_H_
