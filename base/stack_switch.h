// Stack switching within one thread.
#ifndef HILO_BASE_STACK_SWITCH_H_
#define HILO_BASE_STACK_SWITCH_H_

namespace hilo {

// Stores the stack pointer of the running stack in *from, and resumes the stack `to`.
void SwitchStack(void** from, void* to);

// Makes a stack in [bottom, top) on which the first switch calls `entry`, which must never return.
void* MakeStack(char* bottom, char* top, void (*entry)());

}  // namespace hilo

#endif  // HILO_BASE_STACK_SWITCH_H_
