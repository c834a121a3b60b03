// Attributes of operations, under the names that XLA's xla_data.proto gives them, with the accessors of its messages
// where those are messages.
#ifndef HILO_XLA_DATA_H_
#define HILO_XLA_DATA_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hilo {

// --- comparisons, padding, products ---
enum class ComparisonDirection { kEq, kNe, kGe, kGt, kLe, kLt };

// kDefault: the order of the element type. kTotalOrder applies to floats: -NaN < -Inf < ... < -0 < +0 < ... < +Inf <
// +NaN.
enum class ComparisonType { kDefault, kFloat, kTotalOrder, kSigned, kUnsigned };

// Elements that `pad` adds before, after and between those of each dimension.
struct PaddingConfig {
  struct Dimension {
    int64_t edge_padding_low = 0, edge_padding_high = 0, interior_padding = 0;
    bool operator==(const Dimension&) const = default;
  };
  std::vector<Dimension> dimensions;
  bool operator==(const PaddingConfig&) const = default;
};

// kValid: none. kSame: as many window positions as the input has elements, divided by the stride and rounded up;
// the missing elements are added half in front, an odd one behind (specification: Conv).
enum class Padding { kSame, kValid };

enum class Precision { kDefault, kHigh, kHighest, kPackedNibble };
// Requested precision of the operands of a product, one for each operand or none. On GPUs factors of f32 may be rounded
// to tf32 unless it is kHighest; the other platforms compute with all bits whatever it is.
struct PrecisionConfig {
  std::vector<Precision> operand_precision;
};

