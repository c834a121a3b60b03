#include "pjrt/client.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "collectives/processes/process_group.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"
#include "pjrt/error.h"
#include "pjrt/framework_store.h"
#include "pjrt/named_values.h"

PJRT_TopologyDescription::~PJRT_TopologyDescription() {
  if (own != nullptr) own->self.reset();
}

namespace {

void AddDevice(int id, int process, int local, PJRT_Client* client) {
  using hilo::pjrt::kMemoryKinds;
  auto device = std::make_unique<PJRT_Device>();
  device->client = client;
  device->local = local;
  device->description = {
      .id = id,
      .process = process,
      .kind = absl::StrCat("hilo_", client->client->platform()),
      .text = absl::StrCat("HiloDevice(id=", id,
                           client->client->process_count() > 1 ? absl::StrCat(", process=", process) : "", ")"),
      .debug_text = absl::StrCat(client->platform_name, ":", id)};
  for (size_t kind = 0; kind < kMemoryKinds.size(); ++kind) {
    PJRT_Memory& memory = device->memories[kind];
    memory.device = device.get();
    memory.id = static_cast<int>(id * kMemoryKinds.size() + kind);
    memory.kind = static_cast<int>(kind);
    memory.text = absl::StrCat(kMemoryKinds[kind], " memory of ", device->description.debug_text);
    device->memory_list[kind] = &memory;
    if (device->addressable()) client->memory_list.push_back(&memory);
  }
  client->device_list.push_back(device.get());
  if (device->addressable()) client->addressable_list.push_back(device.get());
  client->topology.descriptions.push_back(&device->description);
  client->devices.push_back(std::move(device));
}

}  // namespace

absl::StatusOr<std::shared_ptr<PJRT_Client>> PJRT_Client::Create(const hilo::pjrt::PluginOptions& options) {
  auto made = std::make_shared<PJRT_Client>();
  HILO_ASSIGN_OR_RETURN(made->client, hilo::Client::Create(options.client));
  made->platform_name = options.platform_name;
  made->platform_version = absl::StrCat("hilo ", HILO_VERSION, " on ", made->client->platform());
  made->topology.client = made.get();
  const auto first = static_cast<int>(made->client->first_device());
  for (int id = 0; id < made->client->global_device_count(); ++id) {
    const int local = id - first;
    AddDevice(id, static_cast<int>(made->client->process_of(id)),
              local >= 0 && local < made->client->device_count() ? local : -1, made.get());
  }
  return made;
}

namespace hilo::pjrt {

absl::StatusOr<int> MemoryKindFromName(absl::string_view name) {
  for (size_t i = 0; i < kMemoryKinds.size(); ++i) {
    if (kMemoryKinds[i] == name) return static_cast<int>(i);
  }
  return InvalidArgument("there is no memory of kind '", name, "'; there are ", absl::StrJoin(kMemoryKinds, ", "));
}

absl::Status Plugin_Initialize(PJRT_Plugin_Initialize_Args*) { return absl::OkStatus(); }

absl::Status Plugin_Attributes(PJRT_Plugin_Attributes_Args* args) {
  // The version that the framework serializes programs in: the newest whose operations the importer supports.
  static constexpr int64_t kNewestStablehlo[] = {1, 17, 0}, kOldestStablehlo[] = {0, 9, 0};
  static const PJRT_NamedValue attributes[] = {NamedInt("xla_version", 2),
                                               NamedInts("stablehlo_current_version", kNewestStablehlo),
                                               NamedInts("stablehlo_minimum_version", kOldestStablehlo)};
  args->attributes = attributes;
  args->num_attributes = std::size(attributes);
  return absl::OkStatus();
}

// What is logged goes to the standard error, from HILO_LOG_LEVEL on: info, warning (the default), or error, of which
// there are none.
absl::Status SendLogToStandardError() {
  const char* variable = std::getenv("HILO_LOG_LEVEL");
  const std::string level = variable == nullptr || *variable == '\0' ? "warning" : variable;
  if (level != "info" && level != "warning" && level != "error")
    return InvalidArgument("HILO_LOG_LEVEL: expected info, warning or error, got '", level, "'");
  SetLogSink([level](LogSeverity severity, absl::string_view message) {
    const bool is_warning = severity == LogSeverity::kWarning;
    if (level == "error" || (level == "warning" && !is_warning)) return;
    std::fprintf(stderr, "hilo: %s%.*s\n", is_warning ? "warning: " : "", static_cast<int>(message.size()),
                 message.data());
  });
  return absl::OkStatus();
}

absl::Status Client_Create(PJRT_Client_Create_Args* args) {
  HILO_RETURN_IF_ERROR(SendLogToStandardError());
  HILO_ASSIGN_OR_RETURN(PluginOptions options, ReadClientOptions({args->create_options, args->num_options}));
  if (options.process_count > 1) {
    // Processes make their clients in the same order.
    static std::atomic<int> clients = 0;
    ProcessGroupOptions processes{.process_id = options.process_id,
                                  .process_count = options.process_count,
                                  .name = absl::StrCat("pjrt", clients++),
                                  .may_return = true};
    HILO_ASSIGN_OR_RETURN(processes.host, OwnHost(options.coordinator));
    HILO_ASSIGN_OR_RETURN(processes.store, FrameworkStore(*args));
    options.client.processes = std::move(processes);
  }
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<PJRT_Client> client, PJRT_Client::Create(options));
  client->self = client;
  args->client = client.get();
  return absl::OkStatus();
}

