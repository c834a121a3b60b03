// Ops on tiles that do not divide an array: its size is rounded up, and the last tiles reach beyond it. What they have
// there means nothing, and is replaced where elements are combined.
//
//   x = f32[7] in 4 tiles, cut from f32[8]:   1 2 | 3 4 | 5 6 | 7 .      sum:   1 2 | 3 4 | 5 6 | 7 0  =>  all-reduce
//
// Such tiles begin where elements are moved along a cut dimension (visit_moves.cc). Ops that are not divided that way
// get the whole array.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// Besides the element-wise ops: those that keep the elements of a tile in their order, and that combine them.
constexpr OpcodeSet kOnPadded = {
    HloOpcode::kBitcastConvert, HloOpcode::kBroadcast, HloOpcode::kConcatenate, HloOpcode::kDot, HloOpcode::kPad,
    HloOpcode::kReduce,         HloOpcode::kSlice,     HloOpcode::kTranspose,
};

// Ops through which a value on such tiles is followed to those that combine its elements; and these.
constexpr OpcodeSet kKeepsElements = {HloOpcode::kBitcastConvert, HloOpcode::kBroadcast, HloOpcode::kTranspose};
constexpr OpcodeSet kCombines = {HloOpcode::kDot, HloOpcode::kReduce};
constexpr size_t kMostFollowed = 64;

// Whether the tiles of dimensions that have a factor in common divide both of them, or both are as long.
bool TilesMatch(const Shape& a, const std::vector<int>& of_a, const Shape& b, const std::vector<int>& of_b,
                absl::Span<const TileCut> cuts) {
  for (size_t i = 0; i < of_a.size(); ++i) {
    const auto j = absl::c_find(of_b, of_a[i]) - of_b.begin();
    if (of_a[i] == OpFactors::kNone || j == static_cast<std::ptrdiff_t>(of_b.size())) continue;
    const int64_t size_a = a.dimensions(static_cast<int64_t>(i)), size_b = b.dimensions(j), count = cuts[of_a[i]].count;
    if (size_a != size_b && (size_a % count != 0 || size_b % count != 0)) return false;
  }
  return true;
}

bool Divides(const Shape& shape, const TileAssignment& tiles) { return TileShape(shape, tiles).ok(); }

}  // namespace

TileAssignment DividedPart(const PaddedTile& padded, int64_t devices) {
  std::vector<TileCut> cuts;
  for (int64_t d = 0; d < padded.whole.rank(); ++d) {
    TileCut cut = CutOfDimension(padded.tiles, d);
    cuts.push_back(padded.whole.dimensions(d) % cut.count == 0 ? std::move(cut) : TileCut());
  }
  return TilesOfCuts(cuts, devices);
}

absl::Status TileWalk::Settle(DividedValue* value) {
  if (!value->padded.has_value() || value->whole != nullptr || value->tile != nullptr) return absl::OkStatus();
  const PaddedTile& padded = *value->padded;
  const TileAssignment settled = DividedPart(padded, partitions_);
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, emitter_.Join(padded.tile, padded.tiles, settled));
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(padded.whole, settled));
  std::vector<SliceRange> ranges;
  for (const int64_t size : shape.dimensions()) ranges.push_back({0, size, 1});
  HILO_ASSIGN_OR_RETURN(tile, MakeSlice(tile, std::move(ranges)));
  if (settled.IsWhole()) {
    value->whole = tile;
  } else {
    value->tile = tile;
    value->tiles = settled;
  }
  return absl::OkStatus();
}

bool StaysPadded(const HloInstruction& op) {
  std::vector<const HloInstruction*> left = {&op};
  for (size_t i = 0; i < left.size(); ++i) {
    if (i >= kMostFollowed || left[i]->IsRoot() || left[i]->users().empty()) return false;
    for (const HloInstruction* user : left[i]->users()) {
      if (absl::c_linear_search(left, user)) continue;
      if (IsElementwise(user->opcode()) || kKeepsElements.contains(user->opcode())) {
        left.push_back(user);
      } else if (!kCombines.contains(user->opcode())) {
        return false;
      }
    }
  }
  return true;
}

double TileWalk::CostOfPadded(const HloInstruction& operand, const TileAssignment& tiles) const {
  const DividedValue& value = *values_.at(&operand);
  if (value.padded.has_value() && SameTiles(value.padded->tiles, tiles)) return 0;
  if (Divides(operand.shape(), tiles)) return CostOf(operand, tiles);
  return value.whole != nullptr ? 0 : TileBytes(operand.shape(), {});
}

