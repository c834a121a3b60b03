#ifndef HILO_PJRT_EXECUTE_CONTEXT_H_
#define HILO_PJRT_EXECUTE_CONTEXT_H_

#include "hilo/ffi.h"
#include "pjrt/abi.h"

// Data that the framework passes to a run for its handlers of custom calls.
struct PJRT_ExecuteContext {
  hilo::ffi::ExecutionContext objects;
  bool is_empty = true;
};

#endif  // HILO_PJRT_EXECUTE_CONTEXT_H_
