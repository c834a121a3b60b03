#include "hlo/ir/tile_assignment.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/attribute_reader.h"

namespace hilo {
namespace {

constexpr int64_t kMostDevices = 1 << 16;

// By PartReduction: names in the metadata of HLO's shardings, and in Shardy's, where a sum has none.
constexpr absl::string_view kHloReductions[] = {"SUM", "MAX", "MIN"}, kSdyReductions[] = {"", "max", "min"};
constexpr absl::string_view kReductionMetadata = "sdy::reduction_op";

std::optional<PartReduction> FindReduction(absl::Span<const absl::string_view> names, absl::string_view name) {
  const auto it = absl::c_find(names, name);
  if (it == names.end()) return std::nullopt;
  return static_cast<PartReduction>(it - names.begin());
}

absl::StatusOr<int64_t> ReadNumber(AttributeReader& reader) {
  int64_t value;
  HILO_RETURN_IF_ERROR(NumberFromWord(reader.TakeWord(), &value));
  return value;
}

// "a,b,c" up to `close`.
absl::StatusOr<std::vector<int64_t>> ReadNumbers(AttributeReader& reader, char open, char close) {
  std::vector<int64_t> values;
  if (!reader.Take(open)) return reader.Expected(std::string(1, open));
  while (!reader.Take(close)) {
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), ReadNumber(reader));
    if (!reader.Take(',') && !reader.At(close)) return reader.Expected(std::string(1, close));
  }
  return values;
}

absl::StatusOr<int64_t> Count(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > kMostDevices || count * size > kMostDevices) {
      return InvalidArgument("sharding: expected at most ", kMostDevices, " devices, in positive numbers, got [",
                             absl::StrJoin(sizes, ","), "]");
    }
    count *= size;
  }
  return count;
}

// The digits of `number` in `sizes`, the last one the fastest.
std::vector<int64_t> Digits(int64_t number, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> digits(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    digits[i] = number % sizes[i];
    number /= sizes[i];
  }
  return digits;
}

// The devices of "[4,2]T(1,0)": 0, 1 ... as an array of `sizes`, transposed, read row by row.
absl::StatusOr<std::vector<int64_t>> IotaDevices(const std::vector<int64_t>& sizes,
                                                 const std::vector<int64_t>& permutation) {
  HILO_ASSIGN_OR_RETURN(const int64_t count, Count(sizes));
  std::vector<int64_t> order = permutation;
  absl::c_sort(order);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (order.size() != sizes.size() || order[i] != static_cast<int64_t>(i)) {
      return InvalidArgument("sharding: T(", absl::StrJoin(permutation, ","), ") does not permute the dimensions [",
                             absl::StrJoin(sizes, ","), "]");
    }
  }
  std::vector<int64_t> strides(sizes.size()), transposed;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  for (int64_t d : permutation) transposed.push_back(sizes[d]);
  std::vector<int64_t> devices(count);
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<int64_t> digits = Digits(i, transposed);
    for (size_t d = 0; d < digits.size(); ++d) devices[i] += digits[d] * strides[permutation[d]];
  }
  return devices;
}

absl::StatusOr<std::vector<int64_t>> ReadIota(AttributeReader& reader) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ReadNumbers(reader, '[', ']'));
  std::vector<int64_t> permutation(sizes.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  if (reader.At('T')) {
    reader.TakeWord();
    HILO_ASSIGN_OR_RETURN(permutation, ReadNumbers(reader, '(', ')'));
  }
  return IotaDevices(sizes, permutation);
}

// {op_type="sdy::reduction_op" op_name="MAX"}, or a list of such; other metadata is skipped.
absl::Status ReadMetadata(AttributeReader& reader, TileAssignment* tiles) {
  std::string key, value;
  bool is_reduction = false;
  int depth = 0;
  do {
    if (reader.Take('{')) {
      ++depth;
    } else if (reader.Take('}')) {
      --depth;
    } else if (reader.TakeQuoted(&value)) {
      if (key == "op_type") is_reduction = value == kReductionMetadata;
      if (key == "op_name" && is_reduction) tiles->reduction = FindReduction(kHloReductions, value);
      if (key == "op_name" && is_reduction && !tiles->reduction.has_value())
        return InvalidArgument("sharding: unknown reduction ", value);
    } else if (const absl::string_view word = reader.TakeWord(); !word.empty()) {
      key = std::string(word);
    } else if (!absl::c_any_of(absl::string_view("=,:/()[]<>-+."), [&](char c) { return reader.Take(c); })) {
      return reader.Expected("}");
    }
  } while (depth > 0 && !reader.AtEnd());
  return absl::OkStatus();
}

