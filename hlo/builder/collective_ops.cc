#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/semantics.h"

namespace hilo {
namespace {

using Groups = absl::Span<const ReplicaGroup>;
using Channel = std::optional<ChannelHandle>;

ReplicaGroups ToReplicaGroups(Groups groups) {
  ReplicaGroups result;
  for (const ReplicaGroup& group : groups) result.groups.push_back(group.replica_ids());
  return result;
}

// Attributes with what almost all collectives have.
template <typename AttributesStruct>
std::unique_ptr<AttributesStruct> MakeAttributes(Groups groups, const Channel& channel) {
  auto attributes = std::make_unique<AttributesStruct>();
  attributes->replica_groups = ToReplicaGroups(groups);
  if (channel.has_value()) attributes->channel_id = channel->handle();
  return attributes;
}

XlaOp AddCollective(HloOpcode opcode, absl::Span<const XlaOp> operands, std::unique_ptr<OpAttributes> attributes,
                    const XlaComputation* called = nullptr, const Shape* stated = nullptr) {
  XlaBuilder* builder = BuilderOf(operands);
  if (builder == nullptr) return XlaOp();
  std::vector<const XlaComputation*> computations;
  if (called != nullptr) computations.push_back(called);
  return AddOp(builder, opcode, operands, std::move(attributes), computations, stated);
}

// f() -> StatusOr<XlaOp>, with errors reported to the builder of `operands`.
template <typename F>
XlaOp Reported(absl::Span<const XlaOp> operands, F f) {
  XlaBuilder* builder = BuilderOf(operands);
  return builder == nullptr ? XlaOp() : builder->ReportErrorOrReturn(f(builder));
}

// The elements of a tuple; of an array itself.
absl::StatusOr<std::vector<XlaOp>> Elements(XlaOp operand, absl::string_view op, bool* is_tuple) {
  HILO_ASSIGN_OR_RETURN(const Shape shape, operand.builder()->GetShape(operand));
  *is_tuple = shape.IsTuple();
  std::vector<XlaOp> elements;
  if (!*is_tuple) elements.push_back(operand);
  for (int64_t i = 0; *is_tuple && i < shape.tuple_shapes_size(); ++i) elements.push_back(GetTupleElement(operand, i));
  if (elements.empty()) return InvalidArgument(op, ": expected an array or a tuple of some; got ()");
  return elements;
}

// The op of several operands returns a tuple, that of one does not.
XlaOp AsTuple(absl::Span<const XlaOp> operands, XlaOp result) {
  return operands.size() == 1 && result.valid() ? Tuple(result.builder(), {result}) : result;
}

// A group of replicas (a channel, and no global ids) represents all of their partitions, of which
// there may be any number.
absl::Status CheckShardCount(absl::string_view op, Groups groups, int64_t shard_count, bool of_replicas = false) {
  if (groups.empty()) return absl::OkStatus();
  const int64_t size = groups[0].replica_ids_size();
  if (shard_count == size || (of_replicas && size > 0 && shard_count % size == 0)) return absl::OkStatus();
  return InvalidArgument(op, ": expected as many shards as a group has devices, ", size, "; got ", shard_count);
}

// Shapes of the operands with `dimension` multiplied or divided by `shard_count`, collated.
absl::StatusOr<Shape> ShardedShape(absl::string_view op, absl::Span<const XlaOp> operands, int64_t dimension,
                                   int64_t shard_count, bool divide) {
  if (shard_count < 1) return InvalidArgument(op, ": expected a shard_count of at least 1; got ", shard_count);
  std::vector<Shape> shapes;
  for (XlaOp operand : operands) {
    if (operand.builder() == nullptr) return InvalidArgument(op, ": an operand is an empty XlaOp");
    HILO_ASSIGN_OR_RETURN(Shape shape, operand.builder()->GetShape(operand));
    if (!shape.IsArray() || dimension < 0 || dimension >= shape.rank()) {
      return InvalidArgument(op, ": expected arrays with a dimension ", dimension, "; got ", shape.ToString());
    }
    int64_t size = shape.dimensions(dimension);
    if (divide ? size % shard_count != 0 : __builtin_mul_overflow(size, shard_count, &size)) {
      return InvalidArgument(op, ": dimension ", dimension, " of ", shape.ToString(), " does not go with ", shard_count,
                             " shards");
    }
    shape.set_dimensions(dimension, divide ? size / shard_count : size);
    shapes.push_back(std::move(shape));
  }
  return shapes.size() == 1 ? shapes[0] : Shape(std::move(shapes));
}

}  // namespace

XlaOp AllReduce(XlaOp operand, const XlaComputation& computation, Groups replica_groups, const Channel& channel_id,
                const std::optional<Shape>& shape_with_layout, std::optional<bool> use_global_device_ids) {
  return Reported({operand}, [&](XlaBuilder*) -> absl::StatusOr<XlaOp> {
    bool is_tuple;
    HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> operands, Elements(operand, "all-reduce", &is_tuple));
    auto attributes = MakeAttributes<AllReduceAttrs>(replica_groups, channel_id);
    attributes->constrain_layout = shape_with_layout.has_value();
    attributes->use_global_device_ids = use_global_device_ids.value_or(false);
    const XlaOp result = AddCollective(HloOpcode::kAllReduce, operands, std::move(attributes), &computation);
    return is_tuple ? AsTuple(operands, result) : result;
  });
}

