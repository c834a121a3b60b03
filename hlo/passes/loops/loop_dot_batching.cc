// Products that a loop computes once per iteration become one product of all iterations, before the loop or after it,
// where big products are library calls:
//
//   before the loop   a_t = dot(xs[t], w), w loop-invariant             =>   all = dot(xs, w)
//                                                                            a_t = all[t]
//   after the loop    sum' = sum + dot(x_t, y_t), with no other reader  =>   xs[t] = x_t, ys[t] = y_t
//                                                                            sum = start + dot(xs, ys)
//
// The first is a recurrent network's projection of its inputs, the second the gradient of its weights, for which an
// iteration would read and write as many numbers as there are weights. Operands that are slices of an array with a row
// per iteration are read from that array; others are stored, per iteration, in one that the loop carries. Sums are
// computed in another order, so this is not allowed in strict mode.
#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/single_caller_loops.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/loops/loop_state.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Loops of fewer iterations are unchanged. So are dots of fewer flops per iteration, which a loop computes from
// the fastest cache between others; but those that are accumulated are read and written besides.
constexpr int64_t kFewIterations = 8;
constexpr double kFewFlops = 16384, kFewFlopsOfSums = 2048;
// Arrays with one row per iteration have at most this many elements.
constexpr int64_t kMaxElements = int64_t{1} << 24;

using Result = absl::StatusOr<HloInstruction*>;

Shape WithRows(int64_t rows, const Shape& shape) {
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  sizes.insert(sizes.begin(), rows);
  return ShapeUtil::MakeShape(shape.element_type(), sizes);
}

bool IsScalarConstant(const HloInstruction* x) {
  return x->IsConstant() && x->shape().IsScalar() && IsIntegralType(x->shape().element_type());
}

// A dot with an additional dimension 0 of one operand, or of both, in which case it is contracted.
std::unique_ptr<DotAttrs> Shifted(const DotAttrs& dot, bool lhs, bool rhs) {
  auto shifted = std::make_unique<DotAttrs>(dot);
  const auto shift = [](std::vector<int64_t>* dimensions) {
    for (int64_t& dimension : *dimensions) ++dimension;
  };
  if (lhs) {
    shift(&shifted->lhs_batch_dims);
    shift(&shifted->lhs_contracting_dims);
  }
  if (rhs) {
    shift(&shifted->rhs_batch_dims);
    shift(&shifted->rhs_contracting_dims);
  }
  if (!lhs || !rhs) return shifted;
  shifted->lhs_contracting_dims.insert(shifted->lhs_contracting_dims.begin(), 0);
  shifted->rhs_contracting_dims.insert(shifted->rhs_contracting_dims.begin(), 0);
  return shifted;
}

// A loop with a known trip count.
class CountedLoop {
 public:
  static std::optional<CountedLoop> Of(HloInstruction* loop) {
    const std::optional<LoopState> state = LoopState::Of(loop);
    if (!state) return std::nullopt;
    const std::optional<int64_t> iterations = TripCount(*loop);
    if (!iterations || *iterations < kFewIterations || *iterations > kMaxElements) return std::nullopt;
    return CountedLoop(*state, *iterations);
  }

  absl::StatusOr<bool> Rewrite() {
    bool changed = false;
    std::vector<HloInstruction*> dots;
    for (HloInstruction* x : body_->instructions()) {
      if (x->opcode() == HloOpcode::kDot) dots.push_back(x);
    }
    for (HloInstruction* dot : dots) {  // which stay: what is removed is the body's root, which each one makes anew
      HILO_ASSIGN_OR_RETURN(const bool moved, MoveInFront(dot));
      changed |= moved;
    }
    for (int64_t k = 0; k < loop_.size(); ++k) {
      HILO_ASSIGN_OR_RETURN(const bool moved, MoveBehind(k));
      changed |= moved;
    }
    return changed;
  }

 private:
  // A value that is row `index` of state element `element`, which is loop-invariant; `order`: 1 or -1 if the iterations
  // take its rows up or down, one by one, 0 otherwise.
  struct Row {
    int64_t element;
    HloInstruction* index;
    int order;
  };