absl::Status Client_Destroy(PJRT_Client_Destroy_Args* args) {
  if (args->client != nullptr) std::exchange(args->client->self, nullptr).reset();
  return absl::OkStatus();
}

absl::Status Client_PlatformName(PJRT_Client_PlatformName_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->platform_name = args->client->platform_name.data();
  args->platform_name_size = args->client->platform_name.size();
  return absl::OkStatus();
}

absl::Status Client_PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->platform_version = args->client->platform_version.data();
  args->platform_version_size = args->client->platform_version.size();
  return absl::OkStatus();
}

absl::Status Client_ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->process_index = static_cast<int>(args->client->client->process_id());
  return absl::OkStatus();
}

absl::Status Client_Devices(PJRT_Client_Devices_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->devices = args->client->device_list.data();
  args->num_devices = args->client->device_list.size();
  return absl::OkStatus();
}

absl::Status Client_AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->addressable_devices = args->client->addressable_list.data();
  args->num_addressable_devices = args->client->addressable_list.size();
  return absl::OkStatus();
}

namespace {

absl::StatusOr<PJRT_Device*> LookupDevice(const std::vector<PJRT_Device*>& devices, int number) {
  const auto count = static_cast<int>(devices.size());
  if (number < 0 || number >= count) return InvalidArgument("there is no device ", number, "; the client has ", count);
  return devices[number];
}

}  // namespace

absl::Status Client_LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_ASSIGN_OR_RETURN(args->device, LookupDevice(args->client->device_list, args->id));
  return absl::OkStatus();
}

absl::Status Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_ASSIGN_OR_RETURN(args->addressable_device,
                        LookupDevice(args->client->addressable_list, args->local_hardware_id));
  return absl::OkStatus();
}

absl::Status Client_AddressableMemories(PJRT_Client_AddressableMemories_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->addressable_memories = args->client->memory_list.data();
  args->num_addressable_memories = args->client->memory_list.size();
  return absl::OkStatus();
}

absl::Status Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  const int64_t wanted = int64_t{args->num_replicas} * args->num_partitions;
  const auto devices = static_cast<int64_t>(args->client->device_list.size());
  if (args->num_replicas < 1 || args->num_partitions < 1 || wanted > devices) {
    return InvalidArgument(args->num_replicas, " replicas and ", args->num_partitions, " partitions do not fit on ",
                           devices, " devices");
  }
  if (args->default_assignment_size < static_cast<size_t>(wanted)) {
    return InvalidArgument("expected room for ", wanted, " numbers of devices, got ", args->default_assignment_size);
  }
  for (int64_t i = 0; i < wanted; ++i) args->default_assignment[i] = static_cast<int>(i);
  return absl::OkStatus();
}

// The processes, as the framework's coordination service has them. The framework ends this one if the call fails.
absl::Status Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args* args) {
  if (args->client == nullptr) return absl::OkStatus();
  std::vector<ProcessState> states;
  const auto* next = reinterpret_cast<const char*>(args->process_infos);
  for (size_t i = 0; i < args->num_process_infos; ++i) {
    const auto& info = *reinterpret_cast<const PJRT_ProcessInfo*>(next);
    // An array of the caller's structs, which may be longer than ours.
    next += (info.struct_size + alignof(PJRT_ProcessInfo) - 1) / alignof(PJRT_ProcessInfo) * alignof(PJRT_ProcessInfo);
    ProcessState state = {.process = {.process = info.task_id, .incarnation = info.incarnation_id}};
    if (info.state == PJRT_ProcessState_kDisconnected) state.status = Unavailable("it has disconnected");
    if (info.state == PJRT_ProcessState_kError)
      state.status = Unavailable(absl::string_view(info.error_message, info.error_message_size));
    if (info.state != PJRT_ProcessState_kUnspecified && info.state != PJRT_ProcessState_kUninitialized)
      states.push_back(std::move(state));
  }
  args->client->client->UpdateProcesses(states);
  return absl::OkStatus();
}

// Memory of the host is what devices use.
absl::Status Client_DmaMap(PJRT_Client_DmaMap_Args*) { return absl::OkStatus(); }
absl::Status Client_DmaUnmap(PJRT_Client_DmaUnmap_Args*) { return absl::OkStatus(); }

absl::Status Client_TopologyDescription(PJRT_Client_TopologyDescription_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  args->topology = &args->client->topology;
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
