// Clients with their devices and memories.
//
// A client lives until its handle is destroyed and the last of its buffers and executables is gone: at the end of a
// process they are destroyed in any order.
#ifndef HILO_PJRT_CLIENT_H_
#define HILO_PJRT_CLIENT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hilo/client.h"
#include "pjrt/abi.h"
#include "pjrt/client_options.h"

namespace hilo::pjrt {

// Kinds of memories; their numbers are their kind ids and their indices in a device's list. All of them are memory of
// the device: programs that move arrays between kinds run, without copies.
inline constexpr std::array<absl::string_view, 3> kMemoryKinds = {"device", "pinned_host", "unpinned_host"};
inline constexpr int kDefaultMemory = 0;

// The number of a kind. Errors: InvalidArgument listing the kinds.
absl::StatusOr<int> MemoryKindFromName(absl::string_view name);

}  // namespace hilo::pjrt

struct PJRT_Memory {
  const void* functions = nullptr;  // read by API 0.113 and later
  PJRT_Device* device = nullptr;
  int id = 0, kind = 0;
  std::string text;
};

struct PJRT_DeviceDescription {
  int id = 0;       // among the devices of all processes
  int process = 0;  // the process that owns the device
  std::string kind, text, debug_text;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription description;
  std::array<PJRT_Memory, hilo::pjrt::kMemoryKinds.size()> memories;
  std::array<PJRT_Memory*, hilo::pjrt::kMemoryKinds.size()> memory_list;
  PJRT_Device* self = this;  // the list of devices that its memories belong to
  PJRT_Device() = default;
  PJRT_Device(const PJRT_Device&) = delete;
  PJRT_Device& operator=(const PJRT_Device&) = delete;

  int local = 0;  // the runtime's number of a device of this process, else -1

  int number() const { return local; }
  bool addressable() const { return local >= 0; }
};

// The devices of a client as a description.
struct PJRT_TopologyDescription {
  PJRT_Client* client = nullptr;
  std::shared_ptr<PJRT_Client> own;  // of a description that was made without a client
  std::vector<PJRT_DeviceDescription*> descriptions;
  ~PJRT_TopologyDescription();
};

struct PJRT_Client {
  std::string platform_name, platform_version;
  std::unique_ptr<hilo::Client> client;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> device_list;       // of all processes
  std::vector<PJRT_Device*> addressable_list;  // of this one
  std::vector<PJRT_Memory*> memory_list;       // of these
  PJRT_TopologyDescription topology;
  std::shared_ptr<PJRT_Client> self;  // the reference of the handle

  static absl::StatusOr<std::shared_ptr<PJRT_Client>> Create(const hilo::pjrt::PluginOptions& options);
};

#endif  // HILO_PJRT_CLIENT_H_
