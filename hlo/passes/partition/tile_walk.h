// Divides a computation among partitions.
#ifndef HILO_HLO_PASSES_PARTITION_TILE_WALK_H_
#define HILO_HLO_PASSES_PARTITION_TILE_WALK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/partition/op_factors.h"
#include "hlo/passes/partition/tile_emitter.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {

// What every partition has of a value: all of it, its tile, or both. Tuples have elements, or are whole.
struct DividedValue {
  HloInstruction* whole = nullptr;
  HloInstruction* tile = nullptr;
  TileAssignment tiles;
  std::vector<std::pair<TileAssignment, HloInstruction*>> more;  // tiles of other cuts
  TileAssignment joined;                                         // larger tiles, if such have been made for these
  bool is_local =
      false;  // inside of a manual computation: another array in each partition, which nobody divides further
  std::vector<std::shared_ptr<DividedValue>> elements;
};

// Of `part`, which is whole if `tiles` are.
DividedValue DividedOf(HloInstruction* part, const TileAssignment& tiles);

// The elements of a tuple, or an array alone.
using Leaves = std::vector<std::shared_ptr<DividedValue>>;

// Walks through the instructions in order and says, of each, how it is divided; instructions on tiles stand beside the
// ones on whole arrays, which go once nobody needs them.
class TileWalk {
 public:
  TileWalk(HloComputation* computation, int64_t partitions, int64_t* next_channel)
      : computation_(computation), partitions_(partitions), emitter_(computation, partitions, next_channel) {}

  HloComputation* computation() const { return computation_; }
  absl::Status Check(const TileAssignment& tiles) const { return emitter_.Check(tiles); }

  // The instruction's value is `value` from here on.
  void Set(const HloInstruction* instruction, DividedValue value) {
    values_[instruction] = std::make_shared<DividedValue>(std::move(value));
  }
  // ... the same as another one's.
  void SetAlias(const HloInstruction* instruction, const HloInstruction* other) {
    std::shared_ptr<DividedValue> value =
        values_.at(other);  // not the entry itself, which moves when another one comes
    values_[instruction] = std::move(value);
  }
  // ... `value`, whose elements, if it is a tuple, are cut as `tiles` say one by one.
  absl::Status SetDivided(const HloInstruction* instruction, HloInstruction* value,
                          const std::vector<TileAssignment>& tiles);
  void SetLocal(const HloInstruction* instruction) { values_.at(instruction)->is_local = true; }
  const DividedValue& Get(const HloInstruction* instruction) const { return *values_.at(instruction); }

  bool Has(const HloInstruction* instruction) const { return values_.contains(instruction); }

  // An instruction without a meaning for shardings: on tiles if its operands are cut and it can be, else on whole
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

  // `tiles`, with the dimensions that are `open` cut as those of the value are, as far as that goes together.
  TileAssignment CutAlso(const HloInstruction& instruction, const TileAssignment& tiles,
                         const std::vector<bool>& open) const;

  absl::StatusOr<Leaves> LeavesOf(const HloInstruction* instruction);
  // The leaves cut as `tiles` say, in a tuple or alone.
  absl::StatusOr<HloInstruction*> Pack(const Leaves& leaves, const std::vector<TileAssignment>& tiles, bool is_tuple);
  absl::StatusOr<HloInstruction*> ElementOf(HloInstruction* tuple, int64_t index);

  // Whether the op by itself gives each partition something else.
  static bool IsSourceOfLocals(const HloInstruction& op);

  // How values are cut that somebody asks for by a name.
  void Note(std::string name, TileAssignment tiles) { notes_.push_back({std::move(name), std::move(tiles)}); }
  const std::vector<ShardingNote>& notes() const { return notes_; }

  // Arrays that were cut and had to be gathered, and the instruction that the first of them was gathered for.
  int64_t gathered_count() const { return gathered_count_; }
  const std::string& first_gatherer() const { return first_gatherer_; }
  // What is gathered from here on is gathered for this one; null: for the result.
  void SetVisited(const HloInstruction* instruction) { visited_ = instruction; }
  void TakeNotes(const TileWalk& of_called) {
    notes_.insert(notes_.end(), of_called.notes_.begin(), of_called.notes_.end());
    if (gathered_count_ == 0) first_gatherer_ = of_called.first_gatherer_;
    gathered_count_ += of_called.gathered_count_;
  }

 private:
  // How each factor of an op is cut; empty: not at all.
  struct Cuts {
    std::vector<int64_t> counts;                    // of each factor
    std::vector<std::vector<int64_t>> coordinates;  // [factor][partition]
  };
  struct CutDimension {
    int64_t operand;
    size_t dimension;
    int factor;
  };
  std::vector<CutDimension> CutDimensions(const HloInstruction& op, const OpFactors& factors) const;
  Cuts ChooseCuts(const HloInstruction& op, const OpFactors& factors) const;
  bool Fits(const HloInstruction& op, const OpFactors& factors, int factor, int64_t count) const;
  bool AreEven(const Cuts& cuts) const;
  TileAssignment TilesOf(const Cuts& cuts, const std::vector<int>& factors) const;
  std::vector<std::vector<int64_t>> GroupsToCombine(const Cuts& cuts, const OpFactors& factors) const;
  absl::Status VisitTiled(HloInstruction* op, const OpFactors& factors, const Cuts& cuts);
  absl::Status VisitWhole(HloInstruction* op);
  TileAssignment TilesAlike(const HloInstruction& op) const;
  absl::Status CutAgain(const HloInstruction& op, const TileAssignment& tiles);

  HloComputation* computation_;
  int64_t partitions_;
  TileEmitter emitter_;
  absl::flat_hash_map<const HloInstruction*, std::shared_ptr<DividedValue>> values_;
  const HloInstruction* visited_ = nullptr;
  std::vector<ShardingNote> notes_;
  int64_t gathered_count_ = 0;
  std::string first_gatherer_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_PARTITION_TILE_WALK_H_
