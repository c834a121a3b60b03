#include "hlo/passes/partition/sharding_relations.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/constraints.h"

namespace hilo {
namespace {

// Loops within loops that are followed.
constexpr int kDeepestLoops = 64;

bool IsOpen(const std::vector<bool>& open, int64_t number) {
  return number < static_cast<int64_t>(open.size()) && open[number];
}

class RelationBuilder {
 public:
  RelationBuilder(const HloModule& module, const ShardingMeshes& meshes, const ManualRegions& regions,
                  const OpenValues& open)
      : module_(module), meshes_(meshes), regions_(regions), open_(open), devices_(module.num_partitions()) {}

  absl::StatusOr<ShardingRelations> Build() {
    const HloComputation& entry = *module_.entry_computation();
    for (int64_t i = 0; i < entry.num_parameters(); ++i)
      HILO_RETURN_IF_ERROR(AddParameter(entry.parameter_instruction(i), i));
    HILO_RETURN_IF_ERROR(AddComputation(entry, 0));
    HILO_RETURN_IF_ERROR(AddResults(*entry.root_instruction()));
    for (const auto& [group, members] : groups_) {
      for (size_t i = 1; i < members.size(); ++i) AddEdge({members[0]}, members[i]);
    }
    return std::move(made_);
  }

 private:
  int NewArray(const Shape& shape) {
    if (!shape.IsArray()) return -1;
    made_.cuts.emplace_back(shape.rank());
    made_.closed.emplace_back(shape.rank(), false);
    made_.reserved.emplace_back();
    if (is_nested_) {
      TileCut& all = made_.reserved.back().emplace_back(TileCut{.count = devices_, .tile_of = {}});
      for (int64_t p = 0; p < devices_; ++p) all.tile_of.push_back(p);
    } else if (region_ != nullptr && region_->manual.count > 1) {
      made_.reserved.back().push_back(region_->manual);
    }
    made_.shapes.push_back(&shape);
    return static_cast<int>(made_.closed.size()) - 1;
  }
  std::vector<int> NewArrays(const Shape& shape) {
    std::vector<int> arrays;
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) arrays.push_back(NewArray(*leaf.shape));
    return arrays;
  }
  const std::vector<int>& ArraysOf(const HloInstruction* instruction) { return made_.leaves.at(instruction); }

  // Whether the tiles cut along none of the axes that are reserved, as those of a manual region are.
  bool KeepsReserved(int array, const TileAssignment& tiles) const {
    std::vector<TileCut> all = made_.reserved[array];
    if (all.empty()) return true;
    for (size_t d = 0; d < tiles.counts.size(); ++d) all.push_back(CutOfDimension(tiles, static_cast<int64_t>(d)));
    return AreIndependent(all, devices_);
  }

  // One that does not fit is an error where the array is divided, or, in a manual region, left out.
  void State(int array, const StatedSharding& stated) {
    if (array < 0) return;
    std::vector<TileCut>& cuts = made_.cuts[array];
    const TileAssignment& tiles = stated.tiles;
    const bool fits =
        tiles.counts.size() == cuts.size() && static_cast<int64_t>(tiles.tile_of.size()) == devices_ &&
        absl::c_all_of(tiles.tile_of, [&](const std::vector<int64_t>& tile) { return tile.size() == cuts.size(); }) &&
        KeepsReserved(array, tiles);
    for (size_t d = 0; d < cuts.size(); ++d) {
      TileCut cut;
      if (!tiles.IsWhole() && fits) cut = CutOfDimension(tiles, static_cast<int64_t>(d));
      const bool is_closed = d >= stated.is_open.size() || !stated.is_open[d];
      made_.closed[array][d] = is_closed;
      if (d >= stated.priorities.size() || stated.priorities[d] == 0) {
        cuts[d] = std::move(cut);
        continue;
      }
      made_.closed[array][d] = true;
      if (cut.count > 1) made_.reserved[array].push_back(cut);
      made_.withheld.push_back({stated.priorities[d], array, d, std::move(cut), is_closed});
    }
    if (static_cast<int64_t>(stated.replicated.tile_of.size()) != devices_ ||
        absl::c_any_of(stated.replicated.tile_of, [](const std::vector<int64_t>& tile) { return tile.empty(); }))
      return;
    for (size_t i = 0; i < stated.replicated.counts.size(); ++i) {
      if (stated.replicated.counts[i] > 1)
        made_.reserved[array].push_back(CutOfDimension(stated.replicated, static_cast<int64_t>(i)));
    }
  }

