// Devices, their memories, and the topology that describes them. The framework ends the process when one of these
// fails, so valid handles always do.
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "pjrt/client.h"
#include "pjrt/error.h"

namespace hilo::pjrt {
namespace {

void Set(const std::string& value, const char** data, size_t* size) {
  *data = value.data();
  *size = value.size();
}

}  // namespace

// --- descriptions ---

absl::Status DeviceDescription_Id(PJRT_DeviceDescription_Id_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device_description, "PJRT_DeviceDescription"));
  args->id = args->device_description->id;
  return absl::OkStatus();
}

absl::Status DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device_description, "PJRT_DeviceDescription"));
  args->process_index = args->device_description->process;
  return absl::OkStatus();
}

absl::Status DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  args->num_attributes = 0;
  args->attributes = nullptr;
  return absl::OkStatus();
}

absl::Status DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device_description, "PJRT_DeviceDescription"));
  Set(args->device_description->kind, &args->device_kind, &args->device_kind_size);
  return absl::OkStatus();
}

absl::Status DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device_description, "PJRT_DeviceDescription"));
  Set(args->device_description->debug_text, &args->debug_string, &args->debug_string_size);
  return absl::OkStatus();
}

absl::Status DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device_description, "PJRT_DeviceDescription"));
  Set(args->device_description->text, &args->to_string, &args->to_string_size);
  return absl::OkStatus();
}

// --- devices ---

absl::Status Device_GetDescription(PJRT_Device_GetDescription_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  args->device_description = &args->device->description;
  return absl::OkStatus();
}

absl::Status Device_IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  args->is_addressable = args->device->addressable();
  return absl::OkStatus();
}

absl::Status Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  args->local_hardware_id = args->device->number();
  return absl::OkStatus();
}

absl::Status Device_AddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  args->memories = args->device->memory_list.data();
  args->num_memories = args->device->addressable() ? args->device->memory_list.size() : 0;
  return absl::OkStatus();
}

absl::Status Device_DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  args->memory = &args->device->memories[kDefaultMemory];
  return absl::OkStatus();
}

absl::Status Device_MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  const MemoryStats stats = args->device->client->client->memory_stats(args->device->number());
  PJRT_Device_MemoryStats_Args result = {};
  result.struct_size = args->struct_size;
  result.extension_start = args->extension_start;
  result.device = args->device;
  result.bytes_in_use = stats.bytes_in_use;
  result.peak_bytes_in_use = stats.peak_bytes;
  result.peak_bytes_in_use_is_set = true;
  result.bytes_limit = stats.limit;
  result.bytes_limit_is_set = stats.limit != 0;
  result.bytes_reservable_limit = stats.limit;  // all that may be allocated
  result.bytes_reservable_limit_is_set = stats.limit != 0;
  *args = result;
  return absl::OkStatus();
}

absl::Status Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  return args->device->client->client->ResetPeakMemory(args->device->number());
}

absl::Status Device_GetAttributes(PJRT_Device_GetAttributes_Args* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  args->device_attributes = nullptr;
  args->attributes_deleter = [](PJRT_Device_AttributesOwner*) {};
  return absl::OkStatus();
}

// --- memories ---

absl::Status Memory_Id(PJRT_Memory_Id_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  args->id = args->memory->id;
  return absl::OkStatus();
}

absl::Status Memory_Kind(PJRT_Memory_Kind_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  const absl::string_view kind = kMemoryKinds[args->memory->kind];
  args->kind = kind.data();
  args->kind_size = kind.size();
  return absl::OkStatus();
}

absl::Status Memory_Kind_Id(PJRT_Memory_Kind_Id_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  args->kind_id = args->memory->kind;
  return absl::OkStatus();
}

absl::Status Memory_DebugString(PJRT_Memory_DebugString_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  Set(args->memory->text, &args->debug_string, &args->debug_string_size);
  return absl::OkStatus();
}

absl::Status Memory_ToString(PJRT_Memory_ToString_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  Set(args->memory->text, &args->to_string, &args->to_string_size);
  return absl::OkStatus();
}

absl::Status Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  args->devices = &args->memory->device->self;
  args->num_devices = 1;
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