// What follows "devices=" up to the closing brace.
absl::StatusOr<TileAssignment> ReadTiles(AttributeReader& reader) {
  TileAssignment tiles;
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, ReadNumbers(reader, '[', ']'));
  HILO_ASSIGN_OR_RETURN(const int64_t count, Count(sizes));
  std::vector<int64_t> devices;
  if (reader.Take('<')) {
    if (!reader.Take('=')) return reader.Expected("<=[");
    HILO_ASSIGN_OR_RETURN(devices, ReadIota(reader));
  } else {
    do {
      HILO_ASSIGN_OR_RETURN(devices.emplace_back(), ReadNumber(reader));
    } while (reader.Take(','));
  }
  size_t subgroups = 0;
  std::vector<absl::string_view> kinds;  // of the subgroups, if they are said
  while (!reader.Take('}')) {
    const absl::string_view word = reader.TakeWord();
    if (word == "last_tile_dim_replicate") {
      subgroups = 1;
    } else if (word == "last_tile_dims") {
      if (!reader.Take('=') || !reader.Take('{')) return reader.Expected("={");
      for (subgroups = 0; !reader.Take('}');) {
        if (kinds.emplace_back(reader.TakeWord()).empty()) return reader.Expected("}");
        ++subgroups;
        reader.Take(',');
      }
    } else if (word == "metadata") {
      reader.Take('=');
      HILO_RETURN_IF_ERROR(ReadMetadata(reader, &tiles));
    } else if (word.empty()) {
      return reader.Expected("}");
    }  // others, such as shard_as, group shardings and mean nothing to the array
  }
  if (subgroups >= sizes.size() || static_cast<int64_t>(devices.size()) != count) {
    return InvalidArgument("sharding: devices=[", absl::StrJoin(sizes, ","), "] does not fit ", devices.size(),
                           " devices");
  }
  tiles.counts.assign(sizes.begin(), sizes.end() - static_cast<int64_t>(subgroups));
  tiles.tile_of.resize(count);
  if (!absl::c_linear_search(kinds, "unreduced")) {
    tiles.reduction.reset();
  } else {
    tiles.reduction = tiles.reduction.value_or(PartReduction::kSum);
    tiles.part_of.resize(count);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (devices[i] < 0 || devices[i] >= count || !tiles.tile_of[devices[i]].empty()) {
      return InvalidArgument("sharding: expected each of the devices 0 to ", count - 1, " once");
    }
    std::vector<int64_t> digits = Digits(i, sizes);
    for (size_t k = 0; k < kinds.size() && tiles.reduction.has_value(); ++k) {
      const size_t d = tiles.counts.size() + k;
      if (kinds[k] == "unreduced") tiles.part_of[devices[i]] = tiles.part_of[devices[i]] * sizes[d] + digits[d];
    }
    digits.resize(tiles.counts.size());
    tiles.tile_of[devices[i]] = std::move(digits);
  }
  return tiles;
}

absl::StatusOr<TileAssignment> ReadHloSharding(AttributeReader& reader) {
  if (!reader.Take('{')) return reader.Expected("{");
  const absl::string_view word = reader.TakeWord();
  if (word == "devices") {
    if (!reader.Take('=')) return reader.Expected("=");
    return ReadTiles(reader);
  }
  if (word != "replicated" && word != "maximal" && word != "manual" && word != "unknown" && word != "unreduced") {
    return reader.Expected("replicated, maximal, manual, unknown or devices=");
  }
  TileAssignment whole;
  if (word == "unreduced") whole.reduction = PartReduction::kSum;
  while (!reader.Take('}')) {
    if (reader.At('{')) {
      HILO_RETURN_IF_ERROR(ReadMetadata(reader, &whole));
    } else if (!reader.Take('=') && reader.TakeWord().empty()) {
      return reader.Expected("}");
    }
  }
  if (word != "unreduced") whole.reduction.reset();
  return whole;
}

