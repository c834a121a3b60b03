// A switch saves the callee-saved registers, and no signal mask: ucontext's system calls would cost a hundred times as
// much.
#include "backends/gpu/emulated/fiber.h"

#include <sys/mman.h>

#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace hilo::gpu {

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

namespace {

struct Stacks {
  char* memory = nullptr;
  size_t bytes = 0;
  ~Stacks() { Release(); }
  void Release() {
    if (memory != nullptr) munmap(memory, bytes);
    memory = nullptr;
    bytes = 0;
  }
};

}  // namespace

char* ThreadStacks(size_t bytes) {
  static thread_local Stacks stacks;
#if defined(__SANITIZE_ADDRESS__)
  // Threads end without returning, and so leave the poison of their frames.
  if (stacks.memory != nullptr) __asan_unpoison_memory_region(stacks.memory, stacks.bytes);
#endif
  if (bytes <= stacks.bytes) return stacks.memory;
  stacks.Release();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  stacks.memory = static_cast<char*>(memory);
  stacks.bytes = bytes;
  return stacks.memory;
}

}  // namespace hilo::gpu
