// Partitions a computation.
#ifndef HILO_HLO_PASSES_PARTITION_TILE_WALK_H_
#define HILO_HLO_PASSES_PARTITION_TILE_WALK_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/partition/op_factors.h"
#include "hlo/passes/partition/propagate_shardings.h"
#include "hlo/passes/partition/tile_cut.h"
#include "hlo/passes/partition/tile_emitter.h"
#include "hlo/passes/partition/tile_shift.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {

// Tiles that do not divide an array of the shape `whole`: the last ones reach beyond it. What they have there means
// nothing.
struct PaddedTile {
  HloInstruction* tile;
  TileAssignment tiles;
  Shape whole;
  // The broadcast that made the tile, if any: what it repeats is joined rather than the result.
  const HloInstruction* broadcast = nullptr;
};

// The sharding without the dimensions that it does not divide.
TileAssignment DividedPart(const PaddedTile& padded, int64_t devices);

// Of a gather or scatter on tiles: those that reach beyond the array have any indices there.
void ForgetOrderOfIndices(HloInstruction* tile);

// What every partition has of a value: all of it, its tile, or both. Tuples have elements, or are whole.
struct DividedValue {
  HloInstruction* whole = nullptr;
  HloInstruction* tile = nullptr;
  TileAssignment tiles;
  std::vector<std::pair<TileAssignment, HloInstruction*>> more;  // tiles of other shardings
  TileAssignment joined;                                         // larger tiles, if any have been emitted for these
  bool is_local =
      false;  // inside of a manual computation: another array in each partition, which is never divided further
  // The op, if it has not been divided yet: those that use the value may do without. Has only this.
  HloInstruction* waiting = nullptr;
  // Iterations of the loop that the computation is the body of, if the value is the same in all of them: it is joined
  // to larger tiles before the loop, or cut otherwise if that is all that is used.
  double iterations = 1;
  bool uses_own_tile = false;  // and not only others
  std::vector<std::shared_ptr<DividedValue>> elements;
  std::optional<PaddedTile> padded;  // instead of `tile`, until an op needs another one
};

// Of `part`, which is whole if `tiles` are.
DividedValue DividedOf(HloInstruction* part, const TileAssignment& tiles);

// The elements of a tuple, or an array alone.
using Leaves = std::vector<std::shared_ptr<DividedValue>>;

// What a byte read or written counts for beside a byte that is exchanged: enough to prefer to share the work where
// nothing is exchanged for it.
constexpr double kWorkPerByte = 1e-3;
// Products added up in the time in which a byte is exchanged, so that partitions exchange a few more bytes rather than
// repeat the same products. Of the orders of magnitude that were tried, 32 exceeds XLA's bytes in no program that did
// not before (docs/measured_and_rejected.md).
constexpr double kProductsPerByte = 32;

// Visits the instructions in order and determines how each is divided; instructions on tiles are added next to the
// ones on whole arrays, which are removed once they have no users.
class TileWalk {
 public:
  // `region`: the manual region that the computation is in, whose members are the partitions; null if it is in none.
  // `wanted`: of the instructions of `original`, of which `computation` is a copy, or which it is.
  TileWalk(HloComputation* computation, const ManualRegion* region, int64_t* next_channel,
           const PropagatedShardings& wanted, const HloComputation& original);

  HloComputation* computation() const { return computation_; }
  const ManualRegion* region() const { return region_; }
  // The walk over the instructions of a region of the computation. It owns that.
  TileWalk& Within(const ManualRegion& region);
  // Makes the operands known to this walk, of a region, as whole arrays unless they are broadcasts, of which each walk
  // has its own tiles; `outer` is the walk that owns this one.
  absl::Status TakeOperands(TileWalk* outer, HloInstruction* op);
  // The instruction that this one of the computation is a copy of, or itself.
  const HloInstruction* OriginalOf(const HloInstruction* instruction) const {
    const auto it = originals_.find(instruction);
    return it == originals_.end() ? instruction : it->second;
  }
  // The sharding that the leaf should have, as one of all devices.
  TileAssignment WantedOfDevices(const HloInstruction& instruction, size_t leaf = 0) const;
  absl::Status Check(const TileAssignment& tiles) const { return emitter_.Check(tiles); }

  // Sets the instruction's value to `value` from here on.
  void Set(const HloInstruction* instruction, DividedValue value) {
    values_[instruction] = std::make_shared<DividedValue>(std::move(value));
  }
  // ... to the same as that of another one.
  void SetAlias(const HloInstruction* instruction, const HloInstruction* other) {
    std::shared_ptr<DividedValue> value =
        values_.at(other);  // not the entry itself, which moves when another one comes
    values_[instruction] = std::move(value);
  }
  // ... to `value`, whose elements, if it is a tuple, have the shardings `tiles` one by one.
  absl::Status SetDivided(const HloInstruction* instruction, HloInstruction* value,
                          const std::vector<TileAssignment>& tiles);
  void SetLocal(const HloInstruction* instruction) { values_.at(instruction)->is_local = true; }
  // Of an instruction of the walk, or of a region within it.
  const DividedValue& Get(const HloInstruction* instruction) const;

