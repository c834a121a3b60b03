#include "hlo/passes/partition/tile_emitter.h"

#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/ops/collective_attributes.h"
#include "hlo/ops/op_attributes.h"

namespace hilo {

absl::StatusOr<Shape> TileShape(Shape shape, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return shape;
  if (!shape.IsArray() || shape.rank() != static_cast<int64_t>(tiles.counts.size())) {
    return InvalidArgument("a sharding of ", tiles.counts.size(), " dimensions does not fit ", shape.ToString());
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) % tiles.counts[d] != 0) {
      return Unimplemented("dimension ", d, " of ", shape.ToString(), " is not a multiple of the ", tiles.counts[d], " parts it is cut into");
    }
    shape.set_dimensions(d, shape.dimensions(d) / tiles.counts[d]);
  }
  return shape;
}

bool SameTiles(const TileAssignment& a, const TileAssignment& b) {
  return a.IsWhole() ? b.IsWhole() : a.counts == b.counts && a.tile_of == b.tile_of;
}

absl::StatusOr<HloInstruction*> TileEmitter::Cut(HloInstruction* whole, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return whole;
  HILO_RETURN_IF_ERROR(Check(tiles));
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(whole->shape(), tiles));
  if (whole->opcode() == HloOpcode::kBroadcast) {
    // A smaller broadcast, of a tile if need be.
    TileAssignment of_operand{.counts = {}, .tile_of = std::vector<std::vector<int64_t>>(partitions_)};
    for (int64_t d : whole->attrs<BroadcastAttrs>().dimensions) {
      of_operand.counts.push_back(tiles.counts[d]);
      for (int64_t i = 0; i < partitions_; ++i) of_operand.tile_of[i].push_back(tiles.tile_of[i][d]);
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * operand, Cut(whole->mutable_operand(0), of_operand));
    return computation_->AddInstruction(whole->CloneWithNewOperands(shape, {operand}));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * partition, computation_->AddOp(HloOpcode::kPartitionId, {}));
  std::vector<HloInstruction*> operands = {whole};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    std::vector<int64_t> starts(partitions_, 0);
    for (int64_t i = 0; i < partitions_; ++i) starts[i] = tiles.tile_of[i][d] * shape.dimensions(d);
    HloInstruction* table = computation_->AddConstant(LiteralUtil::CreateR1<int64_t>(starts));
    auto one = std::make_unique<DynamicSliceAttrs>();
    one->dynamic_slice_sizes = {1};
    HILO_ASSIGN_OR_RETURN(HloInstruction * start, computation_->AddOp(HloOpcode::kDynamicSlice, {table, partition}, std::move(one)));
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Reshape(start, {}));
  }
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
  return computation_->AddOp(HloOpcode::kDynamicSlice, operands, std::move(attributes));
}

absl::StatusOr<HloInstruction*> TileEmitter::Join(HloInstruction* tile, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return tile;
  HILO_RETURN_IF_ERROR(Check(tiles));
  const std::vector<int64_t> sizes(tile->shape().dimensions().begin(), tile->shape().dimensions().end());
  if (sizes.size() != tiles.counts.size()) {
    return InvalidArgument("a sharding of ", tiles.counts.size(), " dimensions does not fit ", tile->shape().ToString());
  }
  std::vector<int64_t> with_device = sizes;
  with_device.insert(with_device.begin(), 1);
  HILO_ASSIGN_OR_RETURN(HloInstruction * value, Reshape(tile, with_device));
  auto gather = std::make_unique<AllGatherAttrs>();
  gather->channel_id = (*next_channel_)++;
  gather->dimensions = {0};
  gather->use_global_device_ids = true;
  std::vector<int64_t> all(partitions_);
  std::iota(all.begin(), all.end(), 0);
  gather->replica_groups.groups = OfAllReplicas({all});
  with_device[0] = partitions_;
  const Shape gathered = ShapeUtil::MakeShape(tile->shape().element_type(), with_device);
  HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kAllGather, {value}, std::move(gather), {}, &gathered));
  HILO_ASSIGN_OR_RETURN(value, InTileOrder(value, tiles));
  // [c0, c1, s0, s1] to [c0, s0, c1, s1] to [c0 * s0, c1 * s1].
  const auto rank = static_cast<int64_t>(sizes.size());
  std::vector<int64_t> apart = tiles.counts, whole;
  apart.insert(apart.end(), sizes.begin(), sizes.end());
  auto transpose = std::make_unique<TransposeAttrs>();
  for (int64_t d = 0; d < rank; ++d) {
    transpose->dimensions.push_back(d);
    transpose->dimensions.push_back(rank + d);
    whole.push_back(tiles.counts[d] * sizes[d]);
  }
  HILO_ASSIGN_OR_RETURN(value, Reshape(value, apart));
  HILO_ASSIGN_OR_RETURN(value, computation_->AddOp(HloOpcode::kTranspose, {value}, std::move(transpose)));
  return Reshape(value, whole);
}

