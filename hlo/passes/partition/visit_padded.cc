// Ops on tiles that do not divide an array: its size is rounded up, and the last tiles reach beyond it. What they have
// there means nothing, and is replaced where elements are combined.
//
//   x = f32[7] in 4 tiles, cut from f32[8]:   1 2 | 3 4 | 5 6 | 7 .      sum:   1 2 | 3 4 | 5 6 | 7 0  =>  all-reduce
//
// Such tiles begin where elements are moved along a cut dimension (visit_moves.cc). Ops that are not divided that way
// get the whole array.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/sharding_marks.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// Besides the element-wise ops: those that keep the elements of a tile in their order, and that combine them.
constexpr OpcodeSet kOnPadded = {
    HloOpcode::kBitcastConvert, HloOpcode::kBroadcast, HloOpcode::kConcatenate, HloOpcode::kDot,       HloOpcode::kPad,
    HloOpcode::kReduce,         HloOpcode::kReshape,   HloOpcode::kSlice,       HloOpcode::kTranspose,
};
// Those that do the same to each row of a tile, also to rows beyond the array. Their results may be larger than their
// operands, and what joins these is not on tiles.
constexpr OpcodeSet kOnPaddedRows = {HloOpcode::kCholesky, HloOpcode::kCustomCall, HloOpcode::kFft,
                                     HloOpcode::kGather,   HloOpcode::kReverse,    HloOpcode::kScatter,
                                     HloOpcode::kSort,     HloOpcode::kTopK,       HloOpcode::kTriangularSolve};

// Those that may move elements along dimensions that the tiles do not divide.
constexpr OpcodeSet kMovesPadded = {HloOpcode::kConcatenate, HloOpcode::kPad, HloOpcode::kReverse, HloOpcode::kSlice};
// Those that take such tiles along the dimensions of their windows: of their first operand, or also of the source or
// the kernel.
constexpr OpcodeSet kSlidesOnPadded = {HloOpcode::kConvolution, HloOpcode::kReduceWindow, HloOpcode::kSelectAndScatter};
// Values that are followed to where they are joined.
constexpr size_t kMaxFollowed = 64;
// Operands whose cuts an op is tried with: each looks at all operands.
constexpr int64_t kMaxCutsTried = 16;

// Whether the op may be computed on such tiles.
bool IsOnPadded(const HloInstruction& op) {
  return IsElementwise(op.opcode()) || kOnPadded.contains(op.opcode()) || kOnPaddedRows.contains(op.opcode());
}

// Whether the tiles of dimensions that have a factor in common divide both of them, or both are as long.
bool TilesMatch(const Shape& a, const std::vector<int>& of_a, const Shape& b, const std::vector<int>& of_b,
                absl::Span<const TileCut> cuts) {
  for (size_t i = 0; i < of_a.size(); ++i) {
    const auto j = absl::c_find(of_b, of_a[i]) - of_b.begin();
    if (of_a[i] == OpFactors::kNone || j >= std::min(b.rank(), static_cast<int64_t>(of_b.size()))) continue;
    const int64_t size_a = a.dimensions(static_cast<int64_t>(i)), size_b = b.dimensions(j), count = cuts[of_a[i]].count;
    if (size_a != size_b && (size_a % count != 0 || size_b % count != 0)) return false;
  }
  return true;
}

bool Divides(const Shape& shape, const TileAssignment& tiles) { return TileShape(shape, tiles).ok(); }

}  // namespace

void ForgetOrderOfIndices(HloInstruction* tile) {
  if (tile->opcode() == HloOpcode::kGather) tile->mutable_attrs<GatherAttrs>().indices_are_sorted = false;
  if (tile->opcode() != HloOpcode::kScatter) return;
  ScatterAttrs& attrs = tile->mutable_attrs<ScatterAttrs>();
  attrs.indices_are_sorted = attrs.unique_indices = false;
}

