// Kernels whose arrays get other shapes.
#ifndef HILO_HLO_PASSES_CHANGE_SHAPE_H_
#define HILO_HLO_PASSES_CHANGE_SHAPE_H_

#include "absl/status/status.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Gives a kernel, outside of fusions, the shape `to` of as many bytes, which are in the same order. What has used its
// result uses a bitcast of the former shape.
absl::Status ChangeShape(HloInstruction* kernel, const Shape& to);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_CHANGE_SHAPE_H_
