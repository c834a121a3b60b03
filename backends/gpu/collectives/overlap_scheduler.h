// Makes room for collectives to work beside the rest of the program.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_OVERLAP_SCHEDULER_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_OVERLAP_SCHEDULER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::gpu {

struct OverlapOptions {
  // A byte of a collective takes as long as so many bytes of what the device does itself ...
  int64_t bytes_per_byte = 10;
  // ... and each collective as long as these, at least.
  int64_t least_bytes = int64_t{64} << 20;
  // No more instructions than this are put off at a time.
  int64_t max_deferred = 256;
};

// Changes the module's schedule, which is there: collectives come as soon as their operands are there, and what needs
// their results is put off until as much other work has been done as hides them, or none is left.
//
//   c = all-reduce(x)  d = negate(c)  e = exponential(y)   =>   c = all-reduce(x)  e = exponential(y)  d = negate(c)
void OverlapCollectives(HloModule* module, const OverlapOptions& options = {});

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_OVERLAP_SCHEDULER_H_