absl::StatusOr<std::string> ReadQuoted(AttributeReader& reader) {
  std::string name;
  if (!reader.TakeQuoted(&name) || name.empty()) return reader.Expected("a name in quotes");
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

// `["a"=2, "b"=2], device_ids=[...]>`.
absl::StatusOr<Mesh> ReadMesh(AttributeReader& reader) {
  Mesh mesh;
  if (!reader.Take('<') || !reader.Take('[')) return reader.Expected("<[");
  while (!reader.Take(']')) {
    HILO_ASSIGN_OR_RETURN(mesh.axes.emplace_back(), ReadQuoted(reader));
    if (!reader.Take('=')) return reader.Expected("=");
    HILO_ASSIGN_OR_RETURN(mesh.sizes.emplace_back(), ReadNumber(reader));
    reader.Take(',');
  }
  HILO_ASSIGN_OR_RETURN(const int64_t count, Count(mesh.sizes));
  mesh.devices.resize(count);
  std::iota(mesh.devices.begin(), mesh.devices.end(), 0);
  if (reader.Take(',')) {
    if (!TakeWords(reader, "device_ids=")) return reader.Expected("device_ids=");
    HILO_ASSIGN_OR_RETURN(mesh.devices, ReadNumbers(reader, '[', ']'));
    if (static_cast<int64_t>(mesh.devices.size()) != count)
      return InvalidArgument("mesh: expected ", count, " device_ids, got ", mesh.devices.size());
    for (int64_t device : mesh.devices) {
      if (device < 0 || device >= kMostDevices)
        return InvalidArgument("mesh: device_ids: expected numbers below ", kMostDevices, ", got ", device);
    }
  }
  if (!reader.Take('>')) return reader.Expected(">");
  return mesh;
}

// The part of an axis that shards a dimension: `before` is the size of the parts in front of it.
struct AxisPart {
  size_t axis;
  int64_t before, size;
};

absl::StatusOr<AxisPart> ReadAxisPart(AttributeReader& reader, const Mesh& mesh) {
  HILO_ASSIGN_OR_RETURN(const std::string name, ReadQuoted(reader));
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
    if (part.before < 1 || part.size < 1 || part.before > kMostDevices || part.size > kMostDevices ||
        mesh.sizes[part.axis] % (part.before * part.size) != 0) {
      return InvalidArgument("sharding: \"", name, "\":(", part.before, ")", part.size,
                             " is no part of an axis of size ", mesh.sizes[part.axis]);
    }
  }
  return part;
}