TileAssignment DividedPart(const PaddedTile& padded, int64_t devices) {
  std::vector<TileCut> cuts;
  for (int64_t d = 0; d < padded.whole.rank(); ++d) {
    TileCut cut = CutOfDimension(padded.tiles, d);
    cuts.push_back(padded.whole.dimensions(d) % cut.count == 0 ? std::move(cut) : TileCut());
  }
  return TilesOfCuts(cuts, devices);
}

double TileWalk::SettleCost(const PaddedTile& padded) const {
  const TileAssignment settled = DividedPart(padded, partitions_);
  if (padded.broadcast != nullptr)
    return CostOf(*padded.broadcast->operand(0), BeforeBroadcast(*padded.broadcast, settled));
  double joined = 1;
  for (int64_t d = 0; d < padded.whole.rank(); ++d)
    joined *= static_cast<double>(CutOfDimension(padded.tiles, d).count / CutOfDimension(settled, d).count);
  return TileBytes(padded.whole, padded.tiles) * (joined - 1);
}

TileAssignment TileWalk::BeforeBroadcast(const HloInstruction& broadcast, const TileAssignment& tiles) const {
  std::vector<TileCut> cuts;
  for (const int64_t d : broadcast.attrs<BroadcastAttrs>().dimensions) cuts.push_back(CutOfDimension(tiles, d));
  return TilesOfCuts(cuts, partitions_);
}

absl::Status TileWalk::Settle(DividedValue* value) {
  if (!value->padded.has_value() || value->whole != nullptr || value->tile != nullptr) return absl::OkStatus();
  const PaddedTile& padded = *value->padded;
  const TileAssignment settled = DividedPart(padded, partitions_);
  HILO_ASSIGN_OR_RETURN(const Shape shape, TileShape(padded.whole, settled));
  HloInstruction* tile;
  if (const HloInstruction* broadcast = padded.broadcast; broadcast != nullptr) {
    HILO_ASSIGN_OR_RETURN(tile, Tile(broadcast->operand(0), BeforeBroadcast(*broadcast, settled)));
    tile = computation_->AddInstruction(broadcast->CloneWithNewOperands(shape, {tile}), broadcast->name());
  } else {
    HILO_ASSIGN_OR_RETURN(tile, emitter_.Join(padded.tile, padded.tiles, settled));
    std::vector<SliceRange> ranges;
    for (const int64_t size : shape.dimensions()) ranges.push_back({0, size, 1});
    HILO_ASSIGN_OR_RETURN(tile, MakeSlice(tile, std::move(ranges)));
  }
  if (settled.IsWhole()) {
    value->whole = tile;
  } else {
    value->tile = tile;
    value->tiles = settled;
  }
  return absl::OkStatus();
}

double TileWalk::CostOfStayingPadded(const HloInstruction& op, size_t leaf, const TileAssignment& tiles) const {
  if (op.shape().IsArray()) return CostOfStayingPadded(op, tiles);
  double cost = 0;
  for (const HloInstruction* user : op.users()) {
    const bool is_element = user->opcode() == HloOpcode::kGetTupleElement;
    if (is_element && user->tuple_index() != static_cast<int64_t>(leaf)) continue;
    cost += is_element ? CostOfStayingPadded(*user, tiles) : std::numeric_limits<double>::infinity();
  }
  return cost;
}

double TileWalk::CostOfCombining(const HloInstruction& op, const TileCut& parts) const {
  const TileAssignment wanted = Wanted(op);
  std::vector<TileCut> cuts(1, parts);
  for (int64_t d = 0; d < op.shape().rank(); ++d) cuts.push_back(CutOfDimension(wanted, d));
  const double share = 1 - 1 / static_cast<double>(parts.count);
  return AreIndependent(cuts, partitions_) ? 2 * TileBytes(op.shape(), wanted) * share  // else scattered
                                           : TileBytes(op.shape(), {}) * share;
}

// The values that are computed from padded tiles, and how many tiles their dimensions are cut into that these do not
// divide; 1 for others.
class TileWalk::PaddedFlow {
 public:
  PaddedFlow(const TileWalk& walk, const HloInstruction& op, const TileAssignment& tiles) : walk_(walk) {
    std::vector<int64_t> counts = tiles.counts;
    for (int64_t d = 0; d < op.shape().rank(); ++d) {
      if (op.shape().dimensions(d) % counts[d] == 0) counts[d] = 1;
    }
    Add(&op, std::move(counts));
  }

