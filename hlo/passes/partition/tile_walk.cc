#include "hlo/passes/partition/tile_walk.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/sharding_rule.h"

namespace hilo {
namespace {

absl::StatusOr<Shape> WholeShape(Shape tile, const TileAssignment& tiles) {
  if (static_cast<int64_t>(tiles.counts.size()) != tile.rank())
    return Internal("a sharding of ", tiles.counts.size(), " dimensions of ", tile.ToString());
  for (int64_t d = 0; d < tile.rank(); ++d) tile.set_dimensions(d, tile.dimensions(d) * tiles.counts[d]);
  return tile;
}

}  // namespace

TileWalk::TileWalk(HloComputation* computation, const ManualRegion* region, int64_t* next_channel,
                   const PropagatedShardings& wanted, const HloComputation& original)
    : computation_(computation),
      region_(region),
      partitions_(region != nullptr ? region->members() : computation->parent()->num_partitions()),
      next_channel_(next_channel),
      emitter_(computation, region, next_channel),
      wanted_(wanted) {
  if (computation == &original) return;
  const auto copies = computation->instructions();
  auto copy = copies.begin();
  for (const HloInstruction* instruction : original.MakePostOrder()) originals_[*copy++] = instruction;  // as copied
}

TileWalk& TileWalk::Within(const ManualRegion& region) {
  for (const auto& [begun, walk] : within_) {
    if (begun == &region) return *walk;
  }
  TileWalk& walk = *within_
                        .emplace_back(&region, std::make_unique<TileWalk>(computation_, &region, next_channel_, wanted_,
                                                                          *computation_))
                        .second;
  walk.originals_ = originals_;
  return walk;
}

absl::Status TileWalk::TakeOperands(TileWalk* outer, HloInstruction* op) {
  for (HloInstruction* operand : op->operands()) {
    if (Has(operand)) continue;
    if (operand->opcode() == HloOpcode::kBroadcast || operand->opcode() == HloOpcode::kIota) {
      HILO_RETURN_IF_ERROR(TakeOperands(outer, operand));
      HILO_RETURN_IF_ERROR(Visit(operand));
      continue;
    }
    TileWalk* owner = outer;
    for (const auto& [region, walk] : outer->within_) {
      if (!owner->Has(operand) && walk->Has(operand)) owner = walk.get();
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * whole, owner->Whole(operand));
    Set(operand, {.whole = whole});
  }
  return absl::OkStatus();
}

const DividedValue& TileWalk::Get(const HloInstruction* instruction) const {
  const auto it = values_.find(instruction);
  if (it != values_.end()) return *it->second;
  for (const auto& [region, walk] : within_) {
    if (walk->Has(instruction)) return walk->Get(instruction);
  }
  return *values_.at(instruction);
}

DividedValue DividedOf(HloInstruction* part, const TileAssignment& tiles) {
  return tiles.IsWhole() ? DividedValue{.whole = part} : DividedValue{.tile = part, .tiles = tiles};
}

absl::StatusOr<Leaves> TileWalk::LeavesOf(const HloInstruction* instruction) {
  const std::shared_ptr<DividedValue> value = values_.at(instruction);
  if (!instruction->shape().IsTuple()) return Leaves{value};
  if (value->elements.empty()) {
    for (int64_t i = 0; i < instruction->shape().tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(value->whole, i));
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
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(value, static_cast<int64_t>(i)));
    divided.elements.push_back(std::make_shared<DividedValue>(DividedOf(element, tiles[i])));
  }
  Set(instruction, std::move(divided));
  return absl::OkStatus();
}

