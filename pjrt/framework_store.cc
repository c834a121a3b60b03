#include "pjrt/framework_store.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "pjrt/error.h"

namespace hilo::pjrt {
namespace {

constexpr absl::string_view kPrefix = "hilo/";

// How callbacks make an error of ours.
PJRT_CallbackError* const make_error = [](PJRT_Error_Code code, const char* message, size_t size) {
  return MakeError(absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size)));
};

absl::Status TakeError(PJRT_Error* error) {
  if (error == nullptr) return absl::OkStatus();
  const absl::Status status = error->status;
  error->functions->destroy(error);
  return status;
}

// Calls a callback that finds a value. The value is the framework's until it is copied.
template <typename Args, typename Callback>
absl::StatusOr<std::string> Find(Callback* callback, void* user_arg, absl::string_view key, Args args) {
  const std::string name = absl::StrCat(kPrefix, key);
  PJRT_CallbackError* error = make_error;
  args.struct_size = sizeof(Args);
  args.key = name.data();
  args.key_size = name.size();
  args.callback_error = &error;
  args.user_arg = user_arg;
  const absl::Status status = TakeError(callback(&args));
  if (!status.ok()) return status;
  std::string value(args.value, args.value_size);
  if (args.value_deleter_callback != nullptr) args.value_deleter_callback(args.value);
  return value;
}

}  // namespace

absl::StatusOr<std::shared_ptr<KeyValueStore>> FrameworkStore(const PJRT_Client_Create_Args& args) {
  if (args.kv_get_callback == nullptr || args.kv_put_callback == nullptr) {
    return InvalidArgument("a client of several processes needs the callbacks of a key-value store");
  }
  KeyValueCallbacks callbacks;
  callbacks.set = [callback = args.kv_put_callback, user_arg = args.kv_put_user_arg](absl::string_view key,
                                                                                     absl::string_view value) {
    const std::string name = absl::StrCat(kPrefix, key);
    PJRT_CallbackError* error = make_error;
    PJRT_KeyValuePutCallback_Args put = {};
    put.struct_size = sizeof(put);
    put.key = name.data();
    put.key_size = name.size();
    put.value = value.data();
    put.value_size = value.size();
    put.callback_error = &error;
    put.user_arg = user_arg;
    return TakeError(callback(&put));
  };
  callbacks.get = [callback = args.kv_get_callback, user_arg = args.kv_get_user_arg](absl::string_view key,
                                                                                     absl::Duration timeout) {
    PJRT_KeyValueGetCallback_Args get = {};
    get.timeout_in_ms =
        static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(timeout), 1, std::numeric_limits<int>::max()));
    return Find(callback, user_arg, key, get);
  };
  if (args.kv_try_get_callback != nullptr) {
    callbacks.try_get = [callback = args.kv_try_get_callback,
                         user_arg = args.kv_try_get_user_arg](absl::string_view key) {
      return Find(callback, user_arg, key, PJRT_KeyValueTryGetCallback_Args{});
    };
  }
  return MakeCallbackStore(std::move(callbacks));
}

}  // namespace hilo::pjrt
