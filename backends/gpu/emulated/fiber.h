// Stack switching within one host thread.
#ifndef HILO_BACKENDS_GPU_EMULATED_FIBER_H_
#define HILO_BACKENDS_GPU_EMULATED_FIBER_H_

#include <cstddef>

namespace hilo::gpu {

// Stores the stack pointer of the running stack in *from, and resumes the stack `to`.
void SwitchStack(void** from, void* to);

// Makes a stack in [bottom, top) on which the first switch calls `entry`, which must never return.
void* MakeStack(char* bottom, char* top, void (*entry)());

// Returns address space for stacks, kept per host thread and grown as needed; null if there is none. Untouched pages
// use no memory.
char* ThreadStacks(size_t bytes);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_FIBER_H_
