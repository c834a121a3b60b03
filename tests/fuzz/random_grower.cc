// Instructions are evaluated as they are added, so that operands can be chosen by what they hold.
#include "tests/fuzz/random_grower.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace hilo::fuzz {

Dims DimsOf(const Shape& shape) { return Dims(shape.dimensions().begin(), shape.dimensions().end()); }
int64_t Product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

const Value* Grower::Pick(Scope& scope, const std::function<bool(const Value&)>& accept) {
  std::vector<const Value*> fitting;
  for (const Value& value : scope.values) {
    if (value.shape().is_static() && accept(value)) fitting.push_back(&value);
  }
  if (fitting.empty()) return nullptr;
  const size_t a = random.Below(fitting.size()), b = random.Below(fitting.size());
  return fitting[std::max(a, b)];
}

const Value* Grower::PickArray(Scope& scope) {
  return Pick(scope, [](const Value& v) { return v.shape().IsArray(); });
}

double Grower::EdgeInteger(PrimitiveType type) {
  const bool has_sign = !IsUnsignedIntegralType(type);
  const double bits = PrimitiveTypeBitWidth(type), end = std::exp2(has_sign ? bits - 1 : bits);  // conversions saturate
  const double edges[] = {0, 1, has_sign ? -1.0 : 2.0, end, has_sign ? -end : end / 2, bits - 1, bits, bits + 1};
  return random.Of(edges);
}

Literal Grower::RandomLiteral(const Shape& shape) {
  const int kind = random.Below(10);
  const PrimitiveType type = shape.element_type();
  Literal wide = *Literal::Create(ShapeUtil::MakeShape(IsComplexType(type) ? C128 : F64, shape.dimensions()));
  const bool is_float = IsFloatingPointType(type) || IsComplexType(type);
  const auto next = [&]() -> double {
    if (type == PRED) return random.Below(2);
    if (!is_float && kind == 0 && random.Chance(20)) return EdgeInteger(type);
    if (IsUnsignedIntegralType(type)) return kind == 0 ? random.Below(1000) : random.Below(6);
    if (!is_float) return kind == 0 ? random.Below(2001) - 1000 : random.Below(9) - 4;
    if (kind == 0 && random.Chance(30)) return random.SpecialFloat();
    return kind < 5 ? random.Below(9) - 4 : random.Uniform(-4, 4);
  };
  if (IsComplexType(type)) {
    for (complex128& z : wide.data<complex128>()) z = complex128(next(), next());
  } else {
    for (double& x : wide.data<double>()) x = next();
  }
  return *wide.Convert(type);
}

const Value* Grower::Leaf(Scope& scope, const Dims& dims, PrimitiveType type) {
  const Shape shape = ShapeUtil::MakeShape(type, dims);
  if (scope.arguments != nullptr && random.Chance(60)) {
    Literal literal = RandomLiteral(shape);
    const int64_t number = scope.computation->num_parameters();
    HloInstruction* parameter = scope.computation->AddInstruction(
        HloInstruction::CreateParameter(number, shape, absl::StrCat("p", number)), absl::StrCat("p", number));
    scope.values.push_back({parameter, ExactLeaves(literal.Clone())});
    scope.arguments->push_back(std::move(literal));
    return &scope.values.back();
  }
  if (!dims.empty() && type != PRED && random.Chance(15)) {
    auto attributes = std::make_unique<IotaAttrs>();
    attributes->iota_dimension = random.Below(dims.size());
    if (const Value* iota = Add(scope, HloOpcode::kIota, {}, std::move(attributes), {}, &shape)) return iota;
  }
  const bool small = Product(dims) <= 64 && random.Chance(60);
  Literal literal = RandomLiteral(small ? shape : ShapeUtil::MakeShape(type, {}));
  scope.values.push_back({scope.computation->AddConstant(literal.Clone()), ExactLeaves(literal.Clone())});
  if (small) return &scope.values.back();
  return Add(scope, HloOpcode::kBroadcast, {scope.values.back().instruction}, std::make_unique<BroadcastAttrs>(), {},
             &shape);
}

