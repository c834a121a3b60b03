// Dimension numbers of dot, gather and scatter, with the accessors that XLA's protos have.
#ifndef HILO_HLO_BUILDER_DIMENSION_NUMBERS_H_
#define HILO_HLO_BUILDER_DIMENSION_NUMBERS_H_

#include <cstdint>
#include <vector>

namespace hilo {

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

#undef HILO_REPEATED_FIELD
#undef HILO_SINGLE_FIELD

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_DIMENSION_NUMBERS_H_
