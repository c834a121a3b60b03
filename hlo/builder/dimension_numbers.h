// Dimension numbers of dots, gather and scatter, with the accessors that XLA's protos have.
#ifndef HILO_HLO_BUILDER_DIMENSION_NUMBERS_H_
#define HILO_HLO_BUILDER_DIMENSION_NUMBERS_H_

#include "hlo/ops/linalg/dimension_number_fields.h"

namespace hilo {

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

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_DIMENSION_NUMBERS_H_
