// Computations that are called, and values that are handed on.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/collective/transfer_attributes.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

bool BarrierOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  HloInstruction* a = x->instruction;
  if (g.random.Chance(50)) return g.Add(scope, HloOpcode::kOptimizationBarrier, {a});
  const Value* y = g.PickArray(scope);
  const Value* tuple = g.Add(scope, HloOpcode::kTuple, {a, y->instruction});
  if (tuple == nullptr) return false;
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kOptimizationBarrier, {tuple->instruction}));
}

// A counter that leaves its loop after a few iterations, possibly by way of the ends of its type.
struct Counter {
  PrimitiveType type = S32;
  int64_t start = 0, step = 1, limit = 0;
  ComparisonDirection direction = ComparisonDirection::kLt;
};

bool Holds(ComparisonDirection direction, int64_t a, int64_t b) {
  switch (direction) {
    case ComparisonDirection::kEq: return a == b;
    case ComparisonDirection::kNe: return a != b;
    case ComparisonDirection::kLt: return a < b;
    case ComparisonDirection::kLe: return a <= b;
    case ComparisonDirection::kGt: return a > b;
    case ComparisonDirection::kGe: return a >= b;
  }
  return false;
}

// `value` modulo the type's numbers, of 32 bits at most.
int64_t Wrapped(PrimitiveType type, int64_t value) {
  const int bits = PrimitiveTypeBitWidth(type);
  const int64_t modulus = int64_t{1} << bits, rest = ((value % modulus) + modulus) % modulus;
  return !IsUnsignedIntegralType(type) && rest >= modulus / 2 ? rest - modulus : rest;
}

Counter RandomCounter(Grower& g) {
  static constexpr PrimitiveType kTypes[] = {S32, S32, U32, S8, U8, S16};
  constexpr int kMaxIterations = 5;
  if (g.random.Chance(50)) return {.type = g.random.Chance(80) ? S32 : S64, .limit = g.random.Below(5)};
  for (int tries = 0; tries < 20; ++tries) {
    Counter counter{.type = g.random.Of(kTypes)};
    const int64_t near = g.random.Chance(30) ? static_cast<int64_t>(g.EdgeInteger(counter.type)) : 0;
    counter.start = Wrapped(counter.type, near + g.random.Below(9) - 4);
    counter.limit = Wrapped(counter.type, near + g.random.Below(9) - 4);
    counter.step = Wrapped(counter.type, g.random.Below(9) - 4);
    counter.direction = static_cast<ComparisonDirection>(g.random.Below(6));
    int64_t now = counter.start;
    for (int i = 0; i <= kMaxIterations; ++i) {
      if (!Holds(counter.direction, now, counter.limit)) return counter;
      now = Wrapped(counter.type, now + counter.step);
    }
  }
  return {};
}

Literal Scalar(PrimitiveType type, int64_t value) { return LiteralUtil::FromDouble(type, static_cast<double>(value)); }

bool WhileOp(Grower& g, Scope& scope) {
  if (scope.depth >= 2) return false;
  const Counter counter = RandomCounter(g);
  HloInstruction* start = g.Constant(scope, Scalar(counter.type, counter.start))->instruction;
  if (g.random.Chance(20)) {  // of unknown value
    const Value* hidden = g.Add(scope, HloOpcode::kOptimizationBarrier, {start});
    if (hidden != nullptr) start = hidden->instruction;
  }
  const Value* state = g.State(scope, start);
  if (state == nullptr) return false;
  const Value init = *state;

  Scope body = g.Nested(scope, "body", init);
  HloInstruction* at = body.values[1].instruction;
  g.Grow(body, 1 + g.random.Below(6));
  HloInstruction* step = g.Constant(body, Scalar(counter.type, counter.step))->instruction;
  const Value* next = g.Add(body, HloOpcode::kAdd, g.random.Chance(50) ? std::vector{at, step} : std::vector{step, at});
  if (next == nullptr) return false;
  std::vector<HloInstruction*> elements = {next->instruction};
  for (int64_t i = 1; i < init.shape().tuple_shapes_size(); ++i)
    elements.push_back(g.OfShape(body, init.shape().tuple_shapes(i)));
  const Value* result = g.Add(body, HloOpcode::kTuple, elements);
  if (result == nullptr || !body.computation->set_root_instruction(result->instruction, true).ok()) return false;

  Scope condition = g.Nested(scope, "condition", init);
  HloInstruction* limit = condition.computation->AddConstant(Scalar(counter.type, counter.limit));
  auto compare = std::make_unique<CompareAttrs>();
  compare->direction = counter.direction;
  auto go_on =
      condition.computation->AddOp(HloOpcode::kCompare, {condition.values[1].instruction, limit}, std::move(compare));
  if (!go_on.ok() || !condition.computation->set_root_instruction(*go_on, true).ok()) return false;
  return g.TakeApart(
      scope, g.Add(scope, HloOpcode::kWhile, {init.instruction}, nullptr, {condition.computation, body.computation}));
}

