// Collectives: what several devices do together.
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/shardings.h"
#include "hlo/ops/collective_attributes.h"

namespace hilo::stablehlo {
namespace {

// Rows of a matrix, which -1 fills up, or axes of a mesh.
absl::StatusOr<ReplicaGroups> GroupsOf(const OpConversion& c, const Attribute* attribute) {
  ReplicaGroups groups;
  if (attribute == nullptr) return groups;
  if (attribute->kind == Attribute::Kind::kMeshGroups) return c.state.shardings->Groups(*attribute);
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, IntegersOf(*attribute));
  if (ids.empty()) return groups;
  const bool is_matrix = attribute->kind == Attribute::Kind::kDense && attribute->type->shape.rank() == 2;
  if (!is_matrix) return InvalidArgument("expected a matrix as replica_groups");
  const int64_t size = attribute->type->shape.dimensions(1);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i % size == 0) groups.groups.emplace_back();
    if (ids[i] >= 0) groups.groups.back().push_back(ids[i]);
  }
  return groups;
}

absl::StatusOr<ReplicaGroups> Groups(const OpConversion& c) { return GroupsOf(c, c.op.Find("replica_groups")); }

// No channel is one that is not positive.
absl::StatusOr<std::optional<int64_t>> Channel(const OpConversion& c) {
  HILO_ASSIGN_OR_RETURN(const int64_t channel, c.IntegerOr("channel_id", 0));
  return channel > 0 ? std::optional<int64_t>(channel) : std::nullopt;
}

absl::StatusOr<Results> AllGather(OpConversion& c) {
  auto attributes = std::make_unique<AllGatherAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->replica_groups, Groups(c));
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, Channel(c));
  HILO_ASSIGN_OR_RETURN(attributes->dimensions.emplace_back(), c.Integer("all_gather_dim"));
  attributes->use_global_device_ids = c.Flag("use_global_device_ids");
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapes());
  return c.Split(c.Add(HloOpcode::kAllGather, c.operands, std::move(attributes), {}, &shape));
}

absl::StatusOr<Results> AllReduce(OpConversion& c) {
  auto attributes = std::make_unique<AllReduceAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->replica_groups, Groups(c));
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, Channel(c));
  attributes->use_global_device_ids = c.Flag("use_global_device_ids");
  return c.Split(c.Add(HloOpcode::kAllReduce, c.operands, std::move(attributes), c.regions));
}

absl::StatusOr<Results> ReduceScatter(OpConversion& c) {
  auto attributes = std::make_unique<ReduceScatterAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->replica_groups, Groups(c));
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, Channel(c));
  HILO_ASSIGN_OR_RETURN(attributes->dimensions.emplace_back(), c.Integer("scatter_dimension"));
  attributes->use_global_device_ids = c.Flag("use_global_device_ids");
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapes());
  return c.Split(c.Add(HloOpcode::kReduceScatter, c.operands, std::move(attributes), c.regions, &shape));
}

// HLO cuts and joins along one dimension. Where the pieces are to be joined along another, they are moved there afterwards:
// [a, n * b, c] -> [a, n, b, c] -> [a, b, n, c] -> [a, b, n * c].
absl::StatusOr<HloInstruction*> MovePieces(OpConversion& c, HloInstruction* value, int64_t pieces, int64_t from, int64_t to) {
  std::vector<int64_t> sizes(value->shape().dimensions().begin(), value->shape().dimensions().end());
  const auto rank = static_cast<int64_t>(sizes.size());
  if (from < 0 || to < 0 || from >= rank || to >= rank || pieces < 1 || sizes[from] % pieces != 0) {
    return InvalidArgument("cannot cut ", value->shape().ToString(), " into ", pieces, " pieces along dimension ", from, " and join them along ", to);
  }
  sizes[from] /= pieces;
  std::vector<int64_t> apart = sizes, permutation;
  apart.insert(apart.begin() + from, pieces);
  HILO_ASSIGN_OR_RETURN(value, c.Reshape(value, apart));
  for (int64_t d = 0; d < rank; ++d) {
    if (d == to) permutation.push_back(from);
    permutation.push_back(d < from ? d : d + 1);
  }
  HILO_ASSIGN_OR_RETURN(value, c.Transpose(value, std::move(permutation)));
  sizes[to] *= pieces;
  return c.Reshape(value, sizes);
}

