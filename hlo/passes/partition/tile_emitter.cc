#include "hlo/passes/partition/tile_emitter.h"

#include <map>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

HloOpcode CombinerOf(PartReduction reduction) {
  switch (reduction) {
    case PartReduction::kSum: break;
    case PartReduction::kMax: return HloOpcode::kMaximum;
    case PartReduction::kMin: return HloOpcode::kMinimum;
  }
  return HloOpcode::kAdd;
}

// Whether the groups are the same except for order.
bool SameGroups(std::vector<std::vector<int64_t>> a, std::vector<std::vector<int64_t>> b) {
  for (auto* groups : {&a, &b}) {
    for (std::vector<int64_t>& group : *groups) absl::c_sort(group);
    absl::c_sort(*groups);
  }
  return a == b;
}

}  // namespace

absl::StatusOr<HloInstruction*> TileEmitter::Cut(HloInstruction* whole, const TileAssignment& tiles) {
  // A tile of a broadcast is a smaller broadcast, of a tile if need be. Each cut copies the broadcasts, so long chains
  // are cut in the middle.
  constexpr size_t kMaxBroadcasts = 8;
  std::vector<std::pair<HloInstruction*, Shape>> broadcasts;  // with the shapes of their tiles, outermost first
  HloInstruction* source = whole;
  TileAssignment of_source = tiles;
  while (source->opcode() == HloOpcode::kBroadcast && !of_source.IsWhole() && broadcasts.size() < kMaxBroadcasts) {
    HILO_RETURN_IF_ERROR(Check(of_source));
    HILO_ASSIGN_OR_RETURN(Shape shape, TileShape(source->shape(), of_source));
    TileAssignment of_operand{.counts = {}, .tile_of = std::vector<std::vector<int64_t>>(partitions_)};
    for (int64_t d : source->attrs<BroadcastAttrs>().dimensions) {
      of_operand.counts.push_back(of_source.counts[d]);
      for (int64_t i = 0; i < partitions_; ++i) of_operand.tile_of[i].push_back(of_source.tile_of[i][d]);
    }
    broadcasts.emplace_back(source, std::move(shape));
    source = source->mutable_operand(0);
    of_source = std::move(of_operand);
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, source->opcode() == HloOpcode::kIota && !of_source.IsWhole()
                                                   ? CutIota(source, of_source)
                                                   : Slice(source, of_source));
  for (auto it = broadcasts.rbegin(); it != broadcasts.rend(); ++it)
    tile = computation_->AddInstruction(it->first->CloneWithNewOperands(it->second, {tile}));
  return tile;
}

// A tile of an iota is a smaller one, to which the partition's first index is added: of integers, which wrap alike.
absl::StatusOr<HloInstruction*> TileEmitter::CutIota(HloInstruction* iota, const TileAssignment& tiles) {
  const PrimitiveType type = iota->shape().element_type();
  const int64_t dimension = iota->attrs<IotaAttrs>().iota_dimension;
  const bool is_cut = tiles.counts[dimension] > 1;
  if (is_cut && !(IsIntegralType(type) && PrimitiveTypeBitWidth(type) >= 32)) return Slice(iota, tiles);
  HILO_RETURN_IF_ERROR(Check(tiles));
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(iota->shape(), tiles));
  HloInstruction* tile = computation_->AddInstruction(iota->CloneWithNewOperands(shape, {}), iota->name());
  if (!is_cut) return tile;
  std::vector<int64_t> starts;
  for (const std::vector<int64_t>& of_partition : tiles.tile_of)
    starts.push_back(of_partition[dimension] * shape.dimensions(dimension));
  HILO_ASSIGN_OR_RETURN(HloInstruction * start, ElementOfPartition(LiteralUtil::CreateR1<int64_t>(starts)));
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HILO_ASSIGN_OR_RETURN(start, computation_->AddOp(HloOpcode::kConvert, {start}, nullptr, {}, &scalar));
  const Shape plain = ShapeUtil::MakeShape(type, shape.dimensions());
  HILO_ASSIGN_OR_RETURN(
      start, computation_->AddOp(HloOpcode::kBroadcast, {start}, std::make_unique<BroadcastAttrs>(), {}, &plain));
  return computation_->AddOp(HloOpcode::kAdd, {tile, start});
}