  // Returns the bytes for joining the values where some user needs them joined; infinity if there are too many values.
  double Cost() {
    double cost = 0;
    for (size_t i = 0; i < left_.size(); ++i) {
      if (i >= kMaxFollowed) return std::numeric_limits<double>::infinity();
      cost += CostOfUsers(i);
    }
    return cost;
  }

 private:
  struct Use {
    bool is_joined = false;  // the user needs the value joined
    double combined = 0;     // bytes of results of gathers and scatters that partitions combine instead
  };

  void Add(const HloInstruction* value, std::vector<int64_t> counts) {
    if (known_.insert(value).second) left_.emplace_back(value, std::move(counts));
  }

  double CostOfUsers(size_t i) {
    const auto [value, counts] = left_[i];  // a copy: users are added to left_
    Use all{.is_joined = value->IsRoot()};
    for (const HloInstruction* user : value->users()) {
      if (known_.contains(user)) continue;
      const Use use = user->opcode() == HloOpcode::kTuple && !user->IsRoot() ? FollowTuple(*value, counts, *user)
                      : IsShardingMark(*user)                                ? FollowMark(counts, *user)
                                                                             : FollowOp(*value, counts, *user);
      all.is_joined |= use.is_joined;
      all.combined += use.combined;
    }
    double tiles = 1;
    for (const int64_t count : counts) tiles *= static_cast<double>(count);
    const double joined = TileBytes(value->shape(), {.counts = counts, .tile_of = {}}) * (tiles - 1);
    return all.is_joined ? joined : std::min(joined, all.combined);
  }

  // Follows the value to the elements of the tuple that are it.
  Use FollowTuple(const HloInstruction& value, const std::vector<int64_t>& counts, const HloInstruction& tuple) {
    Use use;
    for (const HloInstruction* element : tuple.users()) {
      const bool is_element = element->opcode() == HloOpcode::kGetTupleElement;
      use.is_joined |= !is_element;
      if (is_element && tuple.operand(element->tuple_index()) == &value) Add(element, counts);
    }
    return use;
  }

  // Follows the value through a sharding mark that states these tiles.
  Use FollowMark(const std::vector<int64_t>& counts, const HloInstruction& mark) {
    const TileAssignment stated = walk_.Propagated(mark);
    for (size_t d = 0; d < counts.size(); ++d) {
      if (counts[d] != 1 && CutOfDimension(stated, static_cast<int64_t>(d)).count != counts[d])
        return {.is_joined = true};
    }
    Add(&mark, counts);
    return {};
  }

