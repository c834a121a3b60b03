// Computes where in the operand a slice of gather or scatter starts, from an array of indices.
//
// One dimension of the array of indices (index_vector_dim; if that is the rank, an implied last one
// of size 1) holds index vectors. Entry k of a vector is the start in operand dimension map[k].
// Batching dimensions pair a dimension of the operand with one of the indices: there the start is
// the index of the vector itself. All other starts are 0.
#ifndef HILO_HLO_OPS_MOVEMENT_INDEX_VECTORS_H_
#define HILO_HLO_OPS_MOVEMENT_INDEX_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ops/table/op.h"

namespace hilo {

struct IndexVectors {
  absl::Span<const int64_t> map, operand_batching_dims, indices_batching_dims;
  int64_t index_vector_dim;
  // The attributes' names, for messages.
  absl::string_view map_name, operand_batching_name, indices_batching_name, indices_name;
};

// Sizes of `indices` without index_vector_dim: one index vector for each index below them.
std::vector<int64_t> BatchSizes(const Shape& indices, int64_t index_vector_dim);

// Dimensions of a rank-`rank` operand that slices span: those in neither list.
std::vector<int64_t> SliceDimensions(int64_t rank, absl::Span<const int64_t> collapsed,
                                     absl::Span<const int64_t> batching);

// All constraints on `vectors` against the shapes of operand and indices, which are arrays.
absl::Status CheckIndexVectors(const OpView& op, const IndexVectors& vectors, const Shape& operand,
                               const Shape& indices);
// `list` (the collapsed or inserted dimensions) and the batching dimensions are sorted, disjoint
// dimensions of the operand.
absl::Status CheckCollapsed(const OpView& op, const IndexVectors& vectors, absl::string_view name,
                            absl::Span<const int64_t> list, int64_t operand_rank);

// Writes the start of the slice that belongs to the vector at `batch`, unclamped, into `start` (one
// entry per operand dimension).
void SliceStart(const IndexVectors& vectors, const Literal& indices, absl::Span<const int64_t> batch,
                absl::Span<int64_t> start);

}  // namespace hilo

#endif  // HILO_HLO_OPS_MOVEMENT_INDEX_VECTORS_H_
