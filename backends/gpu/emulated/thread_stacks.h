// Memory for the stacks of the emulated threads of a block.
#ifndef HILO_BACKENDS_GPU_EMULATED_THREAD_STACKS_H_
#define HILO_BACKENDS_GPU_EMULATED_THREAD_STACKS_H_

#include <cstddef>

namespace hilo::gpu {

// Returns address space for stacks, kept per host thread and grown as needed; null if there is none. Untouched pages
// use no memory.
char* ThreadStacks(size_t bytes);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_THREAD_STACKS_H_
