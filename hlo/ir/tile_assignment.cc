#include "hlo/ir/tile_assignment.h"

#include "absl/algorithm/container.h"
#include "hlo/ops/table/attribute_reader.h"

namespace hilo {

bool TileAssignment::IsWhole() const {
  return absl::c_all_of(counts, [](int64_t count) { return count == 1; });
}

TileAssignment TileAssignment::Reduced() const { return {.counts = counts, .tile_of = tile_of}; }

std::vector<TileAssignment> TilesOf(std::vector<StatedSharding> stated) {
  std::vector<TileAssignment> tiles;
  for (StatedSharding& one : stated) tiles.push_back(std::move(one.tiles));
  return tiles;
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
