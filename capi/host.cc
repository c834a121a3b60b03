// What the caller supplies: functions of custom calls, and a sink for the log.
#include "hilo/host.h"

#include "capi/handles.h"
#include "hilo/ffi.h"
#include "hilo/status_macros.h"

namespace hilo::capi {
namespace {

CustomCallRegistry* RegistryOf(HiloClient* client) {
  return client == nullptr ? &CustomCallRegistry::Default() : client->client->custom_call_registry();
}

absl::Status LoadLibrary(HiloClient* client, const char* path) {
  HILO_RETURN_IF_ERROR(CheckNotNull(path, "path"));
  return LoadCustomCallLibrary(path, RegistryOf(client));
}

absl::Status SetSink(HiloLogSink* sink, void* user_data) {
  if (sink == nullptr) {
    SetLogSink(nullptr);
    return absl::OkStatus();
  }
  SetLogSink([sink, user_data](LogSeverity severity, absl::string_view message) {
    sink(user_data, severity == LogSeverity::kWarning ? HILO_LOG_WARNING : HILO_LOG_INFO, std::string(message).c_str());
  });
  return absl::OkStatus();
}

}  // namespace
}  // namespace hilo::capi

using hilo::capi::Call;

HiloError* HiloClientRegisterCustomCalls(HiloClient* client,
                                         void (*function)(const HiloCustomCallRegistrar* registrar)) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(hilo::capi::CheckNotNull(reinterpret_cast<const void*>(function), "function"));
    return hilo::RegisterCustomCalls(function, hilo::capi::RegistryOf(client));
  });
}

HiloError* HiloClientLoadCustomCallLibrary(HiloClient* client, const char* path) {
  return Call([&] { return hilo::capi::LoadLibrary(client, path); });
}

HiloError* HiloSetLogSink(HiloLogSink* sink, void* user_data) {
  return Call([&] { return hilo::capi::SetSink(sink, user_data); });
}