absl::StatusOr<HloInstruction*> TileWalk::TileOfPadded(const HloInstruction& operand, const TileAssignment& tiles) {
  DividedValue& value = *values_.at(&operand);
  if (value.padded.has_value() && SameTiles(value.padded->tiles, tiles)) return value.padded->tile;
  if (Divides(operand.shape(), tiles)) return Tile(value, tiles);
  HILO_ASSIGN_OR_RETURN(HloInstruction * whole, Whole(value));
  const Shape shape = PaddedTileShape(operand.shape(), tiles);
  if (whole->opcode() == HloOpcode::kBroadcast && whole->operand(0)->shape().IsScalar())
    return MakeBroadcast(whole->mutable_operand(0), ShapeUtil::MakeShape(shape.element_type(), shape.dimensions()), {});
  auto pad = std::make_unique<PadAttrs>();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    pad->padding.dimensions.emplace_back().edge_padding_high =
        shape.dimensions(d) * tiles.counts[d] - operand.shape().dimensions(d);
  }
  HloInstruction* const zero = computation_->AddConstant(LiteralUtil::Zero(shape.element_type()));
  HILO_ASSIGN_OR_RETURN(whole, computation_->AddOp(HloOpcode::kPad, {whole, zero}, std::move(pad)));
  return emitter_.Cut(whole, tiles);
}

absl::Status TileWalk::SetPadded(const HloInstruction* op, HloInstruction* tile, const TileAssignment& tiles) {
  if (Divides(op->shape(), tiles)) return SetDivided(op, tile, {tiles});
  DividedValue value;
  value.padded = PaddedTile{tile, tiles, op->shape()};
  Set(op, std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<bool> TileWalk::VisitPadded(HloInstruction* op, const OpFactors& factors, double limit) {
  if ((!IsElementwise(op->opcode()) && !kOnPadded.contains(op->opcode())) || !op->shape().IsArray()) return false;
  if (op->opcode() == HloOpcode::kReduce && op->operand_count() != 2) return false;
  Cuts cuts(factors.count);
  bool has_padded = false;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    const DividedValue& value = *values_.at(op->operand(i));
    if (!value.padded.has_value() || value.whole != nullptr || value.tile != nullptr) continue;
    has_padded = true;
    for (size_t d = 0; d < factors.operands[i].size(); ++d) {
      TileCut cut = CutOfDimension(value.padded->tiles, static_cast<int64_t>(d));
      if (cut.count == 1) continue;
      const int factor = factors.operands[i][d];
      if (factor == OpFactors::kNone || (cuts[factor].count > 1 && cuts[factor] != cut)) return false;
      cuts[factor] = std::move(cut);
    }
  }
  if (!has_padded || !AreIndependent(cuts, partitions_)) return false;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    if (!TilesMatch(op->operand(i)->shape(), factors.operands[i], op->shape(), factors.result, cuts)) return false;
  }
  Take(*op, factors, factors.result, Wanted(*op), &cuts);
  const TileAssignment of_result = TilesOf(cuts, factors.result);
  double parts = 1, cost = 0;
  for (int64_t i = 0; i < op->operand_count(); ++i)
    cost += CostOfPadded(*op->operand(i), TilesOf(cuts, factors.operands[i]));
  for (const int factor : factors.combined) parts *= static_cast<double>(cuts[factor].count);
  cost += 2 * TileBytes(op->shape(), of_result) * (parts - 1) / parts;
  if (Divides(op->shape(), of_result)) cost += ReshardBytes(op->shape(), of_result, Wanted(*op), partitions_);
  if (cost >= limit) return false;

  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    const HloInstruction& operand = *op->operand(i);
    const TileAssignment tiles = TilesOf(cuts, factors.operands[i]);
    HILO_ASSIGN_OR_RETURN(HloInstruction * tile, TileOfPadded(operand, tiles));
    std::vector<int64_t> combined;
    for (int64_t d = 0; d < static_cast<int64_t>(factors.operands[i].size()); ++d) {
      if (!tiles.IsWhole() && operand.shape().dimensions(d) % tiles.counts[d] != 0 &&
          absl::c_linear_search(factors.combined, factors.operands[i][d]))
        combined.push_back(d);
    }
    if (!combined.empty()) {
      // A reduction begins with what leaves others as they are.
      HloInstruction* fill = computation_->AddConstant(LiteralUtil::Zero(operand.shape().element_type()));
      if (op->opcode() == HloOpcode::kReduce) {
        HILO_ASSIGN_OR_RETURN(fill, Whole(op->operand(1)));
      }
      HILO_ASSIGN_OR_RETURN(tile, emitter_.FilledBeyond(tile, operand.shape(), tiles, combined, fill));
    }
    operands.push_back(tile);
  }
  const Shape shape = PaddedTileShape(op->shape(), of_result);
  HloInstruction* tile = computation_->AddInstruction(op->CloneWithNewOperands(shape, operands), op->name());
  SetTileSizes(factors, tile);
  if (Divides(op->shape(), of_result)) {
    HILO_RETURN_IF_ERROR(SetComputed(op, tile, factors, cuts));
    return true;
  }
  if (parts > 1) {
    HILO_ASSIGN_OR_RETURN(tile, emitter_.Combine(tile, *factors.combiner, GroupsToCombine(cuts, factors)));
  }
  HILO_RETURN_IF_ERROR(SetPadded(op, tile, of_result));
  return true;
}

}  // namespace hilo
