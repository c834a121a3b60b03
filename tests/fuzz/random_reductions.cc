// Many elements to one, or to their order.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

// The largest value with its place, the first of equal ones: (value, index, value, index) ->
// (value, index).
HloComputation* ArgMax(Grower& g, PrimitiveType type, PrimitiveType index) {
  HloComputation* c = g.module->AddComputation("arg_max");
  std::vector<HloInstruction*> p;
  for (int i = 0; i < 4; ++i) {
    const std::string name = absl::StrCat("p", i);
    p.push_back(c->AddInstruction(
        HloInstruction::CreateParameter(i, ShapeUtil::MakeShape(i % 2 == 0 ? type : index, {}), name), name));
  }
  const auto compare = [&](HloInstruction* a, HloInstruction* b, ComparisonDirection direction) {
    auto attributes = std::make_unique<CompareAttrs>();
    attributes->direction = direction;
    return *c->AddOp(HloOpcode::kCompare, {a, b}, std::move(attributes));
  };
  HloInstruction* greater = compare(p[0], p[2], ComparisonDirection::kGt);
  HloInstruction* tie = *c->AddOp(
      HloOpcode::kAnd, {compare(p[0], p[2], ComparisonDirection::kEq), compare(p[1], p[3], ComparisonDirection::kLt)});
  HloInstruction* first = *c->AddOp(HloOpcode::kOr, {greater, tie});
  HloInstruction* value = *c->AddOp(HloOpcode::kSelect, {first, p[0], p[2]});
  HloInstruction* place = *c->AddOp(HloOpcode::kSelect, {first, p[1], p[3]});
  (void)c->set_root_instruction(*c->AddOp(HloOpcode::kTuple, {value, place}), true);
  return c;
}

bool HasNan(const Value& value) {
  if (!IsFloatingPointType(value.type())) return false;
  for (int64_t i = 0; i < value.leaves[0].value->element_count(); ++i) {
    if (std::isnan(value.leaves[0].value->GetAsDouble(i))) return true;
  }
  return false;
}

bool ReduceOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<ReduceAttrs>();
  attributes->dimensions = g.Subset(x->shape().rank(), 1);
  HloInstruction* operand = x->instruction;
  const PrimitiveType type = operand->shape().element_type();
  const bool integral = IsIntegralType(type);
  if (g.random.Chance(20) && (integral || type == F32 || type == F64) && x->exact() && !HasNan(*x)) {
    const Dims dims = DimsOf(operand->shape());
    const Shape shape = ShapeUtil::MakeShape(S32, dims);
    auto iota_attributes = std::make_unique<IotaAttrs>();
    iota_attributes->iota_dimension = attributes->dimensions[0];
    const Value* iota = g.Add(scope, HloOpcode::kIota, {}, std::move(iota_attributes), {}, &shape);
    if (iota == nullptr) return false;
    HloInstruction* index = iota->instruction;
    HloInstruction* low = scope.computation->AddConstant(LiteralUtil::MinValue(type));
    scope.values.push_back({low, ExactLeaves(LiteralUtil::MinValue(type))});
    HloInstruction* none = scope.computation->AddConstant(LiteralUtil::MaxValue(S32));
    scope.values.push_back({none, ExactLeaves(LiteralUtil::MaxValue(S32))});
    return g.TakeApart(scope, g.Add(scope, HloOpcode::kReduce, {operand, index, low, none}, std::move(attributes),
                                    {ArgMax(g, type, S32)}));
  }
  HloInstruction* init = g.Like(scope, {}, type);
  return g.Add(scope, HloOpcode::kReduce, {operand, init}, std::move(attributes),
               {g.Combiner(type, g.CombinerOpcode(type))});
}