// --- dimension numbers ---
#define HILO_REPEATED_FIELD(name)                                      \
  const std::vector<int64_t>& name() const { return name##_; }         \
  std::vector<int64_t>* mutable_##name() { return &name##_; }          \
  int name##_size() const { return static_cast<int>(name##_.size()); } \
  int64_t name(int i) const { return name##_[i]; }                     \
  void add_##name(int64_t value) { name##_.push_back(value); }         \
  std::vector<int64_t> name##_
#define HILO_SINGLE_FIELD(name)                       \
  int64_t name() const { return name##_; }            \
  void set_##name(int64_t value) { name##_ = value; } \
  int64_t name##_ = 0

// (specification: DotGeneral)
struct DotDimensionNumbers {
  HILO_REPEATED_FIELD(lhs_contracting_dimensions);
  HILO_REPEATED_FIELD(rhs_contracting_dimensions);
  HILO_REPEATED_FIELD(lhs_batch_dimensions);
  HILO_REPEATED_FIELD(rhs_batch_dimensions);
};

// (specification: Gather)
struct GatherDimensionNumbers {
  HILO_REPEATED_FIELD(offset_dims);
  HILO_REPEATED_FIELD(collapsed_slice_dims);
  HILO_REPEATED_FIELD(start_index_map);
  HILO_REPEATED_FIELD(operand_batching_dims);
  HILO_REPEATED_FIELD(start_indices_batching_dims);
  HILO_SINGLE_FIELD(index_vector_dim);
};

// (specification: Scatter)
struct ScatterDimensionNumbers {
  HILO_REPEATED_FIELD(update_window_dims);
  HILO_REPEATED_FIELD(inserted_window_dims);
  HILO_REPEATED_FIELD(scatter_dims_to_operand_dims);
  HILO_REPEATED_FIELD(input_batching_dims);
  HILO_REPEATED_FIELD(scatter_indices_batching_dims);
  HILO_SINGLE_FIELD(index_vector_dim);
};

// (XLA: one ragged dimension; group dimensions only when it is neither a batch nor a contracting dimension)
struct RaggedDotDimensionNumbers {
  const DotDimensionNumbers& dot_dimension_numbers() const { return dot_dimension_numbers_; }
  DotDimensionNumbers* mutable_dot_dimension_numbers() { return &dot_dimension_numbers_; }
  DotDimensionNumbers dot_dimension_numbers_;
  HILO_REPEATED_FIELD(lhs_ragged_dimensions);
  HILO_REPEATED_FIELD(rhs_group_dimensions);
};

// The role of each dimension of the two operands and of the result. Spatial dimension i of the three correspond.
// Text: "bf01_oi01->bf01", a letter or digit per dimension; "?" is a dimension without a role, which inference
// rejects. The default has no spatial dimensions, "bf_oi->bf".
struct ConvolutionDimensionNumbers {
  ConvolutionDimensionNumbers()
      : input_feature_dimension_(1), kernel_input_feature_dimension_(1), output_feature_dimension_(1) {}
  HILO_SINGLE_FIELD(input_batch_dimension);
  HILO_SINGLE_FIELD(input_feature_dimension);
  HILO_REPEATED_FIELD(input_spatial_dimensions);
  HILO_SINGLE_FIELD(kernel_input_feature_dimension);
  HILO_SINGLE_FIELD(kernel_output_feature_dimension);
  HILO_REPEATED_FIELD(kernel_spatial_dimensions);
  HILO_SINGLE_FIELD(output_batch_dimension);
  HILO_SINGLE_FIELD(output_feature_dimension);
  HILO_REPEATED_FIELD(output_spatial_dimensions);
  bool operator==(const ConvolutionDimensionNumbers&) const = default;
};

#undef HILO_REPEATED_FIELD
#undef HILO_SINGLE_FIELD

// --- linear algebra and random numbers ---
enum class FftType { kFft, kIfft, kRfft, kIrfft };
enum class TransposeKind { kInvalid, kNoTranspose, kTranspose, kAdjoint };
enum class RandomAlgorithm { kDefault, kThreeFry, kPhilox };

// --- custom calls ---
// The calling convention of the function of a custom call (hilo/ffi.h).
enum CustomCallApiVersion : int {
  API_VERSION_UNSPECIFIED = 0,  // not used by instructions
  API_VERSION_ORIGINAL = 1,
  API_VERSION_STATUS_RETURNING = 2,
  API_VERSION_STATUS_RETURNING_UNIFIED = 3,
  API_VERSION_TYPED_FFI = 4,
};

// A scheduling hint, kept for dumps.
enum CustomCallSchedule : int { SCHEDULE_NONE = 0, SCHEDULE_LATEST = 1, SCHEDULE_EARLIEST = 2 };

// --- devices ---
// The number of a channel between devices, or a device and the host.
class ChannelHandle {
 public:
  enum ChannelType { CHANNEL_TYPE_INVALID = 0, DEVICE_TO_DEVICE = 1, DEVICE_TO_HOST = 2, HOST_TO_DEVICE = 3 };

  int64_t handle() const { return handle_; }
  void set_handle(int64_t handle) { handle_ = handle; }
  ChannelType type() const { return type_; }
  void set_type(ChannelType type) { type_ = type; }

 private:
  int64_t handle_ = 0;
  ChannelType type_ = CHANNEL_TYPE_INVALID;
};

// The ids of the devices of a group, in order.
class ReplicaGroup {
 public:
  void add_replica_ids(int64_t id) { replica_ids_.push_back(id); }
  const std::vector<int64_t>& replica_ids() const { return replica_ids_; }
  int64_t replica_ids_size() const { return static_cast<int64_t>(replica_ids_.size()); }

 private:
  std::vector<int64_t> replica_ids_;
};

// --- where an instruction comes from ---
// Source of an instruction in the user's program. `other` keeps fields that Hilo does not read, as text.
struct OpMetadata {
  std::string op_type;
  std::string op_name;
  std::string source_file;
  int64_t source_line = 0;
  std::vector<std::pair<std::string, std::string>> other;  // name, value
  bool empty() const {
    return op_type.empty() && op_name.empty() && source_file.empty() && source_line == 0 && other.empty();
  }
  bool operator==(const OpMetadata&) const = default;
};

}  // namespace hilo

#endif  // HILO_XLA_DATA_H_
