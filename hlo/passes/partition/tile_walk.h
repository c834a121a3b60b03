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

// Tiles that do not divide an array of the shape `whole`: the last ones reach beyond it. Their elements there are
// undefined.
struct PaddedTile {
  HloInstruction* tile;
  TileAssignment tiles;
  Shape whole;
  // The broadcast that made the tile, if any: what it repeats is joined rather than the result.
  const HloInstruction* broadcast = nullptr;
};

// Returns the sharding without the dimensions that it does not divide.
TileAssignment DividedPart(const PaddedTile& padded, int64_t devices);

// Clears what a gather or scatter on tiles states of its indices (sorted, unique): tiles that reach beyond the array
// have undefined indices there. Does nothing to other ops.
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
  // The op, if it has not been divided yet, as its users may not need the value; all other fields are then unset.
  HloInstruction* waiting = nullptr;
  // Iterations of the loop that the computation is the body of, if the value is the same in all of them: it is joined
  // to larger tiles before the loop, or cut otherwise if that is all that is used.
  double iterations = 1;
  bool uses_own_tile = false;  // and not only others
  std::vector<std::shared_ptr<DividedValue>> elements;
  std::optional<PaddedTile> padded;  // instead of `tile`, until an op needs another one
};

// Returns the value that consists of `part`, the whole array if `tiles` is whole, else its tile.
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
  // `wanted`: the shardings of the instructions of `original`, which is `computation` or what it is a copy of.
  TileWalk(HloComputation* computation, const ManualRegion* region, int64_t* next_channel,
           const PropagatedShardings& wanted, const HloComputation& original);

  HloComputation* computation() const { return computation_; }
  const ManualRegion* region() const { return region_; }
  // Returns the walk over the instructions of a region of the computation, which this walk owns.
  TileWalk& Within(const ManualRegion& region);
  // Makes the operands known to this walk, of a region, as whole arrays unless they are broadcasts, of which each walk
  // has its own tiles; `outer` is the walk that owns this one.
  absl::Status TakeOperands(TileWalk* outer, HloInstruction* op);
  // Returns the instruction that this one of the computation is a copy of, or itself.
  const HloInstruction* OriginalOf(const HloInstruction* instruction) const {
    const auto it = originals_.find(instruction);
    return it == originals_.end() ? instruction : it->second;
  }
  // Returns the sharding that the leaf should have, as a sharding over all devices.
  TileAssignment WantedOfDevices(const HloInstruction& instruction, size_t leaf = 0) const;
  // Returns InvalidArgument or Unimplemented if arrays cannot have the sharding (TileEmitter::Check).
  absl::Status Check(const TileAssignment& tiles) const { return emitter_.Check(tiles); }

  // Sets the value of an instruction, for the instructions visited later.
  void Set(const HloInstruction* instruction, DividedValue value) {
    values_[instruction] = std::make_shared<DividedValue>(std::move(value));
  }
  // Sets the value of `instruction` to that of `other`: both share it from now on.
  void SetAlias(const HloInstruction* instruction, const HloInstruction* other) {
    std::shared_ptr<DividedValue> value =
        values_.at(other);  // not the entry itself, which moves when another one comes
    values_[instruction] = std::move(value);
  }
  // Sets the value of `instruction` to `value`, of the sharding `tiles[0]`, or to its elements, of one sharding each.
  absl::Status SetDivided(const HloInstruction* instruction, HloInstruction* value,
                          const std::vector<TileAssignment>& tiles);
  // Marks the value as local to a manual computation.
  void SetLocal(const HloInstruction* instruction) { values_.at(instruction)->is_local = true; }
  // Returns the value of an instruction of this walk, or of a walk over a region within it.
  const DividedValue& Get(const HloInstruction* instruction) const;

  // Returns true if this walk has a value for the instruction.
  bool Has(const HloInstruction* instruction) const { return values_.contains(instruction); }

  // Divides an instruction that has no meaning of its own for shardings: it is computed on tiles if its operands are
  // sharded and it can be, else on whole arrays.
  absl::Status Visit(HloInstruction* instruction);

  // Returns the whole array of a value, gathered if need be. Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> Whole(DividedValue& value);
  // Returns the tile of a value under the sharding `tiles`, resharded if need be. Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> Tile(DividedValue& value, const TileAssignment& tiles);
  absl::StatusOr<HloInstruction*> Whole(const HloInstruction* instruction) { return Whole(*values_.at(instruction)); }
  absl::StatusOr<HloInstruction*> Tile(const HloInstruction* instruction, const TileAssignment& tiles) {
    return Tile(*values_.at(instruction), tiles);
  }

  // Adds up parts of a tile, one per partition, to the tile. Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> Reduce(HloInstruction* part, const TileAssignment& tiles);
  // Returns parts of which `tile` is the sum (TileEmitter::PartOf). Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> PartOf(HloInstruction* tile, const TileAssignment& tiles) {
    return emitter_.PartOf(tile, tiles);
  }

  // Returns true if the operand of a sharding mark has exactly the tiles that the mark states, and these reach beyond
  // the array.
  bool HasPaddedTilesOf(const HloInstruction& mark) const;
  // Returns true if the value is used only as a result of the program.
  bool IsResult(const HloInstruction& instruction) const;
  // Returns the sharding that the leaf should have: the part of the propagated one that divides it into equal tiles,
  // for results of the program by whole axes of the mesh.
  TileAssignment Wanted(const HloInstruction& instruction, size_t leaf = 0) const;
  // Returns the sharding that the leaf of the program's result should have.
  TileAssignment WantedOfResult(size_t leaf) const;
  // Returns the sharding that a parameter of the program should have if the program states none.
  TileAssignment WantedOfParameter(const HloInstruction& parameter) const;

  // Returns the elements of the tuple, or the array alone. Errors: as TileEmitter's.
  absl::StatusOr<Leaves> LeavesOf(const HloInstruction* instruction);
  // Returns the leaves under the shardings `tiles`, as a tuple or the array alone. Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> Pack(const Leaves& leaves, const std::vector<TileAssignment>& tiles, bool is_tuple);

  // Returns true if the op has a different value on each partition without having local operands. (In a manual
  // region partition-id gives coordinates along the manual axes, which all members share: VisitWhole excepts it.)
  static bool IsSourceOfLocals(const HloInstruction& op);

  // Records the sharding of a value that is queried by name.
  void Note(std::string name, TileAssignment tiles) { notes_.push_back({std::move(name), std::move(tiles)}); }
  const std::vector<ShardingNote>& notes() const { return notes_; }

  // The number of sharded arrays that had to be gathered.
  int64_t gathered_count() const { return gathered_count_; }
  // The instructions for which they were gathered.
  const std::vector<std::string>& gatherers() const { return gatherers_; }
  // The instructions that every partition computes whole, although their results should be sharded.
  const std::vector<std::string>& repeated() const { return repeated_; }
  // Sets the instruction that later gathers are attributed to; null means the program's result.
  void SetVisited(const HloInstruction* instruction) { visited_ = instruction; }
  // Adds what the walks over regions have recorded to what this one has.
  void TakeNotesWithin() {
    for (const auto& [region, walk] : within_) TakeNotes(*walk);
  }
  // Adds what the walk over a called computation has recorded.
  void TakeNotes(const TileWalk& of_called) {
    notes_.insert(notes_.end(), of_called.notes_.begin(), of_called.notes_.end());
    gatherers_.insert(gatherers_.end(), of_called.gatherers_.begin(), of_called.gatherers_.end());
    gathered_count_ += of_called.gathered_count_;
    repeated_.insert(repeated_.end(), of_called.repeated_.begin(), of_called.repeated_.end());
  }

 private:
  using Cuts = std::vector<TileCut>;  // how each factor of an op is cut

  // Returns the factors of the op, in a manual region those that it has there. nullopt if it has none.
  std::optional<OpFactors> FactorsHere(const HloInstruction& op) const;
  // Returns the sharding that propagation gives a leaf, whose tiles need not divide it.
  TileAssignment Propagated(const HloInstruction& instruction, size_t leaf = 0) const;
  // Returns the sharding that the value's tiles have now, which may reach beyond it; whole if it has no tiles.
  TileAssignment TilesNow(const HloInstruction& instruction) const;

  // Returns the ways in which each factor can be cut.
  std::vector<std::vector<TileCut>> Options(const HloInstruction& op, const OpFactors& factors) const;
  // Returns the cheapest combination of these; empty if computing on whole arrays is the cheapest.
  Cuts ChooseCuts(const HloInstruction& op, const OpFactors& factors) const;
  // Estimates the cost of the op under `cuts`, in bytes that a partition receives: of operands, results, and work.
  double CostOf(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Estimates the bytes that a partition receives to have the tiles of all operands.
  double CostOfOperands(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Estimates the bytes that a partition receives when partial results are combined and the results get the shardings
  // that they should have.
  double CostOfResults(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Estimates the bytes that a partition receives to have the value under the sharding `tiles`.
  double CostOf(const HloInstruction& instruction, const TileAssignment& tiles) const;
  // Returns true if `count` divides all dimensions of operands and results that have the factor.
  bool Fits(const HloInstruction& op, const OpFactors& factors, int factor, int64_t count) const;
  // Cuts the factors of `dimensions`, of one array, as `tiles` does, if they fit and are independent of the other cuts.
  void Take(const HloInstruction& op, const OpFactors& factors, const std::vector<int>& dimensions,
            const TileAssignment& tiles, Cuts* cuts) const;
  // Returns the sharding of an array whose dimensions have the given factors.
  TileAssignment TilesOf(const Cuts& cuts, const std::vector<int>& factors) const;
  // Returns the sharding of one result of an op, which has the shape `shape`.
  TileAssignment TilesOfResult(const Cuts& cuts, const OpFactors& factors, const Shape& shape) const;
  // Returns the shardings of all results of an op, which has the shape `shape`.
  std::vector<TileAssignment> TilesOfResults(const Cuts& cuts, const OpFactors& factors, const Shape& shape) const;
  // Returns the dimension along which partial results with the tiles `from` are scattered to get `wanted`; nullopt if
  // they cannot be.
  std::optional<int64_t> ScatterDimension(const Cuts& cuts, const OpFactors& factors, const TileAssignment& from,
                                          const TileAssignment& wanted) const;
  // Returns the groups of partitions that combine their partial results.
  std::vector<std::vector<int64_t>> GroupsToCombine(const Cuts& cuts, const OpFactors& factors) const;

  // Computes the op on the tiles that `cuts` gives.
  absl::Status VisitTiled(HloInstruction* op, const OpFactors& factors, const Cuts& cuts);
  // Computes the op on whole arrays, on every partition.
  absl::Status VisitWhole(HloInstruction* op);
  // Keeps an element-wise op on whole arrays beside its tile if all operands are there as a whole.
  absl::Status KeepWhole(HloInstruction* op);
  // Divides an op that is not local in the cheapest of all ways.
  absl::Status Divide(HloInstruction* op);
  // Returns true if the op, which moves elements, may stay undivided until a user needs its value.
  bool MayWait(const HloInstruction& op) const;
  // Divides the op that has waited to compute `value`; does nothing if none has.
  absl::Status ComputeNow(DividedValue* value);
  // Sets the value of `op`, of which each partition has computed `tile` from its tiles of the operands; combines
  // partial results.
  absl::Status SetComputed(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors, const Cuts& cuts);

  // The ways of dividing certain ops along dimensions that the factors do not relate. All return false if the op is not
  // one of theirs, or costs at least `limit` that way.

  // Moves elements along cut dimensions.
  absl::StatusOr<bool> VisitShift(HloInstruction* op, const OpFactors& factors, double limit);
  // Scatters into cut rows, each partition the updates of its rows; or scatters cut updates and combines the results.
  absl::StatusOr<bool> VisitScatter(HloInstruction* scatter, const OpFactors& factors, double limit);
  // Gathers from cut rows: each partition gathers those of its rows, and the results are added up.
  absl::StatusOr<bool> VisitGather(HloInstruction* gather, const OpFactors& factors, double limit);
  // Returns true if the gather or scatter accepts tiles of its operand number `operand` that reach beyond it along
  // dimension `d`, which has no factor.
  static bool IndexesPadded(const HloInstruction& op, int64_t operand, int64_t d);
  // Estimates the cost of a gather or scatter under `cuts`, as CostOf.
  double CostOfIndexed(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Slices within one tile: the partition that has the tile sends the slice.
  absl::StatusOr<bool> VisitSliceOfTile(HloInstruction* slice, const OpFactors& factors, double limit);
  // Updates a slice along cut dimensions: each partition updates the part of the slice in its tile.
  absl::StatusOr<bool> VisitUpdate(HloInstruction* op, const OpFactors& factors, double limit);
  // Reduces cut dimensions of several arrays, or from a value that is not the op's identity: the partitions combine the
  // parts of each array.
  absl::StatusOr<bool> VisitReduction(HloInstruction* reduce, const OpFactors& factors, double limit);
  // Reduces cut dimensions by any computation: each partition reduces its tile, then all partitions reduce the gathered
  // results.
  absl::StatusOr<bool> VisitReductionInSteps(HloInstruction* reduce, const OpFactors& factors, double limit);
  // Adds a combined factor for each cut dimension that is reduced, and takes the cuts of the other dimensions. Returns
  // false if no reduced dimension is cut, or the cuts are not independent.
  bool TakeReduced(const HloInstruction& reduce, OpFactors* factors, Cuts* cuts) const;
  // Scans along a cut dimension: each partition scans its tile and combines it with the totals of the tiles before.
  absl::StatusOr<bool> VisitScan(HloInstruction* op, const OpFactors& factors, double limit);
  // Slides windows along cut dimensions: each partition gets the elements of other tiles that its windows reach.
  absl::StatusOr<bool> VisitWindows(HloInstruction* op, const OpFactors& factors, double limit);
  // Selects and scatters in windows that may overlap: each partition gets the elements that the windows of its own
  // elements reach.
  absl::StatusOr<bool> VisitSelectAndScatter(HloInstruction* op, const OpFactors& factors, double limit);
  // Computes on tiles that reach beyond the array, as those of an operand do.
  absl::StatusOr<bool> VisitPadded(HloInstruction* op, const OpFactors& factors, double limit);

  // Tiles that reach beyond the array ("padded").

  // Returns true if the value has only padded tiles.
  bool IsPadded(const HloInstruction& value) const;
  // Adds the cuts that the tiles of operand `i` have now, if they are independent of those in `cuts`.
  void TakeTiles(const HloInstruction& op, const OpFactors& factors, int64_t i, Cuts* cuts) const;
  // Returns the cuts that the tiles of operand `first` have, and those of other operands that are independent of these.
  // nullopt if the op cannot be computed on such tiles.
  std::optional<Cuts> PaddedCuts(const HloInstruction& op, const OpFactors& factors, int64_t first) const;
  // Estimates the cost of the op under `cuts`, as CostOf, if tiles of its operands or results are padded.
  double CostOfPaddedCuts(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Returns the tile of operand `i` with `fill` (null: 0) beyond the array along dimensions of combined factors.
  absl::StatusOr<HloInstruction*> FilledTile(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts,
                                             int64_t i, HloInstruction* fill);
  // Returns the shape of the tiles of the op's results.
  Shape PaddedShape(const HloInstruction& op, const OpFactors& factors, const Cuts& cuts) const;
  // Estimates the bytes that a partition receives when Settle joins the tiles.
  double SettleCost(const PaddedTile& padded) const;
  // Returns the sharding of the operand of a broadcast whose result has the sharding `tiles`.
  TileAssignment BeforeBroadcast(const HloInstruction& broadcast, const TileAssignment& tiles) const;
  // Estimates the bytes that a partition receives to have a tile of the operand that may be padded.
  double CostOfPadded(const HloInstruction& operand, const TileAssignment& tiles) const;
  // Returns a tile of the operand that may be padded. Errors: as TileEmitter's.
  absl::StatusOr<HloInstruction*> TileOfPadded(const HloInstruction& operand, const TileAssignment& tiles);
  // Returns true if TileOfPadded gathers the whole operand to get that tile.
  bool IsGatheredFor(const HloInstruction& operand, const TileAssignment& tiles) const;
  // Joins padded tiles along the dimensions that they do not divide, after which none reaches beyond the array.
  absl::Status Settle(DividedValue* value);
  // Returns true if the padded tiles of the value can be cut into those of `tiles`, which are as long along the
  // dimensions that are cut already.
  bool CutsPadded(const DividedValue& value, const TileAssignment& tiles) const;
  // Sets the value of `op` to tiles that may be padded. `tiles`: the sharding of each array of the result.
  absl::Status SetPadded(const HloInstruction* op, HloInstruction* value, const std::vector<TileAssignment>& tiles);
  // Combines partial results and sets the value of `op` to the tiles that `cuts` gives, which may be padded.
  absl::Status SetPaddedResult(const HloInstruction* op, HloInstruction* tile, const OpFactors& factors,
                               const Cuts& cuts);
  class PaddedFlow;
  // Estimates the bytes that a partition receives for joining the values that are computed from padded tiles of `op`,
  // where some user needs them joined.
  double CostOfStayingPadded(const HloInstruction& op, const TileAssignment& tiles) const;
  // Estimates the same for one array of the op's result.
  double CostOfStayingPadded(const HloInstruction& op, size_t leaf, const TileAssignment& tiles) const;
  // Estimates the bytes that a partition receives when the partitions along `parts` combine their results of the op.
  double CostOfCombining(const HloInstruction& op, const TileCut& parts) const;

  struct ShiftPlan;
  // Returns how elements move to give the op's result the sharding `wanted`, whose tiles may be padded. nullopt if they
  // cannot.
  std::optional<ShiftPlan> PlanShiftTo(const HloInstruction& op, const TileAssignment& wanted) const;
  // Emits the op as planned and sets its value.
  absl::Status EmitShift(HloInstruction* op, const ShiftPlan& plan);

  struct WindowDivision;
  // Returns how an op with windows is divided; nullopt if it cannot be. `may_reach_beyond`: tiles of the operand and
  // the result may be padded.
  std::optional<WindowDivision> DivideWindows(const HloInstruction& op, const OpFactors& factors,
                                              bool may_reach_beyond) const;
  // Estimates the cost of the op divided so, as CostOf. Appends the exchanges along each dimension to `rounds`.
  double CostOfWindows(const HloInstruction& op, const WindowDivision& division,
                       std::vector<std::vector<ShiftRound>>* rounds) const;
  // Corrects `tile`, a convolution over the greatest number of windows that a partition has, for partitions that have
  // fewer windows or none.
  absl::StatusOr<HloInstruction*> OfOwnWindows(const WindowDivision& division, HloInstruction* tile);

  // Reshapes tiles to tiles; returns false if no sharding of the operand allows it.
  absl::StatusOr<bool> VisitReshape(HloInstruction* reshape);
  // Cuts the tiles of the op's results further where the wanted shardings are finer: that needs no exchange.
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