// `<@mesh, [{"a"}, {"b":(1)2, ?}p1], replicated={...}>`.
absl::StatusOr<TileAssignment> ReadSdySharding(AttributeReader& reader,
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
    HILO_ASSIGN_OR_RETURN(mesh, ReadMesh(reader));
  }
  const auto is_said = [&](const AxisPart& part) {
    return !manual_axes.has_value() || absl::c_linear_search(*manual_axes, mesh.axes[part.axis]);
  };
  if (!reader.Take(',') || !reader.Take('[')) return reader.Expected(", [");
  std::vector<std::vector<AxisPart>> dimensions;
  while (!reader.Take(']')) {
    std::vector<AxisPart>& parts = dimensions.emplace_back();
    if (!reader.Take('{')) return reader.Expected("{");
    while (!reader.Take('}')) {
      if (!reader.Take('?')) {
        HILO_ASSIGN_OR_RETURN(const AxisPart part, ReadAxisPart(reader, mesh));
        if (is_said(part)) parts.push_back(part);
      }
      reader.Take(',');
    }
    if (!reader.At(',') && !reader.At(']')) reader.TakeWord();  // a priority
    reader.Take(',');
  }
  TileAssignment tiles;
  std::vector<AxisPart> unreduced;
  while (reader.Take(',')) {
    const bool is_unreduced = reader.TakeWord() == "unreduced";
    if (!reader.Take('=')) return reader.Expected("=");
    const absl::string_view reduction = reader.TakeWord();
    if (!reader.Take('{')) return reader.Expected("{");
    while (!reader.Take('}')) {
      HILO_ASSIGN_OR_RETURN(const AxisPart part, ReadAxisPart(reader, mesh));
      if (is_unreduced && is_said(part)) unreduced.push_back(part);
      reader.Take(',');
    }
    if (unreduced.empty()) continue;
    tiles.reduction = FindReduction(kSdyReductions, reduction);
    if (!tiles.reduction.has_value()) return InvalidArgument("sharding: unknown reduction ", reduction);
  }
  if (!reader.Take('>')) return reader.Expected(">");
  const int64_t device_count = mesh.devices.empty() ? 0 : *absl::c_max_element(mesh.devices) + 1;
  tiles.tile_of.resize(device_count);
  for (const std::vector<AxisPart>& parts : dimensions) {
    std::vector<int64_t> sizes;
    for (const AxisPart& part : parts) sizes.push_back(part.size);
    HILO_ASSIGN_OR_RETURN(tiles.counts.emplace_back(), Count(sizes));
  }
  if (tiles.reduction.has_value()) tiles.part_of.resize(device_count);
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
    std::vector<int64_t>& tile = tiles.tile_of[mesh.devices[i]];
    tile.clear();
    for (const std::vector<AxisPart>& parts : dimensions) tile.push_back(number_along(parts));
    if (tiles.reduction.has_value()) tiles.part_of[mesh.devices[i]] = number_along(unreduced);
  }
  return tiles;
}

}  // namespace

bool TileAssignment::IsWhole() const {
  return absl::c_all_of(counts, [](int64_t count) { return count == 1; });
}

TileAssignment TileAssignment::Reduced() const { return {.counts = counts, .tile_of = tile_of}; }

std::string TileAssignmentToHlo(const TileAssignment& tiles) {
  if (tiles.IsWhole() && !tiles.reduction.has_value()) return "{replicated}";
  std::string metadata;
  if (tiles.reduction.has_value()) {
    metadata = absl::StrCat(" metadata={op_type=\"", kReductionMetadata, "\" op_name=\"",
                            kHloReductions[static_cast<int>(*tiles.reduction)], "\"}");
  }
  std::map<std::pair<std::vector<int64_t>, int64_t>, std::vector<int64_t>> devices;  // by tile and part
  int64_t parts = 1;
  for (size_t device = 0; device < tiles.tile_of.size(); ++device) {
    const int64_t part = tiles.part_of.empty() ? 0 : tiles.part_of[device];
    parts = std::max(parts, part + 1);
    devices[{tiles.tile_of[device], part}].push_back(static_cast<int64_t>(device));
  }
  const bool is_whole_part = tiles.part_of.empty() || parts == static_cast<int64_t>(tiles.tile_of.size());
  if (tiles.reduction.has_value() && is_whole_part) return absl::StrCat("{unreduced", metadata, "}");
  std::vector<int64_t> order;
  for (const auto& [tile, holders] : devices) order.insert(order.end(), holders.begin(), holders.end());
  const size_t copies = devices.empty() ? 1 : devices.begin()->second.size();
  std::string sizes = absl::StrJoin(tiles.counts, ","), subgroups = copies > 1 ? " last_tile_dim_replicate" : "";
  if (tiles.reduction.has_value()) {
    absl::StrAppend(&sizes, ",", parts);
    subgroups = copies > 1 ? " last_tile_dims={unreduced, replicated}" : " last_tile_dims={unreduced}";
  }
  if (copies > 1) absl::StrAppend(&sizes, ",", copies);
  return absl::StrCat("{devices=[", sizes, "]", absl::StrJoin(order, ","), subgroups, metadata, "}");
}

