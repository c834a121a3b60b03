// Products of narrow integers that floating-point numbers add up without rounding.
#ifndef HILO_HLO_ANALYSIS_EXACT_DOT_H_
#define HILO_HLO_ANALYSIS_EXACT_DOT_H_

#include <algorithm>
#include <cstdint>

#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/op_attributes.h"

namespace hilo {

// How many terms of a dot of integers of 8 bits or fewer F32 adds up exactly, whatever they are; 0 for other types. F32 has all integers up to 2^24.
inline int64_t ExactTermsInF32(const HloInstruction& dot) {
  int64_t product = 1;
  for (int64_t side : {0, 1}) {
    const PrimitiveType type = dot.operand(side)->shape().element_type();
    if (!IsIntegralType(type) || PrimitiveTypeBitWidth(type) > 8) return 0;
    product *= int64_t{1} << (PrimitiveTypeBitWidth(type) - (IsSignedIntegralType(type) ? 1 : 0));
  }
  return IsIntegralType(dot.shape().element_type()) ? (int64_t{1} << 24) / product : 0;
}

// How many parts its terms must be added up in for that; 0 if that is no way to compute it.
inline int64_t ExactPartsInF32(const HloInstruction& dot) {
  constexpr int64_t kMostParts = 16;
  const int64_t exact = ExactTermsInF32(dot);
  if (exact == 0) return 0;
  const std::vector<int64_t>& contracting = dot.attrs<DotAttrs>().lhs_contracting_dims;
  int64_t terms = 1;
  for (int64_t d : contracting) terms *= dot.operand(0)->shape().dimensions(d);
  const int64_t parts = std::max<int64_t>(1, (terms + exact - 1) / exact);
  return parts == 1 || (parts <= kMostParts && contracting.size() == 1) ? parts : 0;
}

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_EXACT_DOT_H_
