// Keys that rows of an attention ignore, as far as the program shows it: causal masks and windows.
#ifndef HILO_HLO_ANALYSIS_ATTENTION_MASK_H_
#define HILO_HLO_ANALYSIS_ATTENTION_MASK_H_

#include <cstdint>
#include <optional>

#include "hlo/analysis/attention.h"

namespace hilo {

// Logits whose key is greater than the index of their row in `row_dimension` plus `offset` are at most `masked_value`,
// and so are those whose key is less than that index plus `first`, if there is a window.
struct CausalMask {
  int64_t row_dimension = 0;  // of the logits
  int64_t offset = 0;         // the number of keys, if the mask leaves all after the window's first
  std::optional<int64_t> first;
  double masked_value = 0;

  // Exponentials, in f32, of masked logits less a maximum above this are 0.
  double HiddenAbove() const { return masked_value + 110; }
};
// Looks for selections of a constant by comparisons of iotas. nullopt: none.
std::optional<CausalMask> CausalMaskOf(const Attention& attention);

// Logits whose key is greater than the number `position` plus `offset` are at most `masked_value`, in all rows: what a
// cache of keys has beyond the position that was written last.
struct PositionMask {
  const HloInstruction* position = nullptr;  // a scalar of S32
  int64_t offset = 0;
  double masked_value = 0;
};
// The same of comparisons of an iota with a scalar.
std::optional<PositionMask> PositionMaskOf(const Attention& attention);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_ATTENTION_MASK_H_
