// Attributes of custom-call.
#ifndef HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_ATTRIBUTES_H_
#define HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hilo/shape.h"
#include "hilo/xla_data.h"
#include "hlo/ops/table/attributes.h"

namespace hilo {

template <>
struct EnumNames<CustomCallApiVersion> {
  static constexpr absl::string_view names[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                                "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                                "API_VERSION_TYPED_FFI"};
};

template <>
struct EnumNames<CustomCallSchedule> {
  static constexpr absl::string_view names[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
};

// Of calls that represent convolutions; kept for dumps.
enum PaddingType : int { PADDING_INVALID = 0, PADDING_VALID = 1, PADDING_SAME = 2 };
template <>
struct EnumNames<PaddingType> {
  static constexpr absl::string_view names[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
};

// The operand layouts that the function requires, one shape per operand: "{f32[4,4]{0,1}, s32[]}". Without them
// operands and result are row-major, whatever layouts their shapes show; with them the result has the layout of its
// shape.
struct OperandLayouts {
  std::optional<std::vector<Shape>> shapes;
  bool operator==(const OperandLayouts&) const = default;
};
std::string FieldToText(const OperandLayouts& value);
absl::Status FieldFromText(absl::string_view text, OperandLayouts* value);

// The result at `output_index` shares the memory of the operand's value at `operand_index`: it starts with its content.
struct OutputOperandAlias {
  ShapeIndex output_index;
  int64_t operand = 0;
  ShapeIndex operand_index;
  bool operator==(const OutputOperandAlias&) const = default;
};
// "{{0}: (1, {}), {1}: (0, {2})}".
std::string FieldToText(const std::vector<OutputOperandAlias>& value);
absl::Status FieldFromText(absl::string_view text, std::vector<OutputOperandAlias>* value);

// Data passed to the function besides its operands: any string, JSON, or for typed FFI a dictionary of attributes
// (runtime/ffi/attribute_dictionary.h). Text that starts with a brace and has balanced brackets is written
// without quotes.
struct BackendConfig {
  std::string text;
  bool operator==(const BackendConfig&) const = default;
};
std::string FieldToText(const BackendConfig& value);
absl::Status FieldFromText(absl::string_view text, BackendConfig* value);

// The shapes and layouts that the function sees, of a call whose operands and result have been changed to the physical
// dimensions (PhysicalShape):
// "{(f32[4,3]{0,1})->f32[3]{0}}". Set by layout normalization only.
struct CallSignature {
  bool present = false;
  std::vector<Shape> operands;
  Shape result;
  bool operator==(const CallSignature&) const = default;
};
std::string FieldToText(const CallSignature& value);
absl::Status FieldFromText(absl::string_view text, CallSignature* value);

struct CustomCallAttrs : Attributes<CustomCallAttrs> {
  Verbatim window, dim_labels;  // of calls that represent convolutions; kept for dumps
  int64_t feature_group_count = 1, batch_group_count = 1;
  PaddingType padding_type = PADDING_INVALID;
  std::string custom_call_target;
  OperandLayouts operand_layout_constraints;
  bool custom_call_has_side_effect = false;
  Verbatim literal;  // kept for dumps
  std::vector<OutputOperandAlias> output_to_operand_aliasing;
  CustomCallSchedule schedule = SCHEDULE_NONE;
  CustomCallApiVersion api_version = API_VERSION_ORIGINAL;
  CallSignature signature;
  BackendConfig backend_config;
  bool HasSideEffect() const override { return custom_call_has_side_effect; }
  static constexpr auto Fields() {
    using A = CustomCallAttrs;
    return std::make_tuple(Field("window", &A::window, Presence::kOptional),
                           Field("dim_labels", &A::dim_labels, Presence::kOptional),
                           Field("feature_group_count", &A::feature_group_count, Presence::kOptional),
                           Field("batch_group_count", &A::batch_group_count, Presence::kOptional),
                           Field("padding_type", &A::padding_type, Presence::kOptional),
                           Field("custom_call_target", &A::custom_call_target),
                           Field("operand_layout_constraints", &A::operand_layout_constraints, Presence::kOptional),
                           Field("custom_call_has_side_effect", &A::custom_call_has_side_effect, Presence::kOptional),
                           Field("literal", &A::literal, Presence::kOptional),
                           Field("output_to_operand_aliasing", &A::output_to_operand_aliasing, Presence::kOptional),
                           Field("schedule", &A::schedule, Presence::kOptional),
                           Field("api_version", &A::api_version, Presence::kOptional),
                           Field("signature", &A::signature, Presence::kOptional),
                           Field("backend_config", &A::backend_config, Presence::kOptional));
  }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_ATTRIBUTES_H_
