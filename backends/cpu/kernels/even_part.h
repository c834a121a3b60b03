// Sizes of parts that end together.
#ifndef HILO_BACKENDS_CPU_KERNELS_EVEN_PART_H_
#define HILO_BACKENDS_CPU_KERNELS_EVEN_PART_H_

#include <cstdint>

namespace hilo::cpu {

// Returns the size, a multiple of `unit` between 3/4 and 3/2 of `part`, of parts of `size` of which two threads that
// take one after the other end first; `part` if there are many or if that saves less than a twelfth. The last part is
// what is left. `size`, `part` and `unit` are positive. Where more threads take parts, each has one, and the longest
// may be half longer than before: there are few parts of what takes some 10 to 300 us.
int64_t EvenPart(int64_t size, int64_t part, int64_t unit);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_EVEN_PART_H_