  CountedLoop(const LoopState& loop, int64_t trip_count) : loop_(loop), body_(loop.body()), trip_count_(trip_count) {}

  // The first number of an element that counts up one by one.
  std::optional<int64_t> CountsFrom(int64_t element) const {
    const HloInstruction* next = loop_.root()->operand(element);
    if (!IsScalarConstant(loop_.init(element)) || next->opcode() != HloOpcode::kAdd) return std::nullopt;
    for (int64_t i : {0, 1}) {
      const HloInstruction* step = next->operand(1 - i);
      if (loop_.ElementOf(next->operand(i)) == element && IsScalarConstant(step) && step->literal().GetAsInt64(0) == 1)
        return loop_.init(element)->literal().GetAsInt64(0);
    }
    return std::nullopt;
  }

  // Whether integers of the type reach the last iteration's number.
  bool Counts(const HloInstruction* x) const {
    const PrimitiveType type = x->shape().element_type();
    const int bits = PrimitiveTypeBitWidth(type) - (IsSignedIntegralType(type) ? 1 : 0);
    return bits >= 32 || trip_count_ - 1 < int64_t{1} << bits;
  }

  // An integer that is first + step * t in iteration t, in the arithmetic of its type; step is 1 or -1.
  struct Progression {
    int64_t first, step;
  };

  // Returns nullopt if `x` is no progression, or none that is found within `steps` instructions.
  std::optional<Progression> ProgressionOf(const HloInstruction* x, int steps) const {
    if (const int64_t element = loop_.ElementOf(x); element >= 0) {
      const std::optional<int64_t> start = CountsFrom(element);
      if (!start || *start > kMaxElements || *start < -kMaxElements) return std::nullopt;
      return Progression{*start, 1};
    }
    if (steps == 0) return std::nullopt;
    if (x->opcode() == HloOpcode::kSelect && IsWrapped(x)) {
      const std::optional<Progression> index = ProgressionOf(x->operand(2), steps - 1);
      return index && IsNeverNegative(*index, x->shape().element_type()) ? index : std::nullopt;
    }
    const bool adds = x->opcode() == HloOpcode::kAdd;
    if (!adds && x->opcode() != HloOpcode::kSubtract) return std::nullopt;
    const int64_t number = IsScalarConstant(x->operand(1)) ? 1 : 0;
    if (!IsScalarConstant(x->operand(number))) return std::nullopt;
    const int64_t value = x->operand(number)->literal().GetAsInt64(0);
    if (value > kMaxElements || value < -kMaxElements) return std::nullopt;
    const std::optional<Progression> inner = ProgressionOf(x->operand(1 - number), steps - 1);
    if (!inner || adds) return inner ? std::optional(Progression{inner->first + value, inner->step}) : std::nullopt;
    return number == 1 ? Progression{inner->first - value, inner->step}
                       : Progression{value - inner->first, -inner->step};
  }

  // Returns true if the progression stays within [0, the type's maximum] in all iterations, so that arithmetic has not
  // wrapped it either.
  bool IsNeverNegative(const Progression& x, PrimitiveType type) const {
    const int64_t last = x.first + x.step * (trip_count_ - 1);
    const int bits = std::min(PrimitiveTypeBitWidth(type) - (IsSignedIntegralType(type) ? 1 : 0), 62);
    return std::min(x.first, last) >= 0 && std::max(x.first, last) < int64_t{1} << bits;
  }

  // 1 if `x` is the number of the iteration, -1 if it is counted down to 0, 0 otherwise.
  int OrderOf(const HloInstruction* x) const {
    constexpr int kMaxSteps = 16;
    if (!Counts(x)) return 0;
    const std::optional<Progression> index = ProgressionOf(x, kMaxSteps);
    if (!index) return 0;
    if (index->step > 0) return index->first == 0 ? 1 : 0;
    return index->first == trip_count_ - 1 ? -1 : 0;
  }

