// The steps of resharding (reshard.h) as instructions.
#include <map>

#include "hilo/status_macros.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_emitter.h"

namespace hilo {

absl::StatusOr<HloInstruction*> TileEmitter::Reshard(HloInstruction* tile, const Shape& whole,
                                                     const TileAssignment& from, const TileAssignment& to) {
  if (SameTiles(from, to)) return tile;
  HILO_RETURN_IF_ERROR(Check(from));
  HILO_RETURN_IF_ERROR(Check(to));
  HILO_RETURN_IF_ERROR(TileShape(whole, from).status());
  HILO_RETURN_IF_ERROR(TileShape(whole, to).status());
  TileAssignment now = from;
  for (const ReshardStep& step : PlanReshard(whole, from, to, partitions_)) {
    switch (step.kind) {
      case ReshardStep::Kind::kSlice: {
        HILO_ASSIGN_OR_RETURN(tile, Cut(tile, now.IsWhole() ? step.to : TilesWithin(now, step.to)));
        break;
      }
      case ReshardStep::Kind::kPermute: {
        HILO_ASSIGN_OR_RETURN(tile, Permute(tile, now, step.to));
        break;
      }
      case ReshardStep::Kind::kAllToAll: {
        HILO_ASSIGN_OR_RETURN(tile, AllToAll(tile, now, step));
        break;
      }
      case ReshardStep::Kind::kGather: {
        HILO_ASSIGN_OR_RETURN(tile, Join(tile, now, step.to));
        break;
      }
    }
    now = step.to;
  }
  return tile;
}

// Every partition gets its tile from one that has it, itself if possible; of several copies each serves equally many.
absl::StatusOr<HloInstruction*> TileEmitter::Permute(HloInstruction* tile, const TileAssignment& from,
                                                     const TileAssignment& to) {
  std::map<std::vector<int64_t>, std::vector<int64_t>> owners, takers;
  for (int64_t p = 0; p < partitions_; ++p) {
    const bool keeps = from.tile_of[p] == to.tile_of[p];
    if (keeps) continue;
    owners[from.tile_of[p]].push_back(p);
    takers[to.tile_of[p]].push_back(p);
  }
  auto attributes = std::make_unique<CollectivePermuteAttrs>();
  attributes->channel_id = (*next_channel_)++;
  for (int64_t p = 0; p < partitions_; ++p) {
    if (from.tile_of[p] == to.tile_of[p]) attributes->source_target_pairs.pairs.emplace_back(p, p);
  }
  for (const auto& [index, of_tile] : takers) {
    const std::vector<int64_t>& sources = owners[index];
    if (sources.size() != of_tile.size())
      return Join(tile, from, to);  // cannot be: both cuts give each tile to equally many
    for (size_t i = 0; i < of_tile.size(); ++i)
      attributes->source_target_pairs.pairs.emplace_back(sources[i], of_tile[i]);
  }
  return computation_->AddOp(HloOpcode::kCollectivePermute, {tile}, std::move(attributes));
}

// [.., join, .., split * parts, ..] to [parts, .., join, .., split, ..], which is exchanged, to
// [.., parts * join, .., split, ..].
absl::StatusOr<HloInstruction*> TileEmitter::AllToAll(HloInstruction* tile, const TileAssignment& from,
                                                      const ReshardStep& step) {
  const std::vector<int64_t> sizes(tile->shape().dimensions().begin(), tile->shape().dimensions().end());
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t split = step.split_dimension, join = step.join_dimension, parts = step.parts;
  // Groups: partitions that differ in the part of the joined dimension alone, in the order of that.
  std::map<std::vector<int64_t>, std::map<int64_t, std::vector<int64_t>>> owners;
  for (int64_t p = 0; p < partitions_; ++p) {
    std::vector<int64_t> others = from.tile_of[p];
    const int64_t part = others[join] % parts;
    others[join] /= parts;
    owners[others][part].push_back(p);
  }
  auto exchange = std::make_unique<AllToAllAttrs>();
  exchange->channel_id = (*next_channel_)++;
  exchange->dimensions = {0};
  for (const auto& [others, by_part] : owners) {
    for (size_t copy = 0; copy < by_part.begin()->second.size(); ++copy) {
      std::vector<int64_t>& group = exchange->replica_groups.groups.emplace_back();
      for (const auto& [part, of_part] : by_part) group.push_back(of_part[copy]);
    }
  }
  std::vector<int64_t> apart = sizes;
  apart[split] /= parts;
  apart.insert(apart.begin() + split, parts);
  auto to_front = std::make_unique<TransposeAttrs>();
  to_front->dimensions = {split};
  for (int64_t d = 0; d <= rank; ++d) {
    if (d != split) to_front->dimensions.push_back(d);
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * value, Reshape(tile, apart));
  HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kTranspose, {value}, std::move(to_front)));
  HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kAllToAll, {value}, std::move(exchange)));
  auto to_join = std::make_unique<TransposeAttrs>();
  std::vector<int64_t> joined;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == join) to_join->dimensions.push_back(0);
    to_join->dimensions.push_back(d + 1);
    joined.push_back(d == join ? sizes[d] * parts : d == split ? sizes[d] / parts : sizes[d]);
  }
  HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kTranspose, {value}, std::move(to_join)));
  return Reshape(value, joined);
}

absl::StatusOr<HloInstruction*> TileEmitter::ReduceScatter(HloInstruction* part, HloOpcode combiner,
                                                           const std::vector<std::vector<int64_t>>& groups,
                                                           int64_t dimension) {
  HILO_ASSIGN_OR_RETURN(HloComputation * computation, CombinerComputation(combiner, part->shape().element_type()));
  auto attributes = std::make_unique<ReduceScatterAttrs>();
  attributes->channel_id = (*next_channel_)++;
  attributes->use_global_device_ids = true;
  attributes->replica_groups.groups = OfAllReplicas(groups);
  attributes->dimensions = {dimension};
  Shape shape = part->shape();
  shape.set_dimensions(dimension, shape.dimensions(dimension) / static_cast<int64_t>(groups[0].size()));
  return computation_->AddOp(HloOpcode::kReduceScatter, {part}, std::move(attributes), {computation}, &shape);
}

}  // namespace hilo