absl::StatusOr<HloInstruction*> TileEmitter::Combine(HloInstruction* part, HloOpcode combiner, const std::vector<std::vector<int64_t>>& groups) {
  HloComputation* computation = computation_->parent()->AddComputation(absl::StrCat("combine_", HloOpcodeString(combiner)));
  const Shape scalar = ShapeUtil::MakeShape(part->shape().element_type(), {});
  HloInstruction* parameters[2];
  for (int64_t i = 0; i < 2; ++i) {
    auto attributes = std::make_unique<ParameterAttrs>();
    attributes->number = i;
    HILO_ASSIGN_OR_RETURN(parameters[i], computation->AddOp(HloOpcode::kParameter, {}, std::move(attributes), {}, &scalar));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * root, computation->AddOp(combiner, parameters));
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(root, true));
  auto attributes = std::make_unique<AllReduceAttrs>();
  attributes->channel_id = (*next_channel_)++;
  attributes->use_global_device_ids = true;
  attributes->replica_groups.groups = OfAllReplicas(groups);
  return computation_->AddOp(HloOpcode::kAllReduce, {part}, std::move(attributes), {computation});
}

absl::Status TileEmitter::Check(const TileAssignment& tiles) const {
  if (static_cast<int64_t>(tiles.tile_of.size()) == partitions_ && absl::c_none_of(tiles.tile_of, [](const auto& tile) { return tile.empty(); })) {
    return absl::OkStatus();
  }
  return InvalidArgument("the sharding is for ", tiles.tile_of.size(), " devices, but the program has ", partitions_,
                         partitions_ == 1 ? " partition" : " partitions");
}

absl::StatusOr<HloInstruction*> TileEmitter::Reshape(HloInstruction* value, const std::vector<int64_t>& sizes) {
  const Shape shape = ShapeUtil::MakeShape(value->shape().element_type(), sizes);
  return computation_->AddOp(HloOpcode::kReshape, {value}, nullptr, {}, &shape);
}

// Rows of `value` are devices; the result's are tiles in row-major order.
absl::StatusOr<HloInstruction*> TileEmitter::InTileOrder(HloInstruction* value, const TileAssignment& tiles) {
  std::vector<int64_t> device_of;
  bool in_order = true;
  for (std::vector<int64_t> tile(tiles.counts.size(), 0);;) {
    const auto it = absl::c_find(tiles.tile_of, tile);
    if (it == tiles.tile_of.end()) return InvalidArgument("no device has tile {", absl::StrJoin(tile, ","), "} of a sharded array");
    device_of.push_back(it - tiles.tile_of.begin());
    in_order &= device_of.back() == static_cast<int64_t>(device_of.size()) - 1;
    if (!IndexUtil::BumpIndices(tiles.counts, absl::MakeSpan(tile))) break;
  }
  if (in_order && static_cast<int64_t>(device_of.size()) == partitions_) return value;
  std::vector<HloInstruction*> rows;
  for (int64_t device : device_of) {
    auto slice = std::make_unique<SliceAttrs>();
    for (int64_t size : value->shape().dimensions()) slice->slice.push_back({0, size, 1});
    slice->slice[0] = {device, device + 1, 1};
    HILO_ASSIGN_OR_RETURN(rows.emplace_back(), computation_->AddOp(HloOpcode::kSlice, {value}, std::move(slice)));
  }
  if (rows.size() == 1) return rows[0];
  auto concatenate = std::make_unique<ConcatenateAttrs>();
  concatenate->dimensions = {0};
  return computation_->AddOp(HloOpcode::kConcatenate, rows, std::move(concatenate));
}

std::vector<std::vector<int64_t>> TileEmitter::OfAllReplicas(const std::vector<std::vector<int64_t>>& groups) const {
  std::vector<std::vector<int64_t>> all;
  for (int64_t replica = 0; replica < computation_->parent()->replica_count(); ++replica) {
    for (const std::vector<int64_t>& group : groups) {
      std::vector<int64_t>& global = all.emplace_back();
      for (int64_t partition : group) global.push_back(replica * partitions_ + partition);
    }
  }
  return all;
}

}  // namespace hilo
