// How far two arrays are apart: for reports, and for tolerances that depend on all elements.
#ifndef HILO_SHAPE_LITERAL_DIFFERENCE_H_
#define HILO_SHAPE_LITERAL_DIFFERENCE_H_

#include <cstdint>
#include <limits>
#include <string>

#include "hilo/literal.h"

namespace hilo {

struct LiteralDifference {
  int64_t elements = 0;
  int64_t differing = 0;  // elements of other bits; NaNs are equal
  int64_t max_ulps = 0;   // int64's maximum if one is NaN and the other is not, or if integers differ
  // The largest distance, and that relative to the largest magnitude among the expected elements; infinite if one is
  // NaN or infinite and the other is not.
  double max_absolute = 0;
  double max_relative = 0;
  std::string worst;  // "element {1,2}: expected 0.5, actual 0.75 (8388608 ulps apart)"; empty if none differs

  // Whether a correct backend may differ that far: floats by half of their significant digits, relative to the largest
  // magnitude; others not at all.
  bool within_rounding = true;
};

// Of arrays of compatible shapes without dynamic dimensions. `digits`: how many significant digits, in bits, the floats
// were computed with; at most those of their type count.
LiteralDifference DifferenceOf(const Literal& expected, const Literal& actual,
                               int digits = std::numeric_limits<int>::max());

}  // namespace hilo

#endif  // HILO_SHAPE_LITERAL_DIFFERENCE_H_
