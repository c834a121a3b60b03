// A counted loop has an integer in its state, the counter:
//
//   condition  compare(counter + a, limit)      body  counter' = counter + step      before it  counter = start
//
// with constants for a, limit, step and start; the limit may also be an element of the state that starts as a constant
// and that no iteration changes. Each of the three values is brought into the form "element e of the state plus a
// number", or "a number". Integers wrap around in HLO, so the count is only believed if no value on the way leaves the
// type.
//
// Both operands of an addition are looked at, so values are memoized: sums of sums have exponentially many paths. A
// search gives up after a fixed number of steps, so that many loops over one long chain of copies and fusions take
// linear time.
#include "hlo/analysis/trip_count.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/hlo_opcode.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

using Wide = __int128;

// Of one loop; those that JAX makes take fewer than 50.
constexpr int kMaxConditionSteps = 2000;
// Additions on the longest path to a value, which bounds the recursion.
constexpr int kMaxAdditionDepth = 64;
// Parts of a condition.
constexpr size_t kMaxParts = 64;
constexpr int64_t kNoElement = -1;   // a number
constexpr int64_t kWholeState = -2;  // the state is the counter

// Element `element` of the state plus `offset`, or the number `offset`.
struct Affine {
  int64_t element = kNoElement;
  Wide offset = 0;
};

// One use of a fused computation, whose parameters are the operands of `fusion` in `caller`. Null: outside of all
// fusions.
struct Scope {
  const HloInstruction* fusion;
  const Scope* caller;
};

struct Value {
  const HloInstruction* instruction = nullptr;
  const Scope* scope = nullptr;

  friend bool operator==(const Value&, const Value&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Value& value) {
    return H::combine(std::move(h), value.instruction, value.scope);
  }
};

bool HasSign(PrimitiveType type) { return type == S8 || type == S16 || type == S32 || type == S64; }

bool IsCounterType(const Shape& shape) {
  if (!shape.IsArray() || !shape.IsScalar()) return false;
  const PrimitiveType type = shape.element_type();
  return HasSign(type) || type == U8 || type == U16 || type == U32;
}

// Brings values of one loop into affine form.
class AffineForms {
 public:
  // The compare that decides; an instruction of another opcode if the condition is no compare.
  Value Source(Value value) {
    while (Forward(&value)) {
    }
    return value;
  }

  std::optional<Affine> Of(const Value& value, int depth = 0) {
    if (depth > kMaxAdditionDepth) return std::nullopt;
    if (auto it = known_.find(value); it != known_.end()) return it->second;
    const std::optional<Affine> form = Find(value, depth);
    return known_[value] = form;
  }

  // Element `element` of the tuple `state`; nullopt if its value cannot be determined.
  std::optional<Value> ElementOf(const HloInstruction* state, int64_t element) {
    const Value value{state};
    if (element == kWholeState) return value;
    return TupleElement(value, element);
  }

 private:
  // Strips one value-preserving op; false if there is none, or no step is left.
  bool Forward(Value* value) {
    if (--steps_left_ < 0) return false;
    const HloInstruction* at = value->instruction;
    switch (at->opcode()) {
      case HloOpcode::kCopy:
      case HloOpcode::kConvert:
      case HloOpcode::kBitcast:
      case HloOpcode::kReshape:
        if (at->operand(0)->shape().IsArray() != at->shape().IsArray()) return false;
        if (at->shape().IsArray() && at->operand(0)->shape().element_type() != at->shape().element_type()) return false;
        value->instruction = at->operand(0);
        return true;
      case HloOpcode::kFusion:
        *value = {at->called_computation()->root_instruction(), ScopeOf(at, value->scope)};
        return true;
      case HloOpcode::kParameter:
        if (value->scope == nullptr) return false;
        *value = {value->scope->fusion->operand(at->parameter_number()), value->scope->caller};
        return true;
      case HloOpcode::kGetTupleElement: {
        const std::optional<Value> element =
            TupleElement({at->operand(0), value->scope}, at->attrs<GetTupleElementAttrs>().index);
        if (!element.has_value()) return false;
        *value = *element;
        return true;
      }
      default: return false;
    }
  }

  std::optional<Value> TupleElement(Value tuple, int64_t index) {
    if (++tuple_depth_ > kMaxAdditionDepth) steps_left_ = 0;
    while (tuple.instruction->opcode() != HloOpcode::kTuple && Forward(&tuple)) {
    }
    --tuple_depth_;
    if (tuple.instruction->opcode() != HloOpcode::kTuple) return std::nullopt;
    return Value{tuple.instruction->operand(index), tuple.scope};
  }

