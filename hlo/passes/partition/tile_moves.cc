// The steps of resharding (reshard.h) and shifts (tile_shift.h) as instructions.
#include <algorithm>
#include <map>

#include "absl/algorithm/container.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
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
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t p = 0; p < partitions_; ++p) {
    if (from.tile_of[p] == to.tile_of[p]) pairs.emplace_back(p, p);
  }
  for (const auto& [index, of_tile] : takers) {
    const std::vector<int64_t>& sources = owners[index];
    if (sources.size() != of_tile.size())
      return Join(tile, from, to);  // cannot be: both cuts give each tile to equally many
    for (size_t i = 0; i < of_tile.size(); ++i) pairs.emplace_back(sources[i], of_tile[i]);
  }
  return CollectivePermute(tile, pairs);
}

absl::StatusOr<HloInstruction*> TileEmitter::CollectivePermute(HloInstruction* value,
                                                               absl::Span<const std::pair<int64_t, int64_t>> pairs) {
  std::vector<std::vector<int64_t>> groups;
  for (const auto& [source, target] : pairs) groups.push_back({source, target});
  auto attributes = std::make_unique<CollectivePermuteAttrs>();
  attributes->channel_id = (*next_channel_)++;
  for (const std::vector<int64_t>& pair : OfProgram(groups))
    attributes->source_target_pairs.pairs.emplace_back(pair[0], pair[1]);
  return computation_->AddOp(HloOpcode::kCollectivePermute, {value}, std::move(attributes));
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
  std::vector<std::vector<int64_t>> groups;
  for (const auto& [others, by_part] : owners) {
    for (size_t copy = 0; copy < by_part.begin()->second.size(); ++copy) {
      std::vector<int64_t>& group = groups.emplace_back();
      for (const auto& [part, of_part] : by_part) group.push_back(of_part[copy]);
    }
  }
  exchange->replica_groups.groups = OfProgram(groups);
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

absl::StatusOr<HloInstruction*> TileEmitter::SliceAlong(HloInstruction* value, int64_t dimension, int64_t size,
                                                        const std::vector<int64_t>& starts) {
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes.assign(value->shape().dimensions().begin(), value->shape().dimensions().end());
  if (attributes->dynamic_slice_sizes[dimension] == size) return value;
  if (absl::c_count(starts, starts[0]) == static_cast<std::ptrdiff_t>(starts.size())) {
    std::vector<SliceRange> ranges;
    for (const int64_t length : value->shape().dimensions()) ranges.push_back({0, length, 1});
    const int64_t start = std::clamp<int64_t>(starts[0], 0, ranges[dimension].limit - size);
    ranges[dimension] = {start, start + size, 1};
    return MakeSlice(value, std::move(ranges));
  }
  attributes->dynamic_slice_sizes[dimension] = size;
  HILO_ASSIGN_OR_RETURN(HloInstruction * start, ElementOfPartition(LiteralUtil::CreateR1<int64_t>(starts)));
  std::vector<HloInstruction*> operands(1 + value->shape().rank(),
                                        computation_->AddConstant(LiteralUtil::CreateR0<int64_t>(0)));
  operands[0] = value;
  operands[1 + dimension] = start;
  return computation_->AddOp(HloOpcode::kDynamicSlice, operands, std::move(attributes));
}

absl::StatusOr<HloInstruction*> TileEmitter::PadAlong(HloInstruction* value, int64_t dimension, int64_t low,
                                                      int64_t high, int64_t interior) {
  if (low == 0 && high == 0 && interior == 0) return value;
  HloInstruction* zero = computation_->AddConstant(LiteralUtil::Zero(value->shape().element_type()));
  auto attributes = std::make_unique<PadAttrs>();
  attributes->padding.dimensions.resize(value->shape().rank());
  attributes->padding.dimensions[dimension].edge_padding_low = low;
  attributes->padding.dimensions[dimension].edge_padding_high = high;
  attributes->padding.dimensions[dimension].interior_padding = interior;
  return computation_->AddOp(HloOpcode::kPad, {value, zero}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> TileEmitter::PieceOf(HloInstruction* tile, const ShiftSource& source, int64_t dimension,
                                                     const ShiftRound& round) {
  const int64_t step = std::max(source.stride, -source.stride);
  const int64_t span = (round.length - 1) * step + 1;
  const int64_t overhang = *absl::c_max_element(round.start) + span - tile->shape().dimensions(dimension);
  HILO_ASSIGN_OR_RETURN(HloInstruction * piece, PadAlong(tile, dimension, 0, std::max<int64_t>(overhang, 0)));
  HILO_ASSIGN_OR_RETURN(piece, SliceAlong(piece, dimension, span, round.start));
  if (step > 1) {
    auto slice = std::make_unique<SliceAttrs>();
    for (const int64_t size : piece->shape().dimensions()) slice->slice.push_back({0, size, 1});
    slice->slice[dimension].stride = step;
    HILO_ASSIGN_OR_RETURN(piece, computation_->AddOp(HloOpcode::kSlice, {piece}, std::move(slice)));
  }
  if (source.stride < 0) {
    auto reverse = std::make_unique<ReverseAttrs>();
    reverse->dimensions = {dimension};
    HILO_ASSIGN_OR_RETURN(piece, computation_->AddOp(HloOpcode::kReverse, {piece}, std::move(reverse)));
  }
  return piece;
}

absl::StatusOr<HloInstruction*> TileEmitter::Shift(const std::vector<HloInstruction*>& tiles, HloInstruction* fill,
                                                   const TileShift& shift, const std::vector<ShiftRound>& rounds,
                                                   int64_t count) {
  const int64_t dimension = shift.dimension, size = CeilDiv(shift.result_size, count);
  Shape shape = ShapeUtil::MakeShape(tiles[0]->shape().element_type(), tiles[0]->shape().dimensions());
  shape.set_dimensions(dimension, size);
  HILO_ASSIGN_OR_RETURN(HloInstruction * result, computation_->AddOp(HloOpcode::kBroadcast, {fill},
                                                                     std::make_unique<BroadcastAttrs>(), {}, &shape));
  for (const ShiftRound& round : rounds) {
    const ShiftSource& source = shift.sources[round.source];
    HILO_ASSIGN_OR_RETURN(HloInstruction * piece, PieceOf(tiles[source.operand], source, dimension, round));
    if (!round.is_local) {
      HILO_ASSIGN_OR_RETURN(piece, CollectivePermute(piece, round.pairs));
    }
    HILO_ASSIGN_OR_RETURN(piece, PadAlong(piece, dimension, 0, 0, source.spacing - 1));
    std::vector<int64_t> starts;
    for (const int64_t at : round.at) starts.push_back(size - at);
    const bool is_in_place =
        SpanOf(source, round) == size && absl::c_all_of(round.at, [](int64_t at) { return at == 0; });
    if (!is_in_place) {
      HILO_ASSIGN_OR_RETURN(piece, PadAlong(piece, dimension, size, size));
      HILO_ASSIGN_OR_RETURN(piece, SliceAlong(piece, dimension, size, starts));
    }
    const auto covers = [&](int64_t p) {
      return round.begin[p] == 0 && round.end[p] == size && (source.spacing == 1 || size == 1);
    };
    bool covers_all = true;
    for (int64_t p = 0; p < partitions_; ++p) covers_all &= covers(p);
    if (covers_all) {
      result = piece;
      continue;
    }
    const Shape indices = ShapeUtil::MakeShape(S64, shape.dimensions()),
                mask = ShapeUtil::MakeShape(PRED, shape.dimensions());
    auto iota = std::make_unique<IotaAttrs>();
    iota->iota_dimension = dimension;
    HILO_ASSIGN_OR_RETURN(HloInstruction * index,
                          computation_->AddOp(HloOpcode::kIota, {}, std::move(iota), {}, &indices));
    const auto bound = [&](const std::vector<int64_t>& bounds) -> absl::StatusOr<HloInstruction*> {
      HILO_ASSIGN_OR_RETURN(HloInstruction * own, ElementOfPartition(LiteralUtil::CreateR1<int64_t>(bounds)));
      return MakeBroadcast(own, indices, {});
    };
    const auto compare = [&](HloInstruction* a, ComparisonDirection direction, HloInstruction* b) {
      auto attributes = std::make_unique<CompareAttrs>();
      attributes->direction = direction;
      return computation_->AddOp(HloOpcode::kCompare, {a, b}, std::move(attributes), {}, &mask);
    };
    HILO_ASSIGN_OR_RETURN(HloInstruction * begin, bound(round.begin));
    HILO_ASSIGN_OR_RETURN(HloInstruction * end, bound(round.end));
    HILO_ASSIGN_OR_RETURN(HloInstruction * inside, compare(index, ComparisonDirection::kGe, begin));
    HILO_ASSIGN_OR_RETURN(HloInstruction * before_end, compare(index, ComparisonDirection::kLt, end));
    HILO_ASSIGN_OR_RETURN(inside, computation_->AddOp(HloOpcode::kAnd, {inside, before_end}));
    if (source.spacing > 1) {
      HloInstruction* const spacing = computation_->AddConstant(LiteralUtil::CreateR0<int64_t>(source.spacing));
      HloInstruction* const zero = computation_->AddConstant(LiteralUtil::CreateR0<int64_t>(0));
      HILO_ASSIGN_OR_RETURN(HloInstruction * spacings, MakeBroadcast(spacing, indices, {}));
      HILO_ASSIGN_OR_RETURN(HloInstruction * zeros, MakeBroadcast(zero, indices, {}));
      HILO_ASSIGN_OR_RETURN(HloInstruction * offset, computation_->AddOp(HloOpcode::kSubtract, {index, begin}));
      HILO_ASSIGN_OR_RETURN(offset, computation_->AddOp(HloOpcode::kRemainder, {offset, spacings}));
      HILO_ASSIGN_OR_RETURN(offset, compare(offset, ComparisonDirection::kEq, zeros));
      HILO_ASSIGN_OR_RETURN(inside, computation_->AddOp(HloOpcode::kAnd, {inside, offset}));
    }
    HILO_ASSIGN_OR_RETURN(result, computation_->AddOp(HloOpcode::kSelect, {inside, piece, result}));
  }
  return result;
}

absl::StatusOr<HloInstruction*> TileEmitter::FilledBeyond(HloInstruction* tile, const Shape& whole,
                                                          const TileAssignment& tiles,
                                                          const std::vector<int64_t>& dimensions,
                                                          HloInstruction* fill) {
  const Shape shape = ShapeUtil::MakeShape(tile->shape().element_type(), tile->shape().dimensions()),
              indices = ShapeUtil::MakeShape(S64, shape.dimensions()),
              mask = ShapeUtil::MakeShape(PRED, shape.dimensions());
  HILO_ASSIGN_OR_RETURN(fill, MakeBroadcast(fill, shape, {}));
  for (const int64_t d : dimensions) {
    std::vector<int64_t> ends;
    for (const std::vector<int64_t>& of_partition : tiles.tile_of)
      ends.push_back(whole.dimensions(d) - of_partition[d] * shape.dimensions(d));
    auto iota = std::make_unique<IotaAttrs>();
    iota->iota_dimension = d;
    HILO_ASSIGN_OR_RETURN(HloInstruction * index,
                          computation_->AddOp(HloOpcode::kIota, {}, std::move(iota), {}, &indices));
    HILO_ASSIGN_OR_RETURN(HloInstruction * end, ElementOfPartition(LiteralUtil::CreateR1<int64_t>(ends)));
    HILO_ASSIGN_OR_RETURN(end, MakeBroadcast(end, indices, {}));
    auto compare = std::make_unique<CompareAttrs>();
    compare->direction = ComparisonDirection::kLt;
    HILO_ASSIGN_OR_RETURN(HloInstruction * within,
                          computation_->AddOp(HloOpcode::kCompare, {index, end}, std::move(compare), {}, &mask));
    HILO_ASSIGN_OR_RETURN(tile, computation_->AddOp(HloOpcode::kSelect, {within, tile, fill}));
  }
  return tile;
}

absl::StatusOr<HloInstruction*> TileEmitter::IndicesWithin(HloInstruction* indices, const Shape& whole,
                                                           const TileAssignment& tiles, int64_t vector_dimension,
                                                           const std::vector<int64_t>& indexed) {
  const Shape shape = ShapeUtil::MakeShape(indices->shape().element_type(), indices->shape().dimensions());
  const bool has_vectors = vector_dimension < shape.rank();
  HloInstruction* first = nullptr;  // of the tile, by component
  for (size_t i = 0; i < indexed.size(); ++i) {
    const int64_t d = indexed[i];
    std::vector<int64_t> starts;
    for (const std::vector<int64_t>& tile : tiles.tile_of)
      starts.push_back(tile[d] * CeilDiv(whole.dimensions(d), tiles.counts[d]));
    HILO_ASSIGN_OR_RETURN(HloInstruction * start, ElementOfPartition(LiteralUtil::CreateR1<int64_t>(starts)));
    HILO_ASSIGN_OR_RETURN(start, Reshape(start, {1}));
    if (first == nullptr) {
      first = start;
      continue;
    }
    auto concatenate = std::make_unique<ConcatenateAttrs>();
    concatenate->dimensions = {0};
    HILO_ASSIGN_OR_RETURN(first, computation_->AddOp(HloOpcode::kConcatenate, {first, start}, std::move(concatenate)));
  }
  if (!has_vectors) {
    HILO_ASSIGN_OR_RETURN(first, Reshape(first, {}));
  }
  const Shape converted = ShapeUtil::MakeShape(shape.element_type(), first->shape().dimensions());
  HILO_ASSIGN_OR_RETURN(first, computation_->AddOp(HloOpcode::kConvert, {first}, nullptr, {}, &converted));
  auto broadcast = std::make_unique<BroadcastAttrs>();
  if (has_vectors) broadcast->dimensions = {vector_dimension};
  HILO_ASSIGN_OR_RETURN(first, computation_->AddOp(HloOpcode::kBroadcast, {first}, std::move(broadcast), {}, &shape));
  return computation_->AddOp(HloOpcode::kSubtract, {indices, first});
}

}  // namespace hilo