  // What a parameter or result states is closed.
  absl::StatusOr<std::vector<StatedSharding>> ClosedBy(const HloInstruction& instruction, size_t leaves) const {
    std::vector<StatedSharding> stated(leaves);
    if (!DividesArray(ShardingOf(instruction))) return stated;
    HILO_ASSIGN_OR_RETURN(stated, meshes_.StatedBy(instruction, static_cast<int64_t>(leaves)));
    for (StatedSharding& one : stated) one.is_open.clear();
    return stated;
  }

  absl::Status AddParameter(const HloInstruction* parameter, int64_t number) {
    std::vector<int>& arrays = made_.leaves[parameter] = NewArrays(parameter->shape());
    if (const std::string group = ShardGroupOf(*parameter); !group.empty() && arrays.size() == 1)
      groups_[group].push_back(arrays[0]);
    if (ShardingOf(*parameter).empty() && IsOpen(open_.parameters, number)) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(const std::vector<StatedSharding> stated, ClosedBy(*parameter, arrays.size()));
    for (size_t i = 0; i < arrays.size(); ++i) State(arrays[i], stated[i]);
    return absl::OkStatus();
  }

  absl::Status AddResults(const HloInstruction& root) {
    const std::vector<int> arrays = ArraysOf(&root);
    HILO_ASSIGN_OR_RETURN(const std::vector<StatedSharding> stated, ClosedBy(root, arrays.size()));
    made_.results = NewArrays(root.shape());
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (!IsOpen(open_.results, static_cast<int64_t>(i))) State(made_.results[i], stated[i]);
      AddEdge({arrays[i]}, made_.results[i]);
    }
    return absl::OkStatus();
  }

  // Hands values on, as loops do.
  void AddEdge(std::vector<int> from, int to, bool is_data_flow = false,
               PropagationDirection allowed = PropagationDirection::kBoth) {
    if (to < 0 || absl::c_linear_search(from, -1)) return;
    ShardingRelation edge{.rule = IdentityRule(*made_.shapes[to], from.size() + 1), .arrays = std::move(from)};
    edge.operands = edge.arrays.size();
    edge.scopes.assign(edge.operands, scope_);
    edge.arrays.push_back(to);
    edge.is_data_flow = is_data_flow;
    edge.allowed = allowed;
    made_.relations.push_back(std::move(edge));
  }

  absl::Status AddComputation(const HloComputation& computation, int depth) {
    const ManualRegion* const outer = region_;
    const bool outer_is_nested = is_nested_;
    for (const HloInstruction* instruction : computation.MakePostOrder()) {
      if (made_.leaves.contains(instruction)) continue;
      const ManualRegion* const own = regions_.Of(instruction);
      const bool is_within = own != nullptr && own->IsWithin(outer);
      region_ = is_within ? own : outer;
      is_nested_ = outer_is_nested || (is_within ? regions_.IsNested(instruction) : own != nullptr);
      HILO_RETURN_IF_ERROR(Add(instruction, depth));
    }
    region_ = outer;
    is_nested_ = outer_is_nested;
    return absl::OkStatus();
  }