  const Scope* ScopeOf(const HloInstruction* fusion, const Scope* caller) {
    std::unique_ptr<Scope>& scope = scopes_[{fusion, caller}];
    if (scope == nullptr) scope = std::make_unique<Scope>(Scope{fusion, caller});
    return scope.get();
  }

  std::optional<Affine> Find(const Value& value, int depth) {
    if (!IsCounterType(value.instruction->shape())) return std::nullopt;
    const Value source = Source(value);
    const HloInstruction* at = source.instruction;
    if (steps_left_ < 0 || !IsCounterType(at->shape())) return std::nullopt;
    switch (at->opcode()) {
      case HloOpcode::kConstant: return Affine{kNoElement, at->literal().GetAsInt64(0)};
      case HloOpcode::kParameter: return Affine{kWholeState, 0};
      case HloOpcode::kGetTupleElement: {
        const Value state = Source({at->operand(0), source.scope});
        if (!state.instruction->IsParameter()) return std::nullopt;
        return Affine{at->attrs<GetTupleElementAttrs>().index, 0};
      }
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract: {
        const std::optional<Affine> lhs = Of({at->operand(0), source.scope}, depth + 1);
        if (!lhs.has_value()) return std::nullopt;
        const std::optional<Affine> rhs = Of({at->operand(1), source.scope}, depth + 1);
        if (!rhs.has_value()) return std::nullopt;
        return at->opcode() == HloOpcode::kAdd ? Sum(*lhs, *rhs) : Difference(*lhs, *rhs);
      }
      case HloOpcode::kMultiply:  // by zero
        for (const HloInstruction* operand : at->operands()) {
          const std::optional<Affine> factor = Of({operand, source.scope}, depth + 1);
          if (factor.has_value() && factor->element == kNoElement && factor->offset == 0) return factor;
        }
        return std::nullopt;
      default: return std::nullopt;
    }
  }

  // A sum counts an element at most once.
  static std::optional<Affine> Sum(const Affine& lhs, const Affine& rhs) {
    if (lhs.element != kNoElement && rhs.element != kNoElement) return std::nullopt;
    return Small({lhs.element != kNoElement ? lhs.element : rhs.element, lhs.offset + rhs.offset});
  }
  static std::optional<Affine> Difference(const Affine& lhs, const Affine& rhs) {
    if (rhs.element != kNoElement) return std::nullopt;
    return Small({lhs.element, lhs.offset - rhs.offset});
  }
  // Keeps sums of doubled sums within the 128 bits.
  static std::optional<Affine> Small(const Affine& form) {
    constexpr Wide kLimit = Wide{1} << 80;
    return form.offset < kLimit && form.offset > -kLimit ? std::optional(form) : std::nullopt;
  }

  int steps_left_ = kMaxConditionSteps;
  int tuple_depth_ = 0;
  absl::flat_hash_map<Value, std::optional<Affine>> known_;
  absl::flat_hash_map<std::pair<const HloInstruction*, const Scope*>, std::unique_ptr<Scope>> scopes_;
};

bool HasNoEffects(const HloComputation& condition) {
  for (const HloInstruction* instruction : condition.instructions()) {
    if (instruction->HasSideEffect() || HasTrait(instruction->opcode(), kControlFlow)) return false;
  }
  return true;
}

bool Fits(PrimitiveType type, Wide value) {
  const int bits = 8 * static_cast<int>(PrimitiveTypeByteSize(type));
  const Wide range = Wide{1} << (HasSign(type) ? bits - 1 : bits);
  return value < range && value >= (HasSign(type) ? -range : Wide{0});
}

Wide CeilDivide(Wide a, Wide b) { return (a + b - 1) / b; }

// The number of iterations for which `from` + i * step is in `direction` of `limit`.
std::optional<Wide> Iterations(ComparisonDirection direction, Wide from, Wide step, Wide limit) {
  switch (direction) {
    case ComparisonDirection::kLe: return Iterations(ComparisonDirection::kLt, from, step, limit + 1);
    case ComparisonDirection::kGe: return Iterations(ComparisonDirection::kGt, from, step, limit - 1);
    case ComparisonDirection::kGt: return Iterations(ComparisonDirection::kLt, -from, -step, -limit);
    case ComparisonDirection::kLt:
      if (from >= limit) return 0;
      return step > 0 ? std::optional(CeilDivide(limit - from, step)) : std::nullopt;
    case ComparisonDirection::kNe:
      if (from == limit) return 0;
      if (step == 0 || (limit - from) % step != 0 || (limit - from) / step < 0) return std::nullopt;
      return (limit - from) / step;
    case ComparisonDirection::kEq:
      if (from != limit) return 0;
      return step != 0 ? std::optional<Wide>(1) : std::nullopt;
  }
  return std::nullopt;
}

