// The contract between compiled code and the runtime on CPUs. Both sides include this; the emitter mirrors it in LLVM types (abi_types.h).
#ifndef HILO_BACKENDS_CPU_CPU_ABI_H_
#define HILO_BACKENDS_CPU_CPU_ABI_H_

#include <cstddef>
#include <cstdint>

extern "C" {

struct HiloCpuContext;

// What every piece of code returns; not 0: return it at once.
enum HiloStatus : int32_t {
  HILO_OK = 0,
  HILO_STOPPED = 1,        // cancelled, or past its deadline
  HILO_OUT_OF_MEMORY = 2,  // a runtime function could not get memory
};

// A part of a kernel: chunks [begin, end) of the whole. Returns a HiloStatus.
typedef int32_t (*HiloChunkFunction)(HiloCpuContext* context, uint8_t* frame, uint8_t** buffers, int64_t begin,
                                     int64_t end);

// What code gets with every run. Fields are only appended.
struct HiloCpuContext {
  // Polled at loop back-edges and between chunks; not 0: return at once.
  const volatile int32_t* cancelled;
  // Addresses of the module's constants.
  const uint8_t* const* constants;
  // Calls function on [0, chunks), cut in any way, on any threads; returns when all are done, with the first status that is not HILO_OK.
  int32_t (*parallel_for)(HiloCpuContext* context, HiloChunkFunction function, uint8_t* frame, uint8_t** buffers,
                          int64_t chunks);
  // The runtime's own; not for code.
  void* thread_pool;
  bool flush_denormals;
};

// A scope of the program (the entry, or a called computation): frame is its temporary memory, buffers its parameter leaves, then its result
// leaves. Pieces of a scope have the same form. Returns a HiloStatus.
typedef int32_t (*HiloScopeFunction)(HiloCpuContext* context, uint8_t* frame, uint8_t** buffers);

}  // extern "C"

static_assert(offsetof(HiloCpuContext, cancelled) == 0);
static_assert(offsetof(HiloCpuContext, constants) == 8);
static_assert(offsetof(HiloCpuContext, parallel_for) == 16);

#endif  // HILO_BACKENDS_CPU_CPU_ABI_H_