  absl::Status Add(const HloInstruction* op, int depth) {
    if (op->opcode() == HloOpcode::kTuple) {
      std::vector<int> arrays;
      for (const HloInstruction* operand : op->operands()) {
        const std::vector<int>& of = ArraysOf(operand);
        arrays.insert(arrays.end(), of.begin(), of.end());
      }
      made_.leaves[op] = std::move(arrays);
      return absl::OkStatus();
    }
    if (op->opcode() == HloOpcode::kGetTupleElement) {
      const Shape& tuple = op->operand(0)->shape();
      size_t first = 0;
      for (int64_t i = 0; i < op->tuple_index(); ++i) first += ShapeUtil::Leaves(tuple.tuple_shapes(i)).size();
      const std::vector<int>& of = ArraysOf(op->operand(0));
      const size_t count = ShapeUtil::Leaves(op->shape()).size();
      std::vector<int> arrays(of.begin() + first, of.begin() + first + count);
      made_.leaves[op] = std::move(arrays);
      return absl::OkStatus();
    }
    if (op->opcode() == HloOpcode::kWhile && depth < kDeepestLoops) return AddLoop(op, depth);
    if (op->opcode() == HloOpcode::kConditional && depth < kDeepestLoops) return AddBranches(op, depth);
    std::vector<int> arrays = NewArrays(op->shape());
    made_.leaves[op] = arrays;
    if (op->opcode() == HloOpcode::kOptimizationBarrier) {
      const std::vector<int> from = ArraysOf(op->operand(0));
      for (size_t i = 0; i < arrays.size(); ++i) AddEdge({from[i]}, arrays[i], /*is_data_flow=*/true);
      return absl::OkStatus();
    }
    if (IsShardingMark(*op)) return AddContext(AddMark(op, arrays), InstructionContext(*op));
    if (CutsOrJoins(*op)) return AddContext(AddManualEdge(op, arrays), InstructionContext(*op));
    std::optional<OpFactors> factors = FactorsOf(*op);
    if (!factors.has_value() && region_ != nullptr) factors = region_->FactorsOf(*op);
    std::optional<ShardingRule> rule;
    if (factors.has_value()) rule = ShardingRuleOf(*op, *factors);
    if (!rule.has_value()) return absl::OkStatus();
    ShardingRelation relation{
        .rule = *std::move(rule), .opcode = op->opcode(), .is_elementwise = IsElementwise(op->opcode())};
    // One that only adds dimensions of size 1 repeats nothing.
    if (op->opcode() == HloOpcode::kBroadcast &&
        ShapeUtil::ElementsIn(op->shape()) == ShapeUtil::ElementsIn(op->operand(0)->shape()))
      relation.opcode = HloOpcode::kReshape;
    for (const HloInstruction* operand : op->operands()) relation.arrays.push_back(ArraysOf(operand)[0]);
    relation.operands = relation.arrays.size();
    relation.scopes.assign(relation.operands, scope_);
    relation.arrays.insert(relation.arrays.end(), arrays.begin(), arrays.end());
    made_.relations.push_back(std::move(relation));
    return absl::OkStatus();
  }

