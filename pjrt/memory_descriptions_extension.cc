// The memories of a device in its description: the kinds that every device has.
#include "hilo/status_macros.h"
#include "pjrt/client.h"
#include "pjrt/error.h"
#include "pjrt/extensions.h"

struct PJRT_MemoryDescription {
  int kind;
};

namespace hilo::pjrt {
namespace {

absl::Status Describe(PJRT_DeviceDescription_MemoryDescriptions_Args* args) {
  static constexpr PJRT_MemoryDescription kDescriptions[] = {{0}, {1}, {2}};
  static constexpr const PJRT_MemoryDescription* kList[] = {&kDescriptions[0], &kDescriptions[1], &kDescriptions[2]};
  static_assert(std::size(kList) == kMemoryKinds.size());
  args->memory_descriptions = kList;
  args->num_memory_descriptions = std::size(kList);
  args->default_memory_index = kDefaultMemory;
  return absl::OkStatus();
}

absl::Status DescribeKind(PJRT_MemoryDescription_Kind_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory_description, "PJRT_MemoryDescription"));
  args->kind_id = args->memory_description->kind;
  args->kind = kMemoryKinds[args->kind_id].data();
  args->kind_size = kMemoryKinds[args->kind_id].size();
  return absl::OkStatus();
}

}  // namespace

PJRT_Extension_Base* MemoryDescriptionsExtension(PJRT_Extension_Base* next) {
  static PJRT_MemoryDescriptions_Extension extension = {
      .base = {.struct_size = sizeof(PJRT_MemoryDescriptions_Extension),
               .type = PJRT_Extension_Type_MemoryDescriptions,
               .next = next},
      .device_description_memory_descriptions = Boundary<PJRT_DeviceDescription_MemoryDescriptions_Args, Describe>,
      .memory_description_kind = Boundary<PJRT_MemoryDescription_Kind_Args, DescribeKind>};
  return &extension.base;
}

}  // namespace hilo::pjrt
