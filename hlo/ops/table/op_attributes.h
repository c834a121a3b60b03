// The attribute structs of all ops. Field names are those of HLO text.
#ifndef HILO_HLO_OPS_TABLE_OP_ATTRIBUTES_H_
#define HILO_HLO_OPS_TABLE_OP_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "hilo/literal.h"
#include "hilo/xla_data.h"
#include "hlo/ops/table/attributes.h"

namespace hilo {

struct ParameterAttrs : Attributes<ParameterAttrs> {
  int64_t number = 0;  // written in parentheses, not as an attribute
  std::vector<bool> parameter_replication;
  static constexpr auto Fields() {
    return std::make_tuple(Field("number", &ParameterAttrs::number),
                           Field("parameter_replication", &ParameterAttrs::parameter_replication, Presence::kOptional));
  }
};

// A literal shared by all copies of the instruction; immutable.
struct SharedLiteral {
  std::shared_ptr<const Literal> value;
  bool operator==(const SharedLiteral& other) const {
    return value == other.value || (value != nullptr && other.value != nullptr && *value == *other.value);
  }
};
std::string FieldToText(const SharedLiteral& literal);
absl::Status FieldFromText(absl::string_view text, SharedLiteral* literal);

struct ConstantAttrs : Attributes<ConstantAttrs> {
  SharedLiteral literal;  // written in parentheses, not as an attribute
  static constexpr auto Fields() { return std::make_tuple(Field("literal", &ConstantAttrs::literal)); }
  size_t Hash() const override { return literal.value == nullptr ? 0 : literal.value->Hash(); }
};

struct BroadcastAttrs : Attributes<BroadcastAttrs> {
  std::vector<int64_t> dimensions;  // result dimension of each operand dimension; none for a scalar
  static constexpr auto Fields() {
    return std::make_tuple(Field("dimensions", &BroadcastAttrs::dimensions, Presence::kPrinted));
  }
};

struct CallAttrs : Attributes<CallAttrs> {
  bool is_composite = false;
  static constexpr auto Fields() {
    return std::make_tuple(Field("is_composite", &CallAttrs::is_composite, Presence::kOptional));
  }
};

template <>
struct EnumNames<ComparisonDirection> {
  static constexpr absl::string_view names[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
};
template <>
struct EnumNames<ComparisonType> {
  static constexpr absl::string_view names[] = {"DEFAULT", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
};
struct CompareAttrs : Attributes<CompareAttrs> {
  ComparisonDirection direction = ComparisonDirection::kEq;
  ComparisonType type = ComparisonType::kDefault;
  static constexpr auto Fields() {
    return std::make_tuple(Field("direction", &CompareAttrs::direction),
                           Field("type", &CompareAttrs::type, Presence::kOptional));
  }
  // Also takes what newer releases of XLA write instead of the type: order=TOTAL or PARTIAL.
  absl::StatusOr<bool> ParseField(absl::string_view name, absl::string_view text) override;
};

struct ConcatenateAttrs : Attributes<ConcatenateAttrs> {
  std::vector<int64_t> dimensions;  // exactly one
  static constexpr auto Fields() { return std::make_tuple(Field("dimensions", &ConcatenateAttrs::dimensions)); }
};

template <>
struct EnumNames<Precision> {
  static constexpr absl::string_view names[] = {"default", "high", "highest", "packed_nibble"};
};
std::string FieldToText(const std::vector<Precision>& value);
absl::Status FieldFromText(absl::string_view text, std::vector<Precision>* value);

struct DotAttrs : Attributes<DotAttrs> {
  std::vector<int64_t> lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims;
  std::vector<Precision> operand_precision;
  Word algorithm;  // "dot_tf32_tf32_f32" ..., unquoted in text; empty: unset
  static constexpr auto Fields() {
    return std::make_tuple(Field("lhs_batch_dims", &DotAttrs::lhs_batch_dims, Presence::kOptional),
                           Field("lhs_contracting_dims", &DotAttrs::lhs_contracting_dims, Presence::kOptional),
                           Field("rhs_batch_dims", &DotAttrs::rhs_batch_dims, Presence::kOptional),
                           Field("rhs_contracting_dims", &DotAttrs::rhs_contracting_dims, Presence::kOptional),
                           Field("operand_precision", &DotAttrs::operand_precision, Presence::kOptional),
                           Field("algorithm", &DotAttrs::algorithm, Presence::kOptional));
  }
};

struct DynamicSliceAttrs : Attributes<DynamicSliceAttrs> {
  std::vector<int64_t> dynamic_slice_sizes;
  static constexpr auto Fields() {
    return std::make_tuple(Field("dynamic_slice_sizes", &DynamicSliceAttrs::dynamic_slice_sizes));
  }
};

// kLoop and kInput (reductions) are made by the middle end; the others are read from dumps.
enum class FusionKind { kLoop, kInput, kOutput, kCustom };
template <>
struct EnumNames<FusionKind> {
  static constexpr absl::string_view names[] = {"kLoop", "kInput", "kOutput", "kCustom"};
};
struct FusionAttrs : Attributes<FusionAttrs> {
  FusionKind kind = FusionKind::kLoop;
  static constexpr auto Fields() { return std::make_tuple(Field("kind", &FusionAttrs::kind)); }
};

struct GatherAttrs : Attributes<GatherAttrs> {
  std::vector<int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<int64_t> operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  std::vector<int64_t> slice_sizes;
  bool indices_are_sorted = false;
  static constexpr auto Fields() {
    return std::make_tuple(
        Field("offset_dims", &GatherAttrs::offset_dims, Presence::kOptional),
        Field("collapsed_slice_dims", &GatherAttrs::collapsed_slice_dims, Presence::kOptional),
        Field("start_index_map", &GatherAttrs::start_index_map, Presence::kOptional),
        Field("operand_batching_dims", &GatherAttrs::operand_batching_dims, Presence::kOptional),
        Field("start_indices_batching_dims", &GatherAttrs::start_indices_batching_dims, Presence::kOptional),
        Field("index_vector_dim", &GatherAttrs::index_vector_dim), Field("slice_sizes", &GatherAttrs::slice_sizes),
        Field("indices_are_sorted", &GatherAttrs::indices_are_sorted, Presence::kOptional));
  }
};

struct GetTupleElementAttrs : Attributes<GetTupleElementAttrs> {
  int64_t index = 0;
  static constexpr auto Fields() { return std::make_tuple(Field("index", &GetTupleElementAttrs::index)); }
};

struct IotaAttrs : Attributes<IotaAttrs> {
  int64_t iota_dimension = 0;
  static constexpr auto Fields() { return std::make_tuple(Field("iota_dimension", &IotaAttrs::iota_dimension)); }
};

struct MapAttrs : Attributes<MapAttrs> {
  std::vector<int64_t> dimensions;
  static constexpr auto Fields() {
    return std::make_tuple(Field("dimensions", &MapAttrs::dimensions, Presence::kOptional));
  }
};

// Text: "low_high[_interior]" per dimension joined by "x"; "" for rank 0.
std::string FieldToText(const PaddingConfig& value);
absl::Status FieldFromText(absl::string_view text, PaddingConfig* value);
struct PadAttrs : Attributes<PadAttrs> {
  PaddingConfig padding;
  static constexpr auto Fields() { return std::make_tuple(Field("padding", &PadAttrs::padding, Presence::kOptional)); }
};

struct ReduceAttrs : Attributes<ReduceAttrs> {
  std::vector<int64_t> dimensions;
  static constexpr auto Fields() { return std::make_tuple(Field("dimensions", &ReduceAttrs::dimensions)); }
};

struct ReducePrecisionAttrs : Attributes<ReducePrecisionAttrs> {
  int64_t exponent_bits = 0, mantissa_bits = 0;
  static constexpr auto Fields() {
    return std::make_tuple(Field("exponent_bits", &ReducePrecisionAttrs::exponent_bits),
                           Field("mantissa_bits", &ReducePrecisionAttrs::mantissa_bits));
  }
};

// Text: "{size=3x3 stride=2x1 pad=1_1x2_0 lhs_dilate=2x2 rhs_dilate=1x2 rhs_reversal=0x1}"; parts at their default are
// left out.
struct Window {
  struct Dimension {
    int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
    int64_t base_dilation = 1, window_dilation = 1;
    bool window_reversal = false;
    bool operator==(const Dimension&) const = default;
  };
  std::vector<Dimension> dimensions;
  bool operator==(const Window&) const = default;
};
std::string FieldToText(const Window& value);
absl::Status FieldFromText(absl::string_view text, Window* value);
// Size of one dimension after `window` slides over `size` elements; nullopt on overflow. (specification: ReduceWindow,
// Conv)
std::optional<int64_t> WindowedOutputSize(int64_t size, const Window::Dimension& window);
struct ReduceWindowAttrs : Attributes<ReduceWindowAttrs> {
  Window window;
  static constexpr auto Fields() {
    return std::make_tuple(Field("window", &ReduceWindowAttrs::window, Presence::kOptional));
  }
};

struct ReverseAttrs : Attributes<ReverseAttrs> {
  std::vector<int64_t> dimensions;
  static constexpr auto Fields() { return std::make_tuple(Field("dimensions", &ReverseAttrs::dimensions)); }
};

struct ScatterAttrs : Attributes<ScatterAttrs> {
  std::vector<int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<int64_t> input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false, unique_indices = false;
  static constexpr auto Fields() {
    return std::make_tuple(
        Field("update_window_dims", &ScatterAttrs::update_window_dims, Presence::kOptional),
        Field("inserted_window_dims", &ScatterAttrs::inserted_window_dims, Presence::kOptional),
        Field("scatter_dims_to_operand_dims", &ScatterAttrs::scatter_dims_to_operand_dims, Presence::kOptional),
        Field("input_batching_dims", &ScatterAttrs::input_batching_dims, Presence::kOptional),
        Field("scatter_indices_batching_dims", &ScatterAttrs::scatter_indices_batching_dims, Presence::kOptional),
        Field("index_vector_dim", &ScatterAttrs::index_vector_dim),
        Field("indices_are_sorted", &ScatterAttrs::indices_are_sorted, Presence::kOptional),
        Field("unique_indices", &ScatterAttrs::unique_indices, Presence::kOptional));
  }
};

// Text: "{[0:3:2], [2:6]}": start, limit, stride (1 when left out).
struct SliceRange {
  int64_t start = 0, limit = 0, stride = 1;
  bool operator==(const SliceRange&) const = default;
};
std::string FieldToText(const std::vector<SliceRange>& value);
absl::Status FieldFromText(absl::string_view text, std::vector<SliceRange>* value);
struct SliceAttrs : Attributes<SliceAttrs> {
  std::vector<SliceRange> slice;
  static constexpr auto Fields() { return std::make_tuple(Field("slice", &SliceAttrs::slice)); }
};

struct SortAttrs : Attributes<SortAttrs> {
  std::vector<int64_t> dimensions;  // exactly one
  bool is_stable = false;
  static constexpr auto Fields() {
    return std::make_tuple(Field("dimensions", &SortAttrs::dimensions),
                           Field("is_stable", &SortAttrs::is_stable, Presence::kOptional));
  }
};

struct TransposeAttrs : Attributes<TransposeAttrs> {
  std::vector<int64_t> dimensions;  // result dimension i is operand dimension dimensions[i]
  static constexpr auto Fields() { return std::make_tuple(Field("dimensions", &TransposeAttrs::dimensions)); }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_OP_ATTRIBUTES_H_
