// Gives each use of an array that is made of constants alone, or that repeats a scalar, an array of its own, so that
// its users need not agree on a sharding. Equal ones are joined again once the program is partitioned.
//
//   c = f32[8,8] broadcast(one)              c = f32[8,8] broadcast(one)
//   y = f32[8,8] add(x, c)                   y = f32[8,8] add(x, c)
//   ROOT z = f32[8,8] dot(c, w)         =>   c.1 = f32[8,8] broadcast(one)
//                                            ROOT z = f32[8,8] dot(c.1, w)
#ifndef HILO_HLO_PASSES_PARTITION_SPLIT_CONSTANTS_H_
#define HILO_HLO_PASSES_PARTITION_SPLIT_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Returns whether anything has changed. Scalars, which are not sharded, stay shared.
absl::StatusOr<bool> SplitConstants(HloComputation* computation);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_SPLIT_CONSTANTS_H_
