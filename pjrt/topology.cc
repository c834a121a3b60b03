// Topologies: the devices of a client, or of a client with given options. Executables are
// made for the second kind too: such a description owns a hidden client.
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hilo/status_macros.h"
#include "pjrt/client.h"
#include "pjrt/error.h"

namespace hilo::pjrt {
namespace {

void SetName(const std::string& value, const char** data, size_t* size) {
  *data = value.data();
  *size = value.size();
}

// Equal for topologies on which the same executables run.
std::string TopologyText(const PJRT_TopologyDescription& topology) {
  return absl::StrCat(topology.client->platform_name, " ", topology.client->platform_version, " ",
                      topology.descriptions.size());
}

// Returns a description with a separate client.
absl::StatusOr<PJRT_TopologyDescription*> Describe(const PluginOptions& options) {
  auto topology = std::make_unique<PJRT_TopologyDescription>();
  HILO_ASSIGN_OR_RETURN(topology->own, PJRT_Client::Create(options));
  topology->client = topology->own.get();
  topology->client->self = topology->own;
  topology->descriptions = topology->client->topology.descriptions;
  return topology.release();
}

}  // namespace

// The devices of a client with these options, of which only the description is visible. The name is ignored.
absl::Status TopologyDescription_Create(PJRT_TopologyDescription_Create_Args* args) {
  HILO_ASSIGN_OR_RETURN(const PluginOptions options, ReadClientOptions({args->create_options, args->num_options}));
  HILO_ASSIGN_OR_RETURN(args->topology, Describe(options));
  return absl::OkStatus();
}

absl::Status TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args* args) {
  const std::string text(args->serialized_topology, args->serialized_topology_size);
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  int64_t devices = 0;
  if (words.size() < 3 || !absl::SimpleAtoi(words.back(), &devices) || devices < 1 ||
      devices > std::numeric_limits<int>::max()) {
    return InvalidArgument("'", text, "' is no serialized topology");
  }
  PluginOptions options;
  options.platform_name = words.front();
  options.client.platform = words[words.size() - 2];
  options.client.device_count = static_cast<int>(devices);
  HILO_ASSIGN_OR_RETURN(PJRT_TopologyDescription* const topology, Describe(options));
  if (const std::string here = TopologyText(*topology); here != text) {
    delete topology;
    return FailedPrecondition("the topology '", text, "' is of another version than this, '", here, "'");
  }
  args->topology = topology;
  return absl::OkStatus();
}

// Those of clients go with them.
absl::Status TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args* args) {
  if (args->topology == nullptr || args->topology->own == nullptr) return absl::OkStatus();
  delete args->topology;
  return absl::OkStatus();
}

absl::Status TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->topology, "PJRT_TopologyDescription"));
  SetName(args->topology->client->platform_name, &args->platform_name, &args->platform_name_size);
  return absl::OkStatus();
}

absl::Status TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->topology, "PJRT_TopologyDescription"));
  SetName(args->topology->client->platform_version, &args->platform_version, &args->platform_version_size);
  return absl::OkStatus();
}

absl::Status TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->topology, "PJRT_TopologyDescription"));
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return absl::OkStatus();
}

absl::Status TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return absl::OkStatus();
}

absl::Status TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->topology, "PJRT_TopologyDescription"));
  auto* text = new std::string(TopologyText(*args->topology));
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_topology = reinterpret_cast<PJRT_SerializedTopology*>(text);
  args->serialized_topology_deleter = [](PJRT_SerializedTopology* owner) {
    delete reinterpret_cast<std::string*>(owner);
  };
  return absl::OkStatus();
}

absl::Status TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->topology, "PJRT_TopologyDescription"));
  uint64_t fingerprint = 14695981039346656037u;  // FNV-1a: the same in every process
  for (const char c : TopologyText(*args->topology))
    fingerprint = (fingerprint ^ static_cast<uint8_t>(c)) * 1099511628211u;
  args->fingerprint = fingerprint;
  return absl::OkStatus();
}

absl::Status TopologyDescription_GetMemorySpaceKindIds(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args) {
  static constexpr int kIds[kMemoryKinds.size()] = {0, 1, 2};
  args->memory_space_kind_ids = kIds;
  args->num_memory_space_kind_ids = kMemoryKinds.size();
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
