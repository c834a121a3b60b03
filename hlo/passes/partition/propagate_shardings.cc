#include "hlo/passes/partition/propagate_shardings.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/sharding_rule.h"

namespace hilo {
namespace {

// Loops within loops that are followed.
constexpr int kDeepest = 64;
// Different priorities that a program may give its shardings; those behind count as the last.
constexpr size_t kMostUserPriorities = 64;

enum class Direction { kNone, kForward, kBackward, kBoth };

Direction Union(Direction a, Direction b) {
  if (a == Direction::kNone) return b;
  return b == Direction::kNone || a == b ? a : Direction::kBoth;
}

// An op whose dimensions are related, or an edge along which one value is handed on.
struct Relation {
  ShardingRule rule;
  std::vector<int> arrays;  // operands, then results; -1 for what has no sharding
  size_t operands = 0;
  HloOpcode opcode = HloOpcode::kCopy;
  bool is_elementwise = false;
};

int64_t SizeOf(const ShardingRule& rule, size_t tensor) {
  int64_t size = 1;
  for (const std::vector<int>& dimension : rule.tensors[tensor]) {
    for (int factor : dimension) size *= rule.factors[factor].size;
  }
  return size;
}

bool IsOpen(const std::vector<bool>& open, int64_t number) {
  return number < static_cast<int64_t>(open.size()) && open[number];
}

// An array's cuts by factor.
struct Projection {
  std::vector<TileCut> cuts;       // [factor]
  std::vector<bool> has, is_open;  // [factor]: whether the array has it, and may be cut more along it
  std::vector<bool> is_minor;      // [factor]: the last one of its dimension
  int array = -1;
};

// A dimension whose sharding is propagated with a later priority. Until then it is whole and closed.
struct Withheld {
  int64_t priority = 0;
  int array = 0;
  size_t dimension = 0;
  TileCut cut;
  bool is_closed = true;
};

}  // namespace

TileAssignment PropagatedShardings::CutsOf(const std::vector<int>& leaves, size_t leaf) const {
  if (leaf >= leaves.size() || leaves[leaf] < 0) return TileAssignment();
  return TilesOfCuts(arrays_[leaves[leaf]], devices_);
}

TileAssignment PropagatedShardings::Of(const HloInstruction* instruction, size_t leaf) const {
  const auto it = leaves_.find(instruction);
  return it == leaves_.end() ? TileAssignment() : CutsOf(it->second, leaf);
}

TileAssignment PropagatedShardings::WholeAxes(const TileAssignment& tiles) const {
  if (tiles.IsWhole() || axes_.empty()) return tiles;
  std::vector<TileCut> cuts;
  for (int64_t d = 0; d < static_cast<int64_t>(tiles.counts.size()); ++d) {
    TileCut rest = CutOfDimension(tiles, d), whole;
    while (rest.count > 1) {
      const auto axis = absl::c_find_if(axes_, [&](const TileCut& one) { return IsPrefix(one, rest); });
      if (axis == axes_.end()) break;
      whole = Nested(whole, *axis);
      rest = RestOf(rest, axis->count);
    }
    cuts.push_back(std::move(whole));
  }
  return TilesOfCuts(cuts, devices_);
}

class ShardingPropagation {
 public:
  ShardingPropagation(const HloModule& module, const ShardingMeshes& meshes, const OpenValues& open)
      : module_(module), meshes_(meshes), open_(open) {
    shardings_.devices_ = module.num_partitions();
    shardings_.axes_ = meshes.Axes(module.num_partitions());
  }

  absl::StatusOr<PropagatedShardings> Run() {
    const HloComputation& entry = *module_.entry_computation();
    for (int64_t i = 0; i < entry.num_parameters(); ++i)
      HILO_RETURN_IF_ERROR(AddParameter(entry.parameter_instruction(i), i));
    HILO_RETURN_IF_ERROR(AddComputation(entry, 0));
    HILO_RETURN_IF_ERROR(AddResults(*entry.root_instruction()));
    for (const auto& [group, members] : groups_) {
      for (size_t i = 1; i < members.size(); ++i) AddEdge({members[0]}, members[i]);
    }
    CountUses();
    absl::c_stable_sort(withheld_, [](const Withheld& a, const Withheld& b) { return a.priority < b.priority; });
    auto next = withheld_.begin();
    for (size_t level = 0;; ++level) {
      for (int priority = 0; priority < kPriorities; ++priority) Propagate(priority);
      if (next == withheld_.end()) break;
      const int64_t priority = level < kMostUserPriorities ? next->priority : withheld_.back().priority;
      for (; next != withheld_.end() && next->priority <= priority; ++next) Release(*next);
    }
    return std::move(shardings_);
  }

