// A counted loop has an integer in its state, the counter:
//
//   condition  compare(counter + a, limit)      body  counter' = counter + step      before it  counter = start
//
// with constants for a, limit, step and start. Each of the three places is brought into the form "element e of the state, and a number" or "a number". Integers wrap around in HLO, so
// the count is only believed if no value on the way leaves the type.
#include "hlo/analysis/trip_count.h"

#include <utility>
#include <vector>

#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/hlo_opcode.h"
#include "hlo/ops/op_attributes.h"

namespace hilo {
namespace {

using Wide = __int128;

constexpr int kMaxSteps = 64;
constexpr int64_t kNoElement = -1;     // a number
constexpr int64_t kWholeState = -2;    // the state is the counter

struct Counter {
  int64_t element = kNoElement;
  Wide value = 0;
};

// A value as its user sees it: within fusions, whose parameters are the operands of the fusion outside.
struct Place {
  const HloInstruction* instruction;
  std::vector<const HloInstruction*> fusions;  // the innermost last
};

bool IsCounterType(const Shape& shape) {
  if (!shape.IsArray() || !shape.IsScalar()) return false;
  switch (shape.element_type()) {
    case S8:
    case S16:
    case S32:
    case S64:
    case U8:
    case U16:
    case U32:
      return true;
    default:
      return false;
  }
}

// Steps to where the value comes from, as long as it is the same value; false if `place` is where it is made.
bool Forward(Place* place) {
  const HloInstruction* at = place->instruction;
  switch (at->opcode()) {
    case HloOpcode::kCopy:
    case HloOpcode::kBitcast:
    case HloOpcode::kReshape:
      if (!at->operand(0)->shape().IsArray() || at->operand(0)->shape().element_type() != at->shape().element_type()) return false;
      place->instruction = at->operand(0);
      return true;
    case HloOpcode::kFusion:
      place->fusions.push_back(at);
      place->instruction = at->called_computation()->root_instruction();
      return true;
    case HloOpcode::kParameter:
      if (place->fusions.empty()) return false;
      place->instruction = place->fusions.back()->operand(at->parameter_number());
      place->fusions.pop_back();
      return true;
    case HloOpcode::kGetTupleElement: {
      Place tuple{at->operand(0), place->fusions};
      for (int step = 0; step < kMaxSteps && tuple.instruction->opcode() != HloOpcode::kTuple; ++step) {
        if (!Forward(&tuple)) return false;
      }
      if (tuple.instruction->opcode() != HloOpcode::kTuple) return false;
      place->instruction = tuple.instruction->operand(at->attrs<GetTupleElementAttrs>().index);
      place->fusions = std::move(tuple.fusions);
      return true;
    }
    default:
      return false;
  }
}

std::optional<Counter> CounterOf(Place place, int depth = 0);

std::optional<Wide> NumberOf(const Place& place, int depth) {
  const std::optional<Counter> number = CounterOf(place, depth + 1);
  return number.has_value() && number->element == kNoElement ? std::optional(number->value) : std::nullopt;
}

std::optional<Counter> CounterOf(Place place, int depth) {
  if (depth > kMaxSteps) return std::nullopt;
  Wide sum = 0;
  for (int step = 0; step < kMaxSteps; ++step) {
    const HloInstruction* at = place.instruction;
    if (!IsCounterType(at->shape())) return std::nullopt;
    if (Forward(&place)) continue;
    const auto operand = [&](int64_t i) { return Place{at->operand(i), place.fusions}; };
    switch (at->opcode()) {
      case HloOpcode::kConstant:
        return Counter{kNoElement, at->literal().GetAsInt64(0) + sum};
      case HloOpcode::kParameter:
        return Counter{kWholeState, sum};
      case HloOpcode::kGetTupleElement: {
        Place state = operand(0);
        while (Forward(&state)) {
        }
        if (!state.instruction->IsParameter()) return std::nullopt;
        return Counter{at->attrs<GetTupleElementAttrs>().index, sum};
      }
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract: {
        const bool adds = at->opcode() == HloOpcode::kAdd;
        int64_t counter = 0;
        std::optional<Wide> number = NumberOf(operand(1), depth);
        if (!number.has_value() && adds) {
          counter = 1;
          number = NumberOf(operand(0), depth);
        }
        if (!number.has_value()) return std::nullopt;
        sum += adds ? *number : -*number;
        place.instruction = at->operand(counter);
        continue;
      }
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

// Element `element` of the state that `state` makes.
Place ElementOf(const HloInstruction* state, int64_t element) {
  Place place{state, {}};
  if (element == kWholeState) return place;
  for (int step = 0; step < kMaxSteps && place.instruction->opcode() != HloOpcode::kTuple; ++step) {
    if (!Forward(&place)) return {nullptr, {}};
  }
  if (place.instruction->opcode() != HloOpcode::kTuple) return {nullptr, {}};
  place.instruction = place.instruction->operand(element);
  return place;
}

bool OnlyTells(const HloComputation& condition) {
  for (const HloInstruction* instruction : condition.instructions()) {
    if (instruction->HasSideEffect() || HasTrait(instruction->opcode(), kControlFlow)) return false;
  }
  return true;
}

bool Fits(PrimitiveType type, Wide value) {
  const int bits = 8 * static_cast<int>(PrimitiveTypeByteSize(type));
  const bool has_sign = type == S8 || type == S16 || type == S32 || type == S64;
  const Wide range = Wide{1} << (has_sign ? bits - 1 : bits);
  return value < range && value >= (has_sign ? -range : Wide{0});
}

Wide CeilDivide(Wide a, Wide b) { return (a + b - 1) / b; }

// Turns while `from` + t * step is in `direction` of `limit`.
std::optional<Wide> Turns(ComparisonDirection direction, Wide from, Wide step, Wide limit) {
  switch (direction) {
    case ComparisonDirection::kLe:
      return Turns(ComparisonDirection::kLt, from, step, limit + 1);
    case ComparisonDirection::kGe:
      return Turns(ComparisonDirection::kGt, from, step, limit - 1);
    case ComparisonDirection::kGt:
      return Turns(ComparisonDirection::kLt, -from, -step, -limit);
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
    case ComparisonDirection::kLt:
      return ComparisonDirection::kGt;
    case ComparisonDirection::kLe:
      return ComparisonDirection::kGe;
    case ComparisonDirection::kGt:
      return ComparisonDirection::kLt;
    case ComparisonDirection::kGe:
      return ComparisonDirection::kLe;
    default:
      return direction;
  }
}

}  // namespace

std::optional<int64_t> TripCount(const HloInstruction& loop) {
  const HloComputation *condition = loop.called_computation(0), *body = loop.called_computation(1);
  if (!OnlyTells(*condition)) return std::nullopt;
  Place test{condition->root_instruction(), {}};
  for (int step = 0; step < kMaxSteps && Forward(&test); ++step) {
  }
  if (test.instruction->opcode() != HloOpcode::kCompare) return std::nullopt;
  std::optional<Counter> counter = CounterOf({test.instruction->operand(0), test.fusions}), limit = CounterOf({test.instruction->operand(1), test.fusions});
  if (!counter.has_value() || !limit.has_value()) return std::nullopt;
  ComparisonDirection direction = test.instruction->attrs<CompareAttrs>().direction;
  if (counter->element == kNoElement) {
    std::swap(counter, limit);
    direction = Swapped(direction);
  }
  if (counter->element == kNoElement || limit->element != kNoElement) return std::nullopt;
  const Place next = ElementOf(body->root_instruction(), counter->element), first = ElementOf(loop.operand(0), counter->element);
  if (next.instruction == nullptr || first.instruction == nullptr) return std::nullopt;
  const std::optional<Counter> step = CounterOf(next), start = CounterOf(first);
  if (!step.has_value() || step->element != counter->element || !start.has_value() || start->element != kNoElement) return std::nullopt;

  const PrimitiveType type = test.instruction->operand(0)->shape().element_type();
  // An unsigned counter that goes down adds a number that is as good as negative.
  const Wide modulus = Wide{1} << (8 * PrimitiveTypeByteSize(type));
  const auto nearest = [&](Wide number) { return number >= modulus / 2 ? number - modulus : number; };
  const Wide by = nearest(step->value), ahead = nearest(counter->value);
  const std::optional<Wide> turns = Turns(direction, start->value + ahead, by, limit->value);
  if (!turns.has_value() || *turns > INT64_MAX) return std::nullopt;
  const Wide last = start->value + *turns * by;
  for (const Wide value : {start->value, start->value + ahead, last, last + ahead, limit->value}) {
    if (!Fits(type, value)) return std::nullopt;
  }
  return static_cast<int64_t>(*turns);
}

bool HasOpenEnd(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kWhile && !TripCount(*instruction).has_value()) return true;
    }
  }
  return false;
}

}  // namespace hilo