absl::StatusOr<std::vector<TileAssignment>> TileAssignmentsFromHlo(absl::string_view text, int64_t leaf_count) {
  AttributeReader reader(text);
  std::vector<TileAssignment> tiles;
  AttributeReader ahead = reader;
  ahead.Take('{');
  const bool is_empty = leaf_count == 0 && ahead.Take('}') && ahead.AtEnd();
  if (!is_empty && !ahead.At('{')) {
    HILO_ASSIGN_OR_RETURN(const TileAssignment one, ReadHloSharding(reader));
    HILO_RETURN_IF_ERROR(ReadEnd(reader));
    // A single one for a tuple applies to all of its leaves if it has no tiles.
    if (leaf_count != 1 && !one.IsWhole())
      return InvalidArgument("sharding: expected ", leaf_count, " shardings, got 1: ", text);
    tiles.assign(leaf_count, one);
    return tiles;
  }
  reader.Take('{');
  while (!reader.Take('}')) {
    HILO_ASSIGN_OR_RETURN(tiles.emplace_back(), ReadHloSharding(reader));
    reader.Take(',');
    if (reader.AtEnd()) return reader.Expected("}");
  }
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  if (static_cast<int64_t>(tiles.size()) != leaf_count)
    return InvalidArgument("sharding: expected ", leaf_count, " shardings, got ", tiles.size(), ": ", text);
  return tiles;
}

absl::StatusOr<absl::flat_hash_map<std::string, Mesh>> MeshesFromText(absl::string_view text) {
  absl::flat_hash_map<std::string, Mesh> meshes;
  AttributeReader reader(text);
  if (!reader.Take('{')) return reader.Expected("{");
  while (!reader.Take('}')) {
    const std::string name(reader.TakeWord());
    if (name.empty() || !reader.Take('=') || !TakeWords(reader, "#sdy.mesh"))
      return reader.Expected("a mesh: name = #sdy.mesh<...>");
    HILO_ASSIGN_OR_RETURN(meshes[name], ReadMesh(reader));
    reader.Take(',');
  }
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  return meshes;
}

absl::StatusOr<std::vector<TileAssignment>> TileAssignmentsFromSdy(
    absl::string_view text, const absl::flat_hash_map<std::string, Mesh>& meshes,
    const std::optional<std::vector<std::string>>& manual_axes) {
  AttributeReader reader(text);
  std::vector<TileAssignment> tiles;
  if (!reader.Take('#')) return reader.Expected("#sdy.sharding");
  const absl::string_view kind = reader.TakeWord();
  if (kind == "sdy.sharding") {
    HILO_ASSIGN_OR_RETURN(tiles.emplace_back(), ReadSdySharding(reader, meshes, manual_axes));
  } else if (kind == "sdy.sharding_per_value") {
    if (!reader.Take('<') || !reader.Take('[')) return reader.Expected("<[");
    while (!reader.Take(']')) {
      HILO_ASSIGN_OR_RETURN(tiles.emplace_back(), ReadSdySharding(reader, meshes, manual_axes));
      reader.Take(',');
    }
    if (!reader.Take('>')) return reader.Expected(">");
  } else {
    return reader.Expected("#sdy.sharding or #sdy.sharding_per_value");
  }
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  return tiles;
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

absl::string_view ExtraAttribute(const AttributeText& attributes, absl::string_view name) {
  for (const auto& [key, value] : attributes) {
    if (key == name) return value;
  }
  return "";
}

std::string FrontendAttribute(absl::string_view attributes, absl::string_view key) {
  for (size_t at = attributes.find(key); at != absl::string_view::npos; at = attributes.find(key, at + 1)) {
    const char before = at == 0 ? '{' : attributes[at - 1];
    absl::string_view rest = attributes.substr(at + key.size());
    if (IsWordCharacter(before) || rest.empty() || rest[0] != '=') continue;
    rest.remove_prefix(1);
    std::string value;
    if (!rest.empty() && rest[0] == '"') {
      for (size_t i = 1; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
        value += rest[i];
      }
      return value;
    }
    int depth = 0;
    for (char c : rest) {
      if (depth == 0 && (c == ',' || c == '}')) break;
      depth += (c == '{') - (c == '}');
      value += c;
    }
    return value;
  }
  return "";
}

}  // namespace hilo
