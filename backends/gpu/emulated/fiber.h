// Stacks that one thread of the host switches between.
#ifndef HILO_BACKENDS_GPU_EMULATED_FIBER_H_
#define HILO_BACKENDS_GPU_EMULATED_FIBER_H_

#include <cstddef>

namespace hilo::gpu {

// Stores where the running stack is in *from, and goes on where the stack `to` was left.
void SwitchStack(void** from, void* to);

// A stack in [bottom, top) on which the first switch calls `entry`, which never returns.
void* MakeStack(char* bottom, char* top, void (*entry)());

// Address space for stacks, kept by each thread of the host and grown as needed; null if there is none. Pages that are
// not touched cost no memory.
char* ThreadStacks(size_t bytes);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_FIBER_H_
