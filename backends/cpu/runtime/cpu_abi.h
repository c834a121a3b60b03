// The ABI between compiled code and the CPU runtime. Both sides include this header; the emitter mirrors it in LLVM
// types (abi_types.h).
#ifndef HILO_BACKENDS_CPU_RUNTIME_CPU_ABI_H_
#define HILO_BACKENDS_CPU_RUNTIME_CPU_ABI_H_

#include <cstddef>
#include <cstdint>

extern "C" {

struct HiloCpuContext;

// Returned by every compiled function. If it is not 0, the caller returns it immediately.
enum HiloStatus : int32_t {
  HILO_OK = 0,
  HILO_STOPPED = 1,        // cancelled, or past its deadline
  HILO_OUT_OF_MEMORY = 2,  // a runtime function could not allocate memory
  HILO_FAILED = 3,         // a runtime call failed; the run stores its error
};

// Runs chunks [begin, end) of a kernel. Returns a HiloStatus.
typedef int32_t (*HiloChunkFunction)(HiloCpuContext* context, uint8_t* frame, uint8_t** buffers, int64_t begin,
                                     int64_t end);

// Applies a computation of scalars to each of `count` elements: operands[i] and results[i] are dense arrays, one per
// parameter and one per result leaf. A result may alias one of the operands.
typedef void (*HiloElementFunction)(const uint8_t* const* operands, uint8_t* const* results, int64_t count);

// Is told when the steps of a program begin (runtime/profile/recorder.h), while a profile is recorded.
struct HiloProfile {
  void (*mark)(HiloProfile* profile, int64_t mark);
};

// Passed to compiled code in every run. Fields are only appended.
struct HiloCpuContext {
  // Polled at loop back-edges and between chunks. If it is not 0, the code returns immediately.
  const volatile int32_t* cancelled;
  // Addresses of the module's constants.
  const uint8_t* const* constants;
  // Calls function on [0, chunks), split in any way, on any threads. Returns when all are done, with the first status
  // that is not HILO_OK.
  int32_t (*parallel_for)(HiloCpuContext* context, HiloChunkFunction function, uint8_t* frame, uint8_t** buffers,
                          int64_t chunks);
  // Runs runtime call `index`. `pointers`: the leaves of its operands and of its result, then its computations'
  // functions.
  int32_t (*run_runtime_call)(HiloCpuContext* context, int64_t index, uint8_t** pointers);
  // Private to the runtime; not accessed by compiled code.
  const void* program;
  const void* run;
  void* error;
  void* thread_pool;
  bool flush_denormals;
  // Null: no profile is recorded.
  HiloProfile* profile;
};

// A scope of the program (the entry or a called computation): frame is its temporary memory, buffers are its parameter
// leaves, then its result leaves. Outlined functions of a scope have the same signature. Returns a HiloStatus.
typedef int32_t (*HiloScopeFunction)(HiloCpuContext* context, uint8_t* frame, uint8_t** buffers);

}  // extern "C"

static_assert(offsetof(HiloCpuContext, cancelled) == 0);
static_assert(offsetof(HiloCpuContext, constants) == 8);
static_assert(offsetof(HiloCpuContext, parallel_for) == 16);
static_assert(offsetof(HiloCpuContext, run_runtime_call) == 24);
static_assert(offsetof(HiloCpuContext, profile) % 8 == 0);
static_assert(offsetof(HiloProfile, mark) == 0);

namespace hilo::cpu {

// The compiled function of the entry computation, a HiloScopeFunction.
inline constexpr char kEntrySymbol[] = "hilo_entry";

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CPU_ABI_H_
