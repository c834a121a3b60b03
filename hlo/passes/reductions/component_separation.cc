// Components of the elements of a grid become grids of their own:
//
//   d = f32[8000,8000,3] subtract(broadcast(x), broadcast(y))        d_k = f32[8000,8000] subtract(broadcast(x_k),
//   r = f32[8000,8000] reduce(multiply(d, d)), dimensions={2}   =>                                 broadcast(y_k))
//   w = f32[8000,8000] ... of r                                      r = d_0 * d_0 + d_1 * d_1 + d_2 * d_2
//   f = f32[8000,3] reduce(d * w), dimensions={1}                    f_k = f32[8000] reduce(d_k * w), dimensions={1}
//
// as of the distances between points and of the forces that depend on them. The grids are computed from arrays that are
// much smaller, element by element, and all that is read of them are reductions: kernels of those compute the elements
// of all components together (hlo/passes/fusion/pair_fusion.cc), which are never in memory. Sums over components are in
// the order of their index.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Where there are more, computing the elements takes longer than to read an array of what is reduced.
constexpr int64_t kMaxComponents = 8;
// Smaller grids are as fast in several kernels.
constexpr int64_t kMinGrid = int64_t{1} << 14;
// A source has at most this part of the elements of the grid that it is repeated in.
constexpr int64_t kMinSourceRepeats = 8;
// Instructions of one grid, and those that components of a computation may add.
constexpr size_t kMaxGridInstructions = 128;
constexpr int64_t kMaxAdded = 4096;

// An array and its dimension of components.
using GridDimension = std::pair<HloInstruction*, int64_t>;

// A reduction of components, or of other dimensions of an array whose last one is that of components.
struct ComponentReduction {
  HloInstruction* reduce;
  int64_t dimension;                // of the operand
  std::vector<GridDimension> grid;  // the operand, and what it is computed from
};

bool IsOfOneArray(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kReduce && x.shape().IsArray() && !x.HasControlDependencies() &&
         ReductionOp(*x.called_computation()).has_value() &&
         ShapeUtil::SameElementType(x.shape(), x.operand(0)->shape());
}

bool Reduces(const HloInstruction& reduce, int64_t dimension) {
  return absl::c_linear_search(reduce.attrs<ReduceAttrs>().dimensions, dimension);
}

class ComponentSeparation : public FusionPass {
 public:
  absl::string_view name() const override { return "separate-components"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    std::vector<ComponentReduction> reductions;
    for (HloInstruction* x : computation->MakePostOrder()) {
      if (!IsOfOneArray(*x)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      if (std::optional<ComponentReduction> reduction = ReductionOf(x)) reductions.push_back(*std::move(reduction));
    }
    DropIncomplete(&reductions);
    components_.clear();
    added_ = 0;
    bool changed = false;
    for (const ComponentReduction& reduction : reductions) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      const int64_t components = reduction.reduce->operand(0)->shape().dimensions(reduction.dimension);
      added_ += components * static_cast<int64_t>(reduction.grid.size());
      if (added_ > kMaxAdded) break;
      HILO_RETURN_IF_ERROR(Separate(reduction));
      changed = true;
    }
    components_.clear();
    return changed;
  }

