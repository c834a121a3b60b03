// Exceptions end at the doors of the library.
#ifndef HILO_RUNTIME_GUARDED_H_
#define HILO_RUNTIME_GUARDED_H_

#include <exception>
#include <new>

#include "base/errors.h"

namespace hilo {

// Calls `body`, which returns a Status or StatusOr; what it throws becomes a status:
// ResourceExhausted for memory, else Internal.
template <typename Body>
auto Guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("the process is out of memory");
  } catch (const std::exception& error) {
    return Internal("unexpected exception: ", error.what());
  }
}

}  // namespace hilo

#endif  // HILO_RUNTIME_GUARDED_H_