XlaOp AllReduceTuple(absl::Span<const XlaOp> operands, const XlaComputation& computation, Groups replica_groups,
                     const Channel& channel_id, const std::optional<Shape>& shape_with_layout,
                     std::optional<bool> use_global_device_ids) {
  auto attributes = MakeAttributes<AllReduceAttrs>(replica_groups, channel_id);
  attributes->constrain_layout = shape_with_layout.has_value();
  attributes->use_global_device_ids = use_global_device_ids.value_or(false);
  return AsTuple(operands, AddCollective(HloOpcode::kAllReduce, operands, std::move(attributes), &computation));
}

XlaOp CrossReplicaSum(XlaOp operand, Groups replica_groups) {
  return Reported({operand}, [&](XlaBuilder* builder) -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    const bool of_array =
        shape.IsArray() || (shape.IsTuple() && shape.tuple_shapes_size() > 0 && shape.tuple_shapes(0).IsArray());
    if (!of_array)
      return InvalidArgument("cross-replica sum: expected an array or a tuple of some; got ", shape.ToString());
    const PrimitiveType type = shape.IsArray() ? shape.element_type() : shape.tuple_shapes(0).element_type();
    XlaBuilder b("sum");
    const XlaOp x = Parameter(&b, 0, ShapeUtil::MakeScalarShape(type), "x"),
                y = Parameter(&b, 1, ShapeUtil::MakeScalarShape(type), "y");
    HILO_ASSIGN_OR_RETURN(const XlaComputation sum, b.Build(type == PRED ? Or(x, y) : Add(x, y)));
    return AllReduce(operand, sum, replica_groups);
  });
}

XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count, Groups replica_groups,
                const Channel& channel_id, const std::optional<Layout>& layout,
                std::optional<bool> use_global_device_ids) {
  return Reported({operand}, [&](XlaBuilder*) -> absl::StatusOr<XlaOp> {
    bool is_tuple;
    HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> operands, Elements(operand, "all-gather", &is_tuple));
    HILO_RETURN_IF_ERROR(CheckShardCount("all-gather", replica_groups, shard_count,
                                         channel_id.has_value() && !use_global_device_ids.value_or(false)));
    HILO_ASSIGN_OR_RETURN(const Shape shape,
                          ShardedShape("all-gather", operands, all_gather_dimension, shard_count, /*divide=*/false));
    auto attributes = MakeAttributes<AllGatherAttrs>(replica_groups, channel_id);
    attributes->dimensions = {all_gather_dimension};
    attributes->constrain_layout = layout.has_value();
    attributes->use_global_device_ids = use_global_device_ids.value_or(false);
    const XlaOp result = AddCollective(HloOpcode::kAllGather, operands, std::move(attributes), nullptr, &shape);
    return is_tuple ? AsTuple(operands, result) : result;
  });
}

XlaOp AllGatherTuple(absl::Span<const XlaOp> operands, int64_t all_gather_dimension, int64_t shard_count,
                     Groups replica_groups, const Channel& channel_id, const std::optional<Layout>& layout,
                     std::optional<bool> use_global_device_ids) {
  return Reported(operands, [&](XlaBuilder* builder) {
    return AllGather(Tuple(builder, operands), all_gather_dimension, shard_count, replica_groups, channel_id, layout,
                     use_global_device_ids);
  });
}

XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t scatter_dimension, int64_t shard_count,
                    Groups replica_groups, const Channel& channel_id, const std::optional<Layout>& layout,
                    std::optional<bool> use_global_device_ids) {
  return Reported({operand}, [&](XlaBuilder*) -> absl::StatusOr<XlaOp> {
    bool is_tuple;
    HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> operands, Elements(operand, "reduce-scatter", &is_tuple));
    HILO_RETURN_IF_ERROR(CheckShardCount("reduce-scatter", replica_groups, shard_count,
                                         channel_id.has_value() && !use_global_device_ids.value_or(false)));
    HILO_ASSIGN_OR_RETURN(const Shape shape,
                          ShardedShape("reduce-scatter", operands, scatter_dimension, shard_count, /*divide=*/true));
    auto attributes = MakeAttributes<ReduceScatterAttrs>(replica_groups, channel_id);
    attributes->dimensions = {scatter_dimension};
    attributes->constrain_layout = layout.has_value();
    attributes->use_global_device_ids = use_global_device_ids.value_or(false);
    const XlaOp result =
        AddCollective(HloOpcode::kReduceScatter, operands, std::move(attributes), &computation, &shape);
    return is_tuple ? AsTuple(operands, result) : result;
  });
}