absl::StatusOr<HloInstruction*> TileEmitter::Slice(HloInstruction* whole, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return whole;
  HILO_RETURN_IF_ERROR(Check(tiles));
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(whole->shape(), tiles));
  std::vector<HloInstruction*> operands = {whole};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    std::vector<int64_t> starts(partitions_, 0);
    for (int64_t i = 0; i < partitions_; ++i) starts[i] = tiles.tile_of[i][d] * shape.dimensions(d);
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), ElementOfPartition(LiteralUtil::CreateR1<int64_t>(starts)));
  }
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
  return computation_->AddOp(HloOpcode::kDynamicSlice, operands, std::move(attributes));
}

absl::StatusOr<HloInstruction*> TileEmitter::Join(HloInstruction* tile, const TileAssignment& from,
                                                  const TileAssignment& to) {
  if (SameTiles(from, to)) return tile;
  HILO_RETURN_IF_ERROR(Check(from));
  const std::vector<int64_t> sizes(tile->shape().dimensions().begin(), tile->shape().dimensions().end());
  if (sizes.size() != from.counts.size()) {
    return InvalidArgument("a sharding of ", from.counts.size(), " dimensions does not fit ", tile->shape().ToString());
  }
  std::vector<int64_t> apart = from.counts;
  for (size_t d = 0; d < to.counts.size(); ++d) apart[d] /= to.counts[d];
  HILO_ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> groups, GroupsToJoin(from, to, apart));
  HILO_ASSIGN_OR_RETURN(HloInstruction * value, Gather(tile, groups));
  // [c0, c1, s0, s1] to [c0, s0, c1, s1] to [c0 * s0, c1 * s1].
  const auto rank = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> joined;
  auto transpose = std::make_unique<TransposeAttrs>();
  for (int64_t d = 0; d < rank; ++d) {
    transpose->dimensions.push_back(d);
    transpose->dimensions.push_back(rank + d);
    joined.push_back(apart[d] * sizes[d]);
  }
  apart.insert(apart.end(), sizes.begin(), sizes.end());
  HILO_ASSIGN_OR_RETURN(value, Reshape(value, apart));
  HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kTranspose, {value}, std::move(transpose)));
  return Reshape(value, joined);
}

absl::StatusOr<HloInstruction*> TileEmitter::Gather(HloInstruction* value,
                                                    const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> with_device(value->shape().dimensions().begin(), value->shape().dimensions().end());
  with_device.insert(with_device.begin(), 1);
  HILO_ASSIGN_OR_RETURN(value, Reshape(value, with_device));
  auto gather = std::make_unique<AllGatherAttrs>();
  gather->channel_id = (*next_channel_)++;
  gather->dimensions = {0};
  gather->use_global_device_ids = true;
  gather->replica_groups.groups = OfAllReplicas(groups);
  with_device[0] = static_cast<int64_t>(groups[0].size());
  const Shape gathered = ShapeUtil::MakeShape(value->shape().element_type(), with_device);
  return computation_->AddOp(HloOpcode::kAllGather, {value}, std::move(gather), {}, &gathered);
}

absl::StatusOr<HloInstruction*> TileEmitter::Broadcast(HloInstruction* value,
                                                       const std::vector<std::vector<int64_t>>& groups) {
  auto attributes = std::make_unique<CollectiveBroadcastAttrs>();
  attributes->channel_id = (*next_channel_)++;
  attributes->replica_groups.groups = OfProgram(groups);
  return computation_->AddOp(HloOpcode::kCollectiveBroadcast, {value}, std::move(attributes));
}

// Partitions that have the tiles of one larger tile, one of each and in the order of these.
absl::StatusOr<std::vector<std::vector<int64_t>>> TileEmitter::GroupsToJoin(const TileAssignment& from,
                                                                            const TileAssignment& to,
                                                                            const std::vector<int64_t>& apart) const {
  std::map<std::vector<int64_t>, std::map<std::vector<int64_t>, std::vector<int64_t>>>
      owners;  // by the larger tile, by the tile
  for (int64_t p = 0; p < partitions_; ++p)
    owners[to.IsWhole() ? std::vector<int64_t>() : to.tile_of[p]][from.tile_of[p]].push_back(p);
  const auto tiles = static_cast<size_t>(Product(apart));
  const size_t copies = owners.begin()->second.begin()->second.size();
  std::vector<std::vector<int64_t>> groups;
  for (const auto& [larger, by_tile] : owners) {
    for (const auto& [tile, of_tile] : by_tile) {
      if (by_tile.size() == tiles && of_tile.size() == copies) continue;
      return InvalidArgument("the devices do not have equally many of each of the ", tiles,
                             " tiles of a sharded array");
    }
    for (size_t copy = 0; copy < copies; ++copy) {
      std::vector<int64_t>& group = groups.emplace_back();
      for (const auto& [tile, of_tile] : by_tile) group.push_back(of_tile[copy]);
    }
  }
  return groups;
}

