// Decisions other than compile options that determine a module's kernels.
#ifndef HILO_BACKENDS_GPU_CHOICE_KERNEL_SETTINGS_H_
#define HILO_BACKENDS_GPU_CHOICE_KERNEL_SETTINGS_H_

#include <cstdint>

#include "backends/gpu/lib/library_thresholds.h"

namespace hilo {
class ByteWriter;
}  // namespace hilo

namespace hilo::gpu {

struct KernelSettings {
  bool sequences = true;  // small consecutive instructions become one single-threaded kernel, small loops too
  bool overlap_collectives =
      true;                // collectives run on a stream of their own, beside work that does not need their results
  bool line_info = false;  // code has debug locations for the instructions whose arrays it accesses, for
                           // compute-sanitizer and profilers (line_info.h); fewer kernels are then shared
  bool always_radix_sorts = false;  // sorts are by digits even where the model finds merges faster
  int64_t group_elements_from = int64_t{1}
                                << 12;  // a thread computes adjacent elements of results of at least this many elements
  LibraryThresholds library_thresholds;
};

// Writes all of them: what distinguishes two settings.
void Encode(const KernelSettings& settings, ByteWriter* out);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_KERNEL_SETTINGS_H_
