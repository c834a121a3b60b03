// Ops on tiles that do not divide an array: its size is rounded up, and the last tiles reach beyond it. What they have
// there means nothing, and is replaced where elements are combined.
//
//   x = f32[7] in 4 tiles, cut from f32[8]:   1 2 | 3 4 | 5 6 | 7 .      sum:   1 2 | 3 4 | 5 6 | 7 0  =>  all-reduce
//
// Such tiles begin where elements are moved along a cut dimension (visit_moves.cc). Ops that are not divided that way
// get the whole array.
#include <algorithm>
#include <limits>

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
    HloOpcode::kBitcastConvert, HloOpcode::kBroadcast, HloOpcode::kConcatenate, HloOpcode::kDot,       HloOpcode::kPad,
    HloOpcode::kReduce,         HloOpcode::kReshape,   HloOpcode::kSlice,       HloOpcode::kTranspose,
};

// Those that may move elements along dimensions that the tiles do not divide.
constexpr OpcodeSet kMovesPadded = {HloOpcode::kConcatenate, HloOpcode::kPad, HloOpcode::kSlice};
// Those that take such tiles along the dimensions of their windows: of their first operand, or also of the source or
// the kernel.
constexpr OpcodeSet kSlidesOnPadded = {HloOpcode::kConvolution, HloOpcode::kReduceWindow, HloOpcode::kSelectAndScatter};
// Values that are followed to where they are joined.
constexpr size_t kMostFollowed = 64;

// Whether the op may be computed on such tiles.
bool IsOnPadded(const HloInstruction& op) {
  return (IsElementwise(op.opcode()) || kOnPadded.contains(op.opcode())) && op.shape().IsArray() &&
         (op.opcode() != HloOpcode::kReduce || op.operand_count() == 2);
}

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

double SettleBytes(const PaddedTile& padded, int64_t devices) {
  const TileAssignment settled = DividedPart(padded, devices);
  double joined = 1;
  for (int64_t d = 0; d < padded.whole.rank(); ++d)
    joined *= static_cast<double>(CutOfDimension(padded.tiles, d).count / CutOfDimension(settled, d).count);
  return TileBytes(padded.whole, padded.tiles) * (joined - 1);
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

double TileWalk::CostOfStayingPadded(const HloInstruction& op, const TileAssignment& tiles) const {
  // Values, and how many tiles their dimensions are cut into that these do not divide; 1 for others.
  std::vector<std::pair<const HloInstruction*, std::vector<int64_t>>> left(1, {&op, tiles.counts});
  for (int64_t d = 0; d < op.shape().rank(); ++d) {
    if (op.shape().dimensions(d) % tiles.counts[d] == 0) left[0].second[d] = 1;
  }
  double cost = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto [value, counts] = left[i];
    if (i >= kMostFollowed) return std::numeric_limits<double>::infinity();
    bool is_joined = value->IsRoot();
    for (const HloInstruction* user : value->users()) {
      if (absl::c_any_of(left, [&](const auto& other) { return other.first == user; })) continue;
      const std::optional<OpFactors> factors = FactorsHere(*user);
      const bool slides = kSlidesOnPadded.contains(user->opcode()) && user->shape().IsArray();
      if (!factors.has_value() || !(IsOnPadded(*user) || slides)) {
        is_joined = true;
        continue;
      }
      std::vector<int64_t> of_user(user->shape().rank(), 1);
      bool is_good = true, is_padded = false;
      for (int64_t k = 0; k < user->operand_count(); ++k) {
        for (size_t d = 0; user->operand(k) == value && d < counts.size(); ++d) {
          if (counts[d] == 1) continue;
          const int factor = factors->operands[k][d];
          is_good &=
              slides ? factor == OpFactors::kNone && (k == 0 || (k == 1 && user->opcode() != HloOpcode::kReduceWindow))
                     : factor != OpFactors::kNone || kMovesPadded.contains(user->opcode());
          const auto result = absl::c_find(factors->result, factor) - factors->result.begin();
          if (factor == OpFactors::kNone || result == static_cast<std::ptrdiff_t>(of_user.size())) continue;
          is_good &= user->shape().dimensions(result) == value->shape().dimensions(static_cast<int64_t>(d));
          of_user[result] = counts[d];
          is_padded = true;
        }
      }
      is_joined |= !is_good;
      if (is_good && is_padded) left.emplace_back(user, std::move(of_user));
    }
    if (!is_joined) continue;
    double tiles = 1;
    for (const int64_t count : counts) tiles *= static_cast<double>(count);
    cost += TileBytes(value->shape(), {.counts = counts, .tile_of = {}}) * (tiles - 1);
  }
  return cost;
}

