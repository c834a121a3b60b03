// Shardings by the axes of a mesh: Shardy's text, and the form that HLO's has for them.
//
//   #sdy.sharding<@mesh, [{"x"}p1, {"y":(1)2, ?}], replicated={"z"}, unreduced=max{"w"}>
//   {mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'x'}, {'y':(1)2, ?}], manual={'y':(2)2}}
#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/sharding_reader.h"
#include "hlo/ir/tile_assignment.h"

namespace hilo {
namespace {

// By PartReduction; a sum has no name.
constexpr absl::string_view kAxisReductions[] = {"", "max", "min"};

absl::StatusOr<std::string> ReadQuoted(AttributeReader& reader, char quote = '"') {
  std::string name;
  if (!reader.TakeQuoted(&name, quote) || name.empty()) return reader.Expected("a name in quotes");
  return name;
}

bool TakeWords(AttributeReader& reader, absl::string_view expected) {
  for (absl::string_view rest = expected; !rest.empty();) {
    if (reader.At(rest[0]) && !IsWordCharacter(rest[0])) {
      reader.Take(rest[0]);
      rest.remove_prefix(1);
      continue;
    }
    const absl::string_view word = reader.TakeWord();
    if (word.empty() || rest.substr(0, word.size()) != word) return false;
    rest.remove_prefix(word.size());
  }
  return true;
}

absl::Status ReadAxes(AttributeReader& reader, char quote, Mesh* mesh) {
  if (!reader.Take('[')) return reader.Expected("[");
  while (!reader.Take(']')) {
    HILO_ASSIGN_OR_RETURN(mesh->axes.emplace_back(), ReadQuoted(reader, quote));
    if (!reader.Take('=')) return reader.Expected("=");
    HILO_ASSIGN_OR_RETURN(mesh->sizes.emplace_back(), ReadNumber(reader));
    reader.Take(',');
  }
  return absl::OkStatus();
}

absl::Status SetDevices(std::vector<int64_t> devices, Mesh* mesh) {
  HILO_ASSIGN_OR_RETURN(const int64_t count, DeviceCount(mesh->sizes));
  mesh->devices = std::move(devices);
  if (mesh->devices.empty()) {
    mesh->devices.resize(count);
    std::iota(mesh->devices.begin(), mesh->devices.end(), 0);
  }
  if (static_cast<int64_t>(mesh->devices.size()) != count)
    return InvalidArgument("mesh: expected ", count, " device_ids, got ", mesh->devices.size());
  for (int64_t device : mesh->devices) {
    if (device < 0 || device >= kMaxShardedDevices)
      return InvalidArgument("mesh: device_ids: expected numbers below ", kMaxShardedDevices, ", got ", device);
  }
  return absl::OkStatus();
}

// `<["a"=2, "b"=2], device_ids=[...]>`.
absl::StatusOr<Mesh> ReadSdyMesh(AttributeReader& reader) {
  Mesh mesh;
  if (!reader.Take('<') || !reader.At('[')) return reader.Expected("<[");
  HILO_RETURN_IF_ERROR(ReadAxes(reader, '"', &mesh));
  std::vector<int64_t> devices;
  if (reader.Take(',')) {
    if (!TakeWords(reader, "device_ids=")) return reader.Expected("device_ids=");
    HILO_ASSIGN_OR_RETURN(devices, ReadNumbers(reader, '[', ']'));
  }
  HILO_RETURN_IF_ERROR(SetDevices(std::move(devices), &mesh));
  if (!reader.Take('>')) return reader.Expected(">");
  return mesh;
}

// The part of an axis that shards a dimension: `before` is the size of the parts in front of it.
struct AxisPart {
  size_t axis;
  int64_t before, size;
};

absl::StatusOr<AxisPart> ReadAxisPart(AttributeReader& reader, const Mesh& mesh, char quote) {
  HILO_ASSIGN_OR_RETURN(const std::string name, ReadQuoted(reader, quote));
  const auto it = absl::c_find(mesh.axes, name);
  if (it == mesh.axes.end())
    return InvalidArgument("sharding: the mesh has no axis \"", name, "\"; it has ", absl::StrJoin(mesh.axes, ", "));
  AxisPart part{.axis = static_cast<size_t>(it - mesh.axes.begin()), .before = 1};
  part.size = mesh.sizes[part.axis];
  if (reader.Take(':')) {
    if (!reader.Take('(')) return reader.Expected("(");
    HILO_ASSIGN_OR_RETURN(part.before, ReadNumber(reader));
    if (!reader.Take(')')) return reader.Expected(")");
    HILO_ASSIGN_OR_RETURN(part.size, ReadNumber(reader));
    if (part.before < 1 || part.size < 1 || part.before > kMaxShardedDevices || part.size > kMaxShardedDevices ||
        mesh.sizes[part.axis] % (part.before * part.size) != 0) {
      return InvalidArgument("sharding: \"", name, "\":(", part.before, ")", part.size,
                             " is no part of an axis of size ", mesh.sizes[part.axis]);
    }
  }
  return part;
}

// Which axes of a mesh do what.
struct AxisRoles {
  std::vector<std::vector<AxisPart>> dimensions;
  std::vector<bool> is_open;
  std::vector<int64_t> priorities;
  std::vector<AxisPart> replicated, unreduced;
  std::optional<PartReduction> reduction;
};

// `{"a", ?}p1`.
absl::Status ReadDimension(AttributeReader& reader, const Mesh& mesh, char quote, AxisRoles* roles) {
  std::vector<AxisPart>& parts = roles->dimensions.emplace_back();
  roles->is_open.push_back(false);
  roles->priorities.push_back(0);
  if (!reader.Take('{')) return reader.Expected("{");
  while (!reader.Take('}')) {
    if (reader.Take('?')) {
      roles->is_open.back() = true;
    } else {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), ReadAxisPart(reader, mesh, quote));
    }
    reader.Take(',');
  }
  if (!reader.At('p')) return absl::OkStatus();
  absl::string_view word = reader.TakeWord();
  int64_t& priority = roles->priorities.back();
  if (!absl::ConsumePrefix(&word, "p") || !absl::SimpleAtoi(word, &priority) || priority < 0)
    return InvalidArgument("sharding: expected a priority such as p1, got p", word);
  return absl::OkStatus();
}