HloInstruction* Grower::Like(Scope& scope, const Dims& dims, PrimitiveType type, bool exact) {
  const auto same_dims = [&](const Value& v) {
    return v.shape().IsArray() && DimsOf(v.shape()) == dims && (!exact || v.exact());
  };
  if (random.Chance(80)) {
    if (const Value* v = Pick(scope, [&](const Value& v) { return same_dims(v) && v.type() == type; }))
      return v->instruction;
  }
  if (random.Chance(30) && type != PRED) {
    if (const Value* v = Pick(
            scope, [&](const Value& v) { return same_dims(v) && (!IsComplexType(v.type()) || IsComplexType(type)); })) {
      if (const Value* converted = Convert(scope, *v, type); converted != nullptr && (!exact || converted->exact()))
        return converted->instruction;
    }
  }
  const Value* leaf = Leaf(scope, dims, type);
  return leaf == nullptr ? nullptr : leaf->instruction;
}

const Value* Grower::Convert(Scope& scope, const Value& value, PrimitiveType type) {
  Shape shape = ShapeUtil::MakeShape(type, value.shape().dimensions());
  return Add(scope, HloOpcode::kConvert, {value.instruction}, nullptr, {}, &shape);
}

const TrackedLeaves& Grower::LeavesOf(const Scope& scope, const HloInstruction* instruction) {
  for (const Value& value : scope.values) {
    if (value.instruction == instruction) return value.leaves;
  }
  static const TrackedLeaves none;
  return none;
}

bool Grower::IsUseful(const HloInstruction& instruction, const TrackedLeaves& leaves) {
  int64_t elements = 0;
  for (const Tracked& leaf : leaves) {
    elements += leaf.value->element_count();
    if (leaf.error == std::numeric_limits<double>::infinity()) return false;
    const PrimitiveType type = leaf.value->shape().element_type();
    if (!IsFloatingPointType(type) && !IsComplexType(type)) continue;
    const double size = MaxFinite(*leaf.value);
    if (leaf.error > 0 && (size > 1e7 || leaf.error > 0.02 * size + 1e-6)) return false;
  }
  return elements <= options.max_elements * (instruction.shape().IsTuple() ? 8 : 2);
}

HloComputation* Grower::Combiner(PrimitiveType type, HloOpcode opcode) {
  HloComputation* computation = module->AddComputation("combine");
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  HloInstruction* a = computation->AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"), "a");
  HloInstruction* b = computation->AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"), "b");
  auto root = computation->AddOp(opcode, {a, b});
  (void)computation->set_root_instruction(root.ok() ? *root : a, true);
  return computation;
}

HloComputation* Grower::CombinerOfSeveral(absl::Span<const PrimitiveType> types) {
  HloComputation* computation = module->AddComputation("combine_several");
  const auto count = static_cast<int64_t>(types.size());
  std::vector<HloInstruction*> p, results;
  for (int64_t i = 0; i < 2 * count; ++i) {
    const std::string name = absl::StrCat("p", i);
    p.push_back(computation->AddInstruction(
        HloInstruction::CreateParameter(i, ShapeUtil::MakeScalarShape(types[i % count]), name), name));
  }
  const auto add = [&](HloOpcode opcode, std::vector<HloInstruction*> operands, ComparisonDirection direction = {}) {
    std::unique_ptr<CompareAttrs> attributes;
    if (opcode == HloOpcode::kCompare) {
      attributes = std::make_unique<CompareAttrs>();
      attributes->direction = direction;
    }
    auto made = computation->AddOp(opcode, operands, std::move(attributes));
    return made.ok() ? *made : operands[0];
  };
  if (count == 2 && IsIntegralType(types[0]) && IsIntegralType(types[1]) && random.Chance(40)) {
    // The pair that comes first.
    HloInstruction* const less = add(HloOpcode::kCompare, {p[0], p[2]}, ComparisonDirection::kLt);
    HloInstruction* const equal = add(HloOpcode::kCompare, {p[0], p[2]}, ComparisonDirection::kEq);
    HloInstruction* const tie = add(HloOpcode::kCompare, {p[1], p[3]}, ComparisonDirection::kLe);
    HloInstruction* const first = add(HloOpcode::kOr, {less, add(HloOpcode::kAnd, {equal, tie})});
    for (int i = 0; i < 2; ++i) results.push_back(add(HloOpcode::kSelect, {first, p[i], p[i + 2]}));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const bool is_real = IsFloatingPointType(types[i]);
      const HloOpcode opcode =
          is_real ? (random.Chance(50) ? HloOpcode::kMaximum : HloOpcode::kMinimum) : CombinerOpcode(types[i]);
      results.push_back(random.Chance(50) ? add(opcode, {p[i], p[i + count]}) : add(opcode, {p[i + count], p[i]}));
    }
  }
  (void)computation->set_root_instruction(add(HloOpcode::kTuple, results), true);
  return computation;
}

