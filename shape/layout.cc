#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/shape.h"

namespace hilo {
namespace {

void AppendDimension(std::string* out, int64_t size) {
  if (size == Tile::kCombineDimension) {
    out->push_back('*');
  } else {
    absl::StrAppend(out, size);
  }
}

// What follows the colon in "{1,0:T(8,128)S(1)}".
std::string NotesToString(const Layout& layout) {
  std::string notes;
  if (!layout.tiles.empty()) notes += "T";
  for (const Tile& tile : layout.tiles) {
    absl::StrAppend(&notes, "(", absl::StrJoin(tile.dimensions, ",", AppendDimension), ")");
  }
  if (layout.element_size_in_bits != 0) {
    absl::StrAppend(&notes, "E(", layout.element_size_in_bits, ")");
  }
  if (layout.memory_space != 0) absl::StrAppend(&notes, "S(", layout.memory_space, ")");
  if (!layout.padded_dimensions.empty()) {
    absl::StrAppend(&notes, "pad(", absl::StrJoin(layout.padded_dimensions, ","));
    if (layout.padding_value != 0) absl::StrAppend(&notes, ":", layout.padding_value);
    notes += ")";
  }
  return notes;
}

}  // namespace

std::string Layout::ToString() const {
  const std::string notes = NotesToString(*this);
  return absl::StrCat("{", absl::StrJoin(minor_to_major, ","), notes.empty() ? "" : ":", notes, "}");
}

Layout LayoutUtil::MakeLayout(absl::Span<const int64_t> minor_to_major) {
  return Layout(std::vector<int64_t>(minor_to_major.begin(), minor_to_major.end()));
}

Layout LayoutUtil::MakeDescendingLayout(int64_t rank) {
  Layout layout;
  layout.minor_to_major.reserve(rank);
  for (int64_t d = rank - 1; d >= 0; --d) layout.minor_to_major.push_back(d);
  return layout;
}

Layout LayoutUtil::MakeAscendingLayout(int64_t rank) {
  Layout layout;
  layout.minor_to_major.reserve(rank);
  for (int64_t d = 0; d < rank; ++d) layout.minor_to_major.push_back(d);
  return layout;
}

bool LayoutUtil::IsDefault(const Layout& layout) {
  return IsMonotonicWithDim0Major(layout) && layout.padded_dimensions.empty() && layout.tiles.empty();
}

bool LayoutUtil::IsMonotonicWithDim0Major(const Layout& layout) {
  int64_t expected = static_cast<int64_t>(layout.minor_to_major.size());
  return std::all_of(layout.minor_to_major.begin(), layout.minor_to_major.end(),
                     [&](int64_t d) { return d == --expected; });
}

bool LayoutUtil::IsMonotonicWithDim0Minor(const Layout& layout) {
  int64_t expected = 0;
  return std::all_of(layout.minor_to_major.begin(), layout.minor_to_major.end(),
                     [&](int64_t d) { return d == expected++; });
}

int64_t LayoutUtil::Major(const Layout& layout, int64_t k) {
  return layout.minor_to_major[layout.minor_to_major.size() - 1 - k];
}

int64_t LayoutUtil::Minor(const Layout& layout, int64_t k) { return layout.minor_to_major[k]; }

absl::Status LayoutUtil::Validate(const Layout& layout, absl::Span<const int64_t> dimensions) {
  const int64_t rank = static_cast<int64_t>(dimensions.size());
  if (static_cast<int64_t>(layout.minor_to_major.size()) != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout: expected ", rank, " dimensions in minor_to_major, got ", layout.minor_to_major.size()));
  }
  std::vector<bool> seen(rank, false);
  for (int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= rank || seen[d]) {
      return absl::InvalidArgumentError(absl::StrCat("layout: expected minor_to_major to be a permutation of 0 to ",
                                                     rank - 1, ", got ", layout.ToString()));
    }
    seen[d] = true;
  }
  if (!layout.padded_dimensions.empty() && static_cast<int64_t>(layout.padded_dimensions.size()) != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout: expected ", rank, " padded_dimensions, got ", layout.padded_dimensions.size()));
  }
  for (size_t d = 0; d < layout.padded_dimensions.size(); ++d) {
    if (layout.padded_dimensions[d] < dimensions[d]) {
      return absl::InvalidArgumentError(absl::StrCat("layout: padded_dimensions[", d,
                                                     "] = ", layout.padded_dimensions[d],
                                                     " is less than the dimension's size ", dimensions[d]));
    }
  }
  for (const Tile& tile : layout.tiles) {
    for (int64_t size : tile.dimensions) {
      if (size <= 0 && size != Tile::kCombineDimension) {
        return absl::InvalidArgumentError(absl::StrCat("layout: expected positive tile sizes, got ", size));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace hilo