bool ConditionalOp(Grower& g, Scope& scope) {
  if (scope.depth >= 2) return false;
  const bool is_pred = g.random.Chance(50);
  const int branches = is_pred ? 2 : 1 + g.random.Below(3);
  HloInstruction* selector = g.Like(scope, {}, is_pred ? PRED : S32, true);
  if (selector == nullptr) return false;
  std::vector<Shape> results;
  for (int i = 1 + g.random.Below(2); i > 0; --i) {
    const Value* model = g.PickArray(scope);
    results.push_back(model != nullptr ? model->shape() : ShapeUtil::MakeShape(F32, {2}));
  }
  std::vector<HloInstruction*> operands = {selector};
  std::vector<HloComputation*> computations;
  for (int i = 0; i < branches; ++i) {
    const Value* state = g.random.Chance(70) ? g.State(scope, nullptr) : g.PickArray(scope);
    if (state == nullptr) return false;
    const Value operand = *state;
    Scope branch = g.Nested(scope, "branch", operand);
    g.Grow(branch, 1 + g.random.Below(5));
    HloInstruction* root = g.TupleOf(branch, results);
    if (root == nullptr || !branch.computation->set_root_instruction(root, true).ok()) return false;
    operands.push_back(operand.instruction);
    computations.push_back(branch.computation);
  }
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kConditional, operands, nullptr, computations));
}

bool CallOp(Grower& g, Scope& scope) {
  if (scope.depth >= 3) return false;
  const Value* state = g.State(scope, nullptr);
  if (state == nullptr) return false;
  const Value operand = *state;
  Scope callee = g.Nested(scope, "callee", operand);
  g.Grow(callee, 1 + g.random.Below(6));
  const Value* result = g.PickArray(callee);
  if (result == nullptr || !callee.computation->set_root_instruction(result->instruction, true).ok()) return false;
  return g.Add(scope, HloOpcode::kCall, {operand.instruction}, nullptr, {callee.computation});
}

// A few instructions on one to three arrays, as a computation with a parameter for each.
struct Outlined {
  std::vector<HloInstruction*> operands;
  HloComputation* computation = nullptr;
  Shape result;
};
std::optional<Outlined> Outline(Grower& g, Scope& scope, const std::string& name) {
  Outlined outlined;
  Scope inner{.computation = g.module->AddComputation(name), .depth = 3};
  for (int64_t i = 1 + g.random.Below(3); i > 0; --i) {
    const Value* x = g.PickArray(scope);
    if (x == nullptr) return std::nullopt;
    const auto number = static_cast<int64_t>(outlined.operands.size());
    const std::string parameter = absl::StrCat("p", number);
    inner.values.push_back(
        {inner.computation->AddInstruction(HloInstruction::CreateParameter(number, x->shape(), parameter), parameter),
         x->leaves});
    outlined.operands.push_back(x->instruction);
  }
  g.Grow(inner, 1 + g.random.Below(5));
  const Value* result = g.PickArray(inner);
  if (result == nullptr || !inner.computation->set_root_instruction(result->instruction, true).ok())
    return std::nullopt;
  outlined.computation = inner.computation;
  outlined.result = result->shape();
  return outlined;
}

bool FusionOp(Grower& g, Scope& scope) {
  if (scope.depth >= 3) return false;
  const auto outlined = Outline(g, scope, "fused");
  if (!outlined) return false;
  const Value* fusion =
      g.Add(scope, HloOpcode::kFusion, outlined->operands, std::make_unique<FusionAttrs>(), {outlined->computation});
  if (fusion != nullptr) outlined->computation->set_fusion_instruction(fusion->instruction);
  return fusion != nullptr;
}

bool AsyncOp(Grower& g, Scope& scope) {
  if (scope.depth >= 1) return false;
  const auto outlined = Outline(g, scope, "async");
  if (!outlined) return false;
  std::vector<Shape> operands;
  for (const HloInstruction* operand : outlined->operands) operands.push_back(operand->shape());
  const Shape state = ShapeUtil::MakeTupleShape({ShapeUtil::MakeTupleShape(operands), outlined->result});
  const Value* start = g.Add(scope, HloOpcode::kAsyncStart, outlined->operands, std::make_unique<AsyncAttrs>(),
                             {outlined->computation}, &state);
  if (start == nullptr) return false;
  HloInstruction* last = start->instruction;
  if (g.random.Chance(30)) {
    const Value* update = g.Add(scope, HloOpcode::kAsyncUpdate, {last}, std::make_unique<AsyncAttrs>(), {}, &state);
    if (update != nullptr) last = update->instruction;
  }
  return g.Add(scope, HloOpcode::kAsyncDone, {last}, std::make_unique<AsyncAttrs>(), {}, &outlined->result);
}

bool CopyStartOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  const Shape array = x->shape();
  const Shape state = ShapeUtil::MakeTupleShape({array, array, ShapeUtil::MakeShape(U32, {})});
  const Value* start =
      g.Add(scope, HloOpcode::kCopyStart, {x->instruction}, std::make_unique<CopyStartAttrs>(), {}, &state);
  return start != nullptr && g.Add(scope, HloOpcode::kCopyDone, {start->instruction});
}

bool TokenOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const Value* token = g.Add(scope, HloOpcode::kAfterAll, {});
  return token != nullptr && g.Add(scope, HloOpcode::kAddDependency, {operand, token->instruction});
}

bool DomainOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  auto attributes = std::make_unique<DomainAttrs>();
  attributes->domain = "{kind=\"sharding\", entry={maximal device=0}, exit={}}";
  return g.Add(scope, HloOpcode::kDomain, {x->instruction}, std::move(attributes));
}

}  // namespace

absl::Span<const Kind> ControlFlowKinds() {
  static constexpr Kind kKinds[] = {{1, &BarrierOp},   {2, &WhileOp},  {2, &ConditionalOp},
                                    {1, &CallOp},      {2, &FusionOp}, {1, &AsyncOp},
                                    {1, &CopyStartOp}, {1, &TokenOp},  {1, &DomainOp}};
  return kKinds;
}

}  // namespace hilo::fuzz