Window RandomWindow(Grower& g, const Shape& shape) {
  Window window;
  for (int64_t size : shape.dimensions()) {
    Window::Dimension d;
    if (g.random.Chance(60)) {
      d.size = 1 + g.random.Below(std::min<int64_t>(size + 1, g.random.Chance(15) ? 33 : 5));
      d.stride = 1 + g.random.Below(3);
      d.padding_low = g.random.Below(4) - 1;
      d.padding_high = g.random.Below(4) - 1;
      if (g.random.Chance(25)) d.base_dilation = 1 + g.random.Below(3);
      if (g.random.Chance(25)) d.window_dilation = 1 + g.random.Below(3);
    } else if (size > 0 && g.random.Chance(15)) {  // a prefix scan, or nearly one
      d.size = size;
      (g.random.Chance(50) ? d.padding_low : d.padding_high) = size - g.random.Below(2);
    }
    window.dimensions.push_back(d);
  }
  return window;
}

bool ReduceWindowOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<ReduceWindowAttrs>();
  HloInstruction* operand = x->instruction;
  attributes->window = RandomWindow(g, operand->shape());
  const PrimitiveType type = operand->shape().element_type();
  return g.Add(scope, HloOpcode::kReduceWindow, {operand, g.Like(scope, {}, type)}, std::move(attributes),
               {g.Combiner(type, g.CombinerOpcode(type))});
}

bool SortOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && v.exact() && !IsComplexType(v.type());
  });
  if (x == nullptr) return false;
  std::vector<HloInstruction*> operands = {x->instruction};
  const Shape shape = x->shape();
  for (int i = g.random.Below(3); i > 0; --i) operands.push_back(g.Like(scope, DimsOf(shape), g.RandomType(), true));
  HloComputation* less = g.module->AddComputation("less");
  for (size_t i = 0; i < operands.size() * 2; ++i) {
    if (operands[i / 2] == nullptr) return false;
    const std::string name = absl::StrCat("p", i);
    less->AddInstruction(
        HloInstruction::CreateParameter(i, ShapeUtil::MakeShape(operands[i / 2]->shape().element_type(), {}), name),
        name);
  }
  auto compare = std::make_unique<CompareAttrs>();
  compare->direction = g.random.Chance(60) ? ComparisonDirection::kLt : ComparisonDirection::kGt;
  // Only the total order sorts NaNs the same way everywhere.
  if (IsFloatingPointType(shape.element_type())) compare->type = ComparisonType::kTotalOrder;
  auto root = less->AddOp(HloOpcode::kCompare, {less->parameter_instruction(0), less->parameter_instruction(1)},
                          std::move(compare));
  if (!root.ok() || !less->set_root_instruction(*root, true).ok()) return false;
  auto attributes = std::make_unique<SortAttrs>();
  attributes->dimensions = {g.random.Below(shape.rank())};
  attributes->is_stable = true;
  const Value* sorted = g.Add(scope, HloOpcode::kSort, operands, std::move(attributes), {less});
  return sorted != nullptr && (operands.size() == 1 || g.TakeApart(scope, sorted));
}

// Two or three arrays of the same dimensions.
struct Several {
  std::vector<HloInstruction*> arrays;
  std::vector<PrimitiveType> types;
};
std::optional<Several> SeveralArrays(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && v.exact() && !IsComplexType(v.type());
  });
  if (x == nullptr) return std::nullopt;
  Several several{.arrays = {x->instruction}, .types = {x->type()}};
  const Dims dims = DimsOf(x->shape());
  for (int64_t i = 1 + g.random.Below(2); i > 0; --i) {
    const PrimitiveType type = g.random.Chance(60) ? g.RandomIntegerType() : g.RandomType();
    HloInstruction* next = IsComplexType(type) ? nullptr : g.Like(scope, dims, type, true);
    if (next == nullptr) continue;
    several.arrays.push_back(next);
    several.types.push_back(type);
  }
  if (several.arrays.size() < 2) return std::nullopt;
  return several;
}

