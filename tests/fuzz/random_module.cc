// A program grows by one instruction at a time. Each kind of instruction is a function that looks
// for operands among the values at hand, makes what is missing (parameters, constants, broadcasts)
// and adds the instruction; Keep() evaluates it and takes it back if its value is of no use.
#include "tests/fuzz/random_module.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/ops/op_attributes.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/fuzz/tracked_evaluator.h"

namespace hilo::fuzz {
namespace {

using Dims = std::vector<int64_t>;

struct Value {
  HloInstruction* instruction;
  TrackedLeaves leaves;
  const Shape& shape() const { return instruction->shape(); }
  PrimitiveType type() const { return shape().element_type(); }
  bool exact() const {
    return std::all_of(leaves.begin(), leaves.end(), [](const Tracked& t) { return t.error == 0; });
  }
};

// A computation that grows. Nested ones have no parameters beyond those that they begin with.
struct Scope {
  HloComputation* computation;
  std::vector<Value> values;
  std::vector<Literal>* arguments = nullptr;  // of the entry; null in nested scopes
  int depth = 0;
};

Dims DimsOf(const Shape& shape) {
  return Dims(shape.dimensions().begin(), shape.dimensions().end());
}
int64_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

class Generator {
 public:
  Generator(uint64_t seed, const RandomOptions& options) : random_(seed), options_(options) {
    module_ = std::make_unique<HloModule>(absl::StrCat("random_", seed));
  }

  RandomProgram Make() {
    RandomProgram program;
    Scope scope{.computation = module_->AddComputation("main"), .arguments = &program.arguments};
    module_->set_entry_computation(scope.computation);
    for (int i = random_.Below(3) + 1; i > 0; --i) Leaf(scope, RandomDims(), RandomType());
    const int wanted = options_.min_instructions +
                       random_.Below(options_.max_instructions - options_.min_instructions + 1);
    Grow(scope, wanted);
    SetRoot(scope);
    program.module = std::move(module_);
    return program;
  }

 private:
  // --- choices ---
  PrimitiveType RandomType() {
    static constexpr PrimitiveType kOften[] = {F32, F32, F32,  F32,  F32,  F32,  S32, S32, S32,
                                               F64, F64, PRED, PRED, BF16, BF16, F16, F16, S64,
                                               S64, U32, U32,  U8,   U8,   S8,   C64};
    static constexpr PrimitiveType kRare[] = {
        S16,           U16,        U64,        C128,   S4,     U4, F8E5M2, F8E4M3FN,
        F8E4M3B11FNUZ, F8E5M2FNUZ, F8E4M3FNUZ, F8E4M3, F8E3M4, S2, U2,     F4E2M1FN};
    return random_.Chance(12) ? random_.Of(kRare) : random_.Of(kOften);
  }
  PrimitiveType RandomIntegerType() {
    static constexpr PrimitiveType kTypes[] = {S32, S32, S32, S64, U32, S8, U8, S16, U16, U64};
    return random_.Of(kTypes);
  }
  int64_t RandomSize() {
    static constexpr int64_t kSizes[] = {1, 2, 2, 3, 3, 4, 5, 5, 7, 8, 8, 16, 17, 31, 33, 64, 100};
    return random_.Chance(2) ? 0 : random_.Of(kSizes);
  }
  Dims RandomDims() {
    static constexpr int kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    Dims dims(random_.Of(kRanks));
    for (int64_t& d : dims) d = RandomSize();
    while (Product(dims) > options_.max_elements)
      dims[random_.Below(dims.size())] = 1 + random_.Below(4);
    return dims;
  }
  // Any value that `accept` takes; null if there is none. Later ones more often: programs get
  // depth.
  const Value* Pick(Scope& scope, const std::function<bool(const Value&)>& accept) {
    std::vector<const Value*> fitting;
    for (const Value& value : scope.values) {
      if (accept(value)) fitting.push_back(&value);
    }
    if (fitting.empty()) return nullptr;
    const size_t a = random_.Below(fitting.size()), b = random_.Below(fitting.size());
    return fitting[std::max(a, b)];
  }
  const Value* PickArray(Scope& scope) {
    return Pick(scope, [](const Value& v) { return v.shape().IsArray(); });
  }

