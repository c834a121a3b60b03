#include "backends/gpu/emulated/thread_stacks.h"

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace hilo::gpu {
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
