#include "hlo/passes/partition/propagate_shardings.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/sharding_relations.h"

namespace hilo {
namespace {

// Different priorities that a program may give its shardings; those behind count as the last.
constexpr size_t kMaxUserPriorities = 64;

using Direction = PropagationDirection;

Direction Union(Direction a, Direction b) { return static_cast<Direction>(static_cast<int>(a) | static_cast<int>(b)); }
Direction Intersection(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<int>(a) & static_cast<int>(b));
}

// Dimensions without factors count, too: rows that are gathered are part of a large array.
int64_t SizeOf(const ShardingRule& rule, size_t tensor, const Shape& shape) {
  int64_t size = 1;
  for (size_t d = 0; d < rule.tensors[tensor].size(); ++d) {
    const std::vector<int>& factors = rule.tensors[tensor][d];
    if (factors.empty()) size *= shape.dimensions(static_cast<int64_t>(d));
    for (const int factor : factors) size *= rule.factors[factor].size;
  }
  return size;
}

// An array's cuts by factor.
struct Projection {
  std::vector<TileCut> cuts;       // [factor]
  std::vector<bool> has, is_open;  // [factor]: whether the array has it, and may be cut more along it
  std::vector<bool> is_minor;      // [factor]: the last one of its dimension
  int array = -1;
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
  ShardingPropagation(ShardingRelations program, int64_t devices, std::vector<TileCut> axes)
      : shapes_(std::move(program.shapes)),
        closed_(std::move(program.closed)),
        reserved_(std::move(program.reserved)),
        withheld_(std::move(program.withheld)),
        relations_(std::move(program.relations)) {
    shardings_.devices_ = devices;
    shardings_.axes_ = std::move(axes);
    shardings_.leaves_ = std::move(program.leaves);
    shardings_.results_ = std::move(program.results);
    shardings_.arrays_ = std::move(program.cuts);
  }

  absl::StatusOr<PropagatedShardings> Run(const PassContext& context) {
    CountUses();
    absl::c_stable_sort(withheld_, [](const WithheldCut& a, const WithheldCut& b) { return a.priority < b.priority; });
    auto next = withheld_.begin();
    for (size_t level = 0;; ++level) {
      for (int priority = 0; priority < kPriorities; ++priority) HILO_RETURN_IF_ERROR(Propagate(priority, context));
      if (next == withheld_.end()) break;
      const int64_t priority = level < kMaxUserPriorities ? next->priority : withheld_.back().priority;
      for (; next != withheld_.end() && next->priority <= priority; ++next) Release(*next);
    }
    return std::move(shardings_);
  }

 private:
  static constexpr int kPriorities = 5;

  // --- propagation ---
  void Release(const WithheldCut& withheld) {
    std::vector<TileCut>& reserved = reserved_[withheld.array];
    if (const auto it = absl::c_find(reserved, withheld.cut); it != reserved.end()) reserved.erase(it);
    shardings_.arrays_[withheld.array][withheld.dimension] = withheld.cut;
    closed_[withheld.array][withheld.dimension] = withheld.is_closed;
  }

  void CountUses() {
    makers_.resize(shapes_.size());
    users_.resize(shapes_.size());
    for (size_t i = 0; i < relations_.size(); ++i) {
      const ShardingRelation& relation = relations_[i];
      for (size_t t = 0; t < relation.arrays.size(); ++t) {
        if (relation.arrays[t] < 0) continue;
        (t < relation.operands ? users_ : makers_)[relation.arrays[t]].push_back(i);
        if (t < relation.operands) ++uses_[{relation.arrays[t], relation.scopes[t]}];
      }
    }
  }