// (a0, a1 ..., b0, b1 ...) -> the greater of the two in lexicographic order: associative and commutative, but not of
// each array on its own.
HloComputation* GreaterOfTwo(Grower& g, absl::Span<const PrimitiveType> types) {
  HloComputation* f = g.module->AddComputation("greater");
  const auto count = static_cast<int64_t>(types.size());
  for (int64_t i = 0; i < 2 * count; ++i) {
    const std::string name = absl::StrCat("p", i);
    f->AddInstruction(HloInstruction::CreateParameter(i, ShapeUtil::MakeScalarShape(types[i % count]), name), name);
  }
  HloInstruction* is_less = nullptr;  // the first one than the second
  for (int64_t i = count - 1; i >= 0; --i) {
    const auto compare = [&](ComparisonDirection direction) {
      auto attributes = std::make_unique<CompareAttrs>();
      attributes->direction = direction;
      return *f->AddOp(HloOpcode::kCompare, {f->parameter_instruction(i), f->parameter_instruction(count + i)},
                       std::move(attributes));
    };
    HloInstruction* const own = compare(ComparisonDirection::kLt);
    if (is_less != nullptr) is_less = *f->AddOp(HloOpcode::kAnd, {compare(ComparisonDirection::kEq), is_less});
    is_less = is_less == nullptr ? own : *f->AddOp(HloOpcode::kOr, {own, is_less});
  }
  std::vector<HloInstruction*> chosen;
  for (int64_t i = 0; i < count; ++i) {
    chosen.push_back(
        *f->AddOp(HloOpcode::kSelect, {is_less, f->parameter_instruction(count + i), f->parameter_instruction(i)}));
  }
  HloInstruction* const root = *f->AddOp(HloOpcode::kTuple, chosen);
  return f->set_root_instruction(root, true).ok() ? f : nullptr;
}

// (a, b) -> b, or a where b is 0: associative, but not commutative.
HloComputation* LastThatIsNotZero(Grower& g, PrimitiveType type) {
  HloComputation* f = g.Combiner(type, HloOpcode::kAdd);
  HloInstruction *a = f->parameter_instruction(0), *b = f->parameter_instruction(1);
  auto attributes = std::make_unique<CompareAttrs>();
  attributes->direction = ComparisonDirection::kNe;
  HloInstruction* const is_given =
      *f->AddOp(HloOpcode::kCompare, {b, f->AddConstant(LiteralUtil::Zero(type))}, std::move(attributes));
  HloInstruction* const root = *f->AddOp(HloOpcode::kSelect, {is_given, b, a});
  return f->set_root_instruction(root, true).ok() ? f : nullptr;
}

// A reduction by a computation that is no single op, from its identity.
bool ReduceInOrderOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && IsIntegralType(v.type()) && v.exact();
  });
  if (x == nullptr) return false;
  HloInstruction* const operand = x->instruction;
  const PrimitiveType type = x->type();
  HloInstruction* const zero = scope.computation->AddConstant(LiteralUtil::Zero(type));
  scope.values.push_back({zero, ExactLeaves(LiteralUtil::Zero(type))});
  auto attributes = std::make_unique<ReduceAttrs>();
  attributes->dimensions = {g.random.Below(operand->shape().rank())};
  return g.Add(scope, HloOpcode::kReduce, {operand, zero}, std::move(attributes), {LastThatIsNotZero(g, type)});
}

bool ReduceSeveralOp(Grower& g, Scope& scope) {
  std::optional<Several> several = SeveralArrays(g, scope);
  if (!several.has_value()) return false;
  auto reduce = std::make_unique<ReduceAttrs>();
  auto windows = std::make_unique<ReduceWindowAttrs>();
  reduce->dimensions = g.Subset(several->arrays[0]->shape().rank(), 1);
  windows->window = RandomWindow(g, several->arrays[0]->shape());
  std::vector<HloInstruction*> operands = several->arrays;
  const bool chooses = std::all_of(several->types.begin(), several->types.end(),
                                   [](PrimitiveType type) { return IsIntegralType(type); }) &&
                       g.random.Chance(60);
  for (const PrimitiveType type : several->types) {
    HloInstruction* start = chooses ? scope.computation->AddConstant(LiteralUtil::MinValue(type)) : nullptr;
    if (chooses) scope.values.push_back({start, ExactLeaves(LiteralUtil::MinValue(type))});
    operands.push_back(chooses ? start : g.Like(scope, {}, type, true));
  }
  HloComputation* combine = chooses ? GreaterOfTwo(g, several->types) : g.CombinerOfSeveral(several->types);
  if (g.random.Chance(30))
    return g.TakeApart(scope, g.Add(scope, HloOpcode::kReduceWindow, operands, std::move(windows), {combine}));
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kReduce, operands, std::move(reduce), {combine}));
}