 private:
  static constexpr int kPriorities = 5;

  // --- the relations of the program ---
  int NewArray(const Shape& shape) {
    if (!shape.IsArray()) return -1;
    shardings_.arrays_.emplace_back(shape.rank());
    closed_.emplace_back(shape.rank(), false);
    reserved_.emplace_back();
    shapes_.push_back(&shape);
    return static_cast<int>(closed_.size()) - 1;
  }
  std::vector<int> NewArrays(const Shape& shape) {
    std::vector<int> arrays;
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) arrays.push_back(NewArray(*leaf.shape));
    return arrays;
  }
  const std::vector<int>& ArraysOf(const HloInstruction* instruction) { return shardings_.leaves_.at(instruction); }

  // One that does not fit is an error where the array is divided.
  void State(int array, const StatedSharding& stated) {
    if (array < 0) return;
    std::vector<TileCut>& cuts = shardings_.arrays_[array];
    const TileAssignment& tiles = stated.tiles;
    const bool fits =
        tiles.counts.size() == cuts.size() && static_cast<int64_t>(tiles.tile_of.size()) == shardings_.devices_ &&
        absl::c_all_of(tiles.tile_of, [&](const std::vector<int64_t>& tile) { return tile.size() == cuts.size(); });
    for (size_t d = 0; d < cuts.size(); ++d) {
      TileCut cut;
      if (!tiles.IsWhole() && fits) cut = CutOfDimension(tiles, static_cast<int64_t>(d));
      const bool is_closed = d >= stated.is_open.size() || !stated.is_open[d];
      closed_[array][d] = is_closed;
      if (d >= stated.priorities.size() || stated.priorities[d] == 0) {
        cuts[d] = std::move(cut);
        continue;
      }
      closed_[array][d] = true;
      if (cut.count > 1) reserved_[array].push_back(cut);
      withheld_.push_back({stated.priorities[d], array, d, std::move(cut), is_closed});
    }
    if (static_cast<int64_t>(stated.replicated.tile_of.size()) != shardings_.devices_ ||
        absl::c_any_of(stated.replicated.tile_of, [](const std::vector<int64_t>& tile) { return tile.empty(); }))
      return;
    for (size_t i = 0; i < stated.replicated.counts.size(); ++i) {
      if (stated.replicated.counts[i] > 1)
        reserved_[array].push_back(CutOfDimension(stated.replicated, static_cast<int64_t>(i)));
    }
  }