  // x < 0 ? y : x, the index x where negative ones count from the end.
  static bool IsWrapped(const HloInstruction* select) {
    const HloInstruction *negative = select->operand(0), *x = select->operand(2);
    return negative->opcode() == HloOpcode::kCompare &&
           negative->attrs<CompareAttrs>().direction == ComparisonDirection::kLt && negative->operand(0) == x &&
           IsScalarConstant(negative->operand(1)) && negative->operand(1)->literal().GetAsInt64(0) == 0;
  }

  std::optional<Row> RowOf(const HloInstruction* x) const {
    if (x->opcode() != HloOpcode::kReshape || x->operand(0)->opcode() != HloOpcode::kDynamicSlice) return std::nullopt;
    const HloInstruction* slice = x->operand(0);
    const HloInstruction* array = slice->operand(0);
    if (!loop_.IsUnchanged(array) || slice->operand_count() != array->shape().rank() + 1) return std::nullopt;
    if (!ShapeUtil::SameDimensions(WithRows(1, x->shape()), slice->shape())) return std::nullopt;
    if (!ShapeUtil::SameDimensions(WithRows(array->shape().dimensions(0), x->shape()), array->shape()))
      return std::nullopt;
    HloInstruction* index = slice->operands()[1];
    return Row{loop_.ElementOf(array), index, array->shape().dimensions(0) == trip_count_ ? OrderOf(index) : 0};
  }

  // --- what an iteration computes of a row and of what no iteration changes ---

  absl::StatusOr<bool> MoveInFront(HloInstruction* dot) {
    const DotAttrs& attrs = dot->attrs<DotAttrs>();
    if (!attrs.lhs_batch_dims.empty() || attrs.lhs_contracting_dims.empty() || DotFlops(*dot) < kFewFlops) return false;
    for (int64_t side : {0, 1}) {
      HloInstruction* other = dot->operands()[1 - side];
      const std::optional<Row> row = RowOf(dot->operand(side));
      if (!row || !(loop_.IsUnchanged(other) || other->IsConstant())) continue;
      // Rows of the product must be what the iteration's product is.
      const size_t contracting = attrs.lhs_contracting_dims.size();
      if (side == 1 && dot->operand(1)->shape().rank() != static_cast<int64_t>(contracting)) continue;
      HloInstruction* array = loop_.init(row->element);
      const int64_t rows = array->shape().dimensions(0);
      if (rows == 0 || rows > 2 * trip_count_ || Elements(dot) > kMaxElements / rows) continue;
      HloComputation* outside = loop_.loop()->parent();
      other = other->IsConstant() ? outside->AddInstruction(other->CloneWithNewOperands(other->shape(), {}))
                                  : loop_.init(loop_.ElementOf(other));
      std::unique_ptr<DotAttrs> all = Shifted(attrs, side == 0, side == 1);
      if (side == 1) {
        std::swap(all->lhs_contracting_dims, all->rhs_contracting_dims);
        std::reverse(all->operand_precision.begin(), all->operand_precision.end());
      }
      const Shape shape = WithRows(rows, dot->shape());
      HILO_ASSIGN_OR_RETURN(HloInstruction * product,
                            outside->AddOp(HloOpcode::kDot, {array, other}, std::move(all), {}, &shape));
      HILO_ASSIGN_OR_RETURN(HloInstruction * carried, AddState(product));
      std::vector<HloInstruction*> slice = {carried, row->index};
      AppendZeros(dot->shape().rank(), &slice);
      auto attributes = std::make_unique<DynamicSliceAttrs>();
      const Shape one = WithRows(1, dot->shape());
      attributes->dynamic_slice_sizes.assign(one.dimensions().begin(), one.dimensions().end());
      HILO_ASSIGN_OR_RETURN(HloInstruction * here,
                            body_->AddOp(HloOpcode::kDynamicSlice, slice, std::move(attributes)));
      HILO_ASSIGN_OR_RETURN(here, MakeReshape(here, dot->shape()));
      HILO_RETURN_IF_ERROR(body_->ReplaceAllUsesWith(dot, here));
      return true;
    }
    return false;
  }