absl::StatusOr<Results> AllToAll(OpConversion& c) {
  HILO_ASSIGN_OR_RETURN(const int64_t split, c.Integer("split_dimension"));
  HILO_ASSIGN_OR_RETURN(const int64_t concat, c.Integer("concat_dimension"));
  HILO_ASSIGN_OR_RETURN(const int64_t count, c.Integer("split_count"));
  AllToAllAttrs attributes;
  HILO_ASSIGN_OR_RETURN(attributes.replica_groups, Groups(c));
  HILO_ASSIGN_OR_RETURN(attributes.channel_id, Channel(c));
  attributes.dimensions = {split};
  Results results;
  for (HloInstruction* operand : c.operands) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * value, c.Add(HloOpcode::kAllToAll, {operand}, attributes.Clone()));
    if (split != concat) {
      HILO_ASSIGN_OR_RETURN(value, MovePieces(c, value, count, split, concat));
    }
    results.push_back(value);
  }
  return results;
}

absl::StatusOr<Results> CollectiveBroadcast(OpConversion& c) {
  auto attributes = std::make_unique<CollectiveBroadcastAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->replica_groups, Groups(c));
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, Channel(c));
  return c.Split(c.Add(HloOpcode::kCollectiveBroadcast, c.operands, std::move(attributes)));
}

absl::StatusOr<Results> CollectivePermute(OpConversion& c) {
  auto attributes = std::make_unique<CollectivePermuteAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->source_target_pairs.pairs, c.Pairs("source_target_pairs"));
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, Channel(c));
  return c.Split(c.Add(HloOpcode::kCollectivePermute, c.operands, std::move(attributes)));
}

template <HloOpcode kOpcode>
absl::StatusOr<Results> Id(OpConversion& c) {
  return c.Split(c.Add(kOpcode, {}));
}

constexpr ConversionRule kRules[] = {
    {"stablehlo.all_gather", AllGather},
    {"stablehlo.all_reduce", AllReduce},
    {"stablehlo.all_to_all", AllToAll},
    {"stablehlo.collective_broadcast", CollectiveBroadcast},
    {"stablehlo.collective_permute", CollectivePermute},
    {"stablehlo.partition_id", Id<HloOpcode::kPartitionId>},
    {"stablehlo.reduce_scatter", ReduceScatter},
    {"stablehlo.replica_id", Id<HloOpcode::kReplicaId>},
};

}  // namespace

// StableHLO has no operation of its own for it.
absl::StatusOr<Results> RaggedAllToAll(OpConversion& c) {
  auto attributes = std::make_unique<RaggedAllToAllAttrs>();
  const Attribute* config = c.op.Find("backend_config");
  if (config == nullptr || config->kind != Attribute::Kind::kDictionary) return InvalidArgument("ragged_all_to_all: expected a dictionary as backend_config");
  for (const NamedAttribute& entry : config->entries) {
    if (entry.name == "replica_groups") {
      HILO_ASSIGN_OR_RETURN(attributes->replica_groups, GroupsOf(c, entry.value));
    } else if (entry.name == "channel_id" && entry.value->kind == Attribute::Kind::kInteger) {
      if (entry.value->integer > 0) attributes->channel_id = entry.value->integer;
    } else {
      return Unimplemented("ragged_all_to_all with ", entry.name);
    }
  }
  HILO_RETURN_IF_ERROR(c.ExpectOperands(6));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  return c.Split(c.Add(HloOpcode::kRaggedAllToAll, c.operands, std::move(attributes)));
}

absl::Span<const ConversionRule> CollectiveRules() { return kRules; }

}  // namespace hilo::stablehlo
