// The weights of particles go to the corners of their cells, say:
//
//   a = f32[c] scatter(x, i, f32[n] u), to_apply=add        =>   b = f32[c] scatter(x, concatenate(i, j),
//   b = f32[c] scatter(a, j, f32[n] v), to_apply=add                                concatenate(u, v)), to_apply=add
#include "backends/gpu/compile/scatter_merge.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

constexpr size_t kMaxMerged = 16;

// The first dimension of the indices, and that of the updates, along which updates follow each other.
struct ListDimensions {
  int64_t of_indices = 0, of_updates = 0;
};
ListDimensions ListDimensionsOf(const HloInstruction& scatter) {
  const auto& attrs = scatter.attrs<ScatterAttrs>();
  ListDimensions dimensions{.of_indices = attrs.index_vector_dim == 0 ? 1 : 0};
  while (absl::c_linear_search(attrs.update_window_dims, dimensions.of_updates)) ++dimensions.of_updates;
  return dimensions;
}

bool AreSameBesides(const Shape& a, const Shape& b, int64_t dimension) {
  if (!ShapeUtil::SameElementType(a, b) || a.rank() != b.rank()) return false;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (d != dimension && a.dimensions(d) != b.dimensions(d)) return false;
  }
  return true;
}

bool IsMergeable(const HloInstruction& scatter) {
  return scatter.opcode() == HloOpcode::kScatter && scatter.operand_count() == 3 && !scatter.HasControlDependencies() &&
         ReductionOp(*scatter.called_computation()).has_value() && IsSortedScatter(scatter);
}

// Returns true if the updates of `first` and then those of `second` are a list.
bool AreList(const HloInstruction& first, const HloInstruction& second) {
  const auto &a = first.attrs<ScatterAttrs>(), &b = second.attrs<ScatterAttrs>();
  const ListDimensions list = ListDimensionsOf(second);
  return ReductionOp(*first.called_computation()) == ReductionOp(*second.called_computation()) &&
         a.update_window_dims == b.update_window_dims && a.inserted_window_dims == b.inserted_window_dims &&
         a.scatter_dims_to_operand_dims == b.scatter_dims_to_operand_dims && a.index_vector_dim == b.index_vector_dim &&
         AreSameBesides(first.operand(1)->shape(), second.operand(1)->shape(), list.of_indices) &&
         AreSameBesides(first.operand(2)->shape(), second.operand(2)->shape(), list.of_updates);
}

absl::StatusOr<HloInstruction*> Concatenated(const std::vector<HloInstruction*>& parts, int64_t dimension) {
  auto attributes = std::make_unique<ConcatenateAttrs>();
  attributes->dimensions = {dimension};
  return parts[0]->parent()->AddOp(HloOpcode::kConcatenate, parts, std::move(attributes));
}

// Index vectors are put together from their elements: these are concatenated first, so that each is an array.
absl::StatusOr<HloInstruction*> Joined(const std::vector<HloInstruction*>& arrays, int64_t dimension) {
  const HloInstruction& first = *arrays[0];
  const bool have_parts = absl::c_all_of(arrays, [&](const HloInstruction* array) {
    if (array->opcode() != HloOpcode::kConcatenate || array->operand_count() != first.operand_count()) return false;
    const int64_t along = array->attrs<ConcatenateAttrs>().dimensions[0];
    if (along == dimension || first.attrs<ConcatenateAttrs>().dimensions[0] != along) return false;
    for (int64_t i = 0; i < array->operand_count(); ++i) {
      if (array->operand(i)->shape().dimensions(along) != first.operand(i)->shape().dimensions(along)) return false;
    }
    return true;
  });
  if (!have_parts) return Concatenated(arrays, dimension);
  std::vector<HloInstruction*> parts;
  for (int64_t i = 0; i < first.operand_count(); ++i) {
    std::vector<HloInstruction*> part;
    for (HloInstruction* array : arrays) part.push_back(array->operand(i));
    HILO_ASSIGN_OR_RETURN(parts.emplace_back(), Concatenated(part, dimension));
  }
  return Concatenated(parts, first.attrs<ConcatenateAttrs>().dimensions[0]);
}

// Replaces the scatters, the last one first.
absl::Status Merge(const std::vector<HloInstruction*>& chain) {
  HloInstruction& last = *chain.front();
  const ListDimensions list = ListDimensionsOf(last);
  std::vector<HloInstruction*> indices, updates;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    indices.push_back((*it)->operand(1));
    updates.push_back((*it)->operand(2));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * all_indices, Joined(indices, list.of_indices));
  HILO_ASSIGN_OR_RETURN(HloInstruction * all_updates, Concatenated(updates, list.of_updates));
  auto attributes = std::make_unique<ScatterAttrs>(last.attrs<ScatterAttrs>());
  attributes->indices_are_sorted = attributes->unique_indices = false;
  HILO_ASSIGN_OR_RETURN(HloInstruction * merged,
                        last.parent()->AddOp(HloOpcode::kScatter, {chain.back()->operand(0), all_indices, all_updates},
                                             std::move(attributes), {last.called_computation()}));
  return last.parent()->ReplaceInstruction(&last, merged);
}

class ScatterMerge : public HloPass {
 public:
  absl::string_view name() const override { return "merge-scatters"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      std::vector<std::vector<HloInstruction*>> chains;
      absl::flat_hash_set<const HloInstruction*> seen;
      const std::vector<HloInstruction*> order = computation->MakePostOrder();
      for (auto it = order.rbegin(); it != order.rend(); ++it) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (seen.contains(*it) || !IsMergeable(**it)) continue;
        std::vector<HloInstruction*> chain = {*it};
        int64_t count = ShapeUtil::ElementsIn((*it)->operand(1)->shape());
        while (chain.size() < kMaxMerged) {
          HloInstruction* before = chain.back()->operand(0);
          if (before->IsRoot() || before->users().size() != 1 || !IsMergeable(*before) ||
              !AreList(*before, *chain.back()))
            break;
          count += ShapeUtil::ElementsIn(before->operand(1)->shape());
          if (count > INT32_MAX) break;
          chain.push_back(before);
          seen.insert(before);
        }
        if (chain.size() > 1) chains.push_back(std::move(chain));
      }
      for (const std::vector<HloInstruction*>& chain : chains) HILO_RETURN_IF_ERROR(Merge(chain));
      changed |= !chains.empty();
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeScatterMerge() { return std::make_unique<ScatterMerge>(); }

}  // namespace hilo::gpu
