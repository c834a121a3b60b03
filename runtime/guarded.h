// Stops exceptions at the boundary of the library.
#ifndef HILO_RUNTIME_GUARDED_H_
#define HILO_RUNTIME_GUARDED_H_

#include <cxxabi.h>

#include <exception>
#include <new>
#include <system_error>

#include "base/errors.h"

namespace hilo {

// Calls `body`, which returns a Status or StatusOr, and converts exceptions to a status:
// ResourceExhausted for memory and threads, else Internal. Thread termination (pthread_exit) passes through.
template <typename Body>
auto Guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("the process is out of memory");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      return ResourceExhausted("the system gives no more threads (", error.what(), ")");
    return Internal("unexpected exception: ", error.what());
  } catch (const std::exception& error) {
    return Internal("unexpected exception: ", error.what());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return Internal("unexpected exception of an unknown type");
  }
}

}  // namespace hilo

#endif  // HILO_RUNTIME_GUARDED_H_
