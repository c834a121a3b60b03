#include "hlo/ops/movement/index_vectors.h"

#include <algorithm>

#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

std::vector<int64_t> Joined(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  std::vector<int64_t> joined(a.begin(), a.end());
  joined.insert(joined.end(), b.begin(), b.end());
  return joined;
}

}  // namespace

std::vector<int64_t> BatchSizes(const Shape& indices, int64_t index_vector_dim) {
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != index_vector_dim) sizes.push_back(indices.dimensions(d));
  }
  return sizes;
}

std::vector<int64_t> SliceDimensions(int64_t rank, absl::Span<const int64_t> collapsed,
                                     absl::Span<const int64_t> batching) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(collapsed, d) && !Contains(batching, d)) dimensions.push_back(d);
  }
  return dimensions;
}

absl::Status CheckIndexVectors(const OpView& op, const IndexVectors& v, const Shape& operand, const Shape& indices) {
  if (!InTypeClass(indices.element_type(), kInt)) {  // gather_i2, scatter_i2
    return InvalidOp(op, v.indices_name, " must be integers, but are ", indices.ToString());
  }
  if (v.index_vector_dim < 0 || v.index_vector_dim > indices.rank()) {  // gather_c2, scatter_c22
    return InvalidOp(op, "index_vector_dim = ", v.index_vector_dim, " is not in [0, ", indices.rank(),
                     "], the rank of ", v.indices_name);
  }
  const int64_t length = v.index_vector_dim < indices.rank() ? indices.dimensions(v.index_vector_dim) : 1;
  if (static_cast<int64_t>(v.map.size()) != length) {  // gather_c3, scatter_c19
    return InvalidOp(op, v.map_name, " = ", ListText(v.map), " has ", v.map.size(), " entries, but index vectors have ",
                     length);
  }
  // gather_c19, scatter_c21
  HILO_RETURN_IF_ERROR(CheckDimensions(op, v.map_name, v.map, operand.rank(), "operand"));
  HILO_RETURN_IF_ERROR(CheckUnique(op, v.map_name, v.map));
  // gather_c18, scatter_c20
  HILO_RETURN_IF_ERROR(CheckUnique(op, absl::StrCat(v.map_name, " and ", v.operand_batching_name),
                                   Joined(v.map, v.operand_batching_dims)));
  // gather_c14, scatter_c15
  HILO_RETURN_IF_ERROR(
      CheckDimensions(op, v.indices_batching_name, v.indices_batching_dims, indices.rank(), v.indices_name));
  HILO_RETURN_IF_ERROR(CheckUnique(op, v.indices_batching_name,
                                   v.indices_batching_dims));   // gather_c13, scatter_c14
  if (Contains(v.indices_batching_dims, v.index_vector_dim)) {  // gather_c15, scatter_c16
    return InvalidOp(op, v.indices_batching_name, " = ", ListText(v.indices_batching_dims),
                     " contains index_vector_dim = ", v.index_vector_dim);
  }
  if (v.operand_batching_dims.size() != v.indices_batching_dims.size()) {  // gather_c16, scatter_c17
    return InvalidOp(op, v.operand_batching_name, " = ", ListText(v.operand_batching_dims), " and ",
                     v.indices_batching_name, " = ", ListText(v.indices_batching_dims), " must have one length");
  }
  for (size_t k = 0; k < v.operand_batching_dims.size(); ++k) {  // gather_c17, scatter_c18
    const int64_t a = operand.dimensions(v.operand_batching_dims[k]);
    const int64_t b = indices.dimensions(v.indices_batching_dims[k]);
    if (a != b) {
      return InvalidOp(op, "batching dimension ", k, " has size ", a, " in the operand and ", b, " in ",
                       v.indices_name);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCollapsed(const OpView& op, const IndexVectors& v, absl::string_view name,
                            absl::Span<const int64_t> list, int64_t operand_rank) {
  HILO_RETURN_IF_ERROR(CheckDimensions(op, name, list, operand_rank, "operand"));  // gather_c8, scatter_c11
  HILO_RETURN_IF_ERROR(CheckUnique(op, name, list));
  HILO_RETURN_IF_ERROR(CheckSorted(op, name, list));  // gather_c7, scatter_c10
  // gather_c11, scatter_c13
  HILO_RETURN_IF_ERROR(CheckDimensions(op, v.operand_batching_name, v.operand_batching_dims, operand_rank, "operand"));
  // gather_c10, scatter_c12
  HILO_RETURN_IF_ERROR(CheckSorted(op, v.operand_batching_name, v.operand_batching_dims));
  // gather_c6, scatter_c9
  return CheckUnique(op, absl::StrCat(name, " and ", v.operand_batching_name), Joined(list, v.operand_batching_dims));
}

void SliceStart(const IndexVectors& v, const Literal& indices, absl::Span<const int64_t> batch,
                absl::Span<int64_t> start) {
  const int64_t rank = indices.shape().rank();
  std::fill(start.begin(), start.end(), 0);
  std::vector<int64_t> index(rank, 0);
  for (int64_t d = 0, b = 0; d < rank; ++d) {
    if (d != v.index_vector_dim) index[d] = batch[b++];
  }
  for (size_t k = 0; k < v.map.size(); ++k) {
    if (v.index_vector_dim < rank) index[v.index_vector_dim] = k;
    start[v.map[k]] = indices.GetAsInt64(indices.LinearIndex(index));
  }
  for (size_t k = 0; k < v.operand_batching_dims.size(); ++k) {
    start[v.operand_batching_dims[k]] = index[v.indices_batching_dims[k]];
  }
}

}  // namespace hilo
