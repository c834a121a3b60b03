#include "hlo/passes/partition/tile_walk.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

DividedValue DividedOf(HloInstruction* part, const TileAssignment& tiles) {
  return tiles.IsWhole() ? DividedValue{.whole = part} : DividedValue{.tile = part, .tiles = tiles};
}

absl::StatusOr<HloInstruction*> TileWalk::ElementOf(HloInstruction* tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return computation_->AddOp(HloOpcode::kGetTupleElement, {tuple}, std::move(attributes));
}

absl::StatusOr<Leaves> TileWalk::LeavesOf(const HloInstruction* instruction) {
  const std::shared_ptr<DividedValue> value = values_.at(instruction);
  if (!instruction->shape().IsTuple()) return Leaves{value};
  if (value->elements.empty()) {
    for (int64_t i = 0; i < instruction->shape().tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, ElementOf(value->whole, i));
      value->elements.push_back(
          std::make_shared<DividedValue>(DividedValue{.whole = element, .is_local = value->is_local}));
    }
  }
  return value->elements;
}

absl::StatusOr<HloInstruction*> TileWalk::Reduce(HloInstruction* part, const TileAssignment& tiles) {
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, emitter_.Reduce(part, tiles));
  if (tile != part) Set(tile, {.whole = tile, .is_local = true});  // not to be visited
  return tile;
}

absl::StatusOr<HloInstruction*> TileWalk::Pack(const Leaves& leaves, const std::vector<TileAssignment>& tiles,
                                               bool is_tuple) {
  std::vector<HloInstruction*> values;
  for (size_t i = 0; i < leaves.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, Tile(*leaves[i], tiles[i].Reduced()));
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), emitter_.PartOf(tile, tiles[i]));
  }
  if (!is_tuple) return values[0];
  return computation_->AddOp(HloOpcode::kTuple, values);
}

absl::Status TileWalk::SetDivided(const HloInstruction* instruction, HloInstruction* value,
                                  const std::vector<TileAssignment>& tiles) {
  if (!value->shape().IsTuple()) {
    Set(instruction, DividedOf(value, tiles[0]));
    return absl::OkStatus();
  }
  DividedValue divided;
  if (absl::c_all_of(tiles, [](const TileAssignment& one) { return one.IsWhole(); })) divided.whole = value;
  for (size_t i = 0; i < tiles.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, ElementOf(value, static_cast<int64_t>(i)));
    divided.elements.push_back(std::make_shared<DividedValue>(DividedOf(element, tiles[i])));
  }
  Set(instruction, std::move(divided));
  return absl::OkStatus();
}

absl::StatusOr<HloInstruction*> TileWalk::Whole(DividedValue& value) {
  if (value.whole != nullptr) return value.whole;
  if (value.tile != nullptr) {
    if (++gathered_count_ == 1 && visited_ != nullptr) first_gatherer_ = visited_->name();
    HILO_ASSIGN_OR_RETURN(value.whole, emitter_.Join(value.tile, value.tiles));
    return value.whole;
  }
  std::vector<HloInstruction*> elements;
  for (const std::shared_ptr<DividedValue>& element : value.elements) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), Whole(*element));
  }
  HILO_ASSIGN_OR_RETURN(value.whole, computation_->AddOp(HloOpcode::kTuple, elements));
  return value.whole;
}

absl::StatusOr<HloInstruction*> TileWalk::Tile(DividedValue& value, const TileAssignment& tiles) {
  if (value.tile != nullptr && SameTiles(value.tiles, tiles)) return value.tile;
  if (tiles.IsWhole()) return Whole(value);
  if (value.whole == nullptr && value.tile != nullptr) {
    for (const auto& [cut, part] : value.more) {
      if (SameTiles(cut, tiles)) return part;
    }
    const TileAssignment common = CommonTiles(value.tiles, tiles);
    if (!common.IsWhole()) {
      if (!SameTiles(common, value.tiles)) value.joined = common;
      HILO_ASSIGN_OR_RETURN(HloInstruction * part, emitter_.Join(value.tile, value.tiles, common));
      HILO_ASSIGN_OR_RETURN(part, emitter_.Cut(part, TilesWithin(common, tiles)));
      value.more.emplace_back(tiles, part);
      return part;
    }
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * whole, Whole(value));
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, emitter_.Cut(whole, tiles));
  if (value.tile == nullptr) {
    value.tile = tile;
    value.tiles = tiles;
  }
  return tile;
}