// The op splits and joins along one dimension. To join along another, the pieces become a separate
// dimension, which is moved there.
XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
               Groups replica_groups, const std::optional<Layout>& layout, const Channel& channel_id) {
  return Reported({operand}, [&](XlaBuilder*) -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const Shape piece,
                          ShardedShape("all-to-all", {operand}, split_dimension, split_count, /*divide=*/true));
    if (concat_dimension < 0 || concat_dimension >= piece.rank()) {
      return InvalidArgument("all-to-all: concat_dimension = ", concat_dimension, " is no dimension of ",
                             piece.ToString());
    }
    HILO_RETURN_IF_ERROR(CheckShardCount("all-to-all", replica_groups, split_count));
    auto attributes = MakeAttributes<AllToAllAttrs>(replica_groups, channel_id);
    attributes->dimensions = {split_dimension};
    attributes->constrain_layout = layout.has_value();
    const XlaOp exchanged = AddCollective(HloOpcode::kAllToAll, {operand}, std::move(attributes));
    if (split_dimension == concat_dimension) return exchanged;
    std::vector<int64_t> cut, order, joined(piece.dimensions().begin(), piece.dimensions().end());
    for (int64_t d = 0; d < piece.rank(); ++d) {
      if (d == split_dimension) cut.push_back(split_count);
      cut.push_back(piece.dimensions(d));
      if (d == concat_dimension) order.push_back(split_dimension);
      order.push_back(d < split_dimension ? d : d + 1);
    }
    if (__builtin_mul_overflow(joined[concat_dimension], split_count, &joined[concat_dimension])) {
      return InvalidArgument("all-to-all: ", split_count, " pieces of ", piece.ToString(), " are too large");
    }
    return Reshape(Transpose(Reshape(exchanged, cut), order), joined);
  });
}

XlaOp AllToAllTuple(absl::Span<const XlaOp> operands, Groups replica_groups, const std::optional<Layout>& layout,
                    const Channel& channel_id) {
  auto attributes = MakeAttributes<AllToAllAttrs>(replica_groups, channel_id);
  attributes->constrain_layout = layout.has_value();
  return AddCollective(HloOpcode::kAllToAll, operands, std::move(attributes));
}

XlaOp AllToAllTuple(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
                    Groups replica_groups, const std::optional<Layout>& layout, const Channel& channel_id) {
  return Reported({operand}, [&](XlaBuilder* builder) -> absl::StatusOr<XlaOp> {
    HILO_ASSIGN_OR_RETURN(const Shape piece,
                          ShardedShape("all-to-all", {operand}, split_dimension, split_count, /*divide=*/true));
    const int64_t size = piece.dimensions(split_dimension);
    std::vector<XlaOp> slices, received;
    for (int64_t i = 0; i < split_count; ++i) {
      slices.push_back(SliceInDim(operand, i * size, (i + 1) * size, 1, split_dimension));
      if (!slices.back().valid()) return slices.back();
    }
    const XlaOp exchanged = AllToAllTuple(slices, replica_groups, layout, channel_id);
    for (int64_t i = 0; i < split_count; ++i) received.push_back(GetTupleElement(exchanged, i));
    return ConcatInDim(builder, received, concat_dimension);
  });
}

XlaOp CollectivePermute(XlaOp operand, const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                        const Channel& channel_id) {
  auto attributes = std::make_unique<CollectivePermuteAttrs>();
  attributes->source_target_pairs.pairs = source_target_pairs;
  if (channel_id.has_value()) attributes->channel_id = channel_id->handle();
  return AddCollective(HloOpcode::kCollectivePermute, {operand}, std::move(attributes));
}

XlaOp MultiCollectivePermute(absl::Span<const XlaOp> operands,
                             const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                             const Channel& channel_id) {
  auto attributes = std::make_unique<CollectivePermuteAttrs>();
  attributes->source_target_pairs.pairs = source_target_pairs;
  if (channel_id.has_value()) attributes->channel_id = channel_id->handle();
  return AsTuple(operands, AddCollective(HloOpcode::kCollectivePermute, operands, std::move(attributes)));
}

XlaOp CollectiveBroadcast(XlaOp operand, Groups replica_groups, const Channel& channel_id) {
  return AddCollective(HloOpcode::kCollectiveBroadcast, {operand},
                       MakeAttributes<CollectiveBroadcastAttrs>(replica_groups, channel_id));
}

XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output, XlaOp output_offsets,
                     XlaOp recv_sizes, Groups replica_groups, const Channel& channel_id) {
  return AddCollective(HloOpcode::kRaggedAllToAll,
                       {input, output, input_offsets, send_sizes, output_offsets, recv_sizes},
                       MakeAttributes<RaggedAllToAllAttrs>(replica_groups, channel_id));
}

XlaOp ReplicaId(XlaBuilder* builder) { return AddOp(builder, HloOpcode::kReplicaId, {}); }

}  // namespace hilo
