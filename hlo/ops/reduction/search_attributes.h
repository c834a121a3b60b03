// Attributes of select-and-scatter, topk and scan.
#ifndef HILO_HLO_OPS_REDUCTION_SEARCH_ATTRIBUTES_H_
#define HILO_HLO_OPS_REDUCTION_SEARCH_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ops/table/attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

struct SelectAndScatterAttrs : Attributes<SelectAndScatterAttrs> {
  Window window;
  static constexpr auto Fields() {
    return std::make_tuple(Field("window", &SelectAndScatterAttrs::window, Presence::kOptional));
  }
};

struct TopKAttrs : Attributes<TopKAttrs> {
  int64_t k = 0;
  bool largest = false;
  bool is_stable = false;  // the first of equal elements come first, as they always do here
  static constexpr auto Fields() {
    return std::make_tuple(Field("k", &TopKAttrs::k), Field("largest", &TopKAttrs::largest),
                           Field("is_stable", &TopKAttrs::is_stable, Presence::kOptional));
  }
};

struct ScanAttrs : Attributes<ScanAttrs> {
  std::vector<int64_t> dimensions;  // exactly one
  int64_t num_carries = 0;          // the last operands, and the last results
  bool is_reverse = false;
  bool is_associative = false;  // asserted by the program
  static constexpr auto Fields() {
    return std::make_tuple(Field("dimensions", &ScanAttrs::dimensions), Field("num_carries", &ScanAttrs::num_carries),
                           Field("is_reverse", &ScanAttrs::is_reverse, Presence::kOptional),
                           Field("is_associative", &ScanAttrs::is_associative, Presence::kOptional));
  }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_REDUCTION_SEARCH_ATTRIBUTES_H_