  absl::Status AddMark(const HloInstruction* mark, const std::vector<int>& arrays) {
    HILO_RETURN_IF_ERROR(CheckMark(*mark));
    if (!mark->shape().IsArray()) return absl::OkStatus();
    const int operand = ArraysOf(mark->operand(0))[0];
    if (const std::string group = ShardingGroupOf(*mark); !group.empty()) groups_[group].push_back(arrays[0]);
    AddEdge({operand}, arrays[0], /*is_data_flow=*/false, AllowedDirection(*mark));
    const absl::string_view sharding = ShardingOf(*mark);
    if (!StatesSharding(*mark)) return absl::OkStatus();
    if (const std::string group = ShardGroupOf(*mark); !group.empty()) groups_[group].push_back(arrays[0]);
    if (!DividesArray(sharding) && !absl::StrContains(sharding, "replicated")) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, meshes_.StatedBy(*mark, 1));
    stated[0].tiles = stated[0].tiles.Reduced();
    State(arrays[0], stated[0]);
    if (IsClosed(stated[0])) ApplyConstraint(*mark->operand(0), operand, stated[0].tiles);
    return absl::OkStatus();
  }

  // A value of which all constraints require the same tiles is made that way. The state of a loop may be cut more.
  void ApplyConstraint(const HloInstruction& value, int array, const TileAssignment& tiles) {
    if (IsShardingMark(value) || CutsOrJoins(value) || !AllRequire(value, tiles, meshes_)) return;
    if (IsChangingState(value)) {
      State(array, {.tiles = tiles, .is_open = std::vector<bool>(made_.shapes[array]->rank(), true)});
    } else if (value.opcode() != HloOpcode::kGetTupleElement && !value.IsParameter()) {
      State(array, {.tiles = tiles});
    }
  }

  // Whether the value is an element of the state of the loop whose body is being added, which the body does not return
  // as it is.
  bool IsChangingState(const HloInstruction& value) const {
    if (body_ == nullptr || value.opcode() != HloOpcode::kGetTupleElement ||
        value.operand(0) != body_->parameter_instruction(0))
      return false;
    const HloInstruction* root = body_->root_instruction();
    if (root->opcode() != HloOpcode::kTuple) return false;
    const HloInstruction* next = root->operand(value.tuple_index());
    return next->opcode() != HloOpcode::kGetTupleElement || next->operand(0) != value.operand(0) ||
           next->tuple_index() != value.tuple_index();
  }

  // What a manual computation takes is made as it requires, too.
  void ApplySplit(const HloInstruction& value, int array, const StatedSharding& stated) {
    if (IsClosed(stated) && !IsChangingState(value)) ApplyConstraint(value, array, stated.tiles.Reduced());
  }

  // Of a manual region: the whole array is cut along the manual axes first, and then as the local one.
  absl::Status AddRegionEdge(const HloInstruction* call, const ManualRegion& region, const std::vector<int>& arrays) {
    HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> manual, meshes_.TilesOfCall(*call));
    HILO_ASSIGN_OR_RETURN(const std::vector<StatedSharding> stated, meshes_.StatedByCall(*call));
    for (size_t i = 0; i < manual.size() && i < arrays.size() && i < stated.size(); ++i) {
      const int operand = ArraysOf(call->operand(static_cast<int64_t>(i)))[0];
      if (operand < 0 || arrays[i] < 0) continue;
      if (!manual[i].IsWhole() && static_cast<int64_t>(manual[i].tile_of.size()) != devices_)
        return InvalidArgument("the sharding of operand ", i, " is for ", manual[i].tile_of.size(),
                               " devices, but the program has ", devices_, " partitions");
      int whole = arrays[i], local = operand;
      if (CutsToLocal(*call)) {
        const ManualRegion* const inside = std::exchange(region_, region.parent);
        whole = NewArray(*made_.shapes[operand]);
        region_ = inside;
        local = arrays[i];
        AddEdge({operand}, whole);
        ApplySplit(*call->operand(static_cast<int64_t>(i)), operand, stated[i]);
      }
      State(whole, stated[i]);
      ShardingRelation edge{.operands = 1, .scopes = {scope_}};
      edge.rule.tensors.resize(2);
      const bool cuts = CutsToLocal(*call);
      std::vector<std::vector<int>>&of_whole = edge.rule.tensors[cuts ? 0 : 1],
      &of_local = edge.rule.tensors[cuts ? 1 : 0];
      std::vector<TileCut> by_manual;
      for (int64_t d = 0; d < made_.shapes[whole]->rank(); ++d) {
        const int64_t count = by_manual.emplace_back(CutOfDimension(manual[i], d)).count;
        std::vector<int>& factors = of_whole.emplace_back();
        if (count > 1) {
          factors.push_back(static_cast<int>(edge.rule.factors.size()));
          edge.rule.factors.push_back({count, true});
        }
        factors.push_back(static_cast<int>(edge.rule.factors.size()));
        of_local.push_back({factors.back()});
        edge.rule.factors.push_back({made_.shapes[whole]->dimensions(d) / count, true});
      }
      // The manual axes cut only what the call says.
      for (const TileCut& axis : region.axes) {
        by_manual.push_back(axis);
        if (AreIndependent(by_manual, devices_)) made_.reserved[whole].push_back(axis);
        by_manual.pop_back();
      }
      edge.arrays = cuts ? std::vector<int>{whole, local} : std::vector<int>{local, whole};
      made_.relations.push_back(std::move(edge));
    }
    return absl::OkStatus();
  }

  // Of a manual computation, whose inner arrays have no shardings.
  absl::Status AddManualEdge(const HloInstruction* call, const std::vector<int>& arrays) {
    HILO_RETURN_IF_ERROR(CheckCount(*call));
    if (const ManualRegion* region = regions_.OfEdge(call);
        region != nullptr && !is_nested_ && region_ == (CutsToLocal(*call) ? region : region->parent))
      return AddRegionEdge(call, *region, arrays);
    HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles, meshes_.TilesOfCall(*call));
    const absl::StatusOr<std::vector<StatedSharding>> stated = meshes_.StatedByCall(*call);
    for (size_t i = 0; i < tiles.size() && i < arrays.size(); ++i) {
      if (!CutsToLocal(*call)) {
        State(arrays[i], {.tiles = tiles[i].Reduced()});
        continue;
      }
      const HloInstruction* operand = call->operand(static_cast<int64_t>(i));
      if (!operand->shape().IsArray()) continue;
      const bool is_nested = std::exchange(is_nested_, false);
      const int as_given = NewArray(operand->shape());
      is_nested_ = is_nested;
      State(as_given, {.tiles = tiles[i].Reduced()});
      AddEdge({ArraysOf(operand)[0]}, as_given);
      if (!is_nested && stated.ok() && i < stated->size()) ApplySplit(*operand, ArraysOf(operand)[0], (*stated)[i]);
    }
    return absl::OkStatus();
  }

  // The state of a loop is one array for each leaf: its value before the first iteration and the one that the body
  // returns are handed on to it.
  absl::Status AddLoop(const HloInstruction* loop, int depth) {
    const HloComputation &condition = *loop->called_computation(0), &body = *loop->called_computation(1);
    const HloInstruction* in_body = body.parameter_instruction(0);
    const bool is_new = !made_.leaves.contains(in_body);
    if (is_new) made_.leaves[in_body] = NewArrays(in_body->shape());
    const std::vector<int> state = ArraysOf(in_body);
    made_.leaves.try_emplace(condition.parameter_instruction(0), state);
    made_.leaves[loop] = state;
    const auto first = static_cast<std::ptrdiff_t>(made_.relations.size());
    const int outer = scope_;
    scope_ = ++scopes_;
    HILO_RETURN_IF_ERROR(AddComputation(condition, depth + 1));
    const int body_scope = scope_ = ++scopes_;
    const HloComputation* const outer_body = std::exchange(body_, &body);
    HILO_RETURN_IF_ERROR(AddComputation(body, depth + 1));
    body_ = outer_body;
    scope_ = outer;
    const auto edges = static_cast<std::ptrdiff_t>(made_.relations.size());
    const std::vector<int> before = ArraysOf(loop->operand(0)), after = ArraysOf(body.root_instruction());
    for (size_t i = 0; i < state.size(); ++i) {
      if (after[i] == state[i]) AddEdge({before[i]}, state[i]);
    }
    // What passes through is handed on before the loop, as a value that the body captures; other state after it.
    std::rotate(made_.relations.begin() + first, made_.relations.begin() + edges, made_.relations.end());
    for (size_t i = 0; i < state.size(); ++i) {
      if (after[i] == state[i] || state[i] < 0) continue;
      AddEdge({before[i], after[i]}, state[i], /*is_data_flow=*/true);
      made_.relations.back().scopes[1] = body_scope;
    }
    return absl::OkStatus();
  }

  absl::Status AddBranches(const HloInstruction* conditional, int depth) {
    const std::vector<int> results = NewArrays(conditional->shape());
    made_.leaves[conditional] = results;
    std::vector<std::vector<int>> from(results.size());
    for (int64_t i = 1; i < conditional->operand_count(); ++i) {
      const HloComputation& branch = *conditional->called_computation(i - 1);
      const std::vector<int> given = ArraysOf(conditional->operand(i));
      const auto [it, is_new] = made_.leaves.try_emplace(branch.parameter_instruction(0), given);
      if (!is_new) {
        const std::vector<int> taken = it->second;
        for (size_t leaf = 0; leaf < given.size(); ++leaf) {
          if (taken[leaf] != given[leaf]) AddEdge({given[leaf]}, taken[leaf]);
        }
      }
      HILO_RETURN_IF_ERROR(AddComputation(branch, depth + 1));
      const std::vector<int>& returned = ArraysOf(branch.root_instruction());
      for (size_t leaf = 0; leaf < results.size(); ++leaf) from[leaf].push_back(returned[leaf]);
    }
    for (size_t leaf = 0; leaf < results.size(); ++leaf)
      AddEdge(std::move(from[leaf]), results[leaf], /*is_data_flow=*/true);
    return absl::OkStatus();
  }

  const HloModule& module_;
  const ShardingMeshes& meshes_;
  const ManualRegions& regions_;
  const OpenValues& open_;
  const int64_t devices_;
  ShardingRelations made_;
  const ManualRegion* region_ = nullptr;            // in which arrays are made now, and cut along no manual axis
  bool is_nested_ = false;                          // ... and along no other axis either
  const HloComputation* body_ = nullptr;            // of the innermost loop that is being added
  int scope_ = 0, scopes_ = 0;                      // as ShardingRelation::scopes, now and in all
  std::map<std::string, std::vector<int>> groups_;  // of arrays that are sharded alike
};

}  // namespace

absl::StatusOr<ShardingRelations> RelateShardings(const HloModule& module, const ShardingMeshes& meshes,
                                                  const ManualRegions& regions, const OpenValues& open) {
  return RelationBuilder(module, meshes, regions, open).Build();
}

}  // namespace hilo