  // --- leaves ---
  Literal RandomLiteral(const Shape& shape) {
    const int kind = random_.Below(10);
    const PrimitiveType type = shape.element_type();
    Literal wide = *Literal::Create(
        ShapeUtil::MakeShape(IsComplexType(type) ? C128 : F64, shape.dimensions()));
    const bool is_float = IsFloatingPointType(type) || IsComplexType(type);
    const auto next = [&]() -> double {
      if (type == PRED) return random_.Below(2);
      if (IsUnsignedIntegralType(type)) return kind == 0 ? random_.Below(1000) : random_.Below(6);
      if (!is_float) return kind == 0 ? random_.Below(2001) - 1000 : random_.Below(9) - 4;
      if (kind == 0 && random_.Chance(30)) return random_.SpecialFloat();
      return kind < 5 ? random_.Below(9) - 4 : random_.Uniform(-4, 4);
    };
    if (IsComplexType(type)) {
      for (complex128& z : wide.data<complex128>()) z = complex128(next(), next());
    } else {
      for (double& x : wide.data<double>()) x = next();
    }
    return *wide.Convert(type);
  }
  // A parameter, constant, iota or broadcast.
  const Value* Leaf(Scope& scope, const Dims& dims, PrimitiveType type) {
    const Shape shape = ShapeUtil::MakeShape(type, dims);
    if (scope.arguments != nullptr && random_.Chance(60)) {
      Literal literal = RandomLiteral(shape);
      const int64_t number = scope.computation->num_parameters();
      HloInstruction* parameter = scope.computation->AddInstruction(
          HloInstruction::CreateParameter(number, shape, absl::StrCat("p", number)),
          absl::StrCat("p", number));
      scope.values.push_back({parameter, ExactLeaves(literal.Clone())});
      scope.arguments->push_back(std::move(literal));
      return &scope.values.back();
    }
    if (!dims.empty() && type != PRED && random_.Chance(15)) {
      auto attributes = std::make_unique<IotaAttrs>();
      attributes->iota_dimension = random_.Below(dims.size());
      if (const Value* iota = Add(scope, HloOpcode::kIota, {}, std::move(attributes), {}, &shape))
        return iota;
    }
    const bool small = Product(dims) <= 64 && random_.Chance(60);
    Literal literal = RandomLiteral(small ? shape : ShapeUtil::MakeShape(type, {}));
    scope.values.push_back(
        {scope.computation->AddConstant(literal.Clone()), ExactLeaves(literal.Clone())});
    if (small) return &scope.values.back();
    return Add(scope, HloOpcode::kBroadcast, {scope.values.back().instruction},
               std::make_unique<BroadcastAttrs>(), {}, nullptr, &shape);
  }
  // A value of that type and dimensions.
  HloInstruction* Like(Scope& scope, const Dims& dims, PrimitiveType type, bool exact = false) {
    const auto same_dims = [&](const Value& v) {
      return v.shape().IsArray() && DimsOf(v.shape()) == dims && (!exact || v.exact());
    };
    if (random_.Chance(80)) {
      if (const Value* v =
              Pick(scope, [&](const Value& v) { return same_dims(v) && v.type() == type; }))
        return v->instruction;
    }
    if (random_.Chance(30) && type != PRED) {
      if (const Value* v = Pick(scope, [&](const Value& v) {
            return same_dims(v) && (!IsComplexType(v.type()) || IsComplexType(type));
          })) {
        if (const Value* converted = Convert(scope, *v, type);
            converted != nullptr && (!exact || converted->exact()))
          return converted->instruction;
      }
    }
    const Value* leaf = Leaf(scope, dims, type);
    return leaf == nullptr ? nullptr : leaf->instruction;
  }
  const Value* Convert(Scope& scope, const Value& value, PrimitiveType type) {
    Shape shape = ShapeUtil::MakeShape(type, value.shape().dimensions());
    return Add(scope, HloOpcode::kConvert, {value.instruction}, nullptr, {}, &shape);
  }