absl::Status ReadDimensions(AttributeReader& reader, const Mesh& mesh, char quote, AxisRoles* roles) {
  while (!reader.Take(']')) {
    HILO_RETURN_IF_ERROR(ReadDimension(reader, mesh, quote, roles));
    reader.Take(',');
  }
  return absl::OkStatus();
}

absl::Status ReadAxisList(AttributeReader& reader, const Mesh& mesh, char quote, std::vector<AxisPart>* parts) {
  if (!reader.Take('{')) return reader.Expected("{");
  while (!reader.Take('}')) {
    HILO_ASSIGN_OR_RETURN(parts->emplace_back(), ReadAxisPart(reader, mesh, quote));
    reader.Take(',');
  }
  return absl::OkStatus();
}

StatedSharding Stated(const Mesh& mesh, const AxisRoles& roles) {
  const int64_t devices = mesh.devices.empty() ? 0 : *absl::c_max_element(mesh.devices) + 1;
  StatedSharding stated{.is_open = roles.is_open, .priorities = roles.priorities};
  TileAssignment &tiles = stated.tiles, &replicated = stated.replicated;
  const auto size_of = [](const std::vector<AxisPart>& parts) {  // at most the devices of the mesh
    int64_t size = 1;
    for (const AxisPart& part : parts) size *= part.size;
    return size;
  };
  for (const std::vector<AxisPart>& parts : roles.dimensions) tiles.counts.push_back(size_of(parts));
  for (const AxisPart& part : roles.replicated) replicated.counts.push_back(part.size);
  tiles.tile_of.resize(devices);
  if (!roles.replicated.empty()) replicated.tile_of.resize(devices);
  tiles.reduction = roles.reduction;
  if (tiles.reduction.has_value()) tiles.part_of.resize(devices);
  for (size_t i = 0; i < mesh.devices.size(); ++i) {
    const std::vector<int64_t> coordinates = Digits(static_cast<int64_t>(i), mesh.sizes);
    const auto number_along = [&](const std::vector<AxisPart>& parts) {
      int64_t number = 0;
      for (const AxisPart& part : parts) {
        const int64_t behind = mesh.sizes[part.axis] / (part.before * part.size);
        number = number * part.size + coordinates[part.axis] / behind % part.size;
      }
      return number;
    };
    const int64_t device = mesh.devices[i];
    tiles.tile_of[device].clear();
    for (const std::vector<AxisPart>& parts : roles.dimensions) tiles.tile_of[device].push_back(number_along(parts));
    if (tiles.reduction.has_value()) tiles.part_of[device] = number_along(roles.unreduced);
    if (roles.replicated.empty()) continue;
    replicated.tile_of[device].clear();
    for (const AxisPart& part : roles.replicated) replicated.tile_of[device].push_back(number_along({part}));
  }
  return stated;
}

