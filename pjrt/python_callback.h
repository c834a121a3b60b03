// Calls of the functions of a Python program, for which python/jax_plugins/hilo/_callbacks.py has a function.
#ifndef HILO_PJRT_PYTHON_CALLBACK_H_
#define HILO_PJRT_PYTHON_CALLBACK_H_

#include "absl/strings/string_view.h"
#include "pjrt/abi_extensions.h"

namespace hilo::pjrt {

// The target of the custom calls.
inline constexpr absl::string_view kPythonCallback = "hilo_python_callback";

// Registers the target for the platform "Host". `function` must live as long as the process, and is called for runs
// alone: what handlers are asked about themselves is answered here.
void SetPythonFunction(Hilo_PythonFunction function);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_PYTHON_CALLBACK_H_