  void Release(const Withheld& withheld) {
    std::vector<TileCut>& reserved = reserved_[withheld.array];
    if (const auto it = absl::c_find(reserved, withheld.cut); it != reserved.end()) reserved.erase(it);
    shardings_.arrays_[withheld.array][withheld.dimension] = withheld.cut;
    closed_[withheld.array][withheld.dimension] = withheld.is_closed;
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
    std::vector<int>& arrays = shardings_.leaves_[parameter] = NewArrays(parameter->shape());
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
    shardings_.results_ = NewArrays(root.shape());
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (!IsOpen(open_.results, static_cast<int64_t>(i))) State(shardings_.results_[i], stated[i]);
      AddEdge({arrays[i]}, shardings_.results_[i]);
    }
    return absl::OkStatus();
  }

  // Hands values on, as loops do.
  void AddEdge(std::vector<int> from, int to) {
    if (to < 0 || absl::c_linear_search(from, -1)) return;
    Relation edge{.rule = IdentityRule(*shapes_[to], from.size() + 1), .arrays = std::move(from)};
    edge.operands = edge.arrays.size();
    edge.arrays.push_back(to);
    relations_.push_back(std::move(edge));
  }

  absl::Status AddComputation(const HloComputation& computation, int depth) {
    for (const HloInstruction* instruction : computation.MakePostOrder()) {
      if (!shardings_.leaves_.contains(instruction)) HILO_RETURN_IF_ERROR(Add(instruction, depth));
    }
    return absl::OkStatus();
  }

  absl::Status Add(const HloInstruction* op, int depth) {
    if (op->opcode() == HloOpcode::kTuple) {
      std::vector<int> arrays;
      for (const HloInstruction* operand : op->operands()) {
        const std::vector<int>& of = ArraysOf(operand);
        arrays.insert(arrays.end(), of.begin(), of.end());
      }
      shardings_.leaves_[op] = std::move(arrays);
      return absl::OkStatus();
    }
    if (op->opcode() == HloOpcode::kGetTupleElement) {
      const Shape& tuple = op->operand(0)->shape();
      size_t first = 0;
      for (int64_t i = 0; i < op->tuple_index(); ++i) first += ShapeUtil::Leaves(tuple.tuple_shapes(i)).size();
      const std::vector<int>& of = ArraysOf(op->operand(0));
      const size_t count = ShapeUtil::Leaves(op->shape()).size();
      std::vector<int> arrays(of.begin() + first, of.begin() + first + count);
      shardings_.leaves_[op] = std::move(arrays);
      return absl::OkStatus();
    }
    if (op->opcode() == HloOpcode::kWhile && depth < kDeepest) return AddLoop(op, depth);
    if (op->opcode() == HloOpcode::kConditional && depth < kDeepest) return AddBranches(op, depth);
    std::vector<int> arrays = NewArrays(op->shape());
    shardings_.leaves_[op] = arrays;
    if (op->opcode() == HloOpcode::kOptimizationBarrier) {
      const std::vector<int> from = ArraysOf(op->operand(0));
      for (size_t i = 0; i < arrays.size(); ++i) AddEdge({from[i]}, arrays[i]);
      return absl::OkStatus();
    }
    if (IsShardingMark(*op)) return AddMark(op, arrays);
    if (CutsOrJoins(*op)) return AddManualEdge(op, arrays);
    std::optional<ShardingRule> rule = ShardingRuleOf(*op);
    if (!rule.has_value()) return absl::OkStatus();
    Relation relation{.rule = *std::move(rule), .opcode = op->opcode(), .is_elementwise = IsElementwise(op->opcode())};
    for (const HloInstruction* operand : op->operands()) relation.arrays.push_back(ArraysOf(operand)[0]);
    relation.operands = relation.arrays.size();
    relation.arrays.insert(relation.arrays.end(), arrays.begin(), arrays.end());
    relations_.push_back(std::move(relation));
    return absl::OkStatus();
  }

  absl::Status AddMark(const HloInstruction* mark, const std::vector<int>& arrays) {
    const int operand = ArraysOf(mark->operand(0))[0];
    if (!mark->shape().IsArray()) return absl::OkStatus();
    if (const std::string group = ShardingGroupOf(*mark); !group.empty()) groups_[group].push_back(arrays[0]);
    AddEdge({operand}, arrays[0]);
    const absl::string_view sharding = ShardingOf(*mark);
    if (!StatesSharding(*mark)) return absl::OkStatus();
    if (const std::string group = ShardGroupOf(*mark); !group.empty()) groups_[group].push_back(arrays[0]);
    if (!DividesArray(sharding) && !absl::StrContains(sharding, "replicated")) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, meshes_.StatedBy(*mark, 1));
    stated[0].tiles = stated[0].tiles.Reduced();
    State(arrays[0], stated[0]);
    // What is only made to be marked is made that way.
    const HloInstruction* marked = mark->operand(0);
    const bool is_final = !absl::c_linear_search(stated[0].is_open, true) &&
                          absl::c_all_of(stated[0].priorities, [](int64_t priority) { return priority == 0; });
    if (is_final && !IsShardingMark(*marked) && !CutsOrJoins(*marked) &&
        marked->opcode() != HloOpcode::kGetTupleElement && !marked->IsParameter() && marked->users().size() == 1)
      State(operand, {.tiles = stated[0].tiles});
    return absl::OkStatus();
  }

  // Of a manual computation, whose inner arrays have no shardings.
  absl::Status AddManualEdge(const HloInstruction* call, const std::vector<int>& arrays) {
    HILO_RETURN_IF_ERROR(CheckCount(*call));
    HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles, meshes_.TilesOfCall(*call));
    for (size_t i = 0; i < tiles.size() && i < arrays.size(); ++i) {
      if (!CutsToLocal(*call)) {
        State(arrays[i], {.tiles = tiles[i].Reduced()});
        continue;
      }
      const HloInstruction* operand = call->operand(static_cast<int64_t>(i));
      if (!operand->shape().IsArray()) continue;
      const int as_given = NewArray(operand->shape());
      State(as_given, {.tiles = tiles[i].Reduced()});
      AddEdge({ArraysOf(operand)[0]}, as_given);
    }
    return absl::OkStatus();
  }

  // The state of a loop is one array for each leaf: its value before the first iteration and the one that the body
  // returns are handed on to it.
  absl::Status AddLoop(const HloInstruction* loop, int depth) {
    const HloComputation &condition = *loop->called_computation(0), &body = *loop->called_computation(1);
    const HloInstruction* in_body = body.parameter_instruction(0);
    const bool is_new = !shardings_.leaves_.contains(in_body);
    if (is_new) shardings_.leaves_[in_body] = NewArrays(in_body->shape());
    const std::vector<int> state = ArraysOf(in_body);
    shardings_.leaves_.try_emplace(condition.parameter_instruction(0), state);
    shardings_.leaves_[loop] = state;
    HILO_RETURN_IF_ERROR(AddComputation(condition, depth + 1));
    HILO_RETURN_IF_ERROR(AddComputation(body, depth + 1));
    const std::vector<int> before = ArraysOf(loop->operand(0)), after = ArraysOf(body.root_instruction());
    for (size_t i = 0; i < state.size(); ++i) {
      if (after[i] == state[i]) {
        AddEdge({before[i]}, state[i]);
      } else {
        AddEdge({before[i], after[i]}, state[i]);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddBranches(const HloInstruction* conditional, int depth) {
    const std::vector<int> results = NewArrays(conditional->shape());
    shardings_.leaves_[conditional] = results;
    std::vector<std::vector<int>> from(results.size());
    for (int64_t i = 1; i < conditional->operand_count(); ++i) {
      const HloComputation& branch = *conditional->called_computation(i - 1);
      const std::vector<int> given = ArraysOf(conditional->operand(i));
      const auto [it, is_new] = shardings_.leaves_.try_emplace(branch.parameter_instruction(0), given);
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
    for (size_t leaf = 0; leaf < results.size(); ++leaf) AddEdge(std::move(from[leaf]), results[leaf]);
    return absl::OkStatus();
  }

  void CountUses() {
    uses_.assign(shapes_.size(), 0);
    users_.resize(shapes_.size());
    for (size_t i = 0; i < relations_.size(); ++i) {
      const Relation& relation = relations_[i];
      for (size_t t = 0; t < relation.arrays.size(); ++t) {
        if (relation.arrays[t] < 0) continue;
        users_[relation.arrays[t]].push_back(i);
        if (t < relation.operands) ++uses_[relation.arrays[t]];
      }
    }
  }

  // --- propagation ---
  // What a priority adds to those before it.
  Direction DirectionAt(int priority, const Relation& relation, int factor) const {
    const bool is_dynamic_slice =
        relation.opcode == HloOpcode::kDynamicSlice || relation.opcode == HloOpcode::kDynamicUpdateSlice;
    const bool is_broadcast = relation.opcode == HloOpcode::kBroadcast;
    switch (priority) {
      case 0:
      case 1: {
        const bool passes = relation.is_elementwise || relation.opcode == HloOpcode::kReshape ||
                            relation.opcode == HloOpcode::kTranspose || relation.opcode == HloOpcode::kCopy;
        if (!passes && !is_dynamic_slice) return Direction::kNone;
        if (priority == 0) {
          for (size_t t = 0; t < relation.operands; ++t) {
            const int array = relation.arrays[t];
            if (array >= 0 && shapes_[array]->rank() > 0 && uses_[array] > 1) return Direction::kNone;
          }
        }
        return passes ? Direction::kBoth : Direction::kForward;
      }
      case 2:
        if (!relation.rule.factors[factor].passes_through) return Direction::kNone;
        return is_broadcast ? Direction::kBackward : Direction::kBoth;
      case 3: return is_broadcast ? Direction::kBackward : Direction::kBoth;
      default: return Direction::kBoth;
    }
  }
  Direction DirectionUpTo(int priority, const Relation& relation, int factor) const {
    Direction direction = Direction::kNone;
    for (int p = 0; p <= priority; ++p) direction = Union(direction, DirectionAt(p, relation, factor));
    return direction;
  }

  void Propagate(int priority) {
    std::deque<size_t> work(relations_.size());
    std::iota(work.begin(), work.end(), 0);
    std::vector<bool> waits(relations_.size(), true);
    while (!work.empty()) {
      const size_t next = work.front();
      work.pop_front();
      waits[next] = false;
      for (const int array : Propagate(priority, relations_[next])) {
        for (const size_t user : users_[array]) {
          if (waits[user]) continue;
          waits[user] = true;
          work.push_back(user);
        }
      }
    }
  }

  Projection Project(const Relation& relation, size_t tensor) const {
    const ShardingRule& rule = relation.rule;
    Projection projection{.cuts = std::vector<TileCut>(rule.factors.size()),
                          .has = std::vector<bool>(rule.factors.size(), false),
                          .is_open = std::vector<bool>(rule.factors.size(), false),
                          .is_minor = std::vector<bool>(rule.factors.size(), false),
                          .array = relation.arrays[tensor]};
    const int array = projection.array;
    if (array < 0) return projection;
    for (size_t d = 0; d < rule.tensors[tensor].size(); ++d) {
      TileCut rest = shardings_.arrays_[array][d];
      const std::vector<int>& factors = rule.tensors[tensor][d];
      bool blocked = closed_[array][d];
      for (size_t i = 0; i < factors.size(); ++i) {
        const int factor = factors[i];
        projection.has[factor] = true;
        projection.is_minor[factor] = i + 1 == factors.size();
        const int64_t size = rule.factors[factor].size;
        const int64_t count = projection.is_minor[factor] ? rest.count : std::gcd(rest.count, size);
        projection.cuts[factor] = PrefixOf(rest, count);
        rest = RestOf(rest, count);
        // What is left over belongs to the next factor only if this one is cut as far as it can be.
        if (!projection.is_minor[factor] && count < size && rest.count > 1) {
          rest = TileCut();
          blocked = true;
        }
        projection.is_open[factor] = !blocked;
      }
    }
    return projection;
  }

  // The cut of a factor that all arrays agree on, or nothing.
  static TileCut Compatible(const std::vector<Projection>& projections, size_t operands, int factor,
                            Direction direction) {
    TileCut cut;
    if (direction == Direction::kNone) return cut;
    bool may_grow = true;
    const auto meet = [&](size_t from, size_t to, bool grows) {
      for (size_t t = from; t < to; ++t) {
        if (!projections[t].has[factor]) continue;
        const TileCut& other = projections[t].cuts[factor];
        const int64_t common = CommonPrefix(cut, other);
        if (common == cut.count) {
          if (may_grow && grows) cut = other;
          if (other.count > cut.count) continue;
        } else if (common != other.count) {
          cut = PrefixOf(cut, common);
          may_grow = false;
        }
      }
    };
    const size_t all = projections.size();
    if (direction == Direction::kBackward) {
      meet(operands, all, true);
      meet(0, operands, false);
    } else {
      meet(0, operands, true);
      meet(operands, all, direction == Direction::kBoth);
    }
    return cut;
  }

  // Returns the arrays that have changed.
  std::vector<int> Propagate(int priority, const Relation& relation) {
    const ShardingRule& rule = relation.rule;
    const auto factors = static_cast<int>(rule.factors.size());
    std::vector<Projection> projections;
    for (size_t t = 0; t < relation.arrays.size(); ++t) projections.push_back(Project(relation, t));
    std::vector<TileCut> wanted;
    for (int f = 0; f < factors; ++f)
      wanted.push_back(Compatible(projections, relation.operands, f, DirectionUpTo(priority, relation, f)));
    if (absl::c_all_of(wanted, [](const TileCut& cut) { return cut.count == 1; })) return {};
    const std::vector<int> order = Order(relation, projections, wanted);
    std::vector<int> changed;
    const auto update = [&](size_t t) {
      for (const int f : order) {
        TileCut cut = wanted[f];
        if (!projections[t].has[f]) continue;
        if (t < relation.operands && relation.is_elementwise) {
          // An operand is not cut for a result that is not.
          for (size_t r = relation.operands; r < projections.size(); ++r) {
            const TileCut& of_result = projections[r].cuts[f];
            if (projections[r].has[f] && of_result.count < cut.count && IsPrefix(of_result, cut)) cut = of_result;
          }
        }
        Extend(&projections[t], f, rule.factors[f].size, cut);
      }
      if (Store(relation, t, projections[t])) changed.push_back(relation.arrays[t]);
    };
    for (size_t t = relation.operands; t < relation.arrays.size(); ++t) update(t);
    for (size_t t = 0; t < relation.operands; ++t) update(t);
    return changed;
  }

  // The factors of larger arrays first.
  static std::vector<int> Order(const Relation& relation, const std::vector<Projection>& projections,
                                const std::vector<TileCut>& wanted) {
    std::vector<std::tuple<int64_t, int64_t, size_t, int>> keys;
    for (int f = 0; f < static_cast<int>(wanted.size()); ++f) {
      int64_t size = -1;
      size_t source = 0;
      for (size_t t = 0; t < projections.size() && wanted[f].count > 1; ++t) {
        if (!projections[t].has[f] || !IsPrefix(wanted[f], projections[t].cuts[f])) continue;
        if (const int64_t own = SizeOf(relation.rule, t); own > size) {
          size = own;
          source = t;
        }
      }
      keys.emplace_back(-size, relation.is_elementwise ? -wanted[f].count : 0, source, f);
    }
    absl::c_sort(keys);
    std::vector<int> order;
    for (const auto& key : keys) order.push_back(std::get<3>(key));
    return order;
  }

  // Whether the array may be cut so: along no axis twice, and none that is not for it.
  bool IsPossible(int array, std::vector<TileCut> cuts) const {
    cuts.insert(cuts.end(), reserved_[array].begin(), reserved_[array].end());
    return AreIndependent(cuts, shardings_.devices_);
  }

  // Cuts the factor finer, as `cut` as far as it may.
  void Extend(Projection* array, int factor, int64_t size, const TileCut& cut) const {
    const TileCut own = array->cuts[factor];
    if (!array->is_open[factor] || cut.count <= own.count || !IsPrefix(own, cut)) return;
    for (int64_t count = cut.count; count > own.count; --count) {
      if (cut.count % count != 0 || count % own.count != 0) continue;
      if (!array->is_minor[factor] && size % count != 0) continue;
      array->cuts[factor] = PrefixOf(cut, count);
      if (IsPossible(array->array, array->cuts)) return;
    }
    array->cuts[factor] = own;
  }

  bool Store(const Relation& relation, size_t tensor, const Projection& projection) {
    const int array = relation.arrays[tensor];
    if (array < 0) return false;
    bool changed = false;
    std::vector<TileCut> cuts = shardings_.arrays_[array];
    for (size_t d = 0; d < relation.rule.tensors[tensor].size(); ++d) {
      TileCut cut;
      bool complete = true;
      for (const int factor : relation.rule.tensors[tensor][d]) {
        if (!complete) break;
        cut = Nested(cut, projection.cuts[factor]);
        complete = projection.cuts[factor].count == relation.rule.factors[factor].size;
      }
      if (cut.count <= cuts[d].count || !IsPrefix(cuts[d], cut)) continue;
      cuts[d] = std::move(cut);
      changed = true;
    }
    if (!changed || !IsPossible(array, cuts)) return false;
    shardings_.arrays_[array] = std::move(cuts);
    return true;
  }

  const HloModule& module_;
  const ShardingMeshes& meshes_;
  const OpenValues& open_;
  PropagatedShardings shardings_;
  std::vector<const Shape*> shapes_;            // of each array
  std::vector<std::vector<bool>> closed_;       // by array, by dimension
  std::vector<std::vector<TileCut>> reserved_;  // by array: axes along which it must not be cut (now)
  std::vector<Withheld> withheld_;
  std::vector<Relation> relations_;
  std::map<std::string, std::vector<int>> groups_;  // of arrays that are sharded alike
  std::vector<int> uses_;
  std::vector<std::vector<size_t>> users_;
};

absl::StatusOr<PropagatedShardings> PropagateShardings(const HloModule& module, const ShardingMeshes& meshes,
                                                       const OpenValues& open) {
  return ShardingPropagation(module, meshes, open).Run();
}

}  // namespace hilo