absl::Status TileWalk::Visit(HloInstruction* instruction) {
  if (instruction->opcode() == HloOpcode::kTuple) {
    DividedValue value;
    bool is_changed = false;
    for (const HloInstruction* operand : instruction->operands()) {
      value.elements.push_back(values_.at(operand));
      is_changed |= value.elements.back()->whole != operand;
      value.is_local |= value.elements.back()->is_local;
    }
    if (!is_changed) value.whole = instruction;
    Set(instruction, std::move(value));
    return absl::OkStatus();
  }
  if (instruction->opcode() == HloOpcode::kGetTupleElement) {
    const std::shared_ptr<DividedValue> tuple = values_.at(instruction->operand(0));
    if (!tuple->elements.empty()) {
      values_[instruction] = tuple->elements[instruction->tuple_index()];
      return absl::OkStatus();
    }
    return VisitWhole(instruction);
  }
  const bool is_local = absl::c_any_of(instruction->operands(),
                                       [&](const HloInstruction* operand) { return values_.at(operand)->is_local; });
  const bool is_cut = absl::c_any_of(
      instruction->operands(), [&](const HloInstruction* operand) { return values_.at(operand)->tile != nullptr; });
  if (is_cut && !is_local) {
    if (const std::optional<OpFactors> factors = FactorsOf(*instruction); factors.has_value()) {
      const TileAssignment alike = TilesAlike(*instruction);
      const Cuts cuts = ChooseCuts(*instruction, *factors);
      HILO_RETURN_IF_ERROR(cuts.counts.empty() ? VisitWhole(instruction) : VisitTiled(instruction, *factors, cuts));
      return CutAgain(*instruction, alike);
    }
  }
  return VisitWhole(instruction);
}

// Those of the operand that the result resembles.
TileAssignment TileWalk::TilesAlike(const HloInstruction& op) const {
  const auto is_cut = [&](int64_t i) { return values_.at(op.operand(i))->tile != nullptr; };
  const std::optional<int64_t> operand = OperandAlike(op, is_cut);
  return operand.has_value() ? values_.at(op.operand(*operand))->tiles : TileAssignment();
}

// The result is cut as `tiles` from here on, where that takes no more than to leave out what others have too. So are
// results in XLA.
absl::Status TileWalk::CutAgain(const HloInstruction& op, const TileAssignment& tiles) {
  if (tiles.IsWhole()) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(const Leaves leaves, LeavesOf(&op));
  for (size_t i = 0; i < leaves.size(); ++i) {
    DividedValue& value = *leaves[i];
    const Shape& shape = op.shape().IsTuple() ? op.shape().tuple_shapes(static_cast<int64_t>(i)) : op.shape();
    if (value.is_local || !TileShape(shape, tiles).ok()) continue;
    if (value.tile != nullptr && !SameTiles(CommonTiles(value.tiles, tiles), value.tiles)) continue;
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, Tile(value, tiles));
    if (value.tile == tile) continue;
    value.more.emplace_back(std::move(value.tiles), value.tile);
    value.tile = tile;
    value.tiles = tiles;
  }
  return absl::OkStatus();
}

bool TileWalk::IsSourceOfLocals(const HloInstruction& op) {
  return HasTrait(op.opcode(), kSideEffect) || op.opcode() == HloOpcode::kPartitionId;
}

absl::Status TileWalk::VisitWhole(HloInstruction* op) {
  DividedValue value{.whole = op, .is_local = IsSourceOfLocals(*op)};
  const bool has_arrays =
      absl::c_any_of(ShapeUtil::Leaves(op->shape()), [](const ShapeUtil::Leaf& leaf) { return leaf.shape->IsArray(); });
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    DividedValue& operand = *values_.at(op->operand(i));
    value.is_local |= operand.is_local && has_arrays;  // a token is nothing
    HILO_ASSIGN_OR_RETURN(HloInstruction * whole, Whole(operand));
    if (whole != op->operand(i)) computation_->ReplaceOperand(op, i, whole);
  }
  Set(op, std::move(value));
  return absl::OkStatus();
}