absl::StatusOr<HloInstruction*> TileEmitter::ElementOfPartition(Literal table) {
  HILO_ASSIGN_OR_RETURN(HloInstruction * partition, computation_->AddOp(HloOpcode::kPartitionId, {}));
  if (region_ != nullptr) {
    HILO_ASSIGN_OR_RETURN(partition, Lookup(LiteralUtil::CreateR1<int64_t>(region_->MemberOfDevice()), partition));
  }
  return Lookup(std::move(table), partition);
}

absl::StatusOr<HloInstruction*> TileEmitter::Lookup(Literal table, HloInstruction* index) {
  auto one = std::make_unique<DynamicSliceAttrs>();
  one->dynamic_slice_sizes = {1};
  HloInstruction* constant = computation_->AddConstant(std::move(table));
  HILO_ASSIGN_OR_RETURN(HloInstruction * element,
                        computation_->AddOp(HloOpcode::kDynamicSlice, {constant, index}, std::move(one)));
  return Reshape(element, {});
}

absl::StatusOr<std::vector<std::vector<int64_t>>> TileEmitter::GroupsToReduce(const TileAssignment& tiles) const {
  if (!tiles.tile_of.empty()) HILO_RETURN_IF_ERROR(CheckDevices(tiles));
  std::map<std::vector<int64_t>, std::map<int64_t, std::vector<int64_t>>> owners;  // by tile, by part
  for (int64_t p = 0; p < partitions_; ++p) {
    owners[tiles.tile_of.empty() ? std::vector<int64_t>() : tiles.tile_of[p]]
          [tiles.part_of.empty() ? p : tiles.part_of[p]]
              .push_back(p);
  }
  const std::map<int64_t, std::vector<int64_t>>& first = owners.begin()->second;
  const size_t copies = first.begin()->second.size();
  std::vector<std::vector<int64_t>> groups;
  for (const auto& [tile, by_part] : owners) {
    for (const auto& [part, of_part] : by_part) {
      if (by_part.size() == first.size() && of_part.size() == copies) continue;
      return InvalidArgument("the devices do not have equally many of each part of an unreduced array");
    }
    for (size_t copy = 0; copy < copies; ++copy) {
      std::vector<int64_t>& group = groups.emplace_back();
      for (const auto& [part, of_part] : by_part) group.push_back(of_part[copy]);
    }
  }
  return groups;
}

absl::StatusOr<HloInstruction*> TileEmitter::Reduce(HloInstruction* part, const TileAssignment& tiles) {
  if (!tiles.reduction.has_value()) return part;
  HILO_ASSIGN_OR_RETURN(const auto groups, GroupsToReduce(tiles));
  return Combine(part, CombinerOf(*tiles.reduction), groups);
}

// The partitions that have a tile have parts of it already if they have just combined them. Else the first part is the
// tile, and the others are -0, with which the sum of a -0 is -0; of a maximum or minimum, all parts are the tile.
absl::StatusOr<HloInstruction*> TileEmitter::PartOf(HloInstruction* tile, const TileAssignment& tiles) {
  if (!tiles.reduction.has_value()) return tile;
  HILO_ASSIGN_OR_RETURN(const auto groups, GroupsToReduce(tiles));
  const HloOpcode combiner = CombinerOf(*tiles.reduction);
  if (tile->opcode() == HloOpcode::kAllReduce && tile->operand_count() == 1 &&
      tile->called_computation()->root_instruction()->opcode() == combiner &&
      SameGroups(tile->attrs<AllReduceAttrs>().replica_groups.groups, OfAllReplicas(groups))) {
    return tile->mutable_operand(0);
  }
  if (combiner != HloOpcode::kAdd) return tile;
  const PrimitiveType type = tile->shape().element_type();
  Literal nothing = IdentityOf(combiner, type).value_or(LiteralUtil::Zero(type));  // or the least number
  return OnFirst(tile, computation_->AddConstant(std::move(nothing)), groups);
}