ComparisonDirection Swapped(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kLt: return ComparisonDirection::kGt;
    case ComparisonDirection::kLe: return ComparisonDirection::kGe;
    case ComparisonDirection::kGt: return ComparisonDirection::kLt;
    case ComparisonDirection::kGe: return ComparisonDirection::kLe;
    default: return direction;
  }
}

// The number that `form` always is: it is one, or an element of the state that starts as one and that no iteration
// changes.
std::optional<Wide> NumberOf(const Affine& form, const HloInstruction& loop, AffineForms& forms) {
  if (form.element == kNoElement) return form.offset;
  const std::optional<Value> next = forms.ElementOf(loop.called_computation(1)->root_instruction(), form.element);
  const std::optional<Value> first = forms.ElementOf(loop.operand(0), form.element);
  if (!next.has_value() || !first.has_value()) return std::nullopt;
  const std::optional<Affine> after = forms.Of(*next), start = forms.Of(*first);
  if (!after.has_value() || after->element != form.element || after->offset != 0) return std::nullopt;
  if (!start.has_value() || start->element != kNoElement) return std::nullopt;
  return start->offset + form.offset;
}

// The number of iterations after which `test`, a part of the condition, is false.
std::optional<int64_t> TripCountBy(const HloInstruction& loop, const Value& test, AffineForms& forms) {
  const HloComputation* body = loop.called_computation(1);
  if (test.instruction->opcode() != HloOpcode::kCompare) return std::nullopt;
  std::optional<Affine> counter = forms.Of({test.instruction->operand(0), test.scope});
  std::optional<Affine> end = forms.Of({test.instruction->operand(1), test.scope});
  if (!counter.has_value() || !end.has_value()) return std::nullopt;
  ComparisonDirection direction = test.instruction->attrs<CompareAttrs>().direction;
  std::optional<Wide> limit = NumberOf(*end, loop, forms);
  if (counter->element == kNoElement || !limit.has_value()) {
    std::swap(counter, end);
    direction = Swapped(direction);
    limit = NumberOf(*end, loop, forms);
  }
  if (counter->element == kNoElement || !limit.has_value()) return std::nullopt;
  const std::optional<Value> next = forms.ElementOf(body->root_instruction(), counter->element);
  const std::optional<Value> first = forms.ElementOf(loop.operand(0), counter->element);
  if (!next.has_value() || !first.has_value()) return std::nullopt;
  const std::optional<Affine> step = forms.Of(*next), start = forms.Of(*first);
  if (!step.has_value() || step->element != counter->element || !start.has_value() || start->element != kNoElement)
    return std::nullopt;

  const PrimitiveType type = test.instruction->operand(0)->shape().element_type();
  // An unsigned counter that decreases adds a number that is effectively negative.
  const Wide modulus = Wide{1} << (8 * PrimitiveTypeByteSize(type));
  const auto nearest = [&](Wide number) { return number >= modulus / 2 ? number - modulus : number; };
  const Wide by = nearest(step->offset), ahead = nearest(counter->offset);
  const std::optional<Wide> iterations = Iterations(direction, start->offset + ahead, by, *limit);
  if (!iterations.has_value() || *iterations > INT64_MAX) return std::nullopt;
  const Wide last = start->offset + *iterations * by;
  for (const Wide value : {start->offset, start->offset + ahead, last, last + ahead, *limit}) {
    if (!Fits(type, value)) return std::nullopt;
  }
  return static_cast<int64_t>(*iterations);
}

}  // namespace

std::optional<int64_t> TripCount(const HloInstruction& loop) {
  const HloComputation* condition = loop.called_computation(0);
  if (!HasNoEffects(*condition)) return std::nullopt;
  AffineForms forms;
  return TripCountBy(loop, forms.Source({condition->root_instruction()}), forms);
}

std::optional<int64_t> MaxTripCount(const HloInstruction& loop) {
  const HloComputation* condition = loop.called_computation(0);
  if (!HasNoEffects(*condition)) return std::nullopt;
  AffineForms forms;
  std::vector<Value> parts = {{condition->root_instruction()}};
  std::optional<int64_t> least;
  for (size_t i = 0; i < parts.size() && parts.size() < kMaxParts; ++i) {
    const Value part = forms.Source(parts[i]);
    if (part.instruction->opcode() == HloOpcode::kAnd) {
      for (const HloInstruction* operand : part.instruction->operands()) parts.push_back({operand, part.scope});
    } else if (const std::optional<int64_t> count = TripCountBy(loop, part, forms); count.has_value()) {
      least = std::min(*count, least.value_or(*count));
    }
  }
  return least;
}

bool HasOpenEnd(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kWhile && !MaxTripCount(*instruction).has_value()) return true;
    }
  }
  return false;
}

}  // namespace hilo
