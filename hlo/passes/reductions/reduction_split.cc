// Sums split in two:
//
//   reduce(f32[1000,1000] x), to a scalar  =>  reduce(reduce(x, dimensions={1}), dimensions={0})
//   reduce(f32[8000,60] x), to f32[60]     =>  reduce(reduce(f32[64,125,60] x, dimensions={1}), dimensions={0})
#include <algorithm>
#include <functional>
#include <utility>

#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// How many partial sums there are, and the terms of each if there is one result.
constexpr int64_t kFewParts = 8, kManyParts = 1 << 14, kFewElements = 256;
// If possible, a part has so many bytes that what begins and ends it takes no time, and whole vectors, as the terms of
// a part of a vector need code of their own.
constexpr int64_t kManyBytes = 2048, kWholeVectors = 16;
// Terms that each part adds to several results at least.
constexpr int64_t kFewRows = 64;
// Parts that one dimension is cut into.
constexpr int64_t kMaxCuts = 512, kMaxCutsOfColumns = 64;

bool Contains(const std::vector<int64_t>& numbers, int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Returns the largest number of parts, from kFewParts to `most`, into which `size` can be cut evenly, or 0.
int64_t PartsOf(int64_t size, int64_t most, int64_t smallest_part, int64_t multiple = 1) {
  for (int64_t parts = most; parts >= kFewParts; --parts) {
    if (size % (parts * multiple) == 0 && size / parts >= smallest_part) return parts;
  }
  return 0;
}

// The same for the terms of one result.
int64_t PartsOfTerms(int64_t terms, PrimitiveType type) {
  for (const int64_t multiple : {kWholeVectors, int64_t{1}}) {
    for (const int64_t smallest_part : {kManyBytes / PrimitiveTypeByteSize(type), kFewElements}) {
      if (const int64_t parts = PartsOf(terms, kMaxCuts, smallest_part, multiple); parts != 0) return parts;
    }
  }
  return 0;
}

// A sum over leading dimensions of many elements to few: of the last of these dimensions first. A single one is cut in
// two if its size has a divisor for that.
Result ReduceInTwo(HloInstruction* reduce, int64_t max_results) {
  if (reduce->operand_count() != 2 || reduce->called_computation()->num_parameters() != 2) return nullptr;
  HloInstruction* x = reduce->operand(0);
  const PrimitiveType type = x->shape().element_type();
  const HloInstruction* step = reduce->called_computation()->root_instruction();
  const int64_t count = ShapeUtil::ElementsIn(x->shape()), results = ShapeUtil::ElementsIn(reduce->shape());
  if (results < 1 || results > max_results || !HasTrait(step->opcode(), kAssociative) ||
      !HasTrait(step->opcode(), kCommutative) || !step->operand(0)->IsParameter() || !step->operand(1)->IsParameter() ||
      step->operand(0) == step->operand(1) || PrimitiveTypeBitWidth(type) < 32 ||
      step->shape().element_type() != type) {
    return nullptr;
  }
  // The sizes of the reduced dimensions, and behind them of those that are kept and longer than 1.
  std::vector<int64_t> sizes;
  int64_t reduced = 0;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    const bool is_reduced = Contains(reduce->attrs<ReduceAttrs>().dimensions, d);
    if (is_reduced && reduced++ < static_cast<int64_t>(sizes.size())) return nullptr;
    if (is_reduced || x->shape().dimensions(d) != 1) sizes.push_back(x->shape().dimensions(d));
  }
  const int64_t fewest_terms = results == 1 ? kFewElements : kFewRows;
  int64_t parts = 1, split = 0;
  while (split < reduced && parts < kFewParts) parts *= sizes[split++];
  if (parts < kFewParts || parts > kManyParts || count / parts / results < fewest_terms) {
    if (reduced != 1) return nullptr;
    parts = results == 1 ? PartsOfTerms(sizes[0], type) : PartsOf(sizes[0], kMaxCutsOfColumns, kFewRows);
    if (parts == 0) return nullptr;
    sizes[0] /= parts;
    sizes.insert(sizes.begin(), parts);
    split = 1;
    reduced = 2;
  }
  // Each partial sum begins with the neutral element, of which only those of sums and products are sure.
  HloInstruction* init = reduce->operand(1);
  if (step->opcode() == HloOpcode::kAdd) {
    init = x->parent()->AddConstant(IsFloatingPointType(type) ? LiteralUtil::FromDouble(type, -0.0)
                                                              : LiteralUtil::Zero(type));
  } else if (step->opcode() == HloOpcode::kMultiply) {
    init = x->parent()->AddConstant(LiteralUtil::One(type));
  } else if (step->opcode() != HloOpcode::kMaximum && step->opcode() != HloOpcode::kMinimum &&
             step->opcode() != HloOpcode::kAnd && step->opcode() != HloOpcode::kOr) {
    return nullptr;  // the others may take the initial value twice
  }
  if (x->shape().dimensions() != sizes) {
    HILO_ASSIGN_OR_RETURN(x, MakeReshape(x, ShapeUtil::MakeShape(type, sizes)));
  }
  std::vector<int64_t> trailing, leading;
  for (int64_t d = 0; d < reduced; ++d) (d < split ? leading : trailing).push_back(d);
  Result rows = MakeReduce(x, init, std::move(trailing), reduce->called_computation());
  if (!rows.ok()) return rows;
  Result all = MakeReduce(*rows, reduce->operand(1), std::move(leading), reduce->called_computation());
  if (!all.ok()) return all;
  return ShapeUtil::Compatible((*all)->shape(), reduce->shape()) ? *all : MakeReshape(*all, reduce->shape());
}

class ReductionSplit : public HloPass {
 public:
  ReductionSplit(int64_t max_results, std::function<bool(const HloInstruction&)> is_long)
      : max_results_(max_results), is_long_(std::move(is_long)) {}
  absl::string_view name() const override { return "split-reductions"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* reduce : computation->MakePostOrder()) {
        if (reduce->opcode() != HloOpcode::kReduce || !is_long_(*reduce)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        HILO_ASSIGN_OR_RETURN(HloInstruction* const split, ReduceInTwo(reduce, max_results_));
        if (split == nullptr) continue;
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(reduce, split));
        changed = true;
      }
    }
    return changed;
  }

 private:
  const int64_t max_results_;
  const std::function<bool(const HloInstruction&)> is_long_;
};

}  // namespace

std::unique_ptr<HloPass> MakeReductionSplit(int64_t max_results,
                                            std::function<bool(const HloInstruction& reduce)> is_long) {
  return std::make_unique<ReductionSplit>(max_results, std::move(is_long));
}

}  // namespace hilo