HloOpcode Grower::CombinerOpcode(PrimitiveType type) {
  static constexpr HloOpcode kNumber[] = {HloOpcode::kAdd, HloOpcode::kAdd, HloOpcode::kMaximum, HloOpcode::kMinimum,
                                          HloOpcode::kMultiply};
  static constexpr HloOpcode kLogic[] = {HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor};
  if (type == PRED) return random.Of(kLogic);
  if (IsComplexType(type)) return HloOpcode::kAdd;
  return IsIntegralType(type) && random.Chance(20) ? random.Of(kLogic) : random.Of(kNumber);
}

Scope Grower::Nested(const Scope& outer, const std::string& name, const Value& operand) {
  Scope inner{.computation = module->AddComputation(name), .depth = outer.depth + 1};
  HloInstruction* parameter =
      inner.computation->AddInstruction(HloInstruction::CreateParameter(0, operand.shape(), "state"), "state");
  inner.values.push_back({parameter, operand.leaves});
  if (operand.shape().IsTuple()) TakeApart(inner, &inner.values.back());
  return inner;
}

HloInstruction* Grower::OfShape(Scope& scope, const Shape& shape) {
  if (shape.IsTuple())
    return TupleOf(scope, std::vector<Shape>(shape.tuple_shapes().begin(), shape.tuple_shapes().end()));
  return Like(scope, DimsOf(shape), shape.element_type());
}

HloInstruction* Grower::TupleOf(Scope& scope, absl::Span<const Shape> shapes) {
  std::vector<HloInstruction*> elements;
  for (const Shape& shape : shapes) elements.push_back(OfShape(scope, shape));
  const Value* tuple = Add(scope, HloOpcode::kTuple, elements);
  return tuple == nullptr ? nullptr : tuple->instruction;
}

const Value* Grower::State(Scope& scope, HloInstruction* first) {
  std::vector<HloInstruction*> elements;
  if (first != nullptr) elements.push_back(first);
  for (int i = 1 + random.Below(3); i > 0; --i) {
    if (const Value* x = PickArray(scope)) elements.push_back(x->instruction);
  }
  if (random.Chance(15)) {
    std::vector<HloInstruction*> inner;
    for (int i = random.Below(3); i > 0; --i) {
      if (const Value* x = PickArray(scope)) inner.push_back(x->instruction);
    }
    if (const Value* tuple = Add(scope, HloOpcode::kTuple, inner)) elements.push_back(tuple->instruction);
  }
  return elements.empty() ? nullptr : Add(scope, HloOpcode::kTuple, elements);
}

Dims Grower::Permutation(int64_t n) {
  Dims order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[random.Below(i + 1)]);
  return order;
}

Dims Grower::Subset(int64_t n, int64_t least) {
  Dims order = Permutation(n);
  order.resize(std::min(n, least + random.Below(n - std::min(n, least) + 1)));
  std::sort(order.begin(), order.end());
  return order;
}