  // Follows the value to the result of an op that is computed on padded tiles.
  Use FollowOp(const HloInstruction& value, const std::vector<int64_t>& counts, const HloInstruction& user) {
    const std::optional<OpFactors> factors = walk_.FactorsHere(user);
    const bool slides = kSlidesOnPadded.contains(user.opcode()) && user.shape().IsArray();
    if (!factors.has_value() || !user.shape().IsArray() || !(IsOnPadded(user) || slides)) return {.is_joined = true};
    Use use;
    std::vector<int64_t> of_user(user.shape().rank(), 1);
    const bool indexes = user.opcode() == HloOpcode::kGather || user.opcode() == HloOpcode::kScatter;
    bool is_padded = false;
    for (int64_t k = 0; k < user.operand_count(); ++k) {
      for (size_t d = 0; user.operand(k) == &value && d < counts.size(); ++d) {
        if (counts[d] == 1) continue;
        const int factor = factors->operands[k][d];
        if (indexes && factor == OpFactors::kNone) {
          use.is_joined |= !IndexesPadded(user, k, static_cast<int64_t>(d));
          if (k > 0 || user.opcode() == HloOpcode::kGather) {
            // Indices go with the updates.
            const bool follows =
                user.opcode() == HloOpcode::kScatter && k == 1 && !walk_.Propagated(*user.operand(2)).IsWhole();
            if (!follows) {
              use.combined +=
                  walk_.CostOfCombining(user, CutOfDimension(walk_.Propagated(value), static_cast<int64_t>(d)));
            }
            continue;
          }
          of_user[d] = counts[d];
          is_padded = true;
          continue;
        }
        const bool is_on_padded =
            slides ? factor == OpFactors::kNone && (k == 0 || (k == 1 && user.opcode() != HloOpcode::kReduceWindow))
                   : factor != OpFactors::kNone || kMovesPadded.contains(user.opcode());
        use.is_joined |= !is_on_padded;
        const auto result = absl::c_find(factors->result, factor) - factors->result.begin();
        if (factor == OpFactors::kNone || result == static_cast<std::ptrdiff_t>(of_user.size())) continue;
        const bool is_as_long = user.shape().dimensions(result) == value.shape().dimensions(static_cast<int64_t>(d));
        if (!is_as_long && kMovesPadded.contains(user.opcode())) continue;  // moved to tiles of its own
        use.is_joined |= !is_as_long;
        of_user[result] = counts[d];
        is_padded = true;
      }
    }
    if (!use.is_joined && is_padded) Add(&user, std::move(of_user));
    return use;
  }

  const TileWalk& walk_;
  std::vector<std::pair<const HloInstruction*, std::vector<int64_t>>> left_;
  absl::flat_hash_set<const HloInstruction*> known_;  // those in left_
};

double TileWalk::CostOfStayingPadded(const HloInstruction& op, const TileAssignment& tiles) const {
  return PaddedFlow(*this, op, tiles).Cost();
}

bool TileWalk::CutsPadded(const DividedValue& value, const TileAssignment& tiles) const {
  if (!value.padded.has_value() || tiles.IsWhole()) return false;
  for (int64_t d = 0; d < value.padded->whole.rank(); ++d) {
    const TileCut cut = CutOfDimension(value.padded->tiles, d);
    if (cut.count > 1 && cut != CutOfDimension(tiles, d)) return false;
  }
  return true;
}

double TileWalk::CostOfPadded(const HloInstruction& operand, const TileAssignment& tiles) const {
  const DividedValue& value = *values_.at(&operand);
  if (CutsPadded(value, tiles)) return 0;
  if (Divides(operand.shape(), tiles)) return CostOf(operand, tiles);
  return CostOf(operand, DividedPart({nullptr, tiles, operand.shape()}, partitions_));
}

bool TileWalk::IsGatheredFor(const HloInstruction& operand, const TileAssignment& tiles) const {
  return CostOfPadded(operand, tiles) > 0 && !Divides(operand.shape(), tiles) &&
         DividedPart({nullptr, tiles, operand.shape()}, partitions_).IsWhole();
}

absl::StatusOr<HloInstruction*> TileWalk::TileOfPadded(const HloInstruction& operand, const TileAssignment& tiles) {
  DividedValue& value = *values_.at(&operand);
  const bool cuts_padded = CutsPadded(value, tiles);
  if (cuts_padded && SameTiles(value.padded->tiles, tiles)) return value.padded->tile;
  if (!cuts_padded && Divides(operand.shape(), tiles)) return Tile(value, tiles);
  // Along the dimensions that the tiles do not divide, the array is whole, and is cut as if it were longer.
  TileAssignment divided = DividedPart({nullptr, tiles, operand.shape()}, partitions_);
  HloInstruction* tile;
  if (cuts_padded) {
    divided = value.padded->tiles;
    tile = value.padded->tile;
  } else {
    HILO_ASSIGN_OR_RETURN(tile, Tile(value, divided));
  }
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

absl::Status TileWalk::SetPadded(const HloInstruction* op, HloInstruction* value,
                                 const std::vector<TileAssignment>& tiles) {
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(op->shape());
  Leaves parts;
  bool has_padded = false;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& shape = *leaves[i].shape;
    HloInstruction* part = value;
    if (op->shape().IsTuple()) {
      HILO_ASSIGN_OR_RETURN(part, MakeTupleElement(value, static_cast<int64_t>(i)));
    }
    const bool divides = Divides(shape, tiles[i]);
    DividedValue& one =
        *parts.emplace_back(std::make_shared<DividedValue>(divides ? DividedOf(part, tiles[i]) : DividedValue()));
    if (divides) continue;
    // What a broadcast of a broadcast repeats is not looked for: chains of them may be long.
    const bool repeats = op->opcode() == HloOpcode::kBroadcast && op->operand(0)->opcode() != HloOpcode::kBroadcast;
    one.padded = PaddedTile{part, tiles[i], shape, repeats ? op : nullptr};
    has_padded = true;
  }
  if (!has_padded) return SetDivided(op, value, tiles);
  Set(op, op->shape().IsTuple() ? DividedValue{.elements = std::move(parts)} : std::move(*parts[0]));
  return absl::OkStatus();
}

