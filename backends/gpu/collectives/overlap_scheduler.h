// Schedules collectives to overlap with the rest of the program.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_OVERLAP_SCHEDULER_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_OVERLAP_SCHEDULER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::gpu {

struct OverlapOptions {
  // A byte of a collective takes as long as this many bytes of the device's own work ...
  int64_t bytes_per_byte = 10;
  // ... and each collective takes at least as long as this many.
  int64_t min_bytes = int64_t{64} << 20;
  // At most this many instructions are deferred at a time.
  int64_t max_deferred = 256;
};

// Changes the module's existing schedule: collectives start as soon as their operands are available, and users of their
// results are deferred until enough other work is done to hide them, or none is left.
//
//   c = all-reduce(x)  d = negate(c)  e = exponential(y)   =>   c = all-reduce(x)  e = exponential(y)  d = negate(c)
void OverlapCollectives(HloModule* module, const OverlapOptions& options = {});

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_OVERLAP_SCHEDULER_H_