// Whether all dimensions of the factor can be cut into as many parts.
bool TileWalk::Fits(const HloInstruction& op, const OpFactors& factors, int factor, int64_t count) const {
  const auto fits = [&](const Shape& shape, const std::vector<int>& of) {
    for (size_t d = 0; d < of.size(); ++d) {
      const int64_t size = shape.dimensions(static_cast<int64_t>(d));
      if (of[d] == factor && (size == 0 || size % count != 0)) return false;
    }
    return true;
  };
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    if (!fits(op.operand(i)->shape(), factors.operands[i])) return false;
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op.shape())) {
    if (!fits(*leaf.shape, factors.result)) return false;
  }
  return true;
}

// Every combination of coordinates belongs to equally many partitions.
bool TileWalk::AreEven(const Cuts& cuts) const {
  int64_t combinations = 1;
  for (int64_t count : cuts.counts) {
    combinations *= count;
    if (combinations > partitions_) return false;
  }
  if (partitions_ % combinations != 0) return false;
  std::map<std::vector<int64_t>, int64_t> owners;
  for (int64_t p = 0; p < partitions_; ++p) {
    std::vector<int64_t> combination;
    for (const std::vector<int64_t>& coordinates : cuts.coordinates)
      combination.push_back(coordinates.empty() ? 0 : coordinates[p]);
    ++owners[combination];
  }
  return static_cast<int64_t>(owners.size()) == combinations &&
         absl::c_all_of(owners, [&](const auto& entry) { return entry.second == partitions_ / combinations; });
}

// Sharded dimensions of operands, by priority: of larger arrays, which are expensive to gather; of products, those that
// come first in the result, as batches do, and those that are summed up last: batch sharding is preserved, and
// weights are gathered if need be.
std::vector<TileWalk::CutDimension> TileWalk::CutDimensions(const HloInstruction& op, const OpFactors& factors) const {
  std::vector<CutDimension> cut;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const DividedValue& operand = *values_.at(op.operand(i));
    if (operand.tile == nullptr) continue;
    for (size_t d = 0; d < operand.tiles.counts.size(); ++d) {
      if (operand.tiles.counts[d] != 1 && factors.operands[i][d] != OpFactors::kNone)
        cut.push_back({i, d, factors.operands[i][d]});
    }
  }
  std::stable_sort(cut.begin(), cut.end(), [&](const CutDimension& a, const CutDimension& b) {
    return ShapeUtil::ElementsIn(op.operand(a.operand)->shape()) >
           ShapeUtil::ElementsIn(op.operand(b.operand)->shape());
  });
  if (op.opcode() == HloOpcode::kDot || op.opcode() == HloOpcode::kConvolution) {
    const auto place = [&](const CutDimension& one) {
      return absl::c_find(factors.result, one.factor) - factors.result.begin();
    };
    std::stable_sort(cut.begin(), cut.end(),
                     [&](const CutDimension& a, const CutDimension& b) { return place(a) < place(b); });
  }
  return cut;
}

// Takes the cuts of the operands as far as they go together.
TileWalk::Cuts TileWalk::ChooseCuts(const HloInstruction& op, const OpFactors& factors) const {
  Cuts cuts{.counts = std::vector<int64_t>(factors.count, 1),
            .coordinates = std::vector<std::vector<int64_t>>(factors.count)};
  bool any = false;
  for (const auto& [operand, dimension, factor] : CutDimensions(op, factors)) {
    const TileAssignment& tiles = values_.at(op.operand(operand))->tiles;
    const int64_t count = tiles.counts[dimension];
    if (cuts.counts[factor] != 1 || !Fits(op, factors, factor, count)) continue;
    cuts.counts[factor] = count;
    for (int64_t p = 0; p < partitions_; ++p) cuts.coordinates[factor].push_back(tiles.tile_of[p][dimension]);
    if (AreEven(cuts)) {
      any = true;
    } else {
      cuts.counts[factor] = 1;
      cuts.coordinates[factor].clear();
    }
  }
  return any ? cuts : Cuts();
}

