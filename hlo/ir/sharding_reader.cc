#include "hlo/ir/sharding_reader.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// By PartReduction: names in the metadata of HLO's shardings.
constexpr absl::string_view kReductions[] = {"SUM", "MAX", "MIN"};
constexpr absl::string_view kReductionMetadata = "sdy::reduction_op";

std::optional<PartReduction> FindReduction(absl::string_view name) {
  const auto it = absl::c_find(kReductions, name);
  if (it == std::end(kReductions)) return std::nullopt;
  return static_cast<PartReduction>(it - kReductions);
}

// The devices of "[4,2]T(1,0)": 0, 1 ... as an array of `sizes`, transposed, read row by row.
absl::StatusOr<std::vector<int64_t>> IotaDevices(const std::vector<int64_t>& sizes,
                                                 const std::vector<int64_t>& permutation) {
  HILO_ASSIGN_OR_RETURN(const int64_t count, DeviceCount(sizes));
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

}  // namespace

absl::StatusOr<int64_t> ReadNumber(AttributeReader& reader) {
  int64_t value;
  HILO_RETURN_IF_ERROR(NumberFromWord(reader.TakeWord(), &value));
  return value;
}

absl::StatusOr<std::vector<int64_t>> ReadNumbers(AttributeReader& reader, char open, char close) {
  std::vector<int64_t> values;
  if (!reader.Take(open)) return reader.Expected(std::string(1, open));
  while (!reader.Take(close)) {
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), ReadNumber(reader));
    if (!reader.Take(',') && !reader.At(close)) return reader.Expected(std::string(1, close));
  }
  return values;
}

absl::StatusOr<int64_t> DeviceCount(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > kMaxShardedDevices || count * size > kMaxShardedDevices) {
      return InvalidArgument("sharding: expected at most ", kMaxShardedDevices, " devices, in positive numbers, got [",
                             absl::StrJoin(sizes, ","), "]");
    }
    count *= size;
  }
  return count;
}

std::vector<int64_t> Digits(int64_t number, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> digits(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    digits[i] = number % sizes[i];
    number /= sizes[i];
  }
  return digits;
}

absl::StatusOr<std::vector<int64_t>> ReadIotaDevices(AttributeReader& reader) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ReadNumbers(reader, '[', ']'));
  std::vector<int64_t> permutation(sizes.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  if (reader.At('T')) {
    reader.TakeWord();
    HILO_ASSIGN_OR_RETURN(permutation, ReadNumbers(reader, '(', ')'));
  }
  return IotaDevices(sizes, permutation);
}

absl::Status ReadShardingMetadata(AttributeReader& reader, TileAssignment* tiles) {
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
      if (key == "op_name" && is_reduction) tiles->reduction = FindReduction(value);
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

namespace {

// What follows "devices=" up to the closing brace.
absl::StatusOr<TileAssignment> ReadTiles(AttributeReader& reader) {
  TileAssignment tiles;
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, ReadNumbers(reader, '[', ']'));
  HILO_ASSIGN_OR_RETURN(const int64_t count, DeviceCount(sizes));
  std::vector<int64_t> devices;
  if (reader.Take('<')) {
    if (!reader.Take('=')) return reader.Expected("<=[");
    HILO_ASSIGN_OR_RETURN(devices, ReadIotaDevices(reader));
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
      HILO_RETURN_IF_ERROR(ReadShardingMetadata(reader, &tiles));
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

absl::StatusOr<StatedSharding> ReadHloSharding(AttributeReader& reader) {
  if (!reader.Take('{')) return reader.Expected("{");
  const absl::string_view word = reader.TakeWord();
  if (word == "devices") {
    if (!reader.Take('=')) return reader.Expected("=");
    HILO_ASSIGN_OR_RETURN(TileAssignment tiles, ReadTiles(reader));
    return StatedSharding{.tiles = std::move(tiles)};
  }
  if (word == "mesh") return ReadMeshSharding(reader);
  if (word == "maximal_mesh") {  // [device_id=5]}
    if (!reader.Take('[') || reader.TakeWord() != "device_id" || !reader.Take('='))
      return reader.Expected("[device_id=");
    HILO_RETURN_IF_ERROR(ReadNumber(reader).status());
    if (!reader.Take(']') || !reader.Take('}')) return reader.Expected("]}");
    return StatedSharding();
  }
  if (word != "replicated" && word != "maximal" && word != "manual" && word != "unknown" && word != "unreduced") {
    return reader.Expected("replicated, maximal, manual, unknown, devices= or mesh[");
  }
  TileAssignment whole;
  if (word == "unreduced") whole.reduction = PartReduction::kSum;
  while (!reader.Take('}')) {
    if (reader.At('{')) {
      HILO_RETURN_IF_ERROR(ReadShardingMetadata(reader, &whole));
    } else if (!reader.Take('=') && reader.TakeWord().empty()) {
      return reader.Expected("}");
    }
  }
  if (word != "unreduced") whole.reduction.reset();
  return StatedSharding{.tiles = std::move(whole)};
}

}  // namespace

std::string TileAssignmentToHlo(const TileAssignment& tiles) {
  if (tiles.IsWhole() && !tiles.reduction.has_value()) return "{replicated}";
  std::string metadata;
  if (tiles.reduction.has_value()) {
    metadata = absl::StrCat(" metadata={op_type=\"", kReductionMetadata, "\" op_name=\"",
                            kReductions[static_cast<int>(*tiles.reduction)], "\"}");
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
  HILO_ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, StatedShardingsFromHlo(text, leaf_count));
  return TilesOf(std::move(stated));
}

absl::StatusOr<std::vector<StatedSharding>> StatedShardingsFromHlo(absl::string_view text, int64_t leaf_count) {
  AttributeReader reader(text);
  std::vector<StatedSharding> stated;
  AttributeReader ahead = reader;
  ahead.Take('{');
  const bool is_empty = leaf_count == 0 && ahead.Take('}') && ahead.AtEnd();
  if (!is_empty && !ahead.At('{')) {
    HILO_ASSIGN_OR_RETURN(const StatedSharding one, ReadHloSharding(reader));
    HILO_RETURN_IF_ERROR(ReadEnd(reader));
    // A single one for a tuple applies to all of its leaves if it has no tiles.
    if (leaf_count != 1 && !one.tiles.IsWhole())
      return InvalidArgument("sharding: expected ", leaf_count, " shardings, got 1: ", text);
    stated.assign(leaf_count, one);
    return stated;
  }
  reader.Take('{');
  while (!reader.Take('}')) {
    HILO_ASSIGN_OR_RETURN(stated.emplace_back(), ReadHloSharding(reader));
    reader.Take(',');
    if (reader.AtEnd()) return reader.Expected("}");
  }
  HILO_RETURN_IF_ERROR(ReadEnd(reader));
  if (static_cast<int64_t>(stated.size()) != leaf_count)
    return InvalidArgument("sharding: expected ", leaf_count, " shardings, got ", stated.size(), ": ", text);
  return stated;
}

}  // namespace hilo