  // --- sums over the iterations ---

  // sum + a dot, transposed or not, which is used for nothing else.
  struct Term {
    HloInstruction* dot;
    HloInstruction* transpose = nullptr;
  };

  std::optional<Term> TermOf(int64_t k) const {
    const HloInstruction* next = loop_.root()->operand(k);
    const PrimitiveType type = next->shape().IsArray() ? next->shape().element_type() : PRED;
    if (next->opcode() != HloOpcode::kAdd || next->user_count() != 1 || (type != F32 && type != F64))
      return std::nullopt;
    if (std::count(loop_.root()->operands().begin(), loop_.root()->operands().end(), next) != 1) return std::nullopt;
    const int64_t sum = loop_.ElementOf(next->operand(0)) == k ? 0 : 1;
    for (const HloInstruction* tuple : {loop_.state(), loop_.condition_state()}) {
      for (const HloInstruction* element : tuple->users()) {
        if (element->tuple_index() != k) continue;
        if (element->IsRoot() || std::any_of(element->users().begin(), element->users().end(),
                                             [&](const HloInstruction* user) { return user != next; }))
          return std::nullopt;
      }
    }
    if (loop_.ElementOf(next->operand(sum)) != k) return std::nullopt;
    Term term{next->operands()[1 - sum]};
    if (term.dot->opcode() == HloOpcode::kTranspose && term.dot->user_count() == 1) {
      term.transpose = term.dot;
      term.dot = term.transpose->operands()[0];
    }
    if (term.dot->opcode() != HloOpcode::kDot || term.dot->user_count() != 1) return std::nullopt;
    for (const HloInstruction* operand : term.dot->operands()) {
      if (operand->shape().element_type() != type || operand->IsConstant() || loop_.IsUnchanged(operand))
        return std::nullopt;
    }
    return term;
  }

  absl::StatusOr<bool> MoveBehind(int64_t k) {
    const std::optional<Term> term = TermOf(k);
    if (!term) return false;
    std::optional<Row> rows[2];
    int order = 0;
    HloInstruction* index = nullptr;
    int64_t kept = 0;
    for (int side : {0, 1}) {
      const HloInstruction* operand = term->dot->operand(side);
      rows[side] = RowOf(operand);
      if (rows[side] && (rows[side]->order == 0 || (order != 0 && rows[side]->order != order))) rows[side].reset();
      if (rows[side]) {
        order = rows[side]->order;
        index = rows[side]->index;
      } else {
        kept += Elements(operand);
      }
    }
    if (DotFlops(*term->dot) < kFewFlopsOfSums || kept > kMaxElements / trip_count_ || Elements(term->dot) < 4 * kept)
      return false;
    if (index == nullptr) {
      for (int64_t element = 0; element < loop_.size() && index == nullptr; ++element) {
        if (CountsFrom(element) != 0 || !Counts(loop_.init(element))) continue;
        HILO_ASSIGN_OR_RETURN(index, MakeTupleElement(loop_.state(), element));
        order = 1;
      }
      if (index == nullptr) return false;
    }
    HloInstruction* all[2];
    for (int side : {0, 1}) {
      if (rows[side]) {
        all[side] = loop_.init(rows[side]->element);
      } else {
        HILO_ASSIGN_OR_RETURN(all[side], Keep(term->dot->operands()[side], index, order));
      }
    }
    HloComputation* outside = loop_.loop()->parent();
    HILO_ASSIGN_OR_RETURN(HloInstruction * product,
                          outside->AddOp(HloOpcode::kDot, all, Shifted(term->dot->attrs<DotAttrs>(), true, true), {},
                                         &term->dot->shape()));
    if (term->transpose != nullptr) {
      HILO_ASSIGN_OR_RETURN(product, MakeTranspose(product, term->transpose->attrs<TransposeAttrs>().dimensions));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * sum, MakeBinary(HloOpcode::kAdd, loop_.init(k), product));
    const std::vector<HloInstruction*> results(loop_.loop()->users().begin(), loop_.loop()->users().end());
    for (HloInstruction* result : results) {
      if (result->tuple_index() == k) HILO_RETURN_IF_ERROR(outside->ReplaceAllUsesWith(result, sum));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * unchanged, MakeTupleElement(loop_.state(), k));
    body_->ReplaceOperand(loop_.root(), k, unchanged);
    return true;
  }