absl::StatusOr<HloInstruction*> TileWalk::Whole(DividedValue& value) {
  HILO_RETURN_IF_ERROR(ComputeNow(&value));
  HILO_RETURN_IF_ERROR(Settle(&value));
  if (value.whole != nullptr) return value.whole;
  if (value.tile != nullptr) {
    ++gathered_count_;
    const std::string gatherer(visited_ != nullptr ? absl::string_view(visited_->name()) : "the result");
    if (gatherers_.empty() || gatherers_.back() != gatherer) gatherers_.push_back(gatherer);
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
  HILO_RETURN_IF_ERROR(ComputeNow(&value));
  HILO_RETURN_IF_ERROR(Settle(&value));
  if (value.tile != nullptr && SameTiles(value.tiles, tiles)) {
    value.uses_own_tile = true;
    return value.tile;
  }
  if (tiles.IsWhole()) return Whole(value);
  if (value.whole == nullptr && value.tile != nullptr) {
    for (const auto& [cut, part] : value.more) {
      if (SameTiles(cut, tiles)) return part;
    }
    const TileAssignment common = CommonTiles(value.tiles, tiles);
    if (!common.IsWhole() && !SameTiles(common, value.tiles)) value.joined = common;
    HILO_ASSIGN_OR_RETURN(const Shape whole, WholeShape(value.tile->shape(), value.tiles));
    HILO_ASSIGN_OR_RETURN(HloInstruction * part, emitter_.Reshard(value.tile, whole, value.tiles, tiles));
    value.more.emplace_back(tiles, part);
    return part;
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
  if (is_local) return VisitWhole(instruction);
  if (!MayWait(*instruction)) return Divide(instruction);
  Set(instruction, {.waiting = instruction});
  return absl::OkStatus();
}

absl::Status TileWalk::Divide(HloInstruction* op) {
  const bool is_cut = !Wanted(*op).IsWhole() || absl::c_any_of(op->operands(), [&](const HloInstruction* operand) {
    const DividedValue& value = *values_.at(operand);
    return value.tile != nullptr || value.waiting != nullptr || value.padded.has_value();
  });
  const std::optional<OpFactors> factors = is_cut ? FactorsHere(*op) : std::nullopt;
  if (!factors.has_value()) return VisitWhole(op);
  if (op->shape().IsArray() && op->shape().is_static() && ShapeUtil::ElementsIn(op->shape()) == 0) {
    // It is made of nothing.
    HloInstruction* const zero = computation_->AddConstant(LiteralUtil::Zero(op->shape().element_type()));
    HILO_ASSIGN_OR_RETURN(HloInstruction * empty, MakeBroadcast(zero, op->shape(), {}));
    Set(op, {.whole = empty});
    return absl::OkStatus();
  }
  if (op->opcode() == HloOpcode::kReshape) {
    // Tiles that reach beyond the array stay as they are, if they can.
    HILO_ASSIGN_OR_RETURN(bool done, VisitPadded(op, *factors, std::numeric_limits<double>::infinity()));
    if (!done) {
      HILO_ASSIGN_OR_RETURN(done, VisitReshape(op));
    }
    if (done) return CutAgain(*op);
  }
  const Cuts cuts = ChooseCuts(*op, *factors);
  const double cost = CostOf(*op, *factors, cuts.empty() ? Cuts(factors->count) : cuts);
  for (const auto way :
       {&TileWalk::VisitShift, &TileWalk::VisitScatter, &TileWalk::VisitScan, &TileWalk::VisitWindows,
        &TileWalk::VisitGather, &TileWalk::VisitSliceOfTile, &TileWalk::VisitUpdate, &TileWalk::VisitReduction,
        &TileWalk::VisitReductionInSteps, &TileWalk::VisitSelectAndScatter, &TileWalk::VisitPadded}) {
    HILO_ASSIGN_OR_RETURN(const bool done, (this->*way)(op, *factors, cost));
    if (done) return CutAgain(*op);
  }
  HILO_RETURN_IF_ERROR(cuts.empty() ? VisitWhole(op) : VisitTiled(op, *factors, cuts));
  return CutAgain(*op);
}

absl::Status TileWalk::ComputeNow(DividedValue* value) {
  HloInstruction* op = std::exchange(value->waiting, nullptr);
  if (op == nullptr) return absl::OkStatus();
  const std::shared_ptr<DividedValue> own = values_.at(op);  // *value
  HILO_RETURN_IF_ERROR(Divide(op));
  *own = *values_.at(op);
  values_[op] = own;
  return absl::OkStatus();
}

TileAssignment TileWalk::Propagated(const HloInstruction& instruction, size_t leaf) const {
  const TileAssignment tiles = wanted_.Of(OriginalOf(&instruction), leaf);
  return region_ == nullptr ? tiles : region_->OfMembers(tiles);
}

TileAssignment TileWalk::TilesNow(const HloInstruction& instruction) const {
  const DividedValue& value = *values_.at(&instruction);
  const bool is_padded = value.padded.has_value() && value.whole == nullptr && value.tile == nullptr;
  return is_padded ? value.padded->tiles : value.tiles;
}

TileAssignment TileWalk::WantedOfDevices(const HloInstruction& instruction, size_t leaf) const {
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(instruction.shape());
  if (leaf >= leaves.size() || !leaves[leaf].shape->IsArray()) return TileAssignment();
  return DividingTiles(*leaves[leaf].shape, wanted_.Of(OriginalOf(&instruction), leaf),
                       computation_->parent()->num_partitions());
}

std::optional<OpFactors> TileWalk::FactorsHere(const HloInstruction& op) const {
  std::optional<OpFactors> factors = FactorsOf(op);
  return factors.has_value() || region_ == nullptr ? factors : region_->FactorsOf(op);
}

TileAssignment TileWalk::Wanted(const HloInstruction& instruction, size_t leaf) const {
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(instruction.shape());
  if (leaf >= leaves.size() || !leaves[leaf].shape->IsArray()) return TileAssignment();
  const TileAssignment tiles = DividingTiles(*leaves[leaf].shape, Propagated(instruction, leaf), partitions_);
  return IsResult(instruction) ? wanted_.WholeAxes(tiles) : tiles;
}

bool TileWalk::IsResult(const HloInstruction& instruction) const {
  const HloInstruction* root = computation_->root_instruction();
  if (region_ != nullptr || !computation_->IsEntry()) return false;
  if (&instruction == root) return true;
  return !instruction.users().empty() && absl::c_all_of(instruction.users(), [&](const HloInstruction* user) {
    if (user == root) return root->opcode() == HloOpcode::kTuple;
    return IsShardingMark(*user) && !StatesSharding(*user) && IsResult(*user);
  });
}

TileAssignment TileWalk::WantedOfResult(size_t leaf) const {
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(computation_->root_instruction()->shape());
  return wanted_.WholeAxes(DividingTiles(*leaves[leaf].shape, wanted_.OfResult(leaf), partitions_));
}

TileAssignment TileWalk::WantedOfParameter(const HloInstruction& parameter) const {
  return DividingTiles(parameter.shape(), wanted_.Of(&parameter), partitions_);
}

// The result is cut as it should be from here on, where that takes no more than to leave out what others have too.
absl::Status TileWalk::CutAgain(const HloInstruction& op) {
  HILO_ASSIGN_OR_RETURN(const Leaves leaves, LeavesOf(&op));
  for (size_t i = 0; i < leaves.size(); ++i) {
    DividedValue& value = *leaves[i];
    const TileAssignment tiles = Wanted(op, i);
    if (value.is_local || tiles.IsWhole() || value.padded.has_value()) continue;
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
  if (region_ != nullptr && op->opcode() == HloOpcode::kPartitionId) value.is_local = false;
  const bool has_arrays =
      absl::c_any_of(ShapeUtil::Leaves(op->shape()), [](const ShapeUtil::Leaf& leaf) { return leaf.shape->IsArray(); });
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    DividedValue& operand = *values_.at(op->operand(i));
    value.is_local |= operand.is_local && has_arrays;  // a token is nothing
    HILO_ASSIGN_OR_RETURN(HloInstruction * whole, Whole(operand));
    if (whole != op->operand(i)) computation_->ReplaceOperand(op, i, whole);
  }
  const auto leaves = static_cast<size_t>(ShapeUtil::Leaves(op->shape()).size());
  // What is made of scalars is whole for little, and a broadcast has no more to repeat than its operand: its users take
  // a smaller broadcast (TileEmitter::Cut).
  const bool repeats =
      op->opcode() != HloOpcode::kBroadcast && absl::c_any_of(op->operands(), [](const HloInstruction* operand) {
        return operand->shape().IsArray() && operand->shape().rank() > 0;
      });
  for (size_t i = 0; i < leaves && !value.is_local && repeats; ++i) {
    if (Wanted(*op, i).IsWhole()) continue;
    repeated_.push_back(op->name());
    break;
  }
  Set(op, std::move(value));
  return absl::OkStatus();
}

std::optional<int64_t> TileWalk::ScatterDimension(const Cuts& cuts, const OpFactors& factors,
                                                  const TileAssignment& from, const TileAssignment& wanted) const {
  if (wanted.IsWhole()) return std::nullopt;
  TileCut parts;
  for (const int factor : factors.combined) parts = Nested(parts, cuts[factor]);
  if (parts.count == 1) return std::nullopt;
  std::optional<int64_t> dimension;
  for (int64_t d = 0; d < static_cast<int64_t>(wanted.counts.size()); ++d) {
    const TileCut before = CutOfDimension(from, d), after = CutOfDimension(wanted, d);
    if (before == after) continue;
    if (dimension.has_value() || !IsPrefix(before, after) || RestOf(after, before.count) != parts) return std::nullopt;
    dimension = d;
  }
  return dimension;
}

TileAssignment TileWalk::TilesOf(const Cuts& cuts, const std::vector<int>& factors) const {
  std::vector<TileCut> of_dimensions;
  for (const int factor : factors) of_dimensions.push_back(factor == OpFactors::kNone ? TileCut() : cuts[factor]);
  return TilesOfCuts(of_dimensions, partitions_);
}

TileAssignment TileWalk::TilesOfResult(const Cuts& cuts, const OpFactors& factors, const Shape& shape) const {
  std::vector<int> result = factors.result;
  result.resize(shape.rank(), OpFactors::kNone);
  return TilesOf(cuts, result);
}

std::vector<TileAssignment> TileWalk::TilesOfResults(const Cuts& cuts, const OpFactors& factors,
                                                     const Shape& shape) const {
  std::vector<TileAssignment> tiles;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape))
    tiles.push_back(TilesOfResult(cuts, factors, *leaf.shape));
  return tiles;
}

