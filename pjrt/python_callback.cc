#include "pjrt/python_callback.h"

#include <atomic>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "base/errors.h"
#include "hilo/ffi.h"
#include "hilo/primitive_type.h"
#include "runtime/ffi/ffi_api.h"
#include "runtime/ffi/xla_ffi_abi.h"

namespace hilo::pjrt {
namespace {

std::atomic<Hilo_PythonFunction> python_function = nullptr;

using Numbers = absl::InlinedVector<int64_t, 64>;

// Returns an attribute of 64 bits, which JAX's lowering gives to a call.
std::optional<int64_t> IntegerAttribute(const XLA_FFI_Attrs& attributes, std::string_view name) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    if (attributes.types[i] != XLA_FFI_AttrType_SCALAR ||
        std::string_view(attributes.names[i]->ptr, attributes.names[i]->len) != name)
      continue;
    const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(attributes.attrs[i]);
    if (scalar.dtype == U64 || scalar.dtype == S64) return *static_cast<const int64_t*>(scalar.value);
  }
  return std::nullopt;
}

void AddBuffer(const void* given, Numbers* numbers) {
  const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(given);
  numbers->insert(numbers->end(), {buffer.dtype, reinterpret_cast<int64_t>(buffer.data), buffer.rank});
  numbers->insert(numbers->end(), buffer.dims, buffer.dims + buffer.rank);
}

// Returns Hilo_PythonCall::numbers.
absl::StatusOr<Numbers> NumbersOf(const XLA_FFI_CallFrame& frame) {
  const std::optional<int64_t> number = IntegerAttribute(frame.attrs, "number");
  if (!number.has_value())
    return InvalidArgument("a call of ", kPythonCallback, " needs an attribute \"number\" of 64 bits");
  Numbers numbers = {*number, IntegerAttribute(frame.attrs, "first_partition_only").value_or(0), frame.args.size,
                     frame.rets.size};
  for (int64_t i = 0; i < frame.args.size; ++i) AddBuffer(frame.args.args[i], &numbers);
  for (int64_t i = 0; i < frame.rets.size; ++i) AddBuffer(frame.rets.rets[i], &numbers);
  return numbers;
}

// A signal's handler of Python may raise an exception before the first statement of the function, which then cannot
// catch it. What ctypes returns of a function with an exception is no value at all, so the results are in memory.
XLA_FFI_Error* CallPython(XLA_FFI_CallFrame* frame) {
  if (ffi::AnswersMetadata(*frame)) return nullptr;
  const absl::StatusOr<Numbers> numbers = NumbersOf(*frame);
  if (!numbers.ok()) return ffi::MakeError(numbers.status());
  Hilo_PythonCall call = {.struct_size = sizeof(Hilo_PythonCall),
                          .error = nullptr,
                          .finished = 0,
                          .numbers = numbers->data(),
                          .count = static_cast<int64_t>(numbers->size())};
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