// By several keys, of which each may be made of an array's element.
bool SortByKeysOp(Grower& g, Scope& scope) {
  std::optional<Several> several = SeveralArrays(g, scope);
  if (!several.has_value()) return false;
  HloComputation* less = g.module->AddComputation("less");
  std::vector<HloInstruction*> p;
  for (size_t i = 0; i < several->arrays.size() * 2; ++i) {
    const std::string name = absl::StrCat("p", i);
    p.push_back(less->AddInstruction(
        HloInstruction::CreateParameter(i, ShapeUtil::MakeScalarShape(several->types[i / 2]), name), name));
  }
  const auto add = [&](HloOpcode opcode, std::vector<HloInstruction*> operands,
                       std::unique_ptr<OpAttributes> attributes = nullptr, const Shape* shape = nullptr) {
    auto made = less->AddOp(opcode, operands, std::move(attributes), {}, shape);
    return made.ok() ? *made : nullptr;
  };
  const auto compare = [&](HloInstruction* a, HloInstruction* b, ComparisonDirection direction) {
    auto attributes = std::make_unique<CompareAttrs>();
    attributes->direction = direction;
    // Only the total order sorts NaNs the same way everywhere.
    if (IsFloatingPointType(a->shape().element_type())) attributes->type = ComparisonType::kTotalOrder;
    return add(HloOpcode::kCompare, {a, b}, std::move(attributes));
  };
  const Dims order = g.Permutation(static_cast<int64_t>(several->arrays.size()));
  HloInstruction* result = nullptr;
  for (int64_t k = g.random.Below(order.size()); k >= 0; --k) {
    HloInstruction *a = p[2 * order[k]], *b = p[2 * order[k] + 1];
    const PrimitiveType type = a->shape().element_type();
    const int form = g.random.Below(6);
    if (form == 0 && type != PRED && !IsUnsignedIntegralType(type)) {
      a = add(HloOpcode::kAbs, {a});
      b = add(HloOpcode::kAbs, {b});
    } else if (form == 1 && type != PRED && !IsUnsignedIntegralType(type)) {
      a = add(HloOpcode::kNegate, {a});
      b = add(HloOpcode::kNegate, {b});
    } else if (form == 2) {
      const Shape wide = ShapeUtil::MakeScalarShape(IsFloatingPointType(type) ? F32 : S32);
      a = add(HloOpcode::kConvert, {a}, nullptr, &wide);
      b = add(HloOpcode::kConvert, {b}, nullptr, &wide);
    } else if (form == 3 && IsFloatingPointType(type)) {
      HloInstruction* zero = less->AddConstant(LiteralUtil::Zero(type));
      for (HloInstruction** side : {&a, &b}) {
        auto attributes = std::make_unique<CompareAttrs>();
        HloInstruction* is_zero = add(HloOpcode::kCompare, {*side, zero}, std::move(attributes));
        *side = is_zero == nullptr ? nullptr : add(HloOpcode::kSelect, {is_zero, zero, *side});
      }
    }
    if (a == nullptr || b == nullptr) return false;
    HloInstruction* own = compare(a, b, g.random.Chance(60) ? ComparisonDirection::kLt : ComparisonDirection::kGt);
    if (own == nullptr) return false;
    if (result == nullptr) {
      result = own;
    } else if (g.random.Chance(50)) {
      result = add(HloOpcode::kSelect, {compare(a, b, ComparisonDirection::kEq), result, own});
    } else {
      HloInstruction* tie = add(HloOpcode::kAnd, {compare(a, b, ComparisonDirection::kEq), result});
      result = add(HloOpcode::kOr, {own, tie});
    }
  }
  if (result == nullptr || !less->set_root_instruction(result, true).ok()) return false;
  auto attributes = std::make_unique<SortAttrs>();
  attributes->dimensions = {g.random.Below(several->arrays[0]->shape().rank())};
  attributes->is_stable = true;
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kSort, several->arrays, std::move(attributes), {less}));
}

