// A switch saves the callee-saved registers, and no signal mask: ucontext's system calls would cost a hundred times as
// much.
#include "base/stack_switch.h"

#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace hilo {

#if defined(__x86_64__)

extern "C" void hilo_switch_stack(void** from, void* to);
asm(R"(.text
.globl hilo_switch_stack
.hidden hilo_switch_stack
.type hilo_switch_stack,@function
hilo_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hilo_switch_stack,.-hilo_switch_stack
)");

void SwitchStack(void** from, void* to) { hilo_switch_stack(from, to); }

void* MakeStack(char* /*bottom*/, char* top, void (*entry)()) {
  auto** at = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  *--at = nullptr;  // where entry would return to
  *--at = reinterpret_cast<void*>(entry);
  for (int saved = 0; saved < 6; ++saved) *--at = nullptr;
  return at;
}

#else

// The context of a suspended stack is stored on it, in SwitchStack's frame; that of a new one at its bottom.
void SwitchStack(void** from, void* to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to));
}

void* MakeStack(char* bottom, char* top, void (*entry)()) {
  auto* context = reinterpret_cast<ucontext_t*>((reinterpret_cast<uintptr_t>(bottom) + 63) & ~uintptr_t{63});
  getcontext(context);
  context->uc_stack.ss_sp = context + 1;
  context->uc_stack.ss_size = static_cast<size_t>(top - reinterpret_cast<char*>(context + 1));
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  return context;
}

#endif

}  // namespace hilo