  bool Has(const HloInstruction* instruction) const { return values_.contains(instruction); }

  // An instruction without a meaning for shardings: on tiles if its operands are sharded and it can be, else on whole
  // arrays.
  absl::Status Visit(HloInstruction* instruction);

  // Both emit what is missing. Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> Whole(DividedValue& value);
  absl::StatusOr<HloInstruction*> Tile(DividedValue& value, const TileAssignment& tiles);
  absl::StatusOr<HloInstruction*> Whole(const HloInstruction* instruction) { return Whole(*values_.at(instruction)); }
  absl::StatusOr<HloInstruction*> Tile(const HloInstruction* instruction, const TileAssignment& tiles) {
    return Tile(*values_.at(instruction), tiles);
  }

  // From parts of a tile to the tile, and back. Errors of both: as TileEmitter's.
  absl::StatusOr<HloInstruction*> Reduce(HloInstruction* part, const TileAssignment& tiles);
  absl::StatusOr<HloInstruction*> PartOf(HloInstruction* tile, const TileAssignment& tiles) {
    return emitter_.PartOf(tile, tiles);
  }

  // Whether the operand of a mark has just the tiles that it states, which reach beyond the array.
  bool HasPaddedTilesOf(const HloInstruction& mark) const;
  // Whether nothing uses the value but the caller of the program.
  bool IsResult(const HloInstruction& instruction) const;
  // The sharding that the leaf should have: the part of the propagated one that divides it into equal tiles; of a
  // result by whole axes.
  TileAssignment Wanted(const HloInstruction& instruction, size_t leaf = 0) const;
  // ... that of the program's result.
  TileAssignment WantedOfResult(size_t leaf) const;
  // ... that of an open parameter of the program.
  TileAssignment WantedOfParameter(const HloInstruction& parameter) const;

  absl::StatusOr<Leaves> LeavesOf(const HloInstruction* instruction);
  // The leaves with the shardings `tiles`, in a tuple or alone.
  absl::StatusOr<HloInstruction*> Pack(const Leaves& leaves, const std::vector<TileAssignment>& tiles, bool is_tuple);

  // Whether the op by itself has a different value on each partition. In a manual region the number of the partition
  // tells its coordinate along the manual axes, which all members share.
  static bool IsSourceOfLocals(const HloInstruction& op);

  // Records the sharding of a value that is queried by name.
  void Note(std::string name, TileAssignment tiles) { notes_.push_back({std::move(name), std::move(tiles)}); }
  const std::vector<ShardingNote>& notes() const { return notes_; }

  // The number of sharded arrays that had to be gathered, and the instructions for which they were.
  int64_t gathered_count() const { return gathered_count_; }
  const std::vector<std::string>& gatherers() const { return gatherers_; }
  // The instructions that every partition computes whole, although their results should be sharded.
  const std::vector<std::string>& repeated() const { return repeated_; }
  // Sets the instruction that later gathers are attributed to; null: the result.
  void SetVisited(const HloInstruction* instruction) { visited_ = instruction; }
  void TakeNotesWithin() {
    for (const auto& [region, walk] : within_) TakeNotes(*walk);
  }
  void TakeNotes(const TileWalk& of_called) {
    notes_.insert(notes_.end(), of_called.notes_.begin(), of_called.notes_.end());
    gatherers_.insert(gatherers_.end(), of_called.gatherers_.begin(), of_called.gatherers_.end());
    gathered_count_ += of_called.gathered_count_;
    repeated_.insert(repeated_.end(), of_called.repeated_.begin(), of_called.repeated_.end());
  }

