// The value of a Buffer.
#ifndef HILO_RUNTIME_BUFFER_VALUE_H_
#define HILO_RUNTIME_BUFFER_VALUE_H_

#include <memory>

#include "hilo/executable.h"
#include "runtime/host_memory.h"

namespace hilo {

// The value of a buffer, shared by its handle and by the runs that use it: it lives until the
// last of them releases it.
struct BufferValue {
  std::shared_ptr<Event> definition;    // null: defined from the start
  std::shared_ptr<MemoryBlock> memory;  // once the definition is done and OK; null for tokens
  // The run that computes the value is queued on the device: `memory` is set, and runs that begin later see the value.
  // Only for the thread of the device's queue.
  bool queued = false;

  bool defined() const { return definition == nullptr || definition->done(); }
  absl::Status Await() const { return definition == nullptr ? absl::OkStatus() : definition->Await(); }
};

}  // namespace hilo

#endif  // HILO_RUNTIME_BUFFER_VALUE_H_
