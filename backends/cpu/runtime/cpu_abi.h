// The contract between compiled code and the runtime on CPUs. Both sides include this; the emitter mirrors it in LLVM
// types (abi_types.h).
#ifndef HILO_BACKENDS_CPU_RUNTIME_CPU_ABI_H_
#define HILO_BACKENDS_CPU_RUNTIME_CPU_ABI_H_

#include <cstddef>
#include <cstdint>

extern "C" {

struct HiloCpuContext;

// What every piece of code returns; not 0: return it at once.
enum HiloStatus : int32_t {
  HILO_OK = 0,
  HILO_STOPPED = 1,        // cancelled, or past its deadline
  HILO_OUT_OF_MEMORY = 2,  // a runtime function could not get memory
  HILO_FAILED = 3,         // a host op failed; the run knows its error
};

// A part of a kernel: chunks [begin, end) of the whole. Returns a HiloStatus.
typedef int32_t (*HiloChunkFunction)(HiloCpuContext* context, uint8_t* frame, uint8_t** buffers, int64_t begin,
                                     int64_t end);

// A computation of scalars applied to each of `count` elements: operands[i] and results[i] are dense arrays, one a
// parameter and one a result leaf. A result may be one of the operands.
typedef void (*HiloElementFunction)(const uint8_t* const* operands, uint8_t* const* results, int64_t count);

// What code gets with every run. Fields are only appended.
struct HiloCpuContext {
  // Polled at loop back-edges and between chunks; not 0: return at once.
  const volatile int32_t* cancelled;
  // Addresses of the module's constants.
  const uint8_t* const* constants;
  // Calls function on [0, chunks), cut in any way, on any threads; returns when all are done, with the first status
  // that is not HILO_OK.
  int32_t (*parallel_for)(HiloCpuContext* context, HiloChunkFunction function, uint8_t* frame, uint8_t** buffers,
                          int64_t chunks);
  // Runs host op `index` on the leaves of its operands, then of its result, then the functions of its computations.
  int32_t (*run_host_op)(HiloCpuContext* context, int64_t index, uint8_t** pointers);
  // The runtime's own; not for code.
  const void* program;
  const void* run;
  void* error;
  void* thread_pool;
  bool flush_denormals;
};

// A scope of the program (the entry, or a called computation): frame is its temporary memory, buffers its parameter
// leaves, then its result leaves. Pieces of a scope have the same form. Returns a HiloStatus.
typedef int32_t (*HiloScopeFunction)(HiloCpuContext* context, uint8_t* frame, uint8_t** buffers);

}  // extern "C"

static_assert(offsetof(HiloCpuContext, cancelled) == 0);
static_assert(offsetof(HiloCpuContext, constants) == 8);
static_assert(offsetof(HiloCpuContext, parallel_for) == 16);
static_assert(offsetof(HiloCpuContext, run_host_op) == 24);

#endif  // HILO_BACKENDS_CPU_RUNTIME_CPU_ABI_H_