 private:
  using Cuts = std::vector<TileCut>;  // how each factor of an op is cut
  std::optional<OpFactors> FactorsHere(const HloInstruction& op) const;
  // The sharding that propagation gives a leaf, perhaps into more tiles than divide it.
  TileAssignment Propagated(const HloInstruction& instruction, size_t leaf = 0) const;
  // The sharding that the tiles of a value have, which may reach beyond it; whole if it has none.
  TileAssignment TilesNow(const HloInstruction& instruction) const;
  // The ways in which each factor can be cut.
  std::vector<std::vector<TileCut>> Options(const HloInstruction& op, const OpFactors& factors) const;
  Cuts ChooseCuts(const HloInstruction& op, const OpFactors& factors) const;
  double CostOf(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Of its parts: getting the tiles of the operands, and combining partial results and giving the results the shardings
  // that they should have.
  double CostOfOperands(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  double CostOfResults(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Of getting the tiles of a value.
  double CostOf(const HloInstruction& instruction, const TileAssignment& tiles) const;
  bool Fits(const HloInstruction& op, const OpFactors& factors, int factor, int64_t count) const;
  // Cuts the factors of `dimensions`, of one array, as `tiles` are, where they fit and go with the other cuts.
  void Take(const HloInstruction& op, const OpFactors& factors, const std::vector<int>& dimensions,
            const TileAssignment& tiles, Cuts* cuts) const;
  TileAssignment TilesOf(const Cuts& cuts, const std::vector<int>& factors) const;
  // Of one result of an op.
  TileAssignment TilesOfResult(const Cuts& cuts, const OpFactors& factors, const Shape& shape) const;
  // Of each of them.
  std::vector<TileAssignment> TilesOfResults(const Cuts& cuts, const OpFactors& factors, const Shape& shape) const;
  // The dimension along which partial results with the tiles `from` are scattered to get `wanted`, if they can be.
  std::optional<int64_t> ScatterDimension(const Cuts& cuts, const OpFactors& factors, const TileAssignment& from,
                                          const TileAssignment& wanted) const;
  std::vector<std::vector<int64_t>> GroupsToCombine(const Cuts& cuts, const OpFactors& factors) const;
  absl::Status VisitTiled(HloInstruction* op, const OpFactors& factors, const Cuts& cuts);
  absl::Status VisitWhole(HloInstruction* op);
  absl::Status KeepWhole(HloInstruction* op);
  // Of an op that is not local.
  absl::Status Divide(HloInstruction* op);
  // Whether the op may wait; and computes one that has waited, the value of which is `value`.
  bool MayWait(const HloInstruction& op) const;
  absl::Status ComputeNow(DividedValue* value);
  // Sets the value of `op`, of which each partition has computed `tile` from its tiles of the operands; combines
  // partial results.
  absl::Status SetComputed(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors, const Cuts& cuts);

  // The ways of dividing certain ops along dimensions that the factors do not relate. All return false if the op is not
  // one of theirs, or costs at least `limit` that way.
  //
  // Moves elements along cut dimensions.
  absl::StatusOr<bool> VisitShift(HloInstruction* op, const OpFactors& factors, double limit);
  // Scatters into rows that are cut, of which every partition takes the updates of those that it has; or updates that
  // are cut, the results of which are combined.
  absl::StatusOr<bool> VisitScatter(HloInstruction* scatter, const OpFactors& factors, double limit);
  // Gathers from rows that are cut: every partition gathers those that it has, and the results are added up.
  absl::StatusOr<bool> VisitGather(HloInstruction* gather, const OpFactors& factors, double limit);
  // Of both: whether tiles may reach beyond the operand along dimension `d`, which no factor relates; and what a way
  // costs.
  static bool IndexesPadded(const HloInstruction& op, int64_t operand, int64_t d);
  double CostOfIndexed(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Slices that lie in one tile: the partition that has it sends them.
  absl::StatusOr<bool> VisitSliceOfTile(HloInstruction* slice, const OpFactors& factors, double limit);
  // Updates a slice of dimensions that are cut: every partition what it has of it.
  absl::StatusOr<bool> VisitUpdate(HloInstruction* op, const OpFactors& factors, double limit);
  // Reduces cut dimensions of several arrays, or from a value that is not the op's identity: the partitions combine the
  // parts of each array.
  absl::StatusOr<bool> VisitReduction(HloInstruction* reduce, const OpFactors& factors, double limit);
  // Reduces cut dimensions by any computation: each partition its tiles, and then all partitions these results.
  absl::StatusOr<bool> VisitReductionInSteps(HloInstruction* reduce, const OpFactors& factors, double limit);
  // Adds the cuts of the dimensions that are reduced as factors, which are combined, and takes those of the others.
  // False if there are none of the former, or they do not go together.
  bool TakeReduced(const HloInstruction& reduce, OpFactors* factors, Cuts* cuts) const;
  // Scans along a cut dimension: each partition its tile, to which it adds what those before it have.
  absl::StatusOr<bool> VisitScan(HloInstruction* op, const OpFactors& factors, double limit);
  // Slides windows along cut dimensions: every partition gets what its windows reach of its neighbors' tiles.
  absl::StatusOr<bool> VisitWindows(HloInstruction* op, const OpFactors& factors, double limit);
  // Selects and scatters in windows that may overlap: every partition gets what those of its elements reach.
  absl::StatusOr<bool> VisitSelectAndScatter(HloInstruction* op, const OpFactors& factors, double limit);
  // Computes on tiles that reach beyond the array, as those of an operand do.
  absl::StatusOr<bool> VisitPadded(HloInstruction* op, const OpFactors& factors, double limit);
  // Its parts. Whether a value has only such tiles.
  bool IsPadded(const HloInstruction& value) const;
  // Takes the cuts of the tiles of operand `i` as they are now, where they go with the others.
  void TakeTiles(const HloInstruction& op, const OpFactors& factors, int64_t i, Cuts* cuts) const;
  // The cuts that the tiles of operand `first` give, and those of other operands where they go with these. nullopt if
  // the op cannot be computed on them.
  std::optional<Cuts> PaddedCuts(const HloInstruction& op, const OpFactors& factors, int64_t first) const;
  double CostOfPaddedCuts(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // The tile of operand `i`, with `fill`, or 0 if that is null, beyond the array along dimensions of combined factors.
  absl::StatusOr<HloInstruction*> FilledTile(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts,
                                             int64_t i, HloInstruction* fill);
  // The shapes of the tiles that the op has as results.
  Shape PaddedShape(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // The bytes that a device receives to have the divided part of a value's tiles.
  double SettleCost(const PaddedTile& padded) const;
  // What the operand of a broadcast is cut into if its result is cut into `tiles`.
  TileAssignment BeforeBroadcast(const HloInstruction& broadcast, const TileAssignment& tiles) const;
  // Both of a tile that may reach beyond the operand.
  double CostOfPadded(const HloInstruction& operand, const TileAssignment& tiles) const;
  absl::StatusOr<HloInstruction*> TileOfPadded(const HloInstruction& operand, const TileAssignment& tiles);
  // Whether all of the operand is gathered to get that.
  bool IsGatheredFor(const HloInstruction& operand, const TileAssignment& tiles) const;
  // Joins tiles that reach beyond the array along the dimensions that they do not divide.
  absl::Status Settle(DividedValue* value);
  // Whether the tiles of a value that reach beyond it can be cut into those of `tiles`, which are as long along the
  // dimensions that are cut already.
  bool CutsPadded(const DividedValue& value, const TileAssignment& tiles) const;
  // Sets the value of `op` to tiles that may reach beyond it; SetPaddedResult combines partial results first.
  // `tiles`: of each array of the result.
  absl::Status SetPadded(const HloInstruction* op, HloInstruction* value, const std::vector<TileAssignment>& tiles);
  absl::Status SetPaddedResult(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors,
                               const Cuts& cuts);
  // Of joining, in the end, what is computed on tiles of `op` that reach beyond it.
  double CostOfStayingPadded(const HloInstruction& op, const TileAssignment& tiles) const;
  // ... of one array of the result.
  double CostOfStayingPadded(const HloInstruction& op, size_t leaf, const TileAssignment& tiles) const;
  // Of combining the results of the op, of which the partitions along `parts` have one each.
  double CostOfCombining(const HloInstruction& op, const TileCut& parts) const;
  struct ShiftPlan;
  // nullopt if the op cannot give these tiles of its result, which may reach beyond it.
  std::optional<ShiftPlan> PlanShiftTo(const HloInstruction& op, const TileAssignment& wanted) const;
  absl::Status EmitShift(HloInstruction* op, const ShiftPlan& plan);
  struct WindowDivision;
  // `may_reach_beyond`: tiles of the operand and the result beyond them.
  std::optional<WindowDivision> DivideWindows(const HloInstruction& op, const OpFactors& factors,
                                              bool may_reach_beyond) const;
  double CostOfWindows(const HloInstruction& op, const WindowDivision& division,
                       std::vector<std::vector<ShiftRound>>* rounds) const;
  // The result of a convolution some of whose partitions have no windows, or fewer than `tile`, which is of as many as
  // they have at most.
  absl::StatusOr<HloInstruction*> OfOwnWindows(const WindowDivision& division, HloInstruction* tile);
  absl::StatusOr<bool> VisitReshape(HloInstruction* reshape);
  absl::Status CutAgain(const HloInstruction& op);

  HloComputation* computation_;
  const ManualRegion* region_;
  int64_t partitions_;
  int64_t* next_channel_;
  TileEmitter emitter_;
  const PropagatedShardings& wanted_;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> originals_;  // empty if it is no copy
  absl::flat_hash_map<const HloInstruction*, std::shared_ptr<DividedValue>> values_;
  // By region, in the order in which they began: what processes divide a program into must not depend on addresses.
  std::vector<std::pair<const ManualRegion*, std::unique_ptr<TileWalk>>> within_;
  const HloInstruction* visited_ = nullptr;
  std::vector<ShardingNote> notes_;
  int64_t gathered_count_ = 0;
  std::vector<std::string> gatherers_, repeated_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_TILE_WALK_H_