double TileWalk::CostOfPadded(const HloInstruction& operand, const TileAssignment& tiles) const {
  const DividedValue& value = *values_.at(&operand);
  if (value.padded.has_value() && SameTiles(value.padded->tiles, tiles)) return 0;
  if (Divides(operand.shape(), tiles)) return CostOf(operand, tiles);
  return CostOf(operand, DividedPart({nullptr, tiles, operand.shape()}, partitions_));
}

bool TileWalk::IsGatheredFor(const HloInstruction& operand, const TileAssignment& tiles) const {
  return CostOfPadded(operand, tiles) > 0 && !Divides(operand.shape(), tiles) &&
         DividedPart({nullptr, tiles, operand.shape()}, partitions_).IsWhole();
}

absl::StatusOr<HloInstruction*> TileWalk::TileOfPadded(const HloInstruction& operand, const TileAssignment& tiles) {
  DividedValue& value = *values_.at(&operand);
  if (value.padded.has_value() && SameTiles(value.padded->tiles, tiles)) return value.padded->tile;
  if (Divides(operand.shape(), tiles)) return Tile(value, tiles);
  // Along the dimensions that the tiles do not divide, the array is whole, and is cut as if it were longer.
  const TileAssignment divided = DividedPart({nullptr, tiles, operand.shape()}, partitions_);
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, Tile(value, divided));
  const Shape shape = PaddedTileShape(operand.shape(), tiles);
  if (tile->opcode() == HloOpcode::kBroadcast && tile->operand(0)->shape().IsScalar())
    return MakeBroadcast(tile->mutable_operand(0), ShapeUtil::MakeShape(shape.element_type(), shape.dimensions()), {});
  const TileAssignment within = divided.IsWhole() ? tiles : TilesWithin(divided, tiles);
  auto pad = std::make_unique<PadAttrs>();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    pad->padding.dimensions.emplace_back().edge_padding_high =
        shape.dimensions(d) * within.counts[d] - tile->shape().dimensions(d);
  }
  HloInstruction* const zero = computation_->AddConstant(LiteralUtil::Zero(shape.element_type()));
  HILO_ASSIGN_OR_RETURN(tile, computation_->AddOp(HloOpcode::kPad, {tile, zero}, std::move(pad)));
  return emitter_.Cut(tile, within);
}

absl::Status TileWalk::SetPadded(const HloInstruction* op, HloInstruction* tile, const TileAssignment& tiles) {
  if (Divides(op->shape(), tiles)) return SetDivided(op, tile, {tiles});
  DividedValue value;
  value.padded = PaddedTile{tile, tiles, op->shape()};
  Set(op, std::move(value));
  return absl::OkStatus();
}

absl::Status TileWalk::SetPaddedResult(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors,
                                       const Cuts& cuts) {
  const TileAssignment tiles = TilesOf(cuts, factors.result);
  if (Divides(op->shape(), tiles)) return SetComputed(op, tile, factors, cuts);
  if (absl::c_any_of(factors.combined, [&](int factor) { return cuts[factor].count > 1; })) {
    HILO_ASSIGN_OR_RETURN(tile, emitter_.Combine(tile, *factors.combiner, GroupsToCombine(cuts, factors)));
  }
  return SetPadded(op, tile, tiles);
}

absl::StatusOr<bool> TileWalk::VisitPadded(HloInstruction* op, const OpFactors& factors, double limit) {
  if (!IsOnPadded(*op)) return false;
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
  HILO_RETURN_IF_ERROR(SetPaddedResult(op, tile, factors, cuts));
  return true;
}

}  // namespace hilo