// Errors: InvalidArgument if a part of an axis occurs twice.
absl::Status CheckRoles(const Mesh& mesh, const AxisRoles& roles) {
  std::vector<AxisPart> all = roles.replicated;
  all.insert(all.end(), roles.unreduced.begin(), roles.unreduced.end());
  for (const std::vector<AxisPart>& parts : roles.dimensions) all.insert(all.end(), parts.begin(), parts.end());
  // Those that are left and do not overlap are few: the product of their sizes is that of the mesh at most.
  std::erase_if(all, [](const AxisPart& part) { return part.size == 1; });
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const AxisPart &a = all[i], &b = all[j];
      if (a.axis != b.axis || a.before >= b.before * b.size || b.before >= a.before * a.size) continue;
      return InvalidArgument("sharding: the axis \"", mesh.axes[a.axis], "\" occurs twice");
    }
  }
  return absl::OkStatus();
}

// `<@mesh, [{"a"}, {"b":(1)2, ?}p1], replicated={...}>`.
absl::StatusOr<StatedSharding> ReadSdySharding(AttributeReader& reader,
                                               const absl::flat_hash_map<std::string, Mesh>& meshes,
                                               const std::optional<std::vector<std::string>>& manual_axes) {
  if (!reader.Take('<')) return reader.Expected("<");
  Mesh mesh;
  if (reader.Take('@')) {
    const std::string name(reader.TakeWord());
    const auto it = meshes.find(name);
    if (it == meshes.end()) return InvalidArgument("sharding: there is no mesh @", name);
    mesh = it->second;
  } else {
    if (!TakeWords(reader, "mesh")) return reader.Expected("@ and the name of a mesh");
    HILO_ASSIGN_OR_RETURN(mesh, ReadSdyMesh(reader));
  }
  AxisRoles roles;
  if (!reader.Take(',') || !reader.Take('[')) return reader.Expected(", [");
  HILO_RETURN_IF_ERROR(ReadDimensions(reader, mesh, '"', &roles));
  while (reader.Take(',')) {
    const bool is_unreduced = reader.TakeWord() == "unreduced";
    if (!reader.Take('=')) return reader.Expected("=");
    const absl::string_view reduction = reader.TakeWord();
    HILO_RETURN_IF_ERROR(ReadAxisList(reader, mesh, '"', is_unreduced ? &roles.unreduced : &roles.replicated));
    if (!is_unreduced) continue;
    const auto it = absl::c_find(kAxisReductions, reduction);
    if (it == std::end(kAxisReductions)) return InvalidArgument("sharding: unknown reduction ", reduction);
    roles.reduction = static_cast<PartReduction>(it - kAxisReductions);
  }
  if (!reader.Take('>')) return reader.Expected(">");
  HILO_RETURN_IF_ERROR(CheckRoles(mesh, roles));
  if (manual_axes.has_value()) {
    const auto drop = [&](std::vector<AxisPart>* parts) {
      std::erase_if(*parts,
                    [&](const AxisPart& part) { return !absl::c_linear_search(*manual_axes, mesh.axes[part.axis]); });
    };
    for (std::vector<AxisPart>& parts : roles.dimensions) drop(&parts);
    drop(&roles.unreduced);
  }
  if (roles.unreduced.empty()) roles.reduction.reset();
  return Stated(mesh, roles);
}

}  // namespace

