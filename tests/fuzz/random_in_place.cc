// Programs whose arrays are rewritten again and again: the state of a loop, or donated parameters in straight code.
// Each rewrite reads the array that it replaces, at the same index, at others, or at indices that the array itself
// holds, so that an instruction that wrongly writes its result over an operand shows. Integers, and floats that are
// only moved and compared: every value is known to the bit.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ops/table/op_attributes.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

class InPlaceProgram {
 public:
  explicit InPlaceProgram(uint64_t seed)
      : random_(seed), module_(std::make_unique<HloModule>(absl::StrCat("in_place_", seed))) {
    entry_ = module_->AddComputation("main");
    module_->set_entry_computation(entry_);
  }

  RandomProgram Make() {
    RandomProgram program;
    ChooseShapes();
    std::vector<HloInstruction*> arrays;
    for (const Shape& shape : shapes_) {
      const std::string name = absl::StrCat("p", arrays.size());
      arrays.push_back(entry_->AddInstruction(
          HloInstruction::CreateParameter(static_cast<int64_t>(arrays.size()), shape, name), name));
      program.arguments.push_back(Argument(shape));
    }
    arrays =
        random_.Chance(75)
            ? Loop(arrays)
            : Rewritten(entry_, *entry_->AddOp(HloOpcode::kReshape, {Number(entry_, 2)}, nullptr, {}, &kIndex), arrays);
    (void)entry_->set_root_instruction(*entry_->AddOp(HloOpcode::kTuple, arrays), true);
    for (int64_t i = 0; i < static_cast<int64_t>(shapes_.size()); ++i) {
      if (random_.Chance(60)) module_->input_output_aliases().push_back({.output_index = {i}, .parameter_number = i});
    }
    (void)module_->RemoveUnusedComputations();
    program.module = std::move(module_);
    return program;
  }

 private:
  using Arrays = std::vector<HloInstruction*>;
  inline static const Shape kIndex = ShapeUtil::MakeShape(S32, {});

  // --- the arrays ---