absl::Status TileWalk::SetPaddedResult(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors,
                                       const Cuts& cuts) {
  const TileAssignment tiles = TilesOf(cuts, factors.result);
  if (op->shape().IsArray() && Divides(op->shape(), tiles)) return SetComputed(op, tile, factors, cuts);
  if (absl::c_any_of(factors.combined, [&](int factor) { return cuts[factor].count > 1; })) {
    HILO_ASSIGN_OR_RETURN(tile, emitter_.Combine(tile, *factors.combiner, GroupsToCombine(cuts, factors)));
  }
  return SetPadded(op, tile, TilesOfResults(cuts, factors, op->shape()));
}

bool TileWalk::HasPaddedTilesOf(const HloInstruction& mark) const {
  const HloInstruction& operand = *mark.operand(0);
  return IsPadded(operand) && SameTiles(values_.at(&operand)->padded->tiles, Propagated(mark));
}

bool TileWalk::IsPadded(const HloInstruction& value) const {
  const DividedValue& divided = *values_.at(&value);
  return divided.padded.has_value() && divided.whole == nullptr && divided.tile == nullptr;
}

void TileWalk::TakeTiles(const HloInstruction& op, const OpFactors& factors, int64_t i, Cuts* cuts) const {
  const TileAssignment tiles = TilesNow(*op.operand(i));
  if (!IsPadded(*op.operand(i))) return Take(op, factors, factors.operands[i], tiles, cuts);
  for (size_t d = 0; d < factors.operands[i].size(); ++d) {
    const int factor = factors.operands[i][d];
    if (factor == OpFactors::kNone || (*cuts)[factor].count > 1) continue;
    (*cuts)[factor] = CutOfDimension(tiles, static_cast<int64_t>(d));
    if (!AreIndependent(*cuts, partitions_)) (*cuts)[factor] = TileCut();
  }
}

std::optional<TileWalk::Cuts> TileWalk::PaddedCuts(const HloInstruction& op, const OpFactors& factors,
                                                   int64_t first) const {
  // With the cuts of operand `i`; nullopt if they do not go with the others.
  const auto with = [&](Cuts cuts, int64_t i) -> std::optional<Cuts> {
    const TileAssignment& tiles = values_.at(op.operand(i))->padded->tiles;
    for (size_t d = 0; d < factors.operands[i].size(); ++d) {
      TileCut cut = CutOfDimension(tiles, static_cast<int64_t>(d));
      if (cut.count == 1) continue;
      const int factor = factors.operands[i][d];
      if (factor == OpFactors::kNone || (cuts[factor].count > 1 && cuts[factor] != cut)) return std::nullopt;
      cuts[factor] = std::move(cut);
    }
    return AreIndependent(cuts, partitions_) ? std::optional(std::move(cuts)) : std::nullopt;
  };
  std::optional<Cuts> cuts = with(Cuts(factors.count), first);
  if (!cuts.has_value()) return std::nullopt;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    if (i == first || !IsPadded(*op.operand(i))) continue;
    if (std::optional<Cuts> both = with(*cuts, i); both.has_value()) cuts = std::move(both);
  }
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op.shape())) {
      if (!TilesMatch(op.operand(i)->shape(), factors.operands[i], *leaf.shape, factors.result, *cuts))
        return std::nullopt;
    }
  }
  if (op.shape().IsArray()) Take(op, factors, factors.result, Wanted(op), &*cuts);
  return cuts;
}

