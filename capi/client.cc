// Clients.
#include <climits>

#include "capi/handles.h"
#include "capi/option_reader.h"
#include "hilo/status_macros.h"

namespace hilo::capi {
namespace {

absl::Status Create(const char* platform, const HiloOption* options, size_t num_options, HiloClient** client) {
  HILO_RETURN_IF_ERROR(CheckNotNull(platform, "platform"));
  HILO_RETURN_IF_ERROR(CheckNotNull(client, "client"));
  ClientOptions wanted{.platform = platform};
  OptionReader reader(options, num_options);
  reader.TakeInteger("devices", 1, INT_MAX, &wanted.device_count);
  reader.TakeInteger("threads", 0, INT_MAX, &wanted.num_threads);
  reader.TakeInteger("memory_limit", 0, INT64_MAX, &wanted.memory_limit);
  reader.TakeSeconds("deadline", &wanted.default_deadline);
  reader.TakeText("cache_dir", &wanted.cache_dir);
  reader.TakeInteger("cache_limit", 0, INT64_MAX, &wanted.cache_limit);
  HILO_RETURN_IF_ERROR(reader.Finish());
  auto made = std::make_unique<HiloClient>();
  HILO_ASSIGN_OR_RETURN(made->client, Client::Create(wanted));
  made->platform = made->client->platform();
  *client = made.release();
  return absl::OkStatus();
}

absl::Status Memory(const HiloClient* client, int32_t device, int64_t* bytes_in_use, int64_t* peak_bytes) {
  HILO_RETURN_IF_ERROR(CheckNotNull(client, "client"));
  HILO_RETURN_IF_ERROR(CheckNotNull(bytes_in_use, "bytes_in_use"));
  HILO_RETURN_IF_ERROR(CheckNotNull(peak_bytes, "peak_bytes"));
  if (device < 0 || device >= client->client->device_count())
    return InvalidArgument("there is no device ", device, "; the client has ", client->client->device_count());
  const MemoryStats stats = client->client->memory_stats(device);
  *bytes_in_use = stats.bytes_in_use;
  *peak_bytes = stats.peak_bytes;
  return absl::OkStatus();
}

}  // namespace
}  // namespace hilo::capi

using hilo::capi::Call;

HiloError* HiloClientCreate(const char* platform, const HiloOption* options, size_t num_options, HiloClient** client) {
  return Call([&] { return hilo::capi::Create(platform, options, num_options, client); });
}

void HiloClientDestroy(HiloClient* client) { delete client; }

const char* HiloClientGetPlatform(const HiloClient* client) {
  return client == nullptr ? "" : client->platform.c_str();
}

int32_t HiloClientGetDeviceCount(const HiloClient* client) {
  return client == nullptr ? 0 : client->client->device_count();
}

HiloError* HiloClientGetMemory(const HiloClient* client, int32_t device, int64_t* bytes_in_use, int64_t* peak_bytes) {
  return Call([&] { return hilo::capi::Memory(client, device, bytes_in_use, peak_bytes); });
}