  // Small arrays are emitted as straight code, larger ones as vectors, and some are large enough for several threads.
  void ChooseShapes() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 100}, kShort[] = {1, 2, 2, 3, 4};
    for (int64_t i = 2 + random_.Below(3); i > 0; --i) {
      if (!shapes_.empty() && random_.Chance(40)) {  // loops exchange arrays of one shape
        shapes_.push_back(shapes_.back());
        continue;
      }
      static constexpr PrimitiveType kTypes[] = {S32, S32, S32, S32, F32, S64, U8};
      Dims dims;
      switch (random_.Below(5)) {
        case 0: dims = {random_.Of(kSizes)}; break;
        case 1: dims = {random_.Of(kSizes), random_.Of(kSizes)}; break;
        case 2: dims = {random_.Of(kShort), random_.Of(kSizes)}; break;
        case 3: dims = {random_.Of(kSizes), random_.Chance(3) ? 8 : 1 + random_.Below(2), random_.Of(kShort)}; break;
        default: dims = {random_.Chance(4) ? 20000 : random_.Of(kSizes), random_.Of(kShort)};
      }
      shapes_.push_back(ShapeUtil::MakeShape(random_.Of(kTypes), dims));
    }
  }

  Literal Argument(const Shape& shape) {
    Literal wide = *Literal::Create(ShapeUtil::MakeShape(S64, shape.dimensions()));
    for (int64_t& x : wide.data<int64_t>()) x = random_.Below(40);
    return *wide.Convert(shape.element_type());
  }

  // --- instructions: null operands make null results ---

  HloInstruction* Add(HloOpcode opcode, const Arrays& operands, std::unique_ptr<OpAttributes> attributes = nullptr,
                      std::vector<HloComputation*> called = {}, const Shape* stated = nullptr) {
    if (std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
    auto added = computation_->AddOp(opcode, operands, std::move(attributes), std::move(called), stated);
    return added.ok() ? *added : nullptr;
  }
  template <typename T>
  HloInstruction* AddWith(HloOpcode opcode, const Arrays& operands, T attributes,
                          std::vector<HloComputation*> called = {}) {
    return Add(opcode, operands, std::make_unique<T>(std::move(attributes)), std::move(called));
  }
  static HloInstruction* Number(HloComputation* computation, double value, PrimitiveType type = S32) {
    return computation->AddConstant(LiteralUtil::FromDouble(type, value));
  }
  HloInstruction* Element(HloInstruction* tuple, int64_t index) {
    GetTupleElementAttrs attributes;
    attributes.index = index;
    return AddWith(HloOpcode::kGetTupleElement, {tuple}, attributes);
  }
  HloInstruction* Stated(HloOpcode opcode, HloInstruction* x, PrimitiveType type, const Dims& dims) {
    if (x == nullptr) return nullptr;
    const Shape shape = ShapeUtil::MakeShape(type, dims);
    return x->shape() == shape ? x : Add(opcode, {x}, nullptr, {}, &shape);
  }
  HloInstruction* Reshape(HloInstruction* x, const Dims& dims) {
    return x == nullptr ? nullptr : Stated(HloOpcode::kReshape, x, x->shape().element_type(), dims);
  }
  HloInstruction* Convert(HloInstruction* x, PrimitiveType type) {
    return x == nullptr ? nullptr : Stated(HloOpcode::kConvert, x, type, DimsOf(x->shape()));
  }
  HloInstruction* Broadcast(HloInstruction* x, const Dims& dims, Dims at = {}) {
    if (x == nullptr) return nullptr;
    auto attributes = std::make_unique<BroadcastAttrs>();
    attributes->dimensions = std::move(at);
    const Shape shape = ShapeUtil::MakeShape(x->shape().element_type(), dims);
    return Add(HloOpcode::kBroadcast, {x}, std::move(attributes), {}, &shape);
  }
  HloInstruction* Slice(HloInstruction* x, int64_t dimension, int64_t start, int64_t limit) {
    SliceAttrs attributes;
    for (int64_t size : x->shape().dimensions()) attributes.slice.push_back({0, size, 1});
    attributes.slice[dimension] = {start, limit, 1};
    return AddWith(HloOpcode::kSlice, {x}, std::move(attributes));
  }
  HloInstruction* Concatenate(const Arrays& parts, int64_t dimension) {
    ConcatenateAttrs attributes;
    attributes.dimensions = {dimension};
    return AddWith(HloOpcode::kConcatenate, parts, std::move(attributes));
  }
  // The elements of `x`, cut off or filled up, in other dimensions.
  HloInstruction* Fit(HloInstruction* x, PrimitiveType type, const Dims& dims) {
    const int64_t have = ShapeUtil::ElementsIn(x->shape()), want = Product(dims);
    HloInstruction* flat = Reshape(Convert(x, type), {have});
    if (flat == nullptr) return nullptr;
    if (have > want) flat = Slice(flat, 0, 0, want);
    if (have < want) {
      PadAttrs attributes;
      attributes.padding.dimensions = {{0, want - have, 0}};
      flat = AddWith(HloOpcode::kPad, {flat, Number(computation_, 3, type)}, std::move(attributes));
    }
    return Reshape(flat, dims);
  }
  HloComputation* Combiner(PrimitiveType type) {
    static constexpr HloOpcode kInteger[] = {HloOpcode::kAdd, HloOpcode::kMinimum, HloOpcode::kMaximum,
                                             HloOpcode::kXor},
                               kFloat[] = {HloOpcode::kMinimum, HloOpcode::kMaximum};
    HloComputation* combine = module_->AddComputation("combine");
    const Shape scalar = ShapeUtil::MakeShape(type, {});
    HloInstruction* a = combine->AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"), "a");
    HloInstruction* b = combine->AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"), "b");
    HloInstruction* root =
        random_.Chance(30) ? b : *combine->AddOp(type == F32 ? random_.Of(kFloat) : random_.Of(kInteger), {a, b});
    (void)combine->set_root_instruction(root, true);
    return combine;
  }

  // --- rewrites: a value of the shape of `x`, or null ---

  HloInstruction* Other() { return random_.Of(arrays_); }

  HloInstruction* Unary(HloInstruction* x) {
    if (x == nullptr || random_.Chance(40)) return x;
    return Add(HloOpcode::kMaximum, {Add(HloOpcode::kNegate, {x}), x});
  }
  HloInstruction* Elementwise(HloInstruction* x) {
    static constexpr HloOpcode kInteger[] = {HloOpcode::kAdd, HloOpcode::kSubtract, HloOpcode::kMinimum,
                                             HloOpcode::kXor},
                               kFloat[] = {HloOpcode::kMinimum, HloOpcode::kMaximum};
    const PrimitiveType type = x->shape().element_type();
    HloInstruction* y = random_.Chance(50) ? Fit(Other(), type, DimsOf(x->shape()))
                                           : Broadcast(Convert(counter_, type), DimsOf(x->shape()));
    return Add(type == F32 ? random_.Of(kFloat) : random_.Of(kInteger), {x, y});
  }

  // Numbers below 32 for the most part, made of an array, often of `x` itself.
  HloInstruction* Indices(HloInstruction* x, const Dims& dims) {
    HloInstruction* indices = Fit(random_.Chance(70) ? x : Other(), S32, dims);
    if (indices == nullptr || random_.Chance(30)) return indices;
    return Add(random_.Chance(50) ? HloOpcode::kAdd : HloOpcode::kAnd,
               {indices, Broadcast(Number(computation_, 7), dims)});
  }
  // A scalar index: the counter, a constant, or an element of an array.
  HloInstruction* Start(HloInstruction* x) {
    if (random_.Chance(30)) return counter_;
    if (random_.Chance(20)) return Number(computation_, static_cast<double>(random_.Below(5)));
    return Fit(random_.Chance(50) ? x : Other(), S32, {});
  }
  Arrays Starts(HloInstruction* x) {
    Arrays starts;
    for (int64_t d = 0; d < x->shape().rank(); ++d) starts.push_back(Start(x));
    return starts;
  }
  Dims Window(const Dims& dims) {
    Dims window;
    for (int64_t size : dims) window.push_back(random_.Chance(40) ? size : 1 + random_.Below(size));
    return window;
  }
  HloInstruction* DynamicSlice(HloInstruction* x, const Arrays& starts, const Dims& window) {
    DynamicSliceAttrs attributes;
    attributes.dynamic_slice_sizes = window;
    Arrays operands = {x};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return AddWith(HloOpcode::kDynamicSlice, operands, std::move(attributes));
  }

  // As many elements as `x` has from a table, at index vectors of as many components as slices have elements.
  HloInstruction* Gather(HloInstruction* x) {
    Dims batch = DimsOf(x->shape());
    int64_t components = 1;
    if (batch.back() <= 4 && random_.Chance(80)) {
      components = batch.back();
      batch.pop_back();
    }
    HloInstruction* source = Other();
    Dims table(components, 1);
    int64_t left = ShapeUtil::ElementsIn(source->shape());
    for (size_t d = 0; d + 1 < table.size(); ++d) {
      for (int64_t factor : {8, 5, 4, 3, 2}) {
        if (left % factor != 0 || !random_.Chance(50)) continue;
        table[d] *= factor;
        left /= factor;
      }
    }
    table.back() = left;
    std::swap(table[random_.Below(components)], table.back());
    GatherAttrs attributes;
    const int64_t sliced = random_.Below(components);
    if (table[sliced] < components) return nullptr;
    const bool at_front = random_.Chance(50);
    Dims offsets;
    for (int64_t d = 0; d < components; ++d) {
      attributes.start_index_map.push_back(d);
      attributes.slice_sizes.push_back(d == sliced ? components : 1);
      if (d != sliced || (components == 1 && random_.Chance(80))) {
        attributes.collapsed_slice_dims.push_back(d);
      } else {
        attributes.offset_dims.push_back(at_front ? 0 : static_cast<int64_t>(batch.size()));
      }
    }
    std::swap(attributes.start_index_map.front(), attributes.start_index_map[random_.Below(components)]);
    Dims index_dims = batch;
    attributes.index_vector_dim = components == 1 && random_.Chance(50)
                                      ? static_cast<int64_t>(batch.size())
                                      : random_.Below(static_cast<int64_t>(batch.size()) + 1);
    if (components > 1 || attributes.index_vector_dim < static_cast<int64_t>(batch.size()) || random_.Chance(50)) {
      index_dims.insert(index_dims.begin() + attributes.index_vector_dim, components);
    }
    HloInstruction* gather =
        AddWith(HloOpcode::kGather, {Reshape(source, table), Indices(x, index_dims)}, std::move(attributes));
    return Reshape(Convert(Unary(gather), x->shape().element_type()), DimsOf(x->shape()));
  }

  HloInstruction* Scatter(HloInstruction* x) {
    const Dims dims = DimsOf(x->shape());
    const int64_t components = 1 + random_.Below(std::min<int64_t>(2, x->shape().rank()));
    ScatterAttrs attributes;
    attributes.index_vector_dim = 1;
    const int64_t count = 1 + random_.Below(12);
    Dims updates = {count};
    for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
      if (d < components) {
        attributes.inserted_window_dims.push_back(d);
        attributes.scatter_dims_to_operand_dims.push_back(d);
      } else {
        attributes.update_window_dims.push_back(static_cast<int64_t>(updates.size()));
        updates.push_back(random_.Chance(60) ? dims[d] : 1 + random_.Below(dims[d]));
      }
    }
    const PrimitiveType type = x->shape().element_type();
    return AddWith(HloOpcode::kScatter,
                   {x, Indices(x, {count, components}), Unary(Fit(random_.Chance(50) ? x : Other(), type, updates))},
                   std::move(attributes), {Combiner(type)});
  }

  // The window that is written may be made of the same window, of another one, or of another array.
  HloInstruction* Update(HloInstruction* x) {
    const Dims window = Window(DimsOf(x->shape()));
    const Arrays starts = Starts(x);
    HloInstruction* update = random_.Chance(60) ? DynamicSlice(x, random_.Chance(60) ? starts : Starts(x), window)
                                                : Fit(Other(), x->shape().element_type(), window);
    if (random_.Chance(25)) update = Reverse(update);
    Arrays operands = {x, Unary(update)};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return Add(HloOpcode::kDynamicUpdateSlice, operands);
  }

  HloInstruction* Reverse(HloInstruction* x) {
    if (x == nullptr) return nullptr;
    ReverseAttrs attributes;
    attributes.dimensions = {random_.Below(x->shape().rank())};
    return AddWith(HloOpcode::kReverse, {x}, std::move(attributes));
  }
  HloInstruction* Rotate(HloInstruction* x) {
    const int64_t d = random_.Below(x->shape().rank()), size = x->shape().dimensions(d), at = random_.Below(size + 1);
    return Concatenate({Slice(x, d, at, size), Slice(x, d, 0, at)}, d);
  }
  HloInstruction* RotateDynamically(HloInstruction* x) {
    const int64_t d = random_.Below(x->shape().rank());
    return DynamicSlice(Concatenate({x, x}, d), Starts(x), DimsOf(x->shape()));
  }
  HloInstruction* Shift(HloInstruction* x) {
    PadAttrs attributes;
    attributes.padding.dimensions.resize(x->shape().rank());
    const int64_t by = random_.Below(3) - 1;
    attributes.padding.dimensions[random_.Below(x->shape().rank())] = {by, -by, 0};
    return AddWith(HloOpcode::kPad, {x, Number(computation_, 1, x->shape().element_type())}, std::move(attributes));
  }
  HloInstruction* Transpose(HloInstruction* x) {
    TransposeAttrs attributes;
    for (int64_t d = x->shape().rank() - 1; d >= 0; --d) attributes.dimensions.push_back(d);
    return Reshape(AddWith(HloOpcode::kTranspose, {x}, std::move(attributes)), DimsOf(x->shape()));
  }
  HloInstruction* ReduceAndSpread(HloInstruction* x) {
    const PrimitiveType type = x->shape().element_type();
    ReduceAttrs attributes;
    const int64_t d = random_.Below(x->shape().rank());
    attributes.dimensions = {d};
    Dims kept;
    for (int64_t k = 0; k < x->shape().rank(); ++k) {
      if (k != d) kept.push_back(k);
    }
    HloComputation* combine = Combiner(type);
    HloInstruction* reduced =
        AddWith(HloOpcode::kReduce, {x, Number(computation_, 5, type)}, std::move(attributes), {combine});
    return Add(HloOpcode::kMinimum, {x, Broadcast(reduced, DimsOf(x->shape()), kept)});
  }
  HloInstruction* SelectAmong(HloInstruction* x) {
    CompareAttrs attributes;
    attributes.direction = ComparisonDirection::kLt;
    const PrimitiveType type = x->shape().element_type();
    HloInstruction* other = random_.Chance(50) ? Reverse(x) : Fit(Other(), type, DimsOf(x->shape()));
    HloInstruction* less =
        AddWith(HloOpcode::kCompare, {x, Broadcast(Number(computation_, 9, type), DimsOf(x->shape()))}, attributes);
    return Add(HloOpcode::kSelect, {less, other, x});
  }

  HloComputation* Less(PrimitiveType type) {
    HloComputation* less = module_->AddComputation("less");
    const Shape scalar = ShapeUtil::MakeShape(type, {});
    HloInstruction* a = less->AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"), "a");
    HloInstruction* b = less->AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"), "b");
    auto attributes = std::make_unique<CompareAttrs>();
    attributes->direction = ComparisonDirection::kLt;
    (void)less->set_root_instruction(*less->AddOp(HloOpcode::kCompare, {a, b}, std::move(attributes)), true);
    return less;
  }
  HloInstruction* Sort(HloInstruction* x) {
    SortAttrs attributes;
    attributes.dimensions = {random_.Below(x->shape().rank())};
    return AddWith(HloOpcode::kSort, {x}, std::move(attributes), {Less(x->shape().element_type())});
  }
  // A running combination along a dimension.
  HloInstruction* Running(HloInstruction* x) {
    const int64_t d = random_.Below(x->shape().rank()), size = x->shape().dimensions(d);
    ReduceWindowAttrs attributes;
    attributes.window.dimensions.resize(x->shape().rank());
    attributes.window.dimensions[d].size = size;
    attributes.window.dimensions[d].padding_low = size - 1;
    const PrimitiveType type = x->shape().element_type();
    return AddWith(HloOpcode::kReduceWindow, {x, Number(computation_, 2, type)}, std::move(attributes),
                   {Combiner(type)});
  }

  // One of two rewrites, which read the arrays by way of the branches' parameter.
  HloInstruction* Branch(HloInstruction* x) {
    if (in_branch_) return nullptr;
    CompareAttrs attributes;
    attributes.direction = ComparisonDirection::kLt;
    HloInstruction* chosen = AddWith(HloOpcode::kCompare, {Start(x), Number(computation_, 6)}, attributes);
    Arrays elements = arrays_;
    elements.push_back(counter_);
    elements.push_back(x);
    HloInstruction* state = Add(HloOpcode::kTuple, elements);
    if (chosen == nullptr) return nullptr;
    HloComputation* const outer = computation_;
    HloInstruction* const outer_counter = counter_;
    const Arrays outer_arrays = arrays_;
    const int64_t count = static_cast<int64_t>(arrays_.size());
    in_branch_ = true;
    std::vector<HloComputation*> branches;
    for (int i = 0; i < 2; ++i) {
      branches.push_back(computation_ = module_->AddComputation("branch"));
      HloInstruction* parameter =
          computation_->AddInstruction(HloInstruction::CreateParameter(0, state->shape(), "state"), "state");
      for (int64_t k = 0; k < count; ++k) arrays_[k] = Element(parameter, k);
      counter_ = Element(parameter, count);
      HloInstruction* before = Element(parameter, count + 1);
      HloInstruction* after = Rewrite(before);
      (void)computation_->set_root_instruction(after == nullptr ? before : after, true);
    }
    in_branch_ = false;
    computation_ = outer;
    counter_ = outer_counter;
    arrays_ = outer_arrays;
    return Add(HloOpcode::kConditional, {chosen, state, state}, nullptr, branches);
  }

  HloInstruction* Rewrite(HloInstruction* x) {
    static constexpr HloInstruction* (InPlaceProgram::* kRewrites[])(HloInstruction*) = {
        &InPlaceProgram::Elementwise,
        &InPlaceProgram::Elementwise,
        &InPlaceProgram::Gather,
        &InPlaceProgram::Gather,
        &InPlaceProgram::Gather,
        &InPlaceProgram::Scatter,
        &InPlaceProgram::Scatter,
        &InPlaceProgram::Update,
        &InPlaceProgram::Update,
        &InPlaceProgram::Rotate,
        &InPlaceProgram::RotateDynamically,
        &InPlaceProgram::Shift,
        &InPlaceProgram::Reverse,
        &InPlaceProgram::Transpose,
        &InPlaceProgram::ReduceAndSpread,
        &InPlaceProgram::SelectAmong,
        &InPlaceProgram::Sort,
        &InPlaceProgram::Running,
        &InPlaceProgram::Branch};
    return (this->*random_.Of(kRewrites))(x);
  }

  // The arrays after some rewrites, those of one shape perhaps exchanged.
  Arrays Rewritten(HloComputation* computation, HloInstruction* counter, Arrays arrays) {
    computation_ = computation;
    counter_ = counter;
    arrays_ = arrays;
    for (int64_t left = 1 + random_.Below(5); left > 0; --left) {
      const int64_t i = random_.Below(static_cast<int64_t>(arrays_.size()));
      if (HloInstruction* next = Rewrite(arrays_[i])) arrays_[i] = next;
    }
    if (random_.Chance(30)) {
      for (size_t i = 0; i + 1 < arrays_.size(); ++i) {
        if (shapes_[i] == shapes_[i + 1]) std::swap(arrays_[i], arrays_[i + 1]);
      }
    }
    return arrays_;
  }

  Arrays Loop(const Arrays& init) {
    computation_ = entry_;
    Arrays elements = init;
    elements.push_back(Number(entry_, 0));
    HloInstruction* start = Add(HloOpcode::kTuple, elements);
    const int64_t counter = static_cast<int64_t>(init.size());

    HloComputation* body = computation_ = module_->AddComputation("body");
    HloInstruction* state = body->AddInstruction(HloInstruction::CreateParameter(0, start->shape(), "state"), "state");
    Arrays arrays;
    for (int64_t i = 0; i < counter; ++i) arrays.push_back(Element(state, i));
    HloInstruction* number = Element(state, counter);
    Arrays next = Rewritten(body, number, arrays);
    next.push_back(Add(HloOpcode::kAdd, {number, Number(body, 1)}));
    (void)body->set_root_instruction(Add(HloOpcode::kTuple, next), true);

    HloComputation* condition = computation_ = module_->AddComputation("condition");
    state = condition->AddInstruction(HloInstruction::CreateParameter(0, start->shape(), "state"), "state");
    CompareAttrs less;
    less.direction = ComparisonDirection::kLt;
    (void)condition->set_root_instruction(
        AddWith(HloOpcode::kCompare,
                {Element(state, counter), Number(condition, static_cast<double>(1 + random_.Below(4)))}, less),
        true);

    computation_ = entry_;
    HloInstruction* loop = Add(HloOpcode::kWhile, {start}, nullptr, {condition, body});
    Arrays results;
    for (int64_t i = 0; i < counter; ++i) results.push_back(Element(loop, i));
    return results;
  }

  Random random_;
  std::unique_ptr<HloModule> module_;
  HloComputation* entry_;
  std::vector<Shape> shapes_;
  // Where rewrites go, what they read, and a scalar that is another one in each iteration.
  HloComputation* computation_ = nullptr;
  Arrays arrays_;
  HloInstruction* counter_ = nullptr;
  bool in_branch_ = false;
};

}  // namespace

RandomProgram MakeInPlaceProgram(uint64_t seed) { return InPlaceProgram(seed).Make(); }

}  // namespace hilo::fuzz
