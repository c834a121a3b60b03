// Sums of scores, as the gradient of a bias that batches and rows share, or a mean of all:
//
//   s = f32[2048] reduce(f), dimensions={0,1,2}  =>  r = f32[4,16,2048] reduce(f), dimensions={2}
//   of f(f32[4,16,2048,2048] dot(q, k))              s = f32[2048] reduce(r), dimensions={0,1}
//
//   s = f32[] reduce(f), dimensions={0,1}        =>  r = f32[4096] reduce(f), dimensions={1}
//   of f(f32[4096,4096] dot(x, y))                   s = f32[] reduce(r), dimensions={0}
#include "backends/gpu/compile/score_sums.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

// Elements of a sum from which on it may be worth a grid.
constexpr int64_t kLongScoreSum = int64_t{1} << 16;
// Instructions between such a sum and a product.
constexpr size_t kMaxBehindSum = 64;

// Returns the product whose elements the sum's terms are computed from, one by one; null: none.
const HloInstruction* ProductBehind(const HloInstruction& reduce) {
  std::vector<const HloInstruction*> work = {reduce.operand(0)};
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!work.empty() && seen.size() < kMaxBehindSum) {
    const HloInstruction* x = work.back();
    work.pop_back();
    if (!ShapeUtil::SameDimensions(x->shape(), reduce.operand(0)->shape()) || !seen.insert(x).second) continue;
    if (x->opcode() == HloOpcode::kDot) return x;
    if (IsElementwise(x->opcode())) work.insert(work.end(), x->operands().begin(), x->operands().end());
  }
  return nullptr;
}

// Returns the dimensions that the sum runs along first: all of the product's columns, or else of its rows, longer than
// 1. Empty: it runs along no others, or not along them all.
std::vector<int64_t> FirstDimensions(const HloInstruction& reduce, const HloInstruction& product) {
  const std::vector<int64_t>& summed = reduce.attrs<ReduceAttrs>().dimensions;
  const auto is_summed = [&](int64_t d) { return absl::c_linear_search(summed, d); };
  const int64_t rank = product.shape().rank(), batches = std::ssize(LhsOf(product).batch),
                rows = batches + std::ssize(LhsOf(product).free);
  for (const auto& [begin, end] : {std::pair(rows, rank), std::pair(batches, rows)}) {
    std::vector<int64_t> dimensions;
    bool is_long = false;
    for (int64_t d = begin; d < end && is_summed(d); ++d) {
      dimensions.push_back(d);
      is_long = is_long || product.shape().dimensions(d) != 1;
    }
    if (!is_long || std::ssize(dimensions) != end - begin) continue;
    const bool has_others = absl::c_any_of(
        summed, [&](int64_t d) { return product.shape().dimensions(d) != 1 && !absl::c_linear_search(dimensions, d); });
    return has_others ? dimensions : std::vector<int64_t>();
  }
  return {};
}

absl::StatusOr<HloInstruction*> SplitSum(HloInstruction* reduce, std::vector<int64_t> first) {
  HloInstruction* const array = reduce->operand(0);
  HloInstruction* init = reduce->operand(1);
  if (ReductionOp(*reduce->called_computation()) == HloOpcode::kAdd)
    init = array->parent()->AddConstant(LiteralUtil::FromDouble(array->shape().element_type(), -0.0));
  std::vector<int64_t> rest;
  for (int64_t d : reduce->attrs<ReduceAttrs>().dimensions) {
    if (absl::c_linear_search(first, d)) continue;
    rest.push_back(d - absl::c_count_if(first, [&](int64_t other) { return other < d; }));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction* const parts,
                        MakeReduce(array, init, std::move(first), reduce->called_computation()));
  return MakeReduce(parts, reduce->operand(1), std::move(rest), reduce->called_computation());
}

class ScoreSumSplit : public HloPass {
 public:
  explicit ScoreSumSplit(const KernelFacts& facts) : facts_(facts) {}
  absl::string_view name() const override { return "split-score-sums"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* reduce : computation->MakePostOrder()) {
        if (!MayBeSplit(*reduce)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const HloInstruction* product = ProductBehind(*reduce);
        if (product == nullptr || !MayBeScore(*product, facts_)) continue;
        std::vector<int64_t> first = FirstDimensions(*reduce, *product);
        if (first.empty()) continue;
        HILO_ASSIGN_OR_RETURN(HloInstruction* const split, SplitSum(reduce, std::move(first)));
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(reduce, split));
        changed = true;
      }
    }
    return changed;
  }

 private:
  // Narrower sums would be rounded once more.
  static bool MayBeSplit(const HloInstruction& reduce) {
    if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2 ||
        ShapeUtil::ElementsIn(reduce.operand(0)->shape()) < kLongScoreSum)
      return false;
    const PrimitiveType type = reduce.shape().element_type();
    const std::optional<HloOpcode> op = ReductionOp(*reduce.called_computation());
    return (type == F32 || type == F64) &&
           (op == HloOpcode::kAdd || op == HloOpcode::kMaximum || op == HloOpcode::kMinimum);
  }

  const KernelFacts facts_;
};

}  // namespace

std::unique_ptr<HloPass> MakeScoreSumSplit(const KernelFacts& facts) { return std::make_unique<ScoreSumSplit>(facts); }

}  // namespace hilo::gpu
