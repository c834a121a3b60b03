// Attributes of custom-call.
#ifndef HILO_HLO_OPS_CUSTOM_CALL_ATTRIBUTES_H_
#define HILO_HLO_OPS_CUSTOM_CALL_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ops/attributes.h"

namespace hilo {

struct CustomCallAttrs : Attributes<CustomCallAttrs> {
  std::string custom_call_target;
  bool custom_call_has_side_effect = false;
  Word api_version = "API_VERSION_ORIGINAL";
  bool HasSideEffect() const override { return custom_call_has_side_effect; }
  static constexpr auto Fields() {
    return std::make_tuple(Field("custom_call_target", &CustomCallAttrs::custom_call_target),
                           Field("custom_call_has_side_effect", &CustomCallAttrs::custom_call_has_side_effect, Presence::kOptional),
                           Field("api_version", &CustomCallAttrs::api_version, Presence::kOptional));
  }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_CUSTOM_CALL_ATTRIBUTES_H_