double TileWalk::CostOfPaddedCuts(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const {
  double parts = 1, cost = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i)
    cost += CostOfPadded(*op.operand(i), TilesOf(cuts, factors.operands[i]));
  for (const int factor : factors.combined) parts *= static_cast<double>(cuts[factor].count);
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(op.shape());
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& shape = *leaves[i].shape;
    const TileAssignment tiles = TilesOfResult(cuts, factors, shape);
    cost += 2 * TileBytes(shape, tiles) * (parts - 1) / parts;
    if (Divides(shape, tiles)) {
      cost += ReshardBytes(shape, tiles, Wanted(op, i), partitions_);
    } else if (kOnPaddedRows.contains(op.opcode())) {
      cost += CostOfStayingPadded(op, i, tiles);
    }
  }
  return cost;
}

Shape TileWalk::PaddedShape(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const {
  Shape shape = op.shape();
  if (shape.IsArray()) return PaddedTileShape(shape, TilesOf(cuts, factors.result));
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
    Shape& one = *shape.mutable_tuple_shapes(i);
    one = PaddedTileShape(one, TilesOfResult(cuts, factors, one));
  }
  return shape;
}

absl::StatusOr<HloInstruction*> TileWalk::FilledTile(const HloInstruction& op, const OpFactors& factors,
                                                     const Cuts& cuts, int64_t i, HloInstruction* fill) {
  const Shape& shape = op.operand(i)->shape();
  const TileAssignment tiles = TilesOf(cuts, factors.operands[i]);
  HILO_ASSIGN_OR_RETURN(HloInstruction * tile, TileOfPadded(*op.operand(i), tiles));
  std::vector<int64_t> combined;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!tiles.IsWhole() && shape.dimensions(d) % tiles.counts[d] != 0 &&
        absl::c_linear_search(factors.combined, factors.operands[i][d]))
      combined.push_back(d);
  }
  if (combined.empty()) return tile;
  if (fill == nullptr) fill = computation_->AddConstant(LiteralUtil::Zero(shape.element_type()));
  return emitter_.FilledBeyond(tile, shape, tiles, combined, fill);
}

absl::StatusOr<bool> TileWalk::VisitPadded(HloInstruction* op, const OpFactors& factors, double limit) {
  if (!IsOnPadded(*op)) return false;
  std::optional<Cuts> cuts;
  for (int64_t i = 0, tried = 0; i < op->operand_count() && tried < kMaxCutsTried; ++i) {
    if (!IsPadded(*op->operand(i))) continue;
    ++tried;
    std::optional<Cuts> given = PaddedCuts(*op, factors, i);
    if (!given.has_value()) continue;
    const double cost = CostOfPaddedCuts(*op, factors, *given);
    if (cost >= limit) continue;
    limit = cost;
    cuts = std::move(given);
  }
  if (!cuts.has_value()) return false;

  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < op->operand_count(); ++i) {
    // A reduction begins with what leaves others as they are.
    HloInstruction* fill = nullptr;
    if (const int64_t arrays = op->operand_count() / 2; op->opcode() == HloOpcode::kReduce && i < arrays) {
      HILO_ASSIGN_OR_RETURN(fill, Whole(op->operand(arrays + i)));
    }
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), FilledTile(*op, factors, *cuts, i, fill));
  }
  HloInstruction* tile =
      computation_->AddInstruction(op->CloneWithNewOperands(PaddedShape(*op, factors, *cuts), operands), op->name());
  SetTileSizes(factors, tile);
  ForgetOrderOfIndices(tile);
  HILO_RETURN_IF_ERROR(SetPaddedResult(op, tile, factors, *cuts));
  return true;
}

}  // namespace hilo
