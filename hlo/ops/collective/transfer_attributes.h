// Attributes of infeed, outfeed, send, recv, copy-start and domain.
#ifndef HILO_HLO_OPS_COLLECTIVE_TRANSFER_ATTRIBUTES_H_
#define HILO_HLO_OPS_COLLECTIVE_TRANSFER_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hilo/shape.h"
#include "hlo/ops/table/attributes.h"

namespace hilo {

struct InfeedAttrs : Attributes<InfeedAttrs> {
  std::string infeed_config;
  static constexpr auto Fields() {
    return std::make_tuple(Field("infeed_config", &InfeedAttrs::infeed_config, Presence::kOptional));
  }
};

using OptionalShape = std::optional<Shape>;
std::string FieldToText(const OptionalShape& value);
absl::Status FieldFromText(absl::string_view text, OptionalShape* value);

struct OutfeedAttrs : Attributes<OutfeedAttrs> {
  OptionalShape outfeed_shape;  // the operand's, with its layout
  std::string outfeed_config;
  static constexpr auto Fields() {
    return std::make_tuple(Field("outfeed_shape", &OutfeedAttrs::outfeed_shape, Presence::kOptional),
                           Field("outfeed_config", &OutfeedAttrs::outfeed_config, Presence::kOptional));
  }
};

// send, send-done, recv and recv-done.
struct TransferAttrs : Attributes<TransferAttrs> {
  std::optional<int64_t> channel_id;
  bool is_host_transfer = false;
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &TransferAttrs::channel_id, Presence::kOptional),
                           Field("is_host_transfer", &TransferAttrs::is_host_transfer, Presence::kOptional));
  }
};

struct CopyStartAttrs : Attributes<CopyStartAttrs> {
  std::optional<int64_t> cross_program_prefetch_index;
  static constexpr auto Fields() {
    return std::make_tuple(
        Field("cross_program_prefetch_index", &CopyStartAttrs::cross_program_prefetch_index, Presence::kOptional));
  }
};

// The attributes of a domain are kept as text.
struct DomainAttrs : Attributes<DomainAttrs> {
  Verbatim domain;
  static constexpr auto Fields() { return std::make_tuple(Field("domain", &DomainAttrs::domain, Presence::kOptional)); }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_COLLECTIVE_TRANSFER_ATTRIBUTES_H_