TileAssignment TileWalk::CutAlso(const HloInstruction& instruction, const TileAssignment& tiles,
                                 const std::vector<bool>& open) const {
  const DividedValue& value = *values_.at(&instruction);
  Cuts cuts{.counts = std::vector<int64_t>(open.size(), 1),
            .coordinates = std::vector<std::vector<int64_t>>(open.size())};
  std::vector<int> factors(open.size());
  std::iota(factors.begin(), factors.end(), 0);
  const auto cut = [&](size_t d, const TileAssignment& as) {
    cuts.counts[d] = as.counts[d];
    for (int64_t p = 0; p < partitions_; ++p) cuts.coordinates[d].push_back(as.tile_of[p][d]);
  };
  for (size_t d = 0; d < tiles.counts.size(); ++d) {
    if (tiles.counts[d] != 1) cut(d, tiles);
  }
  for (size_t d = 0; d < open.size(); ++d) {
    if (!open[d] || cuts.counts[d] != 1 || value.tile == nullptr || value.tiles.counts[d] == 1) continue;
    cut(d, value.tiles);
    if (AreEven(cuts)) continue;
    cuts.counts[d] = 1;
    cuts.coordinates[d].clear();
  }
  return TilesOf(cuts, factors);
}

TileAssignment TileWalk::TilesOf(const Cuts& cuts, const std::vector<int>& factors) const {
  TileAssignment tiles;
  if (absl::c_all_of(factors, [&](int factor) { return factor == OpFactors::kNone || cuts.counts[factor] == 1; }))
    return tiles;
  tiles.tile_of.resize(partitions_);
  for (int factor : factors) {
    const bool is_cut = factor != OpFactors::kNone && cuts.counts[factor] != 1;
    tiles.counts.push_back(is_cut ? cuts.counts[factor] : 1);
    for (int64_t p = 0; p < partitions_; ++p) tiles.tile_of[p].push_back(is_cut ? cuts.coordinates[factor][p] : 0);
  }
  return tiles;
}

// Partitions that differ in the coordinates of combined factors alone, one of each.
std::vector<std::vector<int64_t>> TileWalk::GroupsToCombine(const Cuts& cuts, const OpFactors& factors) const {
  // By the other coordinates; within these, by the combined ones.
  std::map<std::vector<int64_t>, std::map<std::vector<int64_t>, std::vector<int64_t>>> partitions;
  for (int64_t p = 0; p < partitions_; ++p) {
    std::vector<int64_t> kept, combined;
    for (size_t factor = 0; factor < cuts.counts.size(); ++factor) {
      if (cuts.counts[factor] == 1) continue;
      (absl::c_linear_search(factors.combined, static_cast<int>(factor)) ? combined : kept)
          .push_back(cuts.coordinates[factor][p]);
    }
    partitions[kept][combined].push_back(p);
  }
  std::vector<std::vector<int64_t>> groups;
  for (const auto& [kept, by_combined] : partitions) {
    for (size_t copy = 0; copy < by_combined.begin()->second.size(); ++copy) {
      std::vector<int64_t>& group = groups.emplace_back();
      for (const auto& [combined, owners] : by_combined) group.push_back(owners[copy]);
    }
  }
  return groups;
}

absl::Status TileWalk::VisitTiled(HloInstruction* op, const OpFactors& factors, const Cuts& cuts) {
  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Tile(op->operand(i), TilesOf(cuts, factors.operands[i])));
  }
  const TileAssignment tiles = TilesOf(cuts, factors.result);
  Shape shape = op->shape();
  if (shape.IsTuple()) {
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(*shape.mutable_tuple_shapes(i), TileShape(shape.tuple_shapes(i), tiles));
    }
  } else {
    HILO_ASSIGN_OR_RETURN(shape, TileShape(shape, tiles));
  }
  HloInstruction* tile = computation_->AddInstruction(op->CloneWithNewOperands(shape, operands), op->name());
  SetTileSizes(factors, tile);
  if (absl::c_any_of(factors.combined, [&](int factor) { return cuts.counts[factor] != 1; })) {
    HILO_ASSIGN_OR_RETURN(tile, emitter_.Combine(tile, *factors.combiner, GroupsToCombine(cuts, factors)));
  }
  return SetDivided(op, tile, std::vector<TileAssignment>(shape.IsTuple() ? shape.tuple_shapes_size() : 1, tiles));
}

}  // namespace hilo