  // The values of `x` in all iterations, one row each, as the loop's result.
  Result Keep(HloInstruction* x, HloInstruction* index, int order) {
    auto [kept, is_new] = kept_.try_emplace({x, order}, loop_.size());
    if (is_new) {
      HloComputation* outside = loop_.loop()->parent();
      HloInstruction* zero = outside->AddConstant(LiteralUtil::Zero(x->shape().element_type()));
      HILO_ASSIGN_OR_RETURN(HloInstruction * empty, MakeBroadcast(zero, WithRows(trip_count_, x->shape()), {}));
      HILO_ASSIGN_OR_RETURN(HloInstruction * array, AddState(empty));
      HILO_ASSIGN_OR_RETURN(HloInstruction * row, MakeReshape(x, WithRows(1, x->shape())));
      std::vector<HloInstruction*> update = {array, row, index};
      AppendZeros(x->shape().rank(), &update);
      HILO_ASSIGN_OR_RETURN(HloInstruction * updated, body_->AddOp(HloOpcode::kDynamicUpdateSlice, update));
      body_->ReplaceOperand(loop_.root(), kept->second, updated);
    }
    return MakeTupleElement(loop_.loop(), kept->second);
  }

  // --- the state ---

  // The indices of the other dimensions after that of the row.
  void AppendZeros(int64_t count, std::vector<HloInstruction*>* indices) {
    HloInstruction* zero = body_->AddConstant(LiteralUtil::Zero(indices->back()->shape().element_type()));
    indices->insert(indices->end(), static_cast<size_t>(count), zero);
  }

  Result AddState(HloInstruction* init) {
    HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> added, loop_.Add({init}));
    return added.front();
  }

  LoopState loop_;
  HloComputation* body_;
  int64_t trip_count_;
  absl::flat_hash_map<std::pair<const HloInstruction*, int>, int64_t>
      kept_;  // elements of the state, by what they keep and the order of its rows
};

class LoopDotBatching : public HloPass {
 public:
  absl::string_view name() const override { return "batch-loop-dots"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    if (!HasLoops(*module)) return false;
    HILO_ASSIGN_OR_RETURN(const bool simpler, Simplify(module, context));
    HILO_ASSIGN_OR_RETURN(const bool moved, MoveProducts(module, context));
    return simpler || moved;
  }

 private:
  static bool HasLoops(const HloModule& module) {
    const auto computations = module.computations();
    return std::any_of(computations.begin(), computations.end(), [](const HloComputation* computation) {
      const auto instructions = computation->instructions();
      return std::any_of(instructions.begin(), instructions.end(),
                         [](const HloInstruction* instruction) { return instruction->opcode() == HloOpcode::kWhile; });
    });
  }

  // Loops show their products when calls are gone, and until rules make sums of some.
  static absl::StatusOr<bool> Simplify(HloModule* module, const PassContext& context) {
    bool changed = false;
    for (const auto& pass :
         {MakeFusionInliner, MakeCallInliner, +[] { return MakeSimplifier(/*strict=*/true); }, MakeDce}) {
      HILO_ASSIGN_OR_RETURN(const bool here, pass()->Run(module, context));
      changed |= here;
    }
    return changed;
  }

  static absl::StatusOr<bool> MoveProducts(HloModule* module, const PassContext& context) {
    bool changed = false;
    for (HloInstruction* loop : SingleCallerLoops(module)) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      std::optional<CountedLoop> counted = CountedLoop::Of(loop);
      if (!counted) continue;
      HILO_ASSIGN_OR_RETURN(const bool here, counted->Rewrite());
      changed |= here;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeLoopDotBatching() { return std::make_unique<LoopDotBatching>(); }

}  // namespace hilo