absl::StatusOr<StatedSharding> ReadMeshSharding(AttributeReader& reader) {
  Mesh mesh;
  HILO_RETURN_IF_ERROR(ReadAxes(reader, '\'', &mesh));
  AxisRoles roles;
  StatedSharding metadata;  // takes the reduction
  std::vector<int64_t> devices;
  std::vector<AxisPart> manual, all;
  bool has_dimensions = false;
  for (size_t i = 0; i < mesh.axes.size(); ++i) all.push_back({.axis = i, .before = 1, .size = mesh.sizes[i]});
  while (reader.Take(',')) {
    if (reader.Take('[')) {
      HILO_RETURN_IF_ERROR(ReadDimensions(reader, mesh, '\'', &roles));
      has_dimensions = true;
      continue;
    }
    const absl::string_view word = reader.TakeWord();
    if (word == "device_ids") {
      if (!reader.Take('=') || !reader.At('(')) return reader.Expected("=(");
      AttributeReader ahead = reader;
      ahead.Take('(');
      if (ahead.At('[')) {
        reader.Take('(');
        HILO_ASSIGN_OR_RETURN(devices, ReadIotaDevices(reader));
        if (!reader.Take(')')) return reader.Expected(")");
      } else {
        HILO_ASSIGN_OR_RETURN(devices, ReadNumbers(reader, '(', ')'));
      }
    } else if (word == "metadata") {
      reader.Take('=');
      HILO_RETURN_IF_ERROR(ReadShardingMetadata(reader, &metadata.tiles));
    } else if (word == "replicated" || word == "unreduced" || word == "manual") {
      std::vector<AxisPart>& parts = word == "unreduced" ? roles.unreduced
                                     : word == "manual"  ? manual
                                                         : roles.replicated;
      if (reader.Take('=')) {
        HILO_RETURN_IF_ERROR(ReadAxisList(reader, mesh, '\'', &parts));
      } else {  // the whole array is
        parts = all;
      }
    } else {
      return reader.Expected("device_ids, replicated, unreduced, manual or metadata");
    }
  }
  if (!reader.Take('}')) return reader.Expected("}");
  HILO_RETURN_IF_ERROR(SetDevices(std::move(devices), &mesh));
  HILO_RETURN_IF_ERROR(CheckRoles(mesh, roles));
  std::vector<int64_t> sorted = mesh.devices;
  absl::c_sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i))
      return InvalidArgument("sharding: expected each of the devices 0 to ", sorted.size() - 1, " once");
  }
  if (!roles.unreduced.empty()) roles.reduction = metadata.tiles.reduction.value_or(PartReduction::kSum);
  if (!has_dimensions) return StatedSharding{.tiles = {.reduction = roles.reduction}};
  return Stated(mesh, roles);
}

absl::StatusOr<absl::flat_hash_map<std::string, Mesh>> MeshesFromText(absl::string_view text) {
  absl::flat_hash_map<std::string, Mesh> meshes;
  AttributeReader reader(text);
  if (!reader.Take('{')) return reader.Expected("{");
  while (!reader.Take('}')) {
    const std::string name(reader.TakeWord());
    if (name.empty() || !reader.Take('=') || !TakeWords(reader, "#sdy.mesh"))
      return reader.Expected("a mesh: name = #sdy.mesh<...>");
    HILO_ASSIGN_OR_RETURN(meshes[name], ReadSdyMesh(reader));
    reader.Take(',');
  }
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  return meshes;
}

absl::StatusOr<std::vector<StatedSharding>> StatedShardingsFromSdy(
    absl::string_view text, const absl::flat_hash_map<std::string, Mesh>& meshes,
    const std::optional<std::vector<std::string>>& manual_axes) {
  AttributeReader reader(text);
  std::vector<StatedSharding> stated;
  if (!reader.Take('#')) return reader.Expected("#sdy.sharding");
  const absl::string_view kind = reader.TakeWord();
  if (kind == "sdy.sharding") {
    HILO_ASSIGN_OR_RETURN(stated.emplace_back(), ReadSdySharding(reader, meshes, manual_axes));
  } else if (kind == "sdy.sharding_per_value") {
    if (!reader.Take('<') || !reader.Take('[')) return reader.Expected("<[");
    while (!reader.Take(']')) {
      HILO_ASSIGN_OR_RETURN(stated.emplace_back(), ReadSdySharding(reader, meshes, manual_axes));
      reader.Take(',');
    }
    if (!reader.Take('>')) return reader.Expected(">");
  } else {
    return reader.Expected("#sdy.sharding or #sdy.sharding_per_value");
  }
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  return stated;
}

absl::StatusOr<std::vector<TileAssignment>> TileAssignmentsFromSdy(
    absl::string_view text, const absl::flat_hash_map<std::string, Mesh>& meshes,
    const std::optional<std::vector<std::string>>& manual_axes) {
  HILO_ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, StatedShardingsFromSdy(text, meshes, manual_axes));
  return TilesOf(std::move(stated));
}

absl::StatusOr<std::vector<std::string>> ManualAxesFromText(absl::string_view text) {
  AttributeReader reader(text);
  std::vector<std::string> axes;
  if (!TakeWords(reader, "#sdy<manual_axes{")) return reader.Expected("#sdy<manual_axes{");
  while (!reader.Take('}')) {
    HILO_ASSIGN_OR_RETURN(axes.emplace_back(), ReadQuoted(reader));
    reader.Take(',');
  }
  if (!reader.Take('>')) return reader.Expected(">");
  return axes;
}

}  // namespace hilo