PrimitiveType Grower::RandomType() {
  static constexpr PrimitiveType kOften[] = {F32,  F32,  F32, F32, F32, F32, S32, S32, S32, F64, F64, PRED, PRED,
                                             BF16, BF16, F16, F16, S64, S64, U32, U32, U8,  U8,  S8,  C64};
  static constexpr PrimitiveType kRare[] = {S16,      U16,           U64,        C128,       S4,     U4,     F8E5M2,
                                            F8E4M3FN, F8E4M3B11FNUZ, F8E5M2FNUZ, F8E4M3FNUZ, F8E4M3, F8E3M4, S2,
                                            U2,       F4E2M1FN};
  return random.Chance(12) ? random.Of(kRare) : random.Of(kOften);
}

PrimitiveType Grower::RandomIntegerType() {
  static constexpr PrimitiveType kTypes[] = {S32, S32, S32, S64, U32, S8, U8, S16, U16, U64};
  return random.Of(kTypes);
}

int64_t Grower::RandomSize() {
  static constexpr int64_t kSizes[] = {1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 8, 16, 17, 31, 33, 64, 100};
  if (random.Chance(2)) return 0;
  return options.sizes.empty() ? random.Of(kSizes) : random.Of(options.sizes);
}

Dims Grower::RandomDims() {
  static constexpr int kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4};
  Dims dims(random.Of(kRanks));
  for (int64_t& d : dims) d = RandomSize();
  while (Product(dims) > options.max_elements) dims[random.Below(dims.size())] = 1 + random.Below(4);
  return dims;
}

const Value* Grower::Add(Scope& scope, HloOpcode opcode, std::vector<HloInstruction*> operands,
                         std::unique_ptr<OpAttributes> attributes, std::vector<HloComputation*> called,
                         const Shape* stated) {
  if (std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
  auto added = scope.computation->AddOp(opcode, operands, std::move(attributes), called, stated);
  if (!added.ok()) return nullptr;
  std::vector<const TrackedLeaves*> leaves;
  for (HloInstruction* operand : operands) leaves.push_back(&LeavesOf(scope, operand));
  auto value = tracker.Step(**added, leaves);
  if (!value.ok() || !IsUseful(**added, *value)) {
    (void)scope.computation->RemoveInstruction(*added);
    return nullptr;
  }
  scope.values.push_back({*added, *std::move(value)});
  return &scope.values.back();
}

const Value* Grower::Constant(Scope& scope, Literal literal) {
  scope.values.push_back({scope.computation->AddConstant(literal.Clone()), ExactLeaves(literal.Clone())});
  return &scope.values.back();
}

bool Grower::TakeApart(Scope& scope, const Value* tuple) {
  if (tuple == nullptr) return false;
  HloInstruction* instruction = tuple->instruction;
  for (int64_t i = 0; i < instruction->shape().tuple_shapes_size(); ++i) {
    auto attributes = std::make_unique<GetTupleElementAttrs>();
    attributes->index = i;
    const Value* element = Add(scope, HloOpcode::kGetTupleElement, {instruction}, std::move(attributes));
    if (element != nullptr && element->shape().IsTuple()) TakeApart(scope, element);
  }
  return true;
}

void Grower::Grow(Scope& scope, int count) {
  static const std::vector<Kind>* const kinds = [] {
    auto* all = new std::vector<Kind>();
    for (const auto list : {ElementwiseKinds(), MovementKinds(), ReductionKinds(), LinearAlgebraKinds(), SeveralKinds(),
                            ControlFlowKinds(), DynamicKinds()})
      all->insert(all->end(), list.begin(), list.end());
    return all;
  }();
  static const int total =
      std::accumulate(kinds->begin(), kinds->end(), 0, [](int sum, const Kind& kind) { return sum + kind.weight; });
  for (int tries = 0; count > 0 && tries < 200; ++tries) {
    auto kind = kinds->begin();
    for (int64_t ticket = random.Below(total) - kind->weight; ticket >= 0; ticket -= kind->weight) ++kind;
    count -= kind->make(*this, scope);
  }
}

}  // namespace hilo::fuzz
