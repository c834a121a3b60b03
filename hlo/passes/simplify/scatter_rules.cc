// Scatters whose index vectors contain a position of their own, as in x.at[arange(n), y].add(z), of which no two are
// the same, and those that add up as many neighbours for each index, as in the gradient of x[arange(n) / 2].
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/work_budget.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/own_positions.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/evaluator/hlo_evaluator.h"
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

// Indices that are evaluated: of so many elements, from so many instructions.
constexpr int64_t kMaxEvaluated = 4096;
constexpr size_t kMaxInstructions = 32;

// Returns true if `x` is an element-wise function of constants and iotas, and its element k is k / `divisor`.
bool IsDividedIota(const HloInstruction* x, int64_t divisor) {
  std::vector<const HloInstruction*> work = {x};
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!work.empty()) {
    const HloInstruction* next = work.back();
    work.pop_back();
    if (!seen.insert(next).second) continue;
    const HloOpcode opcode = next->opcode();
    const bool may_evaluate = IsElementwise(opcode) || opcode == HloOpcode::kConstant || opcode == HloOpcode::kIota ||
                              opcode == HloOpcode::kBroadcast || opcode == HloOpcode::kReshape;
    if (!may_evaluate || !next->shape().IsArray() || ShapeUtil::ElementsIn(next->shape()) > kMaxEvaluated ||
        seen.size() > kMaxInstructions)
      return false;
    work.insert(work.end(), next->operands().begin(), next->operands().end());
  }
  absl::flat_hash_map<const HloInstruction*, Literal> values;
  const auto value_of = [&](const HloInstruction* y) { return y->IsConstant() ? &y->literal() : &values.at(y); };
  WorkBudget budget(nullptr, "compilation", kMaxEvaluated * static_cast<int64_t>(kMaxInstructions));
  HloEvaluator evaluator(&budget);
  work = {x};
  while (!work.empty()) {
    const HloInstruction* next = work.back();
    const size_t before = work.size();
    for (const HloInstruction* operand : next->operands()) {
      if (!operand->IsConstant() && !values.contains(operand)) work.push_back(operand);
    }
    if (work.size() > before) continue;
    work.pop_back();
    if (next->IsConstant() || values.contains(next)) continue;
    std::vector<const Literal*> operands;
    for (const HloInstruction* operand : next->operands()) operands.push_back(value_of(operand));
    absl::StatusOr<Literal> value = evaluator.EvaluateInstruction(*next, operands);
    if (!value.ok()) return false;  // the run will report the error
    values.insert_or_assign(next, *std::move(value));
  }
  for (int64_t k = 0; k < ShapeUtil::ElementsIn(x->shape()); ++k) {
    if (value_of(x)->GetAsInt64(k) != k / divisor) return false;
  }
  return true;
}

// Returns true if `x` is what `op` of it and any y makes y; of sums 0, although -0 becomes 0.
bool IsNeutral(const HloInstruction* x, HloOpcode op) {
  if (op == HloOpcode::kAdd) return IsAll(x, 0);
  const Literal* value = UniformConstant(x);
  const std::optional<Literal> identity = IdentityOf(op, x->shape().element_type());
  return value != nullptr && identity.has_value() && *value == *identity;
}

Result ScatterOfNeighbours(HloInstruction* i) {
  const ScatterAttrs& scatter = i->attrs<ScatterAttrs>();
  if (i->operand_count() != 3 || scatter.scatter_dims_to_operand_dims.size() != 1 ||
      scatter.inserted_window_dims != scatter.scatter_dims_to_operand_dims || !scatter.input_batching_dims.empty() ||
      !IsScalarBroadcast(i->operand(0)))
    return nullptr;
  HloInstruction *const indices = i->operand(1), *const updates = i->operand(2);
  const std::optional<HloOpcode> op = ReductionOp(*i->called_computation());
  const Shape &shape = i->shape(), &from = updates->shape();
  if (!op.has_value() || !IsNeutral(i->operand(0), *op) || from.rank() != shape.rank() ||
      !ShapeUtil::SameElementType(shape, from) || ShapeUtil::IsZeroElementArray(shape) ||
      ShapeUtil::IsZeroElementArray(from))
    return nullptr;
  // Whole windows: all dimensions but one are those of the result.
  const int64_t dimension = scatter.inserted_window_dims[0];
  std::vector<int64_t> order;  // of the updates' dimensions, in that of the result's
  for (int64_t d = 0, window = 0; d < shape.rank(); ++d) {
    order.push_back(d == dimension ? -1 : scatter.update_window_dims[window++]);
    if (d != dimension && from.dimensions(order.back()) != shape.dimensions(d)) return nullptr;
  }
  int64_t along = 0;  // the updates' dimension of indices
  while (std::find(order.begin(), order.end(), along) != order.end()) ++along;
  order[dimension] = along;
  const int64_t count = from.dimensions(along), size = shape.dimensions(dimension), neighbours = count / size;
  if (count % size != 0 || neighbours < 2 || ShapeUtil::ElementsIn(indices->shape()) != count) return nullptr;
  if (!IsDividedIota(indices, neighbours)) return nullptr;
  std::vector<int64_t> divided(from.dimensions().begin(), from.dimensions().end());
  divided[along] = size;
  divided.insert(divided.begin() + along + 1, neighbours);
  HILO_ASSIGN_OR_RETURN(HloInstruction * groups,
                        MakeReshape(updates, ShapeUtil::MakeShape(shape.element_type(), divided)));
  HILO_ASSIGN_OR_RETURN(HloInstruction * sums,
                        MakeReduce(groups, i->operand(0)->operand(0), {along + 1}, i->called_computation()));
  return MakeTranspose(sums, order);
}

const Rule kScatterRules[] = {
    {HloOpcode::kScatter, "scatter(broadcast(s), iota / n, x) => reduce(reshape(x), s)", ScatterOfNeighbours,
     /*exact=*/false},
    {HloOpcode::kScatter, "scatter(broadcast(s), [own position, x], y) => scatter(broadcast(s), x, y), in batches",
     ScatterIntoOwnRows},
    {HloOpcode::kScatter, "scatter(x, [own position, y], z) => scatter(x, [own position, y], z), of unique indices",
     ScatterOfOwnPositions},
};

}  // namespace

absl::Span<const Rule> ScatterRules() { return kScatterRules; }

}  // namespace hilo::simplify
