#include "pjrt/python_callback.h"

#include <atomic>

#include "base/errors.h"
#include "hilo/ffi.h"
#include "runtime/ffi/ffi_api.h"

namespace hilo::pjrt {
namespace {

std::atomic<Hilo_PythonFunction> python_function = nullptr;

// A signal's handler of Python may raise an exception before the first statement of the function, which then cannot
// catch it. What ctypes returns of a function with an exception is no value at all, so the results are in memory.
XLA_FFI_Error* CallPython(XLA_FFI_CallFrame* frame) {
  if (ffi::AnswersMetadata(*frame)) return nullptr;
  Hilo_PythonCall call = {.struct_size = sizeof(Hilo_PythonCall), .error = nullptr, .finished = 0};
  python_function.load()(frame, &call);
  if (call.finished != 0 || call.error != nullptr) return call.error;
  return ffi::MakeError(absl::CancelledError(
      "the Python function of a callback was interrupted by an exception of a signal's handler, such as Ctrl-C's"));
}

}  // namespace

void SetPythonFunction(Hilo_PythonFunction function) {
  if (function == nullptr || python_function.exchange(function) != nullptr) return;
  // Fails if another handler has the name, which then stays.
  CustomCallRegistry::Default().RegisterFfi(kPythonCallback, CallPython, "Host").IgnoreError();
}

}  // namespace hilo::pjrt