// Partitions that differ in the coordinates of combined factors alone, one of each.
std::vector<std::vector<int64_t>> TileWalk::GroupsToCombine(const Cuts& cuts, const OpFactors& factors) const {
  // By the other coordinates; within these, by the combined ones.
  std::map<std::vector<int64_t>, std::map<std::vector<int64_t>, std::vector<int64_t>>> partitions;
  for (int64_t p = 0; p < partitions_; ++p) {
    std::vector<int64_t> kept, combined;
    for (size_t factor = 0; factor < cuts.size(); ++factor) {
      if (cuts[factor].count == 1) continue;
      (absl::c_linear_search(factors.combined, static_cast<int>(factor)) ? combined : kept)
          .push_back(cuts[factor].tile_of[p]);
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

// A reshape of tiles is one of the tile if the dimensions that are cut have their cuts' sizes as major factors: they
// are on the other side too. The result has the sharding that it should have, if that needs no more exchange.
absl::StatusOr<bool> TileWalk::VisitReshape(HloInstruction* reshape) {
  const HloInstruction& operand = *reshape->operand(0);
  const DividedValue& value = *values_.at(&operand);
  const TileAssignment wanted = Wanted(*reshape), here = value.tile != nullptr ? value.tiles : TileAssignment();
  std::optional<std::pair<TileAssignment, TileAssignment>> best;
  double least = 0;
  const auto consider = [&](TileAssignment of_operand, TileAssignment of_result) {
    if (of_operand.IsWhole() || !TileShape(operand.shape(), of_operand).ok() ||
        !TileShape(reshape->shape(), of_result).ok())
      return;
    const double cost =
        CostOf(operand, of_operand) + ReshardBytes(reshape->shape(), of_result, wanted, partitions_) +
        kWorkPerByte * (TileBytes(operand.shape(), of_operand) + TileBytes(reshape->shape(), of_result));
    if (best.has_value() && cost >= least) return;
    least = cost;
    best = {std::move(of_operand), std::move(of_result)};
  };
  if (std::optional<TileAssignment> tiles = ReshapedTiles(operand.shape(), here, reshape->shape(), partitions_);
      tiles.has_value())
    consider(here, *tiles);
  if (std::optional<TileAssignment> tiles = ReshapedTiles(reshape->shape(), wanted, operand.shape(), partitions_);
      tiles.has_value())
    consider(*tiles, wanted);
  if (!best.has_value()) return false;
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, Tile(&operand, best->first));
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(reshape->shape(), best->second));
  tile = computation_->AddInstruction(reshape->CloneWithNewOperands(shape, {tile}), reshape->name());
  HILO_RETURN_IF_ERROR(SetDivided(reshape, tile, {best->second}));
  return true;
}

absl::Status TileWalk::VisitTiled(HloInstruction* op, const OpFactors& factors, const Cuts& cuts) {
  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Tile(op->operand(i), TilesOf(cuts, factors.operands[i])));
  }
  Shape shape = op->shape();
  if (shape.IsTuple()) {
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
      const Shape& one = shape.tuple_shapes(i);
      HILO_ASSIGN_OR_RETURN(*shape.mutable_tuple_shapes(i), TileShape(one, TilesOfResult(cuts, factors, one)));
    }
  } else {
    HILO_ASSIGN_OR_RETURN(shape, TileShape(shape, TilesOf(cuts, factors.result)));
  }
  HloInstruction* tile = computation_->AddInstruction(op->CloneWithNewOperands(shape, operands), op->name());
  SetTileSizes(factors, tile);
  HILO_RETURN_IF_ERROR(SetComputed(op, tile, factors, cuts));
  return KeepWhole(op);
}

