// The memory layout of an array.
#ifndef HILO_SHAPE_LAYOUT_H_
#define HILO_SHAPE_LAYOUT_H_

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace hilo {

// One level of tiling as in HLO text "T(8,128)": sizes, most major first.
struct Tile {
  // Written "*": the dimension is merged with the next more minor one.
  static constexpr int64_t kCombineDimension = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> dimensions;
  bool operator==(const Tile&) const = default;
};

// The order of dimensions in memory, with the optional padding of the specification and the notes that XLA's dumps
// carry. `minor_to_major` is a permutation of 0..rank-1, fastest-varying dimension first; the default of new shapes
// is {rank-1, ..., 1, 0} (row-major).
struct Layout {
  std::vector<int64_t> minor_to_major;
  // Size to which each dimension is padded at its high end; empty: no padding. (specification: Padding)
  std::vector<int64_t> padded_dimensions;
  // The value of padding when a padded buffer is written; the specification only uses 0.
  double padding_value = 0;
  std::vector<Tile> tiles;           // stored and printed; memory is untiled
  int64_t memory_space = 0;          // S(n)
  int64_t element_size_in_bits = 0;  // E(n); 0: the type's own

  Layout() = default;
  explicit Layout(std::vector<int64_t> order) : minor_to_major(std::move(order)) {}
  bool operator==(const Layout&) const = default;
  // "{1,0:T(8,128)S(1)}"; padding, which XLA's text lacks, is written pad(3,5), or pad(3,5:1.5) with a value.
  std::string ToString() const;
};

// Functions on layouts (XLA's LayoutUtil).
struct LayoutUtil {
  static Layout MakeLayout(absl::Span<const int64_t> minor_to_major);
  // {rank-1, ..., 0}.
  static Layout MakeDescendingLayout(int64_t rank);
  static Layout MakeAscendingLayout(int64_t rank);
  // True for the default order without padding or tiles.
  static bool IsDefault(const Layout& layout);
  static bool IsMonotonicWithDim0Major(const Layout& layout);  // {rank-1..0}
  static bool IsMonotonicWithDim0Minor(const Layout& layout);  // {0..rank-1}
  // k-th dimension from the most major (minor) end.
  static int64_t Major(const Layout& layout, int64_t k);
  static int64_t Minor(const Layout& layout, int64_t k);
  // Errors: InvalidArgument unless minor_to_major is a permutation of 0..rank-1 and padding covers `dimensions`.
  static absl::Status Validate(const Layout& layout, absl::Span<const int64_t> dimensions);
};

}  // namespace hilo

#endif  // HILO_SHAPE_LAYOUT_H_
