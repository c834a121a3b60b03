// Scatters whose index vectors contain a position of their own, as in x.at[arange(n), y].add(z): no two of them are the
// same.
#include <algorithm>
#include <utility>

#include "hilo/status_macros.h"
#include "hlo/analysis/own_positions.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Kernels need not combine the updates of an element in order then.
Result ScatterOfOwnPositions(HloInstruction* i) {
  const ScatterAttrs& scatter = i->attrs<ScatterAttrs>();
  if (scatter.unique_indices || OwnPositionsOf(*i).empty()) return nullptr;
  auto attributes = std::make_unique<ScatterAttrs>(scatter);
  attributes->unique_indices = true;
  return i->parent()->AddOp(HloOpcode::kScatter, i->operands(), std::move(attributes), {i->called_computation()});
}

// With one element of the index vector left, and equal elements to scatter into, this is a selection (index_rules.cc).
Result ScatterIntoOwnRows(HloInstruction* i) {
  const ScatterAttrs& scatter = i->attrs<ScatterAttrs>();
  const std::vector<int64_t>& dimensions = scatter.scatter_dims_to_operand_dims;
  if (i->operand_count() != 3 || !IsScalarBroadcast(i->operand(0)) || !scatter.update_window_dims.empty() ||
      !scatter.input_batching_dims.empty())
    return nullptr;
  HloInstruction* const indices = i->operand(1);
  const std::vector<OwnPosition> own = OwnPositionsOf(*i);
  if (own.empty() || own.size() + 1 != dimensions.size() || scatter.inserted_window_dims.size() != dimensions.size())
    return nullptr;
  auto attributes = std::make_unique<ScatterAttrs>(scatter);
  int64_t rest = static_cast<int64_t>(dimensions.size() * (dimensions.size() - 1) / 2);
  for (const OwnPosition& position : own) {
    const int64_t row = dimensions[position.element];
    auto& batching = attributes->input_batching_dims;
    if (i->shape().dimensions(row) != indices->shape().dimensions(position.dimension)) return nullptr;
    // In order.
    if (!batching.empty() && row <= batching.back()) return nullptr;
    batching.push_back(row);
    attributes->scatter_indices_batching_dims.push_back(position.dimension);
    rest -= position.element;
  }
  attributes->scatter_dims_to_operand_dims = attributes->inserted_window_dims = {dimensions[rest]};
  attributes->indices_are_sorted = false;
  return i->parent()->AddOp(HloOpcode::kScatter, {i->operand(0), indices->operand(rest), i->operand(2)},
                            std::move(attributes), {i->called_computation()});
}

const Rule kRules[] = {
    {HloOpcode::kScatter, "scatter(broadcast(s), [own position, x], y) => scatter(broadcast(s), x, y), in batches",
     ScatterIntoOwnRows},
    {HloOpcode::kScatter, "scatter(x, [own position, y], z) => scatter(x, [own position, y], z), of unique indices",
     ScatterOfOwnPositions},
};

}  // namespace

absl::Span<const Rule> ScatterRules() { return kRules; }

}  // namespace hilo::simplify