// Arithmetic on arrays of which every partition has the whole is repeated where other tiles are needed, or the whole,
// rather than that these are exchanged.
absl::Status TileWalk::KeepWhole(HloInstruction* op) {
  const auto has_whole = [&](const HloInstruction* operand) { return values_.at(operand)->whole != nullptr; };
  if (!IsElementwise(op->opcode()) || !op->shape().IsArray() || !absl::c_all_of(op->operands(), has_whole))
    return absl::OkStatus();
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * whole, Whole(op->operand(i)));
    if (whole != op->operand(i)) computation_->ReplaceOperand(op, i, whole);
  }
  values_.at(op)->whole = op;
  return absl::OkStatus();
}

absl::Status TileWalk::SetComputed(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors,
                                   const Cuts& cuts) {
  if (absl::c_any_of(factors.combined, [&](int factor) { return cuts[factor].count != 1; })) {
    const TileAssignment tiles = TilesOf(cuts, factors.result);
    const std::vector<std::vector<int64_t>> groups = GroupsToCombine(cuts, factors);
    const TileAssignment wanted = Wanted(*op);
    if (const auto dimension = ScatterDimension(cuts, factors, tiles, wanted); dimension.has_value()) {
      HILO_ASSIGN_OR_RETURN(tile, emitter_.ReduceScatter(tile, *factors.combiner, groups, *dimension));
      return SetDivided(op, tile, {wanted});
    }
    HILO_ASSIGN_OR_RETURN(tile, emitter_.Combine(tile, *factors.combiner, groups));
  }
  return SetDivided(op, tile, TilesOfResults(cuts, factors, op->shape()));
}

}  // namespace hilo
