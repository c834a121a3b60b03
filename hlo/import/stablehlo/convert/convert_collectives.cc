// Converts collectives, which several devices run together.
#include <optional>

#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/shardings.h"
#include "hlo/ops/collective/collective_attributes.h"

namespace hilo::stablehlo {
namespace {

// Rows of a matrix, which -1 fills up, or axes of a mesh.
absl::StatusOr<ReplicaGroups> GroupsOf(const OpConversion& c, const Attribute* attribute) {
  ReplicaGroups groups;
  if (attribute == nullptr) return groups;
  if (attribute->kind == Attribute::Kind::kMeshGroups) return c.state.shardings->Groups(*attribute);
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, IntegersOf(*attribute));
  if (ids.empty()) return groups;
  const bool is_matrix = attribute->kind == Attribute::Kind::kDense && attribute->type->shape.rank() == 2 &&
                         attribute->type->shape.element_type() == S64;
  if (!is_matrix) return InvalidArgument("expected a matrix of i64 as replica_groups");
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

// Groups of replicas, each with all its partitions, where the order of their members is seen: StableHLO's counts
// partitions outside and replicas inside, HLO's the other way. Where that is not the same, the pieces are exchanged in
// two steps: among the replicas of each partition, and by `of_one` among the partitions of each replica.
struct NestedGroups {
  ReplicaGroups of_one;
  int64_t replicas = 1;  // of each group
};
std::optional<NestedGroups> GroupsToNest(const OpConversion& c, const ReplicaGroups& groups, bool has_channel) {
  if (!has_channel || c.Flag("use_global_device_ids") || groups.groups.empty()) return std::nullopt;
  NestedGroups nested{.of_one = {}, .replicas = static_cast<int64_t>(groups.groups[0].size())};
  for (const auto& group : groups.groups) {
    if (static_cast<int64_t>(group.size()) != nested.replicas) return std::nullopt;
    for (const int64_t replica : group) nested.of_one.groups.push_back({replica});
  }
  return nested.replicas > 1 ? std::optional<NestedGroups>(std::move(nested)) : std::nullopt;
}

// The shapes, as one, with dimension `d` so many times as large.
absl::StatusOr<Shape> Resized(std::vector<Shape> shapes, int64_t d, int64_t factor) {
  for (Shape& shape : shapes) {
    if (!shape.IsArray() || d < 0 || d >= shape.rank())
      return InvalidArgument("there is no dimension ", d, " of ", shape.ToString());
    const std::optional<int64_t> size = CheckedMul(shape.dimensions(d), factor);
    if (!size.has_value())
      return InvalidArgument("dimension ", d, " of ", shape.ToString(), " is too large to be gathered");
    shape.set_dimensions(d, *size);
  }
  return shapes.size() == 1 ? shapes[0] : Shape(std::move(shapes));
}

// The parts of what an instruction of several operands computes.
absl::StatusOr<std::vector<HloInstruction*>> PartsOf(OpConversion& c, HloInstruction* instruction) {
  if (!instruction->shape().IsTuple()) return std::vector<HloInstruction*>{instruction};
  std::vector<HloInstruction*> parts;
  for (size_t i = 0; i < instruction->shape().tuple_shapes().size(); ++i) {
    HILO_ASSIGN_OR_RETURN(parts.emplace_back(), c.Element(instruction, static_cast<int64_t>(i)));
  }
  return parts;
}

absl::StatusOr<Results> AllGather(OpConversion& c) {
  auto attributes = std::make_unique<AllGatherAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->replica_groups, Groups(c));
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, Channel(c));
  HILO_ASSIGN_OR_RETURN(attributes->dimensions.emplace_back(), c.Integer("all_gather_dim"));
  attributes->use_global_device_ids = c.Flag("use_global_device_ids");
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShapes());
  const auto nested = GroupsToNest(c, attributes->replica_groups, attributes->channel_id.has_value());
  if (!nested.has_value()) return c.Split(c.Add(HloOpcode::kAllGather, c.operands, std::move(attributes), {}, &shape));
  auto of_replicas = std::make_unique<AllGatherAttrs>();
  of_replicas->dimensions = attributes->dimensions;
  of_replicas->replica_groups = attributes->replica_groups;
  attributes->replica_groups = nested->of_one;
  std::vector<Shape> shapes;
  for (const HloInstruction* operand : c.operands) shapes.push_back(operand->shape());
  HILO_ASSIGN_OR_RETURN(const Shape gathered, Resized(std::move(shapes), attributes->dimensions[0], nested->replicas));
  HILO_ASSIGN_OR_RETURN(HloInstruction * inner,
                        c.Add(HloOpcode::kAllGather, c.operands, std::move(of_replicas), {}, &gathered));
  HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> parts, PartsOf(c, inner));
  return c.Split(c.Add(HloOpcode::kAllGather, parts, std::move(attributes), {}, &shape));
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
  const auto nested = GroupsToNest(c, attributes->replica_groups, attributes->channel_id.has_value());
  if (!nested.has_value())
    return c.Split(c.Add(HloOpcode::kReduceScatter, c.operands, std::move(attributes), c.regions, &shape));
  auto of_replicas = std::make_unique<ReduceScatterAttrs>();
  of_replicas->dimensions = attributes->dimensions;
  of_replicas->replica_groups = attributes->replica_groups;
  attributes->replica_groups = nested->of_one;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(shapes.emplace_back(), c.ResultShape(i));
  }
  HILO_ASSIGN_OR_RETURN(const Shape scattered, Resized(std::move(shapes), attributes->dimensions[0], nested->replicas));
  HILO_ASSIGN_OR_RETURN(HloInstruction * outer,
                        c.Add(HloOpcode::kReduceScatter, c.operands, std::move(attributes), c.regions, &scattered));
  HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> parts, PartsOf(c, outer));
  return c.Split(c.Add(HloOpcode::kReduceScatter, parts, std::move(of_replicas), c.regions, &shape));
}

