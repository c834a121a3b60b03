// Which of an op's factors are cut, and how: the choice that exchanges the fewest bytes.
#include <algorithm>
#include <utility>

#include "hlo/analysis/cost_model.h"
#include "hlo/passes/partition/reshard.h"
#include "hlo/passes/partition/tile_walk.h"

namespace hilo {
namespace {

// Combinations of cuts of an op's factors that are compared.
constexpr int kMaxCombinations = 512;

}  // namespace

// Whether all dimensions of the factor can be cut into as many parts.
bool TileWalk::Fits(const HloInstruction& op, const OpFactors& factors, int factor, int64_t count) const {
  const auto fits = [&](const Shape& shape, const std::vector<int>& of) {
    for (size_t d = 0; d < std::min(of.size(), static_cast<size_t>(shape.rank())); ++d) {
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

void TileWalk::Take(const HloInstruction& op, const OpFactors& factors, const std::vector<int>& dimensions,
                    const TileAssignment& tiles, Cuts* cuts) const {
  for (size_t d = 0; d < dimensions.size() && d < tiles.counts.size(); ++d) {
    const int factor = dimensions[d];
    TileCut cut = CutOfDimension(tiles, static_cast<int64_t>(d));
    if (cut.count == 1 || factor == OpFactors::kNone || (*cuts)[factor].count > 1 ||
        !Fits(op, factors, factor, cut.count))
      continue;
    (*cuts)[factor] = std::move(cut);
    if (!AreIndependent(*cuts, partitions_)) (*cuts)[factor] = TileCut();
  }
}

std::vector<std::vector<TileCut>> TileWalk::Options(const HloInstruction& op, const OpFactors& factors) const {
  std::vector<std::vector<TileCut>> options(factors.count, std::vector<TileCut>(1));
  std::vector<TileCut> moved;  // cuts of dimensions that must be whole here, which others may take over
  const auto add = [&](const TileAssignment& tiles, const std::vector<int>& of) {
    for (size_t d = 0; d < of.size() && d < tiles.counts.size(); ++d) {
      const TileCut cut = CutOfDimension(tiles, static_cast<int64_t>(d));
      if (cut.count == 1) continue;
      std::vector<TileCut>& known = of[d] == OpFactors::kNone ? moved : options[of[d]];
      if (!absl::c_linear_search(known, cut)) known.push_back(cut);
    }
  };
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const DividedValue& operand = *values_.at(op.operand(i));
    if (operand.tile != nullptr) add(operand.tiles, factors.operands[i]);
    add(Wanted(*op.operand(i)), factors.operands[i]);
  }
  add(Wanted(op), factors.result);
  for (int factor = 0; factor < factors.count; ++factor) {
    const std::vector<TileCut> own = options[factor];
    for (const TileCut& cut : moved) {
      for (const TileCut& major : own) {
        if (AreIndependent({major, cut}, partitions_)) options[factor].push_back(Nested(major, cut));
      }
    }
    std::erase_if(options[factor], [&](const TileCut& cut) { return !Fits(op, factors, factor, cut.count); });
  }
  return options;
}

// Takes the cheapest of all ways to cut the factors: bytes exchanged, and work that others do too.
TileWalk::Cuts TileWalk::ChooseCuts(const HloInstruction& op, const OpFactors& factors) const {
  const std::vector<std::vector<TileCut>> options = Options(op, factors);
  Cuts best, cuts(factors.count);
  double least = CostOf(op, factors, cuts);
  int tried = 0;
  // Counts through the combinations, leaving out those that do not go together.
  std::vector<size_t> chosen(factors.count, 0);
  for (int factor = factors.count - 1; factor >= 0 && tried < kMaxCombinations;) {
    if (++chosen[factor] >= options[factor].size()) {
      chosen[factor] = 0;
      cuts[factor] = TileCut();
      --factor;
      continue;
    }
    ++tried;
    cuts[factor] = options[factor][chosen[factor]];
    if (!AreIndependent(cuts, partitions_)) continue;
    const double cost = CostOf(op, factors, cuts);
    if (cost < least) {
      least = cost;
      best = cuts;
    }
    factor = factors.count - 1;
  }
  return best;
}

double TileWalk::CostOf(const HloInstruction& instruction, const TileAssignment& tiles) const {
  const DividedValue& value = *values_.at(&instruction);
  if (value.waiting != nullptr) return TileBytes(instruction.shape(), {});  // gathered, about
  if (value.padded.has_value() && value.whole == nullptr && value.tile == nullptr) {
    const TileAssignment settled = DividedPart(*value.padded, partitions_);
    return SettleCost(*value.padded) + ReshardBytes(instruction.shape(), settled, tiles, partitions_);
  }
  if (value.whole != nullptr || value.tile == nullptr || SameTiles(value.tiles, tiles)) return 0;
  for (const auto& [cut, part] : value.more) {
    if (SameTiles(cut, tiles)) return 0;
  }
  const bool is_before_loop =
      SameTiles(CommonTiles(value.tiles, tiles), tiles) || (!value.uses_own_tile && value.more.empty());
  return ReshardBytes(instruction.shape(), value.tiles, tiles, partitions_) / (is_before_loop ? value.iterations : 1);
}

double TileWalk::CostOfOperands(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const {
  double cost = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i) cost += CostOf(*op.operand(i), TilesOf(cuts, factors.operands[i]));
  return cost;
}

double TileWalk::CostOfResults(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const {
  double parts = 1, cost = 0;
  for (const int factor : factors.combined) parts *= static_cast<double>(cuts[factor].count);
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(op.shape());
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& shape = *leaves[i].shape;
    const TileAssignment wanted = Wanted(op, i), tiles = TilesOfResult(cuts, factors, shape);
    const double exchanged = TileBytes(shape, tiles) * (parts - 1) / parts;
    const bool scatters = parts > 1 && ScatterDimension(cuts, factors, tiles, wanted).has_value();
    cost += scatters ? exchanged : 2 * exchanged + ReshardBytes(shape, tiles, wanted, partitions_);
  }
  return cost;
}

double TileWalk::CostOf(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const {
  double work = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i)
    work += TileBytes(op.operand(i)->shape(), TilesOf(cuts, factors.operands[i]));
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(op.shape()))
    work += TileBytes(*leaf.shape, TilesOfResult(cuts, factors, *leaf.shape));
  const double flops = op.opcode() == HloOpcode::kDot           ? DotFlops(op)
                       : op.opcode() == HloOpcode::kConvolution ? ConvolutionFlops(op)
                                                                : 0;
  double products = flops / 2;  // a product added up is two
  for (const TileCut& cut : cuts) products /= static_cast<double>(cut.count);
  return CostOfOperands(op, factors, cuts) + CostOfResults(op, factors, cuts) + work * kWorkPerByte +
         products / kProductsPerByte;
}

}  // namespace hilo