absl::StatusOr<HloInstruction*> TileEmitter::OnFirst(HloInstruction* value, HloInstruction* other,
                                                     const std::vector<std::vector<int64_t>>& groups) {
  absl::InlinedVector<bool, 8> is_first(partitions_, false);
  for (const std::vector<int64_t>& group : groups) is_first[group[0]] = true;
  HILO_ASSIGN_OR_RETURN(HloInstruction * scalar, ElementOfPartition(LiteralUtil::CreateR1<bool>(is_first)));
  const Shape mask = ShapeUtil::MakeShape(PRED, value->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(HloInstruction * takes, computation_->AddOp(HloOpcode::kBroadcast, {scalar},
                                                                    std::make_unique<BroadcastAttrs>(), {}, &mask));
  const Shape shape = ShapeUtil::MakeShape(value->shape().element_type(), value->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(HloInstruction * others, computation_->AddOp(HloOpcode::kBroadcast, {other},
                                                                     std::make_unique<BroadcastAttrs>(), {}, &shape));
  return computation_->AddOp(HloOpcode::kSelect, {takes, value, others});
}

absl::StatusOr<HloComputation*> TileEmitter::CombinerComputation(HloOpcode combiner, PrimitiveType type) {
  HloComputation* computation =
      computation_->parent()->AddComputation(absl::StrCat("combine_", HloOpcodeString(combiner)));
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HloInstruction* parameters[2];
  for (int64_t i = 0; i < 2; ++i) {
    auto attributes = std::make_unique<ParameterAttrs>();
    attributes->number = i;
    HILO_ASSIGN_OR_RETURN(parameters[i],
                          computation->AddOp(HloOpcode::kParameter, {}, std::move(attributes), {}, &scalar));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * root, computation->AddOp(combiner, parameters));
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(root, true));
  return computation;
}

absl::StatusOr<HloInstruction*> TileEmitter::Combine(HloInstruction* part, HloOpcode combiner,
                                                     const std::vector<std::vector<int64_t>>& groups) {
  HILO_ASSIGN_OR_RETURN(HloComputation * computation, CombinerComputation(combiner, part->shape().element_type()));
  auto attributes = std::make_unique<AllReduceAttrs>();
  attributes->channel_id = (*next_channel_)++;
  attributes->use_global_device_ids = true;
  attributes->replica_groups.groups = OfAllReplicas(groups);
  return computation_->AddOp(HloOpcode::kAllReduce, {part}, std::move(attributes), {computation});
}

absl::Status TileEmitter::Check(const TileAssignment& tiles) const {
  return tiles.IsWhole() ? absl::OkStatus() : CheckDevices(tiles);
}

absl::Status TileEmitter::CheckDevices(const TileAssignment& tiles) const {
  if (static_cast<int64_t>(tiles.tile_of.size()) == partitions_ &&
      absl::c_none_of(tiles.tile_of, [](const auto& tile) { return tile.empty(); })) {
    return absl::OkStatus();
  }
  return InvalidArgument("the sharding is for ", tiles.tile_of.size(), " devices, but the program has ", partitions_,
                         partitions_ == 1 ? " partition" : " partitions");
}

absl::StatusOr<HloInstruction*> TileEmitter::Reshape(HloInstruction* value, const std::vector<int64_t>& sizes) {
  const Shape shape = ShapeUtil::MakeShape(value->shape().element_type(), sizes);
  return computation_->AddOp(HloOpcode::kReshape, {value}, nullptr, {}, &shape);
}

std::vector<std::vector<int64_t>> TileEmitter::OfAllReplicas(const std::vector<std::vector<int64_t>>& groups) const {
  std::vector<std::vector<int64_t>> all;
  const std::vector<std::vector<int64_t>> of_program = OfProgram(groups);
  const HloModule& module = *computation_->parent();
  for (int64_t replica = 0; replica < module.replica_count(); ++replica) {
    for (const std::vector<int64_t>& group : of_program) {
      std::vector<int64_t>& global = all.emplace_back();
      for (int64_t partition : group) global.push_back(replica * module.num_partitions() + partition);
    }
  }
  return all;
}

}  // namespace hilo