// HLO splits and joins along one dimension. Where the pieces are to be joined along another, they are moved there
// afterwards: [a, n * b, c] -> [a, n, b, c] -> [a, b, n, c] -> [a, b, n * c].
absl::StatusOr<HloInstruction*> MovePieces(OpConversion& c, HloInstruction* value, int64_t pieces, int64_t from,
                                           int64_t to) {
  std::vector<int64_t> sizes(value->shape().dimensions().begin(), value->shape().dimensions().end());
  const auto rank = static_cast<int64_t>(sizes.size());
  if (from < 0 || to < 0 || from >= rank || to >= rank || pieces < 1 || sizes[from] % pieces != 0) {
    return InvalidArgument("cannot cut ", value->shape().ToString(), " into ", pieces, " pieces along dimension ", from,
                           " and join them along ", to);
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

absl::Status RefuseDynamicRoot(const OpConversion& c) {
  return c.Flag("has_dynamic_root") ? Unimplemented("a root that is known when the program runs (has_dynamic_root)")
                                    : absl::OkStatus();
}

// A sum over the groups of replicas, of which all but the first replica of each group get zeros.
absl::StatusOr<Results> CollectiveReduce(OpConversion& c) {
  HILO_RETURN_IF_ERROR(RefuseDynamicRoot(c));
  HILO_RETURN_IF_ERROR(c.ExpectOperands(c.op.results.size()));
  HILO_ASSIGN_OR_RETURN(const std::optional<int64_t> channel, Channel(c));
  if (channel.has_value()) return Unimplemented("collective_reduce among partitions (a positive channel_id)");
  auto attributes = std::make_unique<AllReduceAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->replica_groups, Groups(c));
  std::vector<int64_t> roots;
  for (const auto& group : attributes->replica_groups.groups) {
    if (!group.empty()) roots.push_back(group[0]);
  }
  if (attributes->replica_groups.groups.empty()) roots = {0};
  HILO_ASSIGN_OR_RETURN(HloInstruction * sum,
                        c.Add(HloOpcode::kAllReduce, c.operands, std::move(attributes), c.regions));
  HILO_ASSIGN_OR_RETURN(HloInstruction * replica, c.Add(HloOpcode::kReplicaId, {}));
  HloInstruction* is_root = nullptr;
  for (const int64_t root : roots) {
    HloInstruction* number =
        c.AddConstant(std::make_shared<const Literal>(LiteralUtil::FromDouble(U32, static_cast<double>(root))));
    auto equal = std::make_unique<CompareAttrs>();
    equal->direction = ComparisonDirection::kEq;
    HILO_ASSIGN_OR_RETURN(HloInstruction * is_this, c.Add(HloOpcode::kCompare, {replica, number}, std::move(equal)));
    if (is_root != nullptr) {
      HILO_ASSIGN_OR_RETURN(is_this, c.Add(HloOpcode::kOr, {is_root, is_this}));
    }
    is_root = is_this;
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> parts, PartsOf(c, sum));
  Results results;
  for (HloInstruction* part : parts) {
    HloInstruction* zero =
        c.AddConstant(std::make_shared<const Literal>(LiteralUtil::Zero(part->shape().element_type())));
    const Shape predicates = ShapeUtil::ChangeElementType(part->shape(), PRED);
    HILO_ASSIGN_OR_RETURN(HloInstruction * chosen,
                          c.Add(HloOpcode::kBroadcast, {is_root}, std::make_unique<BroadcastAttrs>(), {}, &predicates));
    HILO_ASSIGN_OR_RETURN(HloInstruction * zeros,
                          c.Add(HloOpcode::kBroadcast, {zero}, std::make_unique<BroadcastAttrs>(), {}, &part->shape()));
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), c.Add(HloOpcode::kSelect, {chosen, part, zeros}));
  }
  return results;
}

absl::StatusOr<Results> CollectiveBroadcast(OpConversion& c) {
  HILO_RETURN_IF_ERROR(RefuseDynamicRoot(c));
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

constexpr ConversionRule kCollectiveRules[] = {
    {"stablehlo.all_gather", AllGather},
    {"stablehlo.all_reduce", AllReduce},
    {"stablehlo.all_to_all", AllToAll},
    {"stablehlo.collective_broadcast", CollectiveBroadcast},
    {"stablehlo.collective_permute", CollectivePermute},
    {"stablehlo.collective_reduce", CollectiveReduce},
    {"stablehlo.partition_id", Id<HloOpcode::kPartitionId>},
    {"stablehlo.reduce_scatter", ReduceScatter},
    {"stablehlo.replica_id", Id<HloOpcode::kReplicaId>},
};

}  // namespace

// StableHLO has no operation for it.
absl::StatusOr<Results> RaggedAllToAll(OpConversion& c) {
  auto attributes = std::make_unique<RaggedAllToAllAttrs>();
  const Attribute* config = c.op.Find("backend_config");
  if (config == nullptr || config->kind != Attribute::Kind::kDictionary)
    return InvalidArgument("ragged_all_to_all: expected a dictionary as backend_config");
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

absl::Span<const ConversionRule> CollectiveRules() { return kCollectiveRules; }

}  // namespace hilo::stablehlo
