#ifndef HILO_PJRT_EXECUTE_CONTEXT_H_
#define HILO_PJRT_EXECUTE_CONTEXT_H_

#include "pjrt/abi.h"
#include "runtime/ffi/execution_context.h"

// Data that the framework passes to a run for its handlers of custom calls.
struct PJRT_ExecuteContext {
  hilo::ffi::ExecutionContext objects;
  bool is_empty = true;
};

#endif  // HILO_PJRT_EXECUTE_CONTEXT_H_
