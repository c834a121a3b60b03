#ifndef HILO_PJRT_EVENT_H_
#define HILO_PJRT_EVENT_H_

#include <memory>

#include "hilo/executable.h"
#include "pjrt/abi.h"

// A handle. Null: completed successfully.
struct PJRT_Event {
  std::shared_ptr<hilo::Event> event;
};

namespace hilo::pjrt {

// An event that has completed with `status`.
std::shared_ptr<Event> HappenedWith(absl::Status status);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_EVENT_H_