  static std::optional<ComponentReduction> ReductionOf(HloInstruction* reduce) {
    const Shape& shape = reduce->operand(0)->shape();
    if (Elements(*reduce->operand(0)) < kMinGrid) return std::nullopt;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const bool is_reduced = Reduces(*reduce, d);
      // Others are most likely batches.
      if (!is_reduced && d + 1 != shape.rank()) continue;
      if (shape.dimensions(d) < 2 || shape.dimensions(d) > kMaxComponents) continue;
      const bool ends = is_reduced ? EndsInReductions(*reduce)
                                   : Elements(*reduce) * kMinSourceRepeats <= Elements(*reduce->operand(0));
      std::optional<std::vector<GridDimension>> grid = GridOf({reduce->operand(0), d});
      if (ends && grid.has_value()) return ComponentReduction{reduce, d, *std::move(grid)};
    }
    return std::nullopt;
  }

  // Returns what an array with a dimension of components is computed from, if all of it may be taken apart.
  static std::optional<std::vector<GridDimension>> GridOf(const GridDimension& array) {
    std::vector<GridDimension> grid = {array};
    absl::flat_hash_set<GridDimension> seen = {array};
    for (size_t next = 0; next < grid.size(); ++next) {
      const auto [x, dimension] = grid[next];
      if (grid.size() > kMaxGridInstructions || x->HasControlDependencies() || !x->shape().IsArray())
        return std::nullopt;
      const auto add = [&](HloInstruction* operand, int64_t d) {
        if (seen.insert({operand, d}).second) grid.emplace_back(operand, d);
      };
      if (x->opcode() == HloOpcode::kBroadcast) {
        const bool has_components = absl::c_linear_search(x->attrs<BroadcastAttrs>().dimensions, dimension);
        if (has_components && Elements(*x->operand(0)) * kMinSourceRepeats > Elements(*x)) return std::nullopt;
      } else if (x->opcode() == HloOpcode::kTranspose) {
        add(x->operand(0), x->attrs<TransposeAttrs>().dimensions[dimension]);
      } else if (IsElementwise(x->opcode()) && x->called_computations().empty()) {
        for (HloInstruction* operand : x->operands()) {
          if (operand->shape().IsScalar()) continue;
          if (!ShapeUtil::SameDimensions(operand->shape(), x->shape())) return std::nullopt;
          add(operand, dimension);
        }
      } else if (x->opcode() != HloOpcode::kIota) {
        return std::nullopt;
      }
    }
    return grid;
  }

  // Returns true if all that reads a grid in the end are reductions.
  static bool EndsInReductions(const HloInstruction& grid) {
    std::vector<const HloInstruction*> work = {&grid};
    absl::flat_hash_set<const HloInstruction*> seen = {&grid};
    while (!work.empty()) {
      const HloInstruction* x = work.back();
      work.pop_back();
      if (x->IsRoot() || seen.size() > kMaxGridInstructions) return false;
      for (const HloInstruction* user : x->users()) {
        const bool is_reduction = user->opcode() == HloOpcode::kReduce;
        const Shape& shape = is_reduction ? user->operand(0)->shape() : user->shape();
        const int64_t results = is_reduction && user->shape().IsArray() ? Elements(*user) : 0;
        if (is_reduction && results * kMinSourceRepeats <= ShapeUtil::ElementsIn(shape)) continue;
        const bool goes_on = is_reduction || (IsElementwise(user->opcode()) && user->called_computations().empty()) ||
                             user->opcode() == HloOpcode::kBroadcast || user->opcode() == HloOpcode::kTranspose;
        if (!goes_on) return false;
        if (seen.insert(user).second) work.push_back(user);
      }
    }
    return true;
  }

  // Drops reductions of grids that anything else reads, and those to results with components unless a reduction of
  // components shares elements: as one, they are read once and in one kernel.
  static void DropIncomplete(std::vector<ComponentReduction>* reductions) {
    for (bool dropped = true; dropped;) {
      absl::flat_hash_set<const HloInstruction*> separated, reduced;  // all, and those whose components are reduced
      for (const ComponentReduction& reduction : *reductions) {
        separated.insert(reduction.reduce);
        for (const auto& [x, dimension] : reduction.grid) {
          separated.insert(x);
          if (Reduces(*reduction.reduce, reduction.dimension)) reduced.insert(x);
        }
      }
      const auto is_reduced = [&](const GridDimension& part) { return reduced.contains(part.first); };
      const auto is_read_besides = [&](const GridDimension& part) {
        return part.first->IsRoot() || absl::c_any_of(part.first->users(), [&](const HloInstruction* user) {
                 return !separated.contains(user);
               });
      };
      const auto is_incomplete = [&](const ComponentReduction& reduction) {
        return absl::c_none_of(reduction.grid, is_reduced) || absl::c_any_of(reduction.grid, is_read_besides);
      };
      dropped = std::erase_if(*reductions, is_incomplete) > 0;
    }
  }

  // Replaces a reduction by those of components. What is dead then stays, as components_ names it.
  absl::Status Separate(const ComponentReduction& reduction) {
    HloInstruction* const reduce = reduction.reduce;
    HloInstruction* const array = reduce->operand(0);
    const HloOpcode op = *ReductionOp(*reduce->called_computation());
    std::vector<int64_t> others;  // the other reduced dimensions, of a component
    for (const int64_t d : reduce->attrs<ReduceAttrs>().dimensions) {
      if (d != reduction.dimension) others.push_back(d - (d > reduction.dimension ? 1 : 0));
    }
    std::vector<HloInstruction*> components;
    for (int64_t k = 0; k < array->shape().dimensions(reduction.dimension); ++k) {
      HILO_ASSIGN_OR_RETURN(components.emplace_back(), Component(array, reduction.dimension, k));
    }
    const auto reduce_others = [&](HloInstruction* x) {
      return MakeReduce(x, reduce->operand(1), others, reduce->called_computation());
    };
    if (Reduces(*reduce, reduction.dimension)) {
      HloInstruction* all = components[0];
      for (size_t k = 1; k < components.size(); ++k) {
        HILO_ASSIGN_OR_RETURN(all, MakeBinary(op, all, components[k]));
      }
      if (!others.empty()) {
        HILO_ASSIGN_OR_RETURN(all, reduce_others(all));
      } else if (!IsIdentity(*reduce->operand(1), op)) {
        HILO_ASSIGN_OR_RETURN(HloInstruction * init, MakeBroadcast(reduce->operand(1), reduce->shape(), {}));
        HILO_ASSIGN_OR_RETURN(all, MakeBinary(op, init, all));
      }
      return reduce->parent()->ReplaceAllUsesWith(reduce, all);
    }
    // The components are the last dimension of the result.
    Shape part = reduce->shape();
    const int64_t last = part.rank() - 1;
    std::vector<int64_t> sizes(part.dimensions().begin(), part.dimensions().end());
    sizes[last] = 1;
    part = ShapeUtil::MakeShape(part.element_type(), sizes);
    for (HloInstruction*& component : components) {
      HILO_ASSIGN_OR_RETURN(component, reduce_others(component));
      HILO_ASSIGN_OR_RETURN(component, MakeReshape(component, part));
    }
    auto attributes = std::make_unique<ConcatenateAttrs>();
    attributes->dimensions = {last};
    HILO_ASSIGN_OR_RETURN(HloInstruction * all, reduce->parent()->AddOp(HloOpcode::kConcatenate, components,
                                                                        std::move(attributes), {}, &reduce->shape()));
    return reduce->parent()->ReplaceAllUsesWith(reduce, all);
  }

  // Returns true for the value that a reduction by `op` starts with, but for the sign of a sum that is 0.
  static bool IsIdentity(const HloInstruction& init, HloOpcode op) {
    if (!init.IsConstant()) return false;
    const PrimitiveType type = init.shape().element_type();
    if (op == HloOpcode::kAdd) return !IsComplexType(type) && init.literal().GetAsDouble(0) == 0;
    const std::optional<Literal> identity = IdentityOf(op, type);
    return identity.has_value() && *identity == init.literal();
  }

  // Returns component `k` of an array of a grid.
  absl::StatusOr<HloInstruction*> Component(HloInstruction* array, int64_t dimension, int64_t k) {
    HloInstruction*& known = components_[{array, dimension, k}];
    if (known != nullptr) return known;
    HILO_ASSIGN_OR_RETURN(HloInstruction * made, MakeComponent(array, dimension, k));
    return components_[{array, dimension, k}] = made;
  }

  absl::StatusOr<HloInstruction*> MakeComponent(HloInstruction* x, int64_t dimension, int64_t k) {
    HloComputation* const computation = x->parent();
    const Shape shape = ShapeUtil::DeleteDimensions({dimension}, x->shape());
    if (x->opcode() == HloOpcode::kBroadcast) {
      HloInstruction* source = x->operand(0);
      std::vector<int64_t> to = x->attrs<BroadcastAttrs>().dimensions;
      if (const auto own = absl::c_find(to, dimension); own != to.end()) {
        HILO_ASSIGN_OR_RETURN(source, SourceComponent(source, own - to.begin(), k));
        to.erase(own);
      }
      for (int64_t& d : to) d -= d > dimension ? 1 : 0;
      const bool is_same = absl::c_is_sorted(to) && ShapeUtil::SameDimensions(source->shape(), shape);
      return is_same ? source : MakeBroadcast(source, shape, std::move(to));
    }
    if (x->opcode() == HloOpcode::kIota) {
      const int64_t along = x->attrs<IotaAttrs>().iota_dimension;
      if (along == dimension) return MakeBroadcast(MakeIotaNumber(computation, shape.element_type(), k), shape, {});
      auto attributes = std::make_unique<IotaAttrs>();
      attributes->iota_dimension = along - (along > dimension ? 1 : 0);
      return computation->AddOp(HloOpcode::kIota, {}, std::move(attributes), {}, &shape);
    }
    if (x->opcode() == HloOpcode::kTranspose) {
      std::vector<int64_t> from = x->attrs<TransposeAttrs>().dimensions;
      const int64_t own = from[dimension];
      from.erase(from.begin() + dimension);
      for (int64_t& d : from) d -= d > own ? 1 : 0;
      HILO_ASSIGN_OR_RETURN(HloInstruction * component, Component(x->operand(0), own, k));
      return MakeTranspose(component, std::move(from));
    }
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : x->operands()) {
      operands.push_back(operand);
      if (operand->shape().IsScalar()) continue;
      HILO_ASSIGN_OR_RETURN(operands.back(), Component(operand, dimension, k));
    }
    HloInstruction* component = computation->AddInstruction(x->CloneWithNewOperands(shape, operands));
    component->CopyOriginFrom(*x);
    return component;
  }

  // Returns index `k` along a dimension of a source, which the result has no more.
  absl::StatusOr<HloInstruction*> SourceComponent(HloInstruction* source, int64_t dimension, int64_t k) {
    HloInstruction*& known = components_[{source, dimension, k}];
    if (known != nullptr) return known;
    std::vector<SliceRange> ranges;
    for (const int64_t size : source->shape().dimensions()) ranges.push_back({.start = 0, .limit = size, .stride = 1});
    ranges[dimension] = {.start = k, .limit = k + 1, .stride = 1};
    HILO_ASSIGN_OR_RETURN(HloInstruction * slice, MakeSlice(source, std::move(ranges)));
    HILO_ASSIGN_OR_RETURN(slice, MakeReshape(slice, ShapeUtil::DeleteDimensions({dimension}, source->shape())));
    return components_[{source, dimension, k}] = slice;
  }

  absl::flat_hash_map<std::tuple<const HloInstruction*, int64_t, int64_t>, HloInstruction*> components_;
  int64_t added_ = 0;
};

}  // namespace

std::unique_ptr<HloPass> MakeComponentSeparation() { return std::make_unique<ComponentSeparation>(); }

}  // namespace hilo