  // What a priority adds to those before it.
  Direction DirectionAt(int priority, const ShardingRelation& relation, int factor) const {
    const bool is_dynamic_slice =
        relation.opcode == HloOpcode::kDynamicSlice || relation.opcode == HloOpcode::kDynamicUpdateSlice;
    const bool is_broadcast = relation.opcode == HloOpcode::kBroadcast;
    switch (priority) {
      case 0:
      case 1: {
        const bool passes = relation.is_elementwise || relation.opcode == HloOpcode::kReshape ||
                            relation.opcode == HloOpcode::kTranspose || relation.opcode == HloOpcode::kCopy;
        if (!passes && !is_dynamic_slice) return Direction::kNone;
        if (priority == 0 && !relation.is_data_flow) {
          for (size_t t = 0; t < relation.operands; ++t) {
            const int array = relation.arrays[t];
            if (array >= 0 && shapes_[array]->rank() > 0 && uses_.at({array, relation.scopes[t]}) > 1)
              return Direction::kNone;
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
  Direction DirectionUpTo(int priority, const ShardingRelation& relation, int factor) const {
    Direction direction = Direction::kNone;
    for (int p = 0; p <= priority; ++p) direction = Union(direction, DirectionAt(p, relation, factor));
    return Intersection(direction, relation.allowed);
  }

  // Until nothing changes. Relations are visited in order; one that an array changes for is visited next, if it is not
  // still to come: the relations that use the array, the first of them first, and then the one that it results from.
  absl::Status Propagate(int priority, const PassContext& context) {
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<size_t> stack(relations_.size());
      std::iota(stack.rbegin(), stack.rend(), 0);
      std::vector<bool> waits(relations_.size(), true);
      while (!stack.empty()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const size_t next = stack.back();
        stack.pop_back();
        waits[next] = false;
        for (const int array : Propagate(priority, relations_[next])) {
          changed = true;
          for (const auto* others : {&makers_[array], &users_[array]}) {
            for (auto other = others->rbegin(); other != others->rend(); ++other) {
              if (*other == next || waits[*other]) continue;
              waits[*other] = true;
              stack.push_back(*other);
            }
          }
        }
      }
    }
    return absl::OkStatus();
  }

  Projection Project(const ShardingRelation& relation, size_t tensor) const {
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

  // Returns the arrays that have changed, operands first.
  std::vector<int> Propagate(int priority, const ShardingRelation& relation) {
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
    const auto results = static_cast<std::ptrdiff_t>(changed.size());
    for (size_t t = 0; t < relation.operands; ++t) update(t);
    std::rotate(changed.begin(), changed.begin() + results, changed.end());
    return changed;
  }

  // The factors of larger arrays first.
  std::vector<int> Order(const ShardingRelation& relation, const std::vector<Projection>& projections,
                         const std::vector<TileCut>& wanted) const {
    std::vector<std::tuple<int64_t, int64_t, size_t, int>> keys;
    for (int f = 0; f < static_cast<int>(wanted.size()); ++f) {
      int64_t size = -1;
      size_t source = 0;
      for (size_t t = 0; t < projections.size() && wanted[f].count > 1; ++t) {
        if (!projections[t].has[f] || !IsPrefix(wanted[f], projections[t].cuts[f])) continue;
        if (const int64_t own = SizeOf(relation.rule, t, *shapes_[relation.arrays[t]]); own > size) {
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

  bool Store(const ShardingRelation& relation, size_t tensor, const Projection& projection) {
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

  PropagatedShardings shardings_;
  // As those of ShardingRelations.
  const std::vector<const Shape*> shapes_;
  std::vector<std::vector<bool>> closed_;
  std::vector<std::vector<TileCut>> reserved_;
  std::vector<WithheldCut> withheld_;
  const std::vector<ShardingRelation> relations_;

  std::map<std::pair<int, int>, int> uses_;          // by array and scope
  std::vector<std::vector<size_t>> makers_, users_;  // relations, by array that is a result or an operand
};

absl::StatusOr<PropagatedShardings> PropagateShardings(const HloModule& module, const ShardingMeshes& meshes,
                                                       const ManualRegions& regions, const OpenValues& open,
                                                       const PassContext& context) {
  HILO_ASSIGN_OR_RETURN(ShardingRelations program, RelateShardings(module, meshes, regions, open));
  const int64_t devices = module.num_partitions();
  return ShardingPropagation(std::move(program), devices, meshes.Axes(devices)).Run(context);
}

}  // namespace hilo
