#include "pjrt/client_options.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "pjrt/named_values.h"

namespace hilo::pjrt {
namespace {

absl::StatusOr<std::string> StringOf(const PJRT_NamedValue& value) {
  if (value.type == PJRT_NamedValue_kString) return std::string(value.string_value, value.value_size);
  return InvalidArgument("option ", NameOf(value), ": expected a string");
}

absl::StatusOr<int64_t> IntOf(const PJRT_NamedValue& value) {
  if (value.type == PJRT_NamedValue_kInt64) return value.int64_value;
  return InvalidArgument("option ", NameOf(value), ": expected an integer");
}

void SetFromEnvironment(const char* variable, std::string* value) {
  if (const char* text = std::getenv(variable); text != nullptr && *text != '\0') *value = text;
}

template <typename Int>
absl::Status SetFromEnvironment(const char* variable, Int* value) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0' || absl::SimpleAtoi(text, value)) return absl::OkStatus();
  return InvalidArgument(variable, ": expected an integer, got ", text);
}

// XLA's flag for the number of its CPU devices.
void SetFromXlaFlags(int* device_count) {
  const char* flags = std::getenv("XLA_FLAGS");
  if (flags == nullptr) return;
  for (absl::string_view flag : absl::StrSplit(flags, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    int count;
    if (absl::ConsumePrefix(&flag, "--xla_force_host_platform_device_count=") && absl::SimpleAtoi(flag, &count))
      *device_count = count;
  }
}

absl::Status Apply(const PJRT_NamedValue& option, PluginOptions* options) {
  const absl::string_view name = NameOf(option);
  if (name == "platform_name") {
    HILO_ASSIGN_OR_RETURN(options->platform_name, StringOf(option));
  } else if (name == "backend") {
    HILO_ASSIGN_OR_RETURN(options->client.platform, StringOf(option));
  } else if (name == "cache_dir") {
    HILO_ASSIGN_OR_RETURN(options->client.cache_dir, StringOf(option));
  } else if (name == "num_devices" || name == "cpu_device_count" || name == "num_threads") {
    HILO_ASSIGN_OR_RETURN(const int64_t count, IntOf(option));
    if (count != static_cast<int>(count)) return InvalidArgument("option ", name, ": ", count, " is out of range");
    (name == "num_threads" ? options->client.num_threads : options->client.device_count) = static_cast<int>(count);
  } else if (name == "memory_limit") {
    HILO_ASSIGN_OR_RETURN(options->client.memory_limit, IntOf(option));
  } else if (name == "num_nodes") {
    HILO_ASSIGN_OR_RETURN(options->process_count, IntOf(option));
  } else if (name == "node_id") {
    HILO_ASSIGN_OR_RETURN(options->process_id, IntOf(option));
  } else if (name == "coordinator") {
    HILO_ASSIGN_OR_RETURN(options->coordinator, StringOf(option));
  } else {
    return InvalidArgument(
        "there is no client option '", name,
        "'; there are platform_name, backend, num_devices (cpu_device_count to other plugins), num_threads, "
        "memory_limit, cache_dir, num_nodes, node_id and coordinator");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PluginOptions> ReadClientOptions(absl::Span<const PJRT_NamedValue> given) {
  PluginOptions options;
  SetFromEnvironment("HILO_PLATFORM_NAME", &options.platform_name);
  SetFromEnvironment("HILO_BACKEND", &options.client.platform);
  SetFromXlaFlags(&options.client.device_count);
  HILO_RETURN_IF_ERROR(SetFromEnvironment("HILO_NUM_DEVICES", &options.client.device_count));
  HILO_RETURN_IF_ERROR(SetFromEnvironment("HILO_NUM_THREADS", &options.client.num_threads));
  HILO_RETURN_IF_ERROR(SetFromEnvironment("HILO_MEMORY_LIMIT", &options.client.memory_limit));
  for (const PJRT_NamedValue& option : given) HILO_RETURN_IF_ERROR(Apply(option, &options));
  return options;
}

}  // namespace hilo::pjrt