  // --- adding ---
  // Null if inference refuses the instruction, or its value is of no use.
  const Value* Add(Scope& scope, HloOpcode opcode, std::vector<HloInstruction*> operands,
                   std::unique_ptr<OpAttributes> attributes = nullptr,
                   std::vector<HloComputation*> called = {}, const Shape* stated = nullptr,
                   const Shape* result = nullptr) {
    if (std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
    auto added = scope.computation->AddOp(opcode, operands, std::move(attributes), called,
                                          stated != nullptr ? stated : result);
    if (!added.ok()) return nullptr;
    std::vector<const TrackedLeaves*> leaves;
    for (HloInstruction* operand : operands) leaves.push_back(&LeavesOf(scope, operand));
    auto value = tracker_.Step(**added, leaves);
    if (!value.ok() || !IsUseful(**added, *value)) {
      (void)scope.computation->RemoveInstruction(*added);
      return nullptr;
    }
    scope.values.push_back({*added, *std::move(value)});
    return &scope.values.back();
  }
  static const TrackedLeaves& LeavesOf(const Scope& scope, const HloInstruction* instruction) {
    for (const Value& value : scope.values) {
      if (value.instruction == instruction) return value.leaves;
    }
    static const TrackedLeaves none;
    return none;
  }
  bool IsUseful(const HloInstruction& instruction, const TrackedLeaves& leaves) {
    int64_t elements = 0;
    for (const Tracked& leaf : leaves) {
      elements += leaf.value->element_count();
      if (leaf.error == std::numeric_limits<double>::infinity()) return false;
      const PrimitiveType type = leaf.value->shape().element_type();
      if (!IsFloatingPointType(type) && !IsComplexType(type)) continue;
      const double size = MaxFinite(*leaf.value);
      if (leaf.error > 0 && (size > 1e7 || leaf.error > 0.02 * size + 1e-6)) return false;
    }
    return elements <= options_.max_elements * (instruction.shape().IsTuple() ? 8 : 2);
  }

  // --- kinds of instructions ---
  bool Unary(Scope& scope) {
    const HloOpcode opcode = OpcodeOf(HloFamily::kUnary);
    const Value* x = Pick(scope, [&](const Value& v) {
      return v.shape().IsArray() && InTypeClass(v.type(), OpcodeInfo(opcode).operand_types);
    });
    return x != nullptr && Add(scope, opcode, {x->instruction});
  }
  bool Binary(Scope& scope) {
    static constexpr HloOpcode kUsual[] = {HloOpcode::kAdd, HloOpcode::kSubtract,
                                           HloOpcode::kMultiply, HloOpcode::kMaximum,
                                           HloOpcode::kMinimum};
    const HloOpcode opcode = random_.Chance(40) ? random_.Of(kUsual) : OpcodeOf(HloFamily::kBinary);
    const Value* x = Pick(scope, [&](const Value& v) {
      return v.shape().IsArray() && InTypeClass(v.type(), OpcodeInfo(opcode).operand_types);
    });
    if (x == nullptr) return false;
    HloInstruction* lhs = x->instruction;
    HloInstruction* rhs = Like(scope, DimsOf(lhs->shape()), lhs->shape().element_type());
    if (random_.Chance(30)) std::swap(lhs, rhs);
    return Add(scope, opcode, {lhs, rhs});
  }
  HloOpcode OpcodeOf(HloFamily family) {
    while (true) {
      const auto opcode = static_cast<HloOpcode>(random_.Below(kHloOpcodeCount));
      if (OpcodeInfo(opcode).family == family) return opcode;
    }
  }
  bool CompareOp(Scope& scope) {
    const Value* x = PickArray(scope);
    if (x == nullptr) return false;
    HloInstruction* lhs = x->instruction;
    HloInstruction* rhs = Like(scope, DimsOf(lhs->shape()), lhs->shape().element_type());
    return Add(scope, HloOpcode::kCompare, {lhs, rhs}, RandomCompare(lhs->shape().element_type()));
  }
  std::unique_ptr<CompareAttrs> RandomCompare(PrimitiveType type) {
    auto attributes = std::make_unique<CompareAttrs>();
    attributes->direction =
        static_cast<ComparisonDirection>(IsComplexType(type) ? random_.Below(2) : random_.Below(6));
    if (IsFloatingPointType(type) && random_.Chance(20))
      attributes->type = ComparisonType::kTotalOrder;
    return attributes;
  }
  bool SelectOp(Scope& scope) {
    const Value* x = PickArray(scope);
    if (x == nullptr) return false;
    HloInstruction* on_true = x->instruction;
    const Dims dims = DimsOf(on_true->shape());
    HloInstruction* on_false = Like(scope, dims, on_true->shape().element_type());
    HloInstruction* pred = Like(scope, random_.Chance(15) ? Dims{} : dims, PRED, true);
    return Add(scope, HloOpcode::kSelect, {pred, on_true, on_false});
  }
  bool ClampOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && !IsComplexType(v.type()); });
    if (x == nullptr) return false;
    HloInstruction* operand = x->instruction;
    const PrimitiveType type = operand->shape().element_type();
    const Dims dims = random_.Chance(50) ? Dims{} : DimsOf(operand->shape());
    HloInstruction* low = Like(scope, dims, type);
    return Add(scope, HloOpcode::kClamp, {low, operand, Like(scope, dims, type)});
  }
  bool ConvertOp(Scope& scope) {
    const Value* x = PickArray(scope);
    return x != nullptr && Convert(scope, *x, RandomType());
  }
  bool BitcastConvertOp(Scope& scope) {
    const Value* x = PickArray(scope);
    if (x == nullptr) return false;
    const PrimitiveType type = RandomType();
    if (PrimitiveTypeBitWidth(type) != PrimitiveTypeBitWidth(x->type())) return false;
    Shape shape = ShapeUtil::MakeShape(type, x->shape().dimensions());
    return Add(scope, HloOpcode::kBitcastConvert, {x->instruction}, nullptr, {}, &shape);
  }
  bool ReducePrecisionOp(Scope& scope) {
    const Value* x = Pick(scope, [](const Value& v) { return IsFloatingPointType(v.type()); });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<ReducePrecisionAttrs>();
    attributes->exponent_bits = 2 + random_.Below(9);
    attributes->mantissa_bits = random_.Below(24);
    return Add(scope, HloOpcode::kReducePrecision, {x->instruction}, std::move(attributes));
  }
  bool BroadcastOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() < 4; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<BroadcastAttrs>();
    Dims dims;
    for (int64_t i = 0; i <= x->shape().rank(); ++i) {
      while (dims.size() < 4 && random_.Chance(i == 0 ? 45 : 25)) dims.push_back(RandomSize());
      if (i == x->shape().rank()) break;
      attributes->dimensions.push_back(dims.size());
      dims.push_back(x->shape().dimensions(i));
    }
    if (Product(dims) > options_.max_elements) return false;
    Shape shape = ShapeUtil::MakeShape(x->type(), dims);
    return Add(scope, HloOpcode::kBroadcast, {x->instruction}, std::move(attributes), {}, &shape);
  }
  bool ReshapeOp(Scope& scope) {
    const Value* x = PickArray(scope);
    if (x == nullptr) return false;
    int64_t rest = Product(DimsOf(x->shape()));
    Dims dims;
    if (rest == 0) {
      dims = DimsOf(x->shape());
      std::reverse(dims.begin(), dims.end());
    } else {
      static constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 31, 33};
      while (dims.size() < 3 && random_.Chance(70)) {
        const int64_t factor = random_.Of(kFactors);
        if (rest % factor != 0) continue;
        dims.push_back(factor);
        rest /= factor;
      }
      if (rest > 1 || random_.Chance(20))
        dims.insert(dims.begin() + random_.Below(dims.size() + 1), rest);
    }
    Shape shape = ShapeUtil::MakeShape(x->type(), dims);
    return Add(scope, HloOpcode::kReshape, {x->instruction}, nullptr, {}, &shape);
  }
  bool TransposeOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 2; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<TransposeAttrs>();
    attributes->dimensions = Permutation(x->shape().rank());
    return Add(scope, HloOpcode::kTranspose, {x->instruction}, std::move(attributes));
  }
  Dims Permutation(int64_t n) {
    Dims order(n);
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[random_.Below(i + 1)]);
    return order;
  }
  // Some of 0 ... n-1, ascending; at least `least`.
  Dims Subset(int64_t n, int64_t least) {
    Dims order = Permutation(n);
    order.resize(std::min(n, least + random_.Below(n - std::min(n, least) + 1)));
    std::sort(order.begin(), order.end());
    return order;
  }
  bool SliceOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<SliceAttrs>();
    for (int64_t size : x->shape().dimensions()) {
      SliceRange range{0, size, 1};
      if (random_.Chance(70)) {
        range.start = random_.Below(size + 1);
        range.limit = range.start + random_.Below(size - range.start + 1);
        if (range.limit == range.start && size > 0 && random_.Chance(95)) {
          range.start = random_.Below(size);
          range.limit = size;
        }
        range.stride = random_.Chance(40) ? 1 + random_.Below(4) : 1;
      }
      attributes->slice.push_back(range);
    }
    return Add(scope, HloOpcode::kSlice, {x->instruction}, std::move(attributes));
  }
  bool PadOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<PadAttrs>();
    HloInstruction* operand = x->instruction;
    for (int64_t i = 0; i < operand->shape().rank(); ++i) {
      PaddingConfig::Dimension d;
      if (random_.Chance(60))
        d = {random_.Below(6) - 2, random_.Below(6) - 2, random_.Chance(30) ? random_.Below(3) : 0};
      attributes->padding.dimensions.push_back(d);
    }
    return Add(scope, HloOpcode::kPad, {operand, Like(scope, {}, operand->shape().element_type())},
               std::move(attributes));
  }
  bool ConcatenateOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
    if (x == nullptr) return false;
    std::vector<HloInstruction*> operands = {x->instruction};
    const Shape shape = x->shape();
    const int64_t dimension = random_.Below(shape.rank());
    for (int i = random_.Below(4); i > 0; --i) {
      Dims dims = DimsOf(shape);
      if (random_.Chance(50)) dims[dimension] = RandomSize();
      operands.push_back(Like(scope, dims, shape.element_type()));
    }
    auto attributes = std::make_unique<ConcatenateAttrs>();
    attributes->dimensions = {dimension};
    return Add(scope, HloOpcode::kConcatenate, operands, std::move(attributes));
  }
  bool ReverseOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<ReverseAttrs>();
    attributes->dimensions = Subset(x->shape().rank(), 1);
    return Add(scope, HloOpcode::kReverse, {x->instruction}, std::move(attributes));
  }
  bool DynamicSliceOp(Scope& scope, bool update) {
    const Value* x = PickArray(scope);
    if (x == nullptr) return false;
    HloInstruction* operand = x->instruction;
    const Shape shape = operand->shape();
    Dims sizes;
    for (int64_t size : shape.dimensions())
      sizes.push_back(size == 0 ? 0 : 1 + random_.Below(size));
    std::vector<HloInstruction*> operands = {operand};
    if (update) operands.push_back(Like(scope, sizes, shape.element_type()));
    const PrimitiveType index_type = RandomIntegerType();
    for (int64_t i = 0; i < shape.rank(); ++i)
      operands.push_back(Like(scope, {}, index_type, true));
    if (update) return Add(scope, HloOpcode::kDynamicUpdateSlice, operands);
    auto attributes = std::make_unique<DynamicSliceAttrs>();
    attributes->dynamic_slice_sizes = sizes;
    return Add(scope, HloOpcode::kDynamicSlice, operands, std::move(attributes));
  }

  // (a, b) -> opcode(a, b) on scalars.
  HloComputation* Combiner(PrimitiveType type, HloOpcode opcode) {
    HloComputation* computation = module_->AddComputation("combine");
    const Shape scalar = ShapeUtil::MakeShape(type, {});
    HloInstruction* a =
        computation->AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"), "a");
    HloInstruction* b =
        computation->AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"), "b");
    auto root = computation->AddOp(opcode, {a, b});
    (void)computation->set_root_instruction(root.ok() ? *root : a, true);
    return computation;
  }
  HloOpcode CombinerOpcode(PrimitiveType type) {
    static constexpr HloOpcode kNumber[] = {HloOpcode::kAdd, HloOpcode::kAdd, HloOpcode::kMaximum,
                                            HloOpcode::kMinimum, HloOpcode::kMultiply};
    static constexpr HloOpcode kLogic[] = {HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor};
    if (type == PRED) return random_.Of(kLogic);
    if (IsComplexType(type)) return HloOpcode::kAdd;
    return IsIntegralType(type) && random_.Chance(20) ? random_.Of(kLogic) : random_.Of(kNumber);
  }
  // The largest value with its place, the first of equal ones: (value, index, value, index) ->
  // (value, index).
  HloComputation* ArgMax(PrimitiveType type, PrimitiveType index) {
    HloComputation* c = module_->AddComputation("arg_max");
    std::vector<HloInstruction*> p;
    for (int i = 0; i < 4; ++i) {
      const std::string name = absl::StrCat("p", i);
      p.push_back(
          c->AddInstruction(HloInstruction::CreateParameter(
                                i, ShapeUtil::MakeShape(i % 2 == 0 ? type : index, {}), name),
                            name));
    }
    const auto compare = [&](HloInstruction* a, HloInstruction* b, ComparisonDirection direction) {
      auto attributes = std::make_unique<CompareAttrs>();
      attributes->direction = direction;
      return *c->AddOp(HloOpcode::kCompare, {a, b}, std::move(attributes));
    };
    HloInstruction* greater = compare(p[0], p[2], ComparisonDirection::kGt);
    HloInstruction* tie =
        *c->AddOp(HloOpcode::kAnd, {compare(p[0], p[2], ComparisonDirection::kEq),
                                    compare(p[1], p[3], ComparisonDirection::kLt)});
    HloInstruction* first = *c->AddOp(HloOpcode::kOr, {greater, tie});
    HloInstruction* value = *c->AddOp(HloOpcode::kSelect, {first, p[0], p[2]});
    HloInstruction* place = *c->AddOp(HloOpcode::kSelect, {first, p[1], p[3]});
    (void)c->set_root_instruction(*c->AddOp(HloOpcode::kTuple, {value, place}), true);
    return c;
  }
  bool ReduceOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<ReduceAttrs>();
    attributes->dimensions = Subset(x->shape().rank(), 1);
    HloInstruction* operand = x->instruction;
    const PrimitiveType type = operand->shape().element_type();
    const bool integral = IsIntegralType(type);
    if (random_.Chance(20) && (integral || type == F32 || type == F64) && x->exact() &&
        !HasNan(*x)) {
      const Dims dims = DimsOf(operand->shape());
      const Shape shape = ShapeUtil::MakeShape(S32, dims);
      auto iota_attributes = std::make_unique<IotaAttrs>();
      iota_attributes->iota_dimension = attributes->dimensions[0];
      const Value* iota = Add(scope, HloOpcode::kIota, {}, std::move(iota_attributes), {}, &shape);
      if (iota == nullptr) return false;
      HloInstruction* index = iota->instruction;
      HloInstruction* low = scope.computation->AddConstant(LiteralUtil::MinValue(type));
      scope.values.push_back({low, ExactLeaves(LiteralUtil::MinValue(type))});
      HloInstruction* none = scope.computation->AddConstant(LiteralUtil::MaxValue(S32));
      scope.values.push_back({none, ExactLeaves(LiteralUtil::MaxValue(S32))});
      return TakeApart(scope, Add(scope, HloOpcode::kReduce, {operand, index, low, none},
                                  std::move(attributes), {ArgMax(type, S32)}));
    }
    HloInstruction* init = Like(scope, {}, type);
    return Add(scope, HloOpcode::kReduce, {operand, init}, std::move(attributes),
               {Combiner(type, CombinerOpcode(type))});
  }
  static bool HasNan(const Value& value) {
    if (!IsFloatingPointType(value.type())) return false;
    for (int64_t i = 0; i < value.leaves[0].value->element_count(); ++i) {
      if (std::isnan(value.leaves[0].value->GetAsDouble(i))) return true;
    }
    return false;
  }
  // Get-tuple-elements of a tuple.
  bool TakeApart(Scope& scope, const Value* tuple) {
    if (tuple == nullptr) return false;
    HloInstruction* instruction = tuple->instruction;
    for (int64_t i = 0; i < instruction->shape().tuple_shapes_size(); ++i) {
      auto attributes = std::make_unique<GetTupleElementAttrs>();
      attributes->index = i;
      Add(scope, HloOpcode::kGetTupleElement, {instruction}, std::move(attributes));
    }
    return true;
  }
  bool ReduceWindowOp(Scope& scope) {
    const Value* x =
        Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
    if (x == nullptr) return false;
    auto attributes = std::make_unique<ReduceWindowAttrs>();
    HloInstruction* operand = x->instruction;
    for (int64_t size : operand->shape().dimensions()) {
      Window::Dimension d;
      if (random_.Chance(60)) {
        d.size = 1 + random_.Below(std::min<int64_t>(size + 1, 5));
        d.stride = 1 + random_.Below(3);
        d.padding_low = random_.Below(3);
        d.padding_high = random_.Below(3);
        if (random_.Chance(25)) d.base_dilation = 1 + random_.Below(3);
        if (random_.Chance(25)) d.window_dilation = 1 + random_.Below(3);
      }
      attributes->window.dimensions.push_back(d);
    }
    const PrimitiveType type = operand->shape().element_type();
    return Add(scope, HloOpcode::kReduceWindow, {operand, Like(scope, {}, type)},
               std::move(attributes), {Combiner(type, CombinerOpcode(type))});
  }
  bool DotOp(Scope& scope) {
    const Value* x = Pick(scope, [](const Value& v) {
      return v.shape().IsArray() && v.type() != PRED && !IsSubByteType(v.type()) &&
             !IsSmallFloatType(v.type());
    });
    if (x == nullptr) return false;
    HloInstruction* lhs = x->instruction;
    const Shape shape = lhs->shape();
    const Dims order = Permutation(shape.rank());
    const int64_t batch = random_.Below(std::min<int64_t>(shape.rank(), 2) + 1);
    const int64_t contracted = random_.Below(std::min<int64_t>(shape.rank() - batch, 2) + 1);
    auto attributes = std::make_unique<DotAttrs>();
    // The right side: its dimensions are the shared ones and one or two free ones, shuffled.
    Dims parts, dims;
    for (int64_t i = 0; i < batch + contracted; ++i) parts.push_back(order[i]);
    for (int i = random_.Below(3); i > 0; --i) parts.push_back(-1);
    const Dims places = Permutation(parts.size());
    dims.resize(parts.size());
    for (size_t i = 0; i < parts.size(); ++i)
      dims[places[i]] = parts[i] < 0 ? RandomSize() : shape.dimensions(parts[i]);
    for (int64_t i = 0; i < batch + contracted; ++i) {
      (i < batch ? attributes->lhs_batch_dims : attributes->lhs_contracting_dims)
          .push_back(order[i]);
      (i < batch ? attributes->rhs_batch_dims : attributes->rhs_contracting_dims)
          .push_back(places[i]);
    }
    if (Product(dims) > options_.max_elements || dims.size() > 4) return false;
    return Add(scope, HloOpcode::kDot, {lhs, Like(scope, dims, shape.element_type())},
               std::move(attributes));
  }
  // Dimensions of start indices: some batch dimensions, and the index vector's at `vector_dim` (or
  // left out when it is 1).
  Dims IndexDims(const Dims& batch, int64_t vector_size, int64_t* vector_dim) {
    Dims dims = batch;
    *vector_dim = random_.Below(batch.size() + 1);
    if (vector_size == 1 && random_.Chance(50)) {
      *vector_dim = batch.size();
      return dims;
    }
    dims.insert(dims.begin() + *vector_dim, vector_size);
    return dims;
  }
  Dims SmallDims() {
    Dims dims(random_.Below(3));
    for (int64_t& d : dims) d = 1 + random_.Below(6);
    return dims;
  }
  bool GatherOp(Scope& scope) {
    const Value* x = Pick(scope, [](const Value& v) {
      return v.shape().IsArray() && v.shape().rank() >= 1 &&
             !ShapeUtil::IsZeroElementArray(v.shape());
    });
    if (x == nullptr) return false;
    HloInstruction* operand = x->instruction;
    const Shape shape = operand->shape();
    auto attributes = std::make_unique<GatherAttrs>();
    const Dims mapped = Permutation(shape.rank());
    attributes->start_index_map.assign(mapped.begin(),
                                       mapped.begin() + 1 + random_.Below(shape.rank()));
    const Dims batch = SmallDims();
    const Dims index_dims =
        IndexDims(batch, attributes->start_index_map.size(), &attributes->index_vector_dim);
    int64_t windows = 0;
    for (int64_t i = 0; i < shape.rank(); ++i) {
      if (random_.Chance(40)) {
        attributes->collapsed_slice_dims.push_back(i);
        attributes->slice_sizes.push_back(1);
      } else {
        attributes->slice_sizes.push_back(1 + random_.Below(shape.dimensions(i)));
        ++windows;
      }
    }
    attributes->offset_dims = PlacesAmong(windows, batch.size());
    HloInstruction* indices = Like(scope, index_dims, RandomIntegerType(), true);
    return Add(scope, HloOpcode::kGather, {operand, indices}, std::move(attributes));
  }
  // `count` ascending places of windows + batch dimensions.
  Dims PlacesAmong(int64_t windows, int64_t batch) {
    Dims places = Permutation(windows + batch);
    places.resize(windows);
    std::sort(places.begin(), places.end());
    return places;
  }
  bool ScatterOp(Scope& scope) {
    const Value* x = Pick(scope, [](const Value& v) {
      return v.shape().IsArray() && v.shape().rank() >= 1 &&
             !ShapeUtil::IsZeroElementArray(v.shape());
    });
    if (x == nullptr) return false;
    HloInstruction* operand = x->instruction;
    const Shape shape = operand->shape();
    auto attributes = std::make_unique<ScatterAttrs>();
    const Dims mapped = Permutation(shape.rank());
    attributes->scatter_dims_to_operand_dims.assign(
        mapped.begin(), mapped.begin() + 1 + random_.Below(shape.rank()));
    const Dims batch = SmallDims();
    const Dims index_dims = IndexDims(batch, attributes->scatter_dims_to_operand_dims.size(),
                                      &attributes->index_vector_dim);
    Dims window_sizes;
    for (int64_t i = 0; i < shape.rank(); ++i) {
      if (random_.Chance(50)) {
        attributes->inserted_window_dims.push_back(i);
      } else {
        window_sizes.push_back(1 + random_.Below(shape.dimensions(i)));
      }
    }
    attributes->update_window_dims = PlacesAmong(window_sizes.size(), batch.size());
    Dims update_dims(window_sizes.size() + batch.size(), -1);
    for (size_t i = 0; i < window_sizes.size(); ++i)
      update_dims[attributes->update_window_dims[i]] = window_sizes[i];
    size_t next = 0;
    for (int64_t& d : update_dims) {
      if (d < 0) d = batch[next++];
    }
    if (Product(update_dims) > options_.max_elements) return false;
    const PrimitiveType type = shape.element_type();
    HloInstruction* indices = Like(scope, index_dims, RandomIntegerType(), true);
    HloInstruction* updates = Like(scope, update_dims, type);
    HloComputation* combine = Combiner(type, CombinerOpcode(type));
    if (random_.Chance(30))
      (void)combine->set_root_instruction(combine->parameter_instruction(1), true);
    return Add(scope, HloOpcode::kScatter, {operand, indices, updates}, std::move(attributes),
               {combine});
  }
  bool SortOp(Scope& scope) {
    const Value* x = Pick(scope, [](const Value& v) {
      return v.shape().IsArray() && v.shape().rank() >= 1 && v.exact() && !IsComplexType(v.type());
    });
    if (x == nullptr) return false;
    std::vector<HloInstruction*> operands = {x->instruction};
    const Shape shape = x->shape();
    for (int i = random_.Below(3); i > 0; --i)
      operands.push_back(Like(scope, DimsOf(shape), RandomType(), true));
    HloComputation* less = module_->AddComputation("less");
    for (size_t i = 0; i < operands.size() * 2; ++i) {
      if (operands[i / 2] == nullptr) return false;
      const std::string name = absl::StrCat("p", i);
      less->AddInstruction(
          HloInstruction::CreateParameter(
              i, ShapeUtil::MakeShape(operands[i / 2]->shape().element_type(), {}), name),
          name);
    }
    auto compare = std::make_unique<CompareAttrs>();
    compare->direction = random_.Chance(60) ? ComparisonDirection::kLt : ComparisonDirection::kGt;
    // Only the total order sorts NaNs the same way everywhere.
    if (IsFloatingPointType(shape.element_type())) compare->type = ComparisonType::kTotalOrder;
    auto root = less->AddOp(HloOpcode::kCompare,
                            {less->parameter_instruction(0), less->parameter_instruction(1)},
                            std::move(compare));
    if (!root.ok() || !less->set_root_instruction(*root, true).ok()) return false;
    auto attributes = std::make_unique<SortAttrs>();
    attributes->dimensions = {random_.Below(shape.rank())};
    attributes->is_stable = true;
    const Value* sorted = Add(scope, HloOpcode::kSort, operands, std::move(attributes), {less});
    return sorted != nullptr && (operands.size() == 1 || TakeApart(scope, sorted));
  }
  bool MapOp(Scope& scope) {
    const Value* x = Pick(scope, [](const Value& v) {
      return v.shape().IsArray() && v.type() != PRED && !IsComplexType(v.type());
    });
    if (x == nullptr) return false;
    HloInstruction* a = x->instruction;
    const PrimitiveType type = a->shape().element_type();
    HloInstruction* b = Like(scope, DimsOf(a->shape()), type);
    HloComputation* computation =
        Combiner(type, random_.Chance(50) ? HloOpcode::kSubtract : HloOpcode::kMaximum);
    auto root = computation->AddOp(
        HloOpcode::kAdd, {computation->root_instruction(), computation->parameter_instruction(1)});
    if (!root.ok() || !computation->set_root_instruction(*root, true).ok()) return false;
    auto attributes = std::make_unique<MapAttrs>();
    attributes->dimensions.resize(a->shape().rank());
    std::iota(attributes->dimensions.begin(), attributes->dimensions.end(), 0);
    return Add(scope, HloOpcode::kMap, {a, b}, std::move(attributes), {computation});
  }
  bool BarrierOp(Scope& scope) {
    const Value* x = PickArray(scope);
    if (x == nullptr) return false;
    HloInstruction* a = x->instruction;
    if (random_.Chance(50)) return Add(scope, HloOpcode::kOptimizationBarrier, {a});
    const Value* y = PickArray(scope);
    const Value* tuple = Add(scope, HloOpcode::kTuple, {a, y->instruction});
    if (tuple == nullptr) return false;
    return TakeApart(scope, Add(scope, HloOpcode::kOptimizationBarrier, {tuple->instruction}));
  }

  // --- control flow ---
  // A nested computation over one tuple-shaped parameter; the parameter's elements are its first
  // values.
  Scope Nested(const Scope& outer, const std::string& name, const Value& operand) {
    Scope inner{.computation = module_->AddComputation(name), .depth = outer.depth + 1};
    HloInstruction* parameter = inner.computation->AddInstruction(
        HloInstruction::CreateParameter(0, operand.shape(), "state"), "state");
    inner.values.push_back({parameter, operand.leaves});
    if (operand.shape().IsTuple()) TakeApart(inner, &inner.values.back());
    return inner;
  }
  // A tuple of values with the given shapes, from the scope's own.
  HloInstruction* TupleOf(Scope& scope, absl::Span<const Shape> shapes) {
    std::vector<HloInstruction*> elements;
    for (const Shape& shape : shapes)
      elements.push_back(Like(scope, DimsOf(shape), shape.element_type()));
    const Value* tuple = Add(scope, HloOpcode::kTuple, elements);
    return tuple == nullptr ? nullptr : tuple->instruction;
  }
  const Value* State(Scope& scope, HloInstruction* first) {
    std::vector<HloInstruction*> elements;
    if (first != nullptr) elements.push_back(first);
    for (int i = 1 + random_.Below(3); i > 0; --i) {
      if (const Value* x = PickArray(scope)) elements.push_back(x->instruction);
    }
    return elements.empty() ? nullptr : Add(scope, HloOpcode::kTuple, elements);
  }
  bool WhileOp(Scope& scope) {
    if (scope.depth >= 2) return false;
    const PrimitiveType type = random_.Chance(80) ? S32 : S64;
    HloInstruction* zero = scope.computation->AddConstant(LiteralUtil::Zero(type));
    scope.values.push_back({zero, ExactLeaves(LiteralUtil::Zero(type))});
    const Value* state = State(scope, zero);
    if (state == nullptr) return false;
    const Value init = *state;

    Scope body = Nested(scope, "body", init);
    HloInstruction* counter = body.values[1].instruction;
    Grow(body, 1 + random_.Below(6));
    HloInstruction* one = body.computation->AddConstant(LiteralUtil::One(type));
    body.values.push_back({one, ExactLeaves(LiteralUtil::One(type))});
    const Value* next = Add(body, HloOpcode::kAdd, {counter, one});
    if (next == nullptr) return false;
    std::vector<HloInstruction*> elements = {next->instruction};
    for (int64_t i = 1; i < init.shape().tuple_shapes_size(); ++i) {
      const Shape& shape = init.shape().tuple_shapes(i);
      elements.push_back(Like(body, DimsOf(shape), shape.element_type()));
    }
    const Value* result = Add(body, HloOpcode::kTuple, elements);
    if (result == nullptr ||
        !body.computation->set_root_instruction(result->instruction, true).ok())
      return false;

    Scope condition = Nested(scope, "condition", init);
    const Literal limit = LiteralUtil::FromDouble(type, random_.Below(5));
    HloInstruction* trips = condition.computation->AddConstant(limit.Clone());
    auto less = std::make_unique<CompareAttrs>();
    less->direction = ComparisonDirection::kLt;
    auto go_on = condition.computation->AddOp(
        HloOpcode::kCompare, {condition.values[1].instruction, trips}, std::move(less));
    if (!go_on.ok() || !condition.computation->set_root_instruction(*go_on, true).ok())
      return false;
    return TakeApart(scope, Add(scope, HloOpcode::kWhile, {init.instruction}, nullptr,
                                {condition.computation, body.computation}));
  }
  bool ConditionalOp(Scope& scope) {
    if (scope.depth >= 2) return false;
    const bool is_pred = random_.Chance(50);
    const int branches = is_pred ? 2 : 1 + random_.Below(3);
    HloInstruction* selector = Like(scope, {}, is_pred ? PRED : S32, true);
    if (selector == nullptr) return false;
    std::vector<Shape> results;
    for (int i = 1 + random_.Below(2); i > 0; --i) {
      const Value* model = PickArray(scope);
      results.push_back(model != nullptr ? model->shape() : ShapeUtil::MakeShape(F32, {2}));
    }
    std::vector<HloInstruction*> operands = {selector};
    std::vector<HloComputation*> computations;
    for (int i = 0; i < branches; ++i) {
      const Value* state = random_.Chance(70) ? State(scope, nullptr) : PickArray(scope);
      if (state == nullptr) return false;
      const Value operand = *state;
      Scope branch = Nested(scope, "branch", operand);
      Grow(branch, 1 + random_.Below(5));
      HloInstruction* root = TupleOf(branch, results);
      if (root == nullptr || !branch.computation->set_root_instruction(root, true).ok())
        return false;
      operands.push_back(operand.instruction);
      computations.push_back(branch.computation);
    }
    return TakeApart(scope, Add(scope, HloOpcode::kConditional, operands, nullptr, computations));
  }
  bool CallOp(Scope& scope) {
    if (scope.depth >= 3) return false;
    const Value* state = State(scope, nullptr);
    if (state == nullptr) return false;
    const Value operand = *state;
    Scope callee = Nested(scope, "callee", operand);
    Grow(callee, 1 + random_.Below(6));
    const Value* result = PickArray(callee);
    if (result == nullptr ||
        !callee.computation->set_root_instruction(result->instruction, true).ok())
      return false;
    return Add(scope, HloOpcode::kCall, {operand.instruction}, nullptr, {callee.computation});
  }

  // --- the whole ---
  bool Step(Scope& scope) {
    struct Kind {
      int weight;
      bool (Generator::*make)(Scope&);
    };
    static constexpr Kind kKinds[] = {{10, &Generator::Unary},
                                      {16, &Generator::Binary},
                                      {4, &Generator::CompareOp},
                                      {4, &Generator::SelectOp},
                                      {2, &Generator::ClampOp},
                                      {4, &Generator::ConvertOp},
                                      {1, &Generator::BitcastConvertOp},
                                      {1, &Generator::ReducePrecisionOp},
                                      {6, &Generator::BroadcastOp},
                                      {4, &Generator::ReshapeOp},
                                      {5, &Generator::TransposeOp},
                                      {4, &Generator::SliceOp},
                                      {3, &Generator::PadOp},
                                      {3, &Generator::ConcatenateOp},
                                      {2, &Generator::ReverseOp},
                                      {3, &Generator::MakeDynamicSlice},
                                      {3, &Generator::MakeDynamicUpdate},
                                      {6, &Generator::ReduceOp},
                                      {3, &Generator::ReduceWindowOp},
                                      {4, &Generator::DotOp},
                                      {3, &Generator::GatherOp},
                                      {3, &Generator::ScatterOp},
                                      {3, &Generator::SortOp},
                                      {1, &Generator::MapOp},
                                      {1, &Generator::BarrierOp},
                                      {2, &Generator::WhileOp},
                                      {2, &Generator::ConditionalOp},
                                      {1, &Generator::CallOp},
                                      {3, &Generator::NewLeaf}};
    static const int total =
        std::accumulate(std::begin(kKinds), std::end(kKinds), 0,
                        [](int sum, const Kind& kind) { return sum + kind.weight; });
    int ticket = random_.Below(total);
    for (const Kind& kind : kKinds) {
      if ((ticket -= kind.weight) < 0) return (this->*kind.make)(scope);
    }
    return false;
  }
  bool MakeDynamicSlice(Scope& scope) { return DynamicSliceOp(scope, false); }
  bool MakeDynamicUpdate(Scope& scope) { return DynamicSliceOp(scope, true); }
  bool NewLeaf(Scope& scope) { return Leaf(scope, RandomDims(), RandomType()); }
  void Grow(Scope& scope, int count) {
    for (int tries = 0; count > 0 && tries < 200; ++tries) count -= Step(scope);
  }

  // The root shows the values that nothing uses, up to eight of them; what is left over stays as
  // dead code.
  void SetRoot(Scope& scope) {
    std::vector<HloInstruction*> ends;
    for (auto it = scope.values.rbegin(); it != scope.values.rend() && ends.size() < 8; ++it) {
      if (it->instruction->users().empty() && !it->instruction->IsParameter())
        ends.push_back(it->instruction);
    }
    if (ends.empty()) ends.push_back(scope.values.back().instruction);
    HloInstruction* root = ends[0];
    if (ends.size() > 1 || random_.Chance(10))
      root = *scope.computation->AddOp(HloOpcode::kTuple, ends);
    (void)scope.computation->set_root_instruction(root, true);
    (void)module_->RemoveUnusedComputations();
  }

  Random random_;
  RandomOptions options_;
  TrackedEvaluator tracker_{/*strict=*/false};
  std::unique_ptr<HloModule> module_;
};

}  // namespace

RandomProgram MakeRandomProgram(uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).Make();
}

}  // namespace hilo::fuzz