// Windows that select by GE or LE, with sums of what is scattered.
bool SelectAndScatterOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && v.exact() && v.type() != PRED && !IsComplexType(v.type());
  });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const PrimitiveType type = operand->shape().element_type();
  auto attributes = std::make_unique<SelectAndScatterAttrs>();
  Dims source_dims;
  for (int64_t size : operand->shape().dimensions()) {
    Window::Dimension d;
    if (g.random.Chance(60)) {
      d.size = 1 + g.random.Below(std::min<int64_t>(size + 1, 4));
      d.stride = 1 + g.random.Below(3);
      d.padding_low = g.random.Below(2);
      d.padding_high = g.random.Below(2);
    }
    source_dims.push_back(WindowedOutputSize(size, d).value_or(0));
    attributes->window.dimensions.push_back(d);
  }
  HloComputation* select = g.Combiner(type, HloOpcode::kAdd);
  auto compare = std::make_unique<CompareAttrs>();
  compare->direction = g.random.Chance(70) ? ComparisonDirection::kGe : ComparisonDirection::kLe;
  auto chosen = select->AddOp(HloOpcode::kCompare, {select->parameter_instruction(0), select->parameter_instruction(1)},
                              std::move(compare));
  if (!chosen.ok() || !select->set_root_instruction(*chosen, true).ok()) return false;
  HloInstruction* source = g.Like(scope, source_dims, type);
  HloInstruction* init = g.Like(scope, {}, type);
  return g.Add(scope, HloOpcode::kSelectAndScatter, {operand, source, init}, std::move(attributes),
               {select, g.Combiner(type, HloOpcode::kAdd)});
}

// (x, carry) -> (combined, combined), along one dimension.
bool ScanOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && v.exact() && !IsComplexType(v.type());
  });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const PrimitiveType type = operand->shape().element_type();
  auto attributes = std::make_unique<ScanAttrs>();
  attributes->dimensions = {g.random.Below(operand->shape().rank())};
  attributes->num_carries = 1;
  attributes->is_reverse = g.random.Chance(40);
  attributes->is_associative = g.random.Chance(50);
  Dims dims = DimsOf(operand->shape());
  dims.erase(dims.begin() + attributes->dimensions[0]);
  HloComputation* f = g.module->AddComputation("scan");
  const Shape slice = ShapeUtil::MakeShape(type, dims);
  HloInstruction* element = f->AddInstruction(HloInstruction::CreateParameter(0, slice, "x"), "x");
  HloInstruction* carry = f->AddInstruction(HloInstruction::CreateParameter(1, slice, "carry"), "carry");
  auto combined = f->AddOp(g.CombinerOpcode(type), {carry, element});
  if (!combined.ok()) return false;
  auto both = f->AddOp(HloOpcode::kTuple, {*combined, *combined});
  if (!both.ok() || !f->set_root_instruction(*both, true).ok()) return false;
  HloInstruction* init = g.Like(scope, dims, type, true);
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kScan, {operand, init}, std::move(attributes), {f}));
}

bool TopKOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && v.exact() && !IsComplexType(v.type()) && v.type() != PRED;
  });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<TopKAttrs>();
  attributes->k = g.random.Below(x->shape().dimensions(x->shape().rank() - 1) + 1);
  attributes->largest = g.random.Chance(60);
  return g.TakeApart(scope, g.Add(scope, HloOpcode::kTopK, {x->instruction}, std::move(attributes)));
}

}  // namespace

absl::Span<const Kind> ReductionKinds() {
  static constexpr Kind kKinds[] = {{6, &ReduceOp},           {3, &ReduceWindowOp}, {3, &SortOp},
                                    {2, &SelectAndScatterOp}, {2, &ScanOp},         {1, &TopKOp}};
  return kKinds;
}

absl::Span<const Kind> SeveralKinds() {
  static constexpr Kind kKinds[] = {{3, &ReduceSeveralOp}, {2, &SortByKeysOp}, {1, &ReduceInOrderOp}};
  return kKinds;
}

}  // namespace hilo::fuzz
