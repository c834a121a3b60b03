// Scores of attention need not be in memory all at once:
//
//   s = f32[b,h,t,u] dot(q, k)                     for each b, h, block of 64 t:
//   p = softmax(s)                                   s = f32[1,1,64,u] dot(q[b, h, block], k[b, h])
//   r = f32[b,h,t,d] dot(p, v)                 =>    r[b, h, block] = f32[1,1,64,d] dot(softmax(s), v[b, h])
//
// So the memory is linear in the number of rows, and a block of scores stays in a cache. Whole rows are computed, by
// the instructions that were there, each element without a mask from the same numbers in the same way. The last block
// of a dimension ends where the dimension ends: if sizes do not fit, it computes some rows of the one before again.
//
// Operands of the dots whose divided dimensions are not the first ones are transposed before the loop, so that blocks
// are contiguous.
//
// A causal mask hides the last keys of all rows of a block. So there are several loops, each over a group of blocks and
// with the keys that it sees:
//
//   ok = is-finite(v), all
//   for each block of the first quarter of rows, while ok:   with keys and values [0, t/4)
//     ok &= max(s) is so large that exponentials of masked scores less it are 0
//   ... of the second quarter                                [0, t/2)   and so on
//   for each block of the last quarter, or of all unless ok: with all of them
//
// What is left out of sums is then 0.
#include "hlo/passes/attention/attention_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/score_chain.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/attention/hidden_keys.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Rows that a product needs to be efficient.
constexpr int64_t kMinBlockRows = 64;
constexpr int64_t kRowMultiple = 8;
// The scores have so many times the bytes of the dots' other operands and of the result at least. Factors that a block
// does not divide are read for each block.
constexpr int64_t kMinRatio = 4;
// The same where a causal mask hides scores: 16 heads of 512 rows and 48 features 5.1 rather than 5.9 ms.
constexpr int64_t kMinMaskedRatio = 1;
constexpr size_t kMaxMembers = 192;
constexpr int64_t kMaxBlocks = int64_t{1} << 30;

using Result = absl::StatusOr<HloInstruction*>;

// Dimensions of an array that run along the keys, if some rows do not see all of these.
using KeyDimensions = std::vector<bool>;

// Returns true if a transpose of `array` changes the order of dimensions of size 1 only.
bool MovesUnits(const Shape& array, const std::vector<int64_t>& order) {
  int64_t last = -1;
  for (const int64_t from : order) {
    if (array.dimensions(from) == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

// A transpose of what may be one itself; a reshape if no element moves.
Result MakeComposedTranspose(HloInstruction* array, std::vector<int64_t> order) {
  if (array->opcode() == HloOpcode::kTranspose) {
    for (int64_t& d : order) d = array->attrs<TransposeAttrs>().dimensions[d];
    array = array->operand(0);
  }
  if (absl::c_is_sorted(order)) return array;
  if (!MovesUnits(array->shape(), order)) return MakeTranspose(array, std::move(order));
  std::vector<int64_t> sizes;
  for (const int64_t d : order) sizes.push_back(array->shape().dimensions(d));
  return MakeReshape(array, ShapeUtil::MakeShape(array->shape().element_type(), sizes));
}

// Returns true for what blocks compute again, with these axes, rather than read from an array.
bool IsRecomputed(const HloInstruction& instruction, const ScoreAxes& axes) {
  if (absl::c_all_of(axes, [](int64_t axis) { return axis < 0; })) return false;
  if (instruction.opcode() == HloOpcode::kIota) {
    const PrimitiveType type = instruction.shape().element_type();
    return IsIntegralType(type) && PrimitiveTypeBitWidth(type) >= 32 && !instruction.HasControlDependencies();
  }
  return MayBeInScoreChain(instruction) && instruction.opcode() != HloOpcode::kReduce &&
         instruction.opcode() != HloOpcode::kTranspose && !IsExpensiveToRepeat(instruction);
}

// Adds what is recomputed to the members.
void AddRecomputed(ScoreChain* chain) {
  std::vector<HloInstruction*> work = chain->members;
  while (!work.empty() && chain->axes.size() < kMaxMembers) {
    const HloInstruction* user = work.back();
    work.pop_back();
    if (user == chain->first) continue;
    for (int64_t i = 0; i < user->operand_count(); ++i) {
      HloInstruction* x = user->operand(i);
      const ScoreAxes axes = chain->OperandAxes(*user, i);
      if (IsRecomputed(*x, axes) && chain->axes.try_emplace(x, axes).second) work.push_back(x);
    }
  }
  chain->members = PostOrderWithin(chain->scores(), [&](const HloInstruction& x) { return chain->Has(&x); });
}

// Returns the sizes of blocks, by dimension of the scores; those that the second dot contracts are whole.
// `masked_rows`: a dimension of which there are several blocks, if it is not small; -1: none.
std::vector<int64_t> BlockSizes(const ScoreChain& chain, int64_t block_bytes, int64_t masked_rows) {
  const Shape& scores = chain.scores()->shape();
  std::vector<int64_t> block(scores.dimensions().begin(), scores.dimensions().end());
  const std::vector<int64_t>& divisible = chain.axes.at(chain.second);
  int64_t bytes = ShapeUtil::ByteSizeOf(scores);
  for (int64_t d = 0; d < scores.rank(); ++d) {
    if (absl::c_linear_search(divisible, d)) bytes /= block[d];
  }
  bool is_last = true;
  for (int64_t d = scores.rank() - 1; d >= 0; --d) {
    if (!absl::c_linear_search(divisible, d)) continue;
    int64_t most = std::max(block_bytes / bytes, is_last ? kMinBlockRows : 1);
    is_last = false;
    if (d == masked_rows) {
      const int64_t group = CeilDiv(block[d], MaxKeyGroups(chain));
      most = std::min(most, std::max(CeilDiv(group, CeilDiv(group, most)), kMinBlockRows));
    }
    if (block[d] > most) {
      const int64_t blocks = CeilDiv(block[d], most);
      block[d] = std::min(block[d],
                          most < kRowMultiple ? most : CeilDiv(CeilDiv(block[d], blocks), kRowMultiple) * kRowMultiple);
    }
    bytes *= block[d];
  }
  return block;
}

class AttentionLoop {
 public:
  AttentionLoop(const ScoreChain& chain, std::vector<int64_t> block, std::optional<HiddenKeys> hidden)
      : chain_(chain), block_(std::move(block)), hidden_(std::move(hidden)), outside_(chain.second->parent()) {
    const Shape& scores = chain.scores()->shape();
    for (int64_t d = 0; d < scores.rank(); ++d) blocks_.push_back(CeilDiv(scores.dimensions(d), block_[d]));
  }

  // Adds the loop, or the loops. Returns the result, which replaces that of the second dot.
  Result Build() {
    HILO_RETURN_IF_ERROR(CollectState());
    if (!hidden_.has_value()) return AddLoop(nullptr);
    for (const HiddenKeys::Group& group : hidden_->groups) {
      HILO_ASSIGN_OR_RETURN(state_[kResultElement], AddLoop(&group));
    }
    int64_t first = hidden_->first_whole_block;
    for (size_t d = 0; d < blocks_.size(); ++d) {
      if (static_cast<int64_t>(d) != hidden_->rows) first *= blocks_[d];
    }
    HILO_ASSIGN_OR_RETURN(
        state_[kCounterElement],
        outside_->AddOp(HloOpcode::kSelect,
                        {state_[kExactElement], outside_->AddConstant(Integer(first)), state_[kCounterElement]}));
    return AddLoop(nullptr);
  }

 private:
  // An array that blocks read: element `element` of the state, with its dimensions in the order `order`.
  struct Input {
    const HloInstruction* array;
    ScoreAxes axes;  // of the array
    KeyDimensions keys;
    bool is_factor;  // of a dot
    int64_t element;
    std::vector<int64_t> order;
  };
  // The third element, if keys are hidden: whether leaving them out has changed nothing so far.
  static constexpr int64_t kCounterElement = 0, kResultElement = 1, kExactElement = 2;

  // Adds the loop over the blocks of a group, or over all blocks with all keys. Returns its result.
  Result AddLoop(const HiddenKeys::Group* group) {
    HloModule* module = outside_->parent();
    group_ = group;
    counts_ = blocks_;
    if (group != nullptr) counts_[hidden_->rows] = group->blocks;
    std::vector<Shape> shapes;
    for (const HloInstruction* element : state_) shapes.push_back(element->shape());
    const Shape state = ShapeUtil::MakeTupleShape(shapes);
    HloComputation* condition = module->AddComputation("attention_condition");
    HILO_RETURN_IF_ERROR(WriteCondition(condition, state));
    body_ = module->AddComputation("attention_block");
    HILO_RETURN_IF_ERROR(WriteBody(state));
    HILO_ASSIGN_OR_RETURN(HloInstruction * init, outside_->AddOp(HloOpcode::kTuple, state_));
    HloComputation* const called[] = {condition, body_};
    HILO_ASSIGN_OR_RETURN(HloInstruction * loop, outside_->AddOp(HloOpcode::kWhile, {init}, nullptr, called));
    loop->CopyOriginFrom(*chain_.second);
    if (hidden_.has_value()) {
      HILO_ASSIGN_OR_RETURN(state_[kExactElement], MakeTupleElement(loop, kExactElement));
    }
    return MakeTupleElement(loop, kResultElement);
  }

  static Literal Integer(int64_t value) { return LiteralUtil::CreateR0<int32_t>(static_cast<int32_t>(value)); }

  bool IsFactor(const HloInstruction& user, int64_t operand) const {
    return &user == chain_.first || (&user == chain_.second && operand != chain_.scores_operand);
  }
  // Returns true if the value is computed in the body: another member, or a constant.
  bool IsInBody(const HloInstruction& user, int64_t operand) const {
    const HloInstruction* x = user.operand(operand);
    if (x->IsConstant() && x->shape().IsScalar()) return true;
    return chain_.Has(x) && !IsFactor(user, operand) && chain_.axes.at(x) == chain_.OperandAxes(user, operand);
  }

  // Returns the dimensions of an array that the members compute or read element by element: those that run along no
  // row, as all reductions of a softmax are along the keys.
  KeyDimensions KeysOf(const Shape& shape, const ScoreAxes& axes) const {
    KeyDimensions keys(axes.size(), false);
    for (size_t d = 0; hidden_.has_value() && d < axes.size(); ++d) {
      keys[d] = axes[d] < 0 && shape.dimensions(static_cast<int64_t>(d)) != 1;
    }
    return keys;
  }
  // The same of an operand.
  KeyDimensions OperandKeys(const HloInstruction& user, int64_t i) const {
    const Shape& shape = user.operand(i)->shape();
    if (!IsFactor(user, i)) return KeysOf(shape, chain_.OperandAxes(user, i));
    KeyDimensions keys(shape.rank(), false);
    if (!hidden_.has_value()) return keys;
    // The first dot has keys among its free dimensions, the second one contracts those of the values.
    const DotSide side = i == 0 ? LhsOf(user) : RhsOf(user);
    const ScoreAxes axes = chain_.OperandAxes(user, i);
    for (const int64_t d : &user == chain_.first ? side.free : side.contracting) {
      keys[d] = axes[d] < 0 && shape.dimensions(d) != 1;
    }
    return keys;
  }

  Shape BlockShape(const Shape& shape, const ScoreAxes& axes, const KeyDimensions& keys) const {
    std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (axes[d] >= 0) sizes[d] = block_[axes[d]];
      if (keys[d] && group_ != nullptr) sizes[d] = group_->keys;
    }
    return ShapeUtil::MakeShape(shape.element_type(), sizes);
  }

  const Input* FindInput(const HloInstruction& user, int64_t operand) const {
    const HloInstruction* array = user.operand(operand);
    const ScoreAxes axes = chain_.OperandAxes(user, operand);
    const KeyDimensions keys = OperandKeys(user, operand);
    const auto it = absl::c_find_if(inputs_, [&](const Input& input) {
      return input.array == array && input.axes == axes && input.keys == keys &&
             input.is_factor == IsFactor(user, operand);
    });
    return it == inputs_.end() ? nullptr : &*it;
  }

  absl::Status CollectState() {
    HILO_ASSIGN_OR_RETURN(HloInstruction * result,
                          MakeBroadcast(outside_->AddConstant(LiteralUtil::Zero(chain_.second->shape().element_type())),
                                        chain_.second->shape(), {}));
    state_ = {outside_->AddConstant(Integer(0)), result};
    if (hidden_.has_value()) {
      // A weight of 0 times what is not finite is no 0.
      HILO_ASSIGN_OR_RETURN(HloInstruction * is_finite,
                            outside_->AddOp(HloOpcode::kIsFinite, {chain_.second->operand(1 - chain_.scores_operand)}));
      HILO_ASSIGN_OR_RETURN(HloInstruction * all, MakeAll(is_finite));
      state_.push_back(all);
    }
    std::vector<const HloInstruction*> users(chain_.members.begin(), chain_.members.end());
    users.push_back(chain_.second);
    for (const HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (IsInBody(*user, i)) continue;
        HILO_RETURN_IF_ERROR(AddInput(*user, i));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddInput(const HloInstruction& user, int64_t operand) {
    if (FindInput(user, operand) != nullptr) return absl::OkStatus();
    HloInstruction* array = user.operand(operand);
    Input input{.array = array,
                .axes = chain_.OperandAxes(user, operand),
                .keys = OperandKeys(user, operand),
                .is_factor = IsFactor(user, operand),
                .element = static_cast<int64_t>(state_.size())};
    for (int64_t d = 0; d < array->shape().rank(); ++d) input.order.push_back(d);
    if (input.is_factor) {
      const ScoreAxes& axes = input.axes;
      absl::c_stable_partition(input.order, [&](int64_t d) { return axes[d] >= 0 && block_[axes[d]] == 1; });
    }
    if (!absl::c_is_sorted(input.order)) {
      HILO_ASSIGN_OR_RETURN(array, MakeComposedTranspose(array, input.order));
    }
    state_.push_back(array);
    inputs_.push_back(std::move(input));
    return absl::OkStatus();
  }

  // Returns whether all of an array of predicates are true.
  Result MakeAll(HloInstruction* predicates) const {
    HloComputation* computation = predicates->parent();
    std::vector<int64_t> dimensions(predicates->shape().rank());
    absl::c_iota(dimensions, 0);
    return MakeReduce(predicates, computation->AddConstant(LiteralUtil::CreateR0<bool>(true)), std::move(dimensions),
                      MakeScalarComputation(outside_->parent(), HloOpcode::kAnd, PRED));
  }

  absl::Status WriteCondition(HloComputation* condition, const Shape& state) const {
    HloInstruction* parameter = condition->AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
    HILO_ASSIGN_OR_RETURN(HloInstruction * counter, MakeTupleElement(parameter, kCounterElement));
    int64_t blocks = 1;
    for (int64_t count : counts_) blocks *= count;
    auto less = std::make_unique<CompareAttrs>();
    less->direction = ComparisonDirection::kLt;
    HILO_ASSIGN_OR_RETURN(
        HloInstruction * root,
        condition->AddOp(HloOpcode::kCompare, {counter, condition->AddConstant(Integer(blocks))}, std::move(less)));
    if (group_ != nullptr) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * exact, MakeTupleElement(parameter, kExactElement));
      HILO_ASSIGN_OR_RETURN(root, MakeBinary(HloOpcode::kAnd, root, exact));
    }
    return condition->set_root_instruction(root, /*allow_shape_change=*/true);
  }

  absl::Status WriteBody(const Shape& state) {
    HloInstruction* parameter = body_->AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
    elements_.clear();
    copies_.clear();
    blocks_read_.clear();
    for (int64_t i = 0; i < state.tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(parameter, i));
      elements_.push_back(element);
    }
    HILO_RETURN_IF_ERROR(ComputeStarts());
    for (HloInstruction* member : chain_.members) {
      HILO_ASSIGN_OR_RETURN(copies_[member], Copy(*member));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * block, Copy(*chain_.second));
    std::vector<HloInstruction*> update = {elements_[kResultElement], block};
    AppendStarts(chain_.axes.at(chain_.second), &update);
    std::vector<HloInstruction*> next = elements_;
    HILO_ASSIGN_OR_RETURN(next[kResultElement], body_->AddOp(HloOpcode::kDynamicUpdateSlice, update));
    HILO_ASSIGN_OR_RETURN(next[kCounterElement],
                          MakeBinary(HloOpcode::kAdd, elements_[kCounterElement], body_->AddConstant(Integer(1))));
    if (group_ != nullptr) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * exact, IsExact());
      HILO_ASSIGN_OR_RETURN(next[kExactElement], MakeBinary(HloOpcode::kAnd, elements_[kExactElement], exact));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * root, body_->AddOp(HloOpcode::kTuple, next));
    return body_->set_root_instruction(root, /*allow_shape_change=*/true);
  }

  // Returns whether the weights of what is masked are 0, in all rows of the block.
  Result IsExact() {
    HloInstruction* wide = copies_.at(hidden_->maximum);
    if (wide->shape().element_type() != F32) {
      const Shape shape = ShapeUtil::MakeShape(F32, wide->shape().dimensions());
      HILO_ASSIGN_OR_RETURN(wide, body_->AddOp(HloOpcode::kConvert, {wide}, nullptr, {}, &shape));
    }
    auto least = static_cast<float>(hidden_->least_maximum);
    if (least < hidden_->least_maximum) least = std::nextafter(least, std::numeric_limits<float>::infinity());
    HILO_ASSIGN_OR_RETURN(HloInstruction * leasts,
                          MakeBroadcast(body_->AddConstant(LiteralUtil::CreateR0<float>(least)), wide->shape(), {}));
    auto greater = std::make_unique<CompareAttrs>();
    greater->direction = ComparisonDirection::kGt;
    HILO_ASSIGN_OR_RETURN(HloInstruction * is_large,
                          body_->AddOp(HloOpcode::kCompare, {wide, leasts}, std::move(greater)));
    return MakeAll(is_large);
  }

  // The counter counts the blocks of the last dimension first, those of masked rows last.
  absl::Status ComputeStarts() {
    zero_ = body_->AddConstant(Integer(0));
    start_.assign(block_.size(), nullptr);
    HloInstruction* rest = elements_[kCounterElement];
    const Shape& scores = chain_.scores()->shape();
    std::vector<int64_t> order;
    for (int64_t d = scores.rank() - 1; d >= 0; --d) order.push_back(d);
    if (hidden_.has_value()) {
      std::erase(order, hidden_->rows);
      order.push_back(hidden_->rows);
    }
    for (const int64_t d : order) {
      if (blocks_[d] == 1) {
        start_[d] = zero_;
        continue;
      }
      HloInstruction* count = body_->AddConstant(Integer(counts_[d]));
      HILO_ASSIGN_OR_RETURN(start_[d], MakeBinary(HloOpcode::kRemainder, rest, count));
      HILO_ASSIGN_OR_RETURN(rest, MakeBinary(HloOpcode::kDivide, rest, count));
      if (group_ != nullptr && d == hidden_->rows && group_->first_block > 0) {
        HILO_ASSIGN_OR_RETURN(start_[d],
                              MakeBinary(HloOpcode::kAdd, start_[d], body_->AddConstant(Integer(group_->first_block))));
      }
      if (block_[d] > 1) {
        HILO_ASSIGN_OR_RETURN(start_[d],
                              MakeBinary(HloOpcode::kMultiply, start_[d], body_->AddConstant(Integer(block_[d]))));
      }
      if (scores.dimensions(d) % block_[d] != 0) {
        HloInstruction* last = body_->AddConstant(Integer(scores.dimensions(d) - block_[d]));
        HILO_ASSIGN_OR_RETURN(start_[d], MakeBinary(HloOpcode::kMinimum, start_[d], last));
      }
    }
    return absl::OkStatus();
  }

  void AppendStarts(const ScoreAxes& axes, std::vector<HloInstruction*>* indices) const {
    for (int64_t axis : axes) indices->push_back(axis < 0 ? zero_ : start_[axis]);
  }

  // Returns the block of an operand, a dot's factor with its dimensions in another order.
  Result OperandBlock(const HloInstruction& user, int64_t i) {
    const HloInstruction* x = user.operand(i);
    if (x->IsConstant() && x->shape().IsScalar()) {
      HloInstruction*& copy = copies_[x];
      if (copy == nullptr) copy = body_->AddInstruction(x->CloneWithNewOperands(x->shape(), {}));
      return copy;
    }
    if (IsInBody(user, i)) return copies_.at(x);
    const Input& input = *FindInput(user, i);
    HloInstruction*& block = blocks_read_[input.element];
    if (block != nullptr) return block;
    HloInstruction* array = elements_[input.element];
    ScoreAxes axes;
    KeyDimensions keys;
    for (int64_t d : input.order) {
      axes.push_back(input.axes[d]);
      keys.push_back(input.keys[d]);
    }
    const Shape shape = BlockShape(array->shape(), axes, keys);
    if (ShapeUtil::SameDimensions(shape, array->shape())) return block = array;
    std::vector<HloInstruction*> slice = {array};
    AppendStarts(axes, &slice);
    auto attributes = std::make_unique<DynamicSliceAttrs>();
    attributes->dynamic_slice_sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
    HILO_ASSIGN_OR_RETURN(block, body_->AddOp(HloOpcode::kDynamicSlice, slice, std::move(attributes)));
    return block;
  }

  Result Copy(const HloInstruction& instruction) {
    const ScoreAxes& axes = chain_.axes.at(&instruction);
    const bool is_result = &instruction == chain_.second;
    const Shape shape = BlockShape(instruction.shape(), axes,
                                   is_result ? KeyDimensions(axes.size(), false) : KeysOf(instruction.shape(), axes));
    if (instruction.opcode() == HloOpcode::kDot) return CopyDot(instruction, shape);
    std::vector<HloInstruction*> operands;
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), OperandBlock(instruction, i));
    }
    if (instruction.opcode() == HloOpcode::kTranspose &&
        MovesUnits(operands[0]->shape(), instruction.attrs<TransposeAttrs>().dimensions))
      return MakeReshape(operands[0], shape);
    HloInstruction* copy = body_->AddInstruction(instruction.CloneWithNewOperands(shape, operands));
    copy->CopyOriginFrom(instruction);
    if (instruction.opcode() != HloOpcode::kIota) return copy;
    const int64_t axis = axes[instruction.attrs<IotaAttrs>().iota_dimension];
    if (axis < 0 || start_[axis] == zero_) return copy;
    HloInstruction* start = start_[axis];
    const Shape scalar = ShapeUtil::MakeScalarShape(shape.element_type());
    if (scalar.element_type() != start->shape().element_type()) {
      HILO_ASSIGN_OR_RETURN(start, body_->AddOp(HloOpcode::kConvert, {start}, nullptr, {}, &scalar));
    }
    HILO_ASSIGN_OR_RETURN(start, MakeBroadcast(start, shape, {}));
    return MakeBinary(HloOpcode::kAdd, copy, start);
  }

  // Dimensions of size 1 of the result may be in another order.
  Result CopyDot(const HloInstruction& dot, const Shape& shape) {
    auto attributes = std::make_unique<DotAttrs>(dot.attrs<DotAttrs>());
    std::vector<HloInstruction*> operands;
    for (int64_t i : {0, 1}) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), OperandBlock(dot, i));
      if (!IsFactor(dot, i)) continue;
      const Input* input = FindInput(dot, i);
      const auto renumber = [&](std::vector<int64_t>* dimensions) {
        for (int64_t& d : *dimensions) d = absl::c_find(input->order, d) - input->order.begin();
      };
      renumber(i == 0 ? &attributes->lhs_batch_dims : &attributes->rhs_batch_dims);
      renumber(i == 0 ? &attributes->lhs_contracting_dims : &attributes->rhs_contracting_dims);
    }
    const Shape stated = ShapeUtil::MakeScalarShape(shape.element_type());
    HILO_ASSIGN_OR_RETURN(HloInstruction * copy,
                          body_->AddOp(HloOpcode::kDot, operands, std::move(attributes), {}, &stated));
    copy->CopyOriginFrom(dot);
    return ShapeUtil::SameDimensions(copy->shape(), shape) ? copy : MakeReshape(copy, shape);
  }

  const ScoreChain& chain_;
  const std::vector<int64_t> block_;  // by dimension of the scores, like `blocks_`, `counts_` and `start_`
  const std::optional<HiddenKeys> hidden_;
  std::vector<int64_t> blocks_;  // how many
  HloComputation* const outside_;
  const HiddenKeys::Group* group_ = nullptr;  // of the loop that is added; null: all blocks, with all keys
  std::vector<int64_t> counts_;               // blocks of this loop
  std::vector<HloInstruction*> start_;        // of a block
  std::vector<Input> inputs_;
  std::vector<HloInstruction*> state_;     // before the loop
  std::vector<HloInstruction*> elements_;  // of the state, in the body
  HloComputation* body_ = nullptr;
  HloInstruction* zero_ = nullptr;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies_;
  absl::flat_hash_map<int64_t, HloInstruction*> blocks_read_;  // by element of the state
};

class AttentionBlocks : public FusionPass {
 public:
  explicit AttentionBlocks(int64_t block_bytes) : block_bytes_(block_bytes) {}
  absl::string_view name() const override { return "divide-attention"; }

 private:
  // How attention is divided.
  struct Division {
    ScoreChain chain;
    std::vector<int64_t> block;
    std::optional<HiddenKeys> hidden;
  };

  bool MayEnd(const HloInstruction& dot) const {
    return dot.opcode() == HloOpcode::kDot && !dot.IsDead() && !dot.HasControlDependencies() &&
           (MayBeScores(*dot.operand(0)) || MayBeScores(*dot.operand(1)));
  }
  bool MayBeScores(const HloInstruction& operand) const {
    return ShapeUtil::ByteSizeOf(operand.shape()) > 2 * block_bytes_;
  }

  // Returns true if the scores have more than so many times the bytes of what they are computed from and of the result.
  static bool AreScoresLarge(const ScoreChain& chain, int64_t ratio) {
    const HloInstruction* value = chain.second->operand(1 - chain.scores_operand);
    int64_t most = ShapeUtil::ByteSizeOf(chain.scores()->shape()) / ratio;
    for (const Shape& shape :
         {chain.first->operand(0)->shape(), chain.first->operand(1)->shape(), value->shape(), chain.second->shape()}) {
      most -= ShapeUtil::ByteSizeOf(shape);
      if (most < 0) return false;
    }
    return true;
  }

  std::optional<Division> DivisionOf(ScoreChain chain) const {
    AddRecomputed(&chain);
    if (AreScoresLarge(chain, kMinMaskedRatio)) {
      if (std::optional<HiddenKeys> hidden = HiddenKeysOf(chain)) {
        std::vector<int64_t> block = BlockSizes(chain, block_bytes_, hidden->rows);
        if (AddKeyGroups(chain, block[hidden->rows], &*hidden))
          return Division{std::move(chain), std::move(block), std::move(hidden)};
      }
    }
    if (!AreScoresLarge(chain, kMinRatio)) return std::nullopt;
    std::vector<int64_t> block = BlockSizes(chain, block_bytes_, /*masked_rows=*/-1);
    return Division{std::move(chain), std::move(block), std::nullopt};
  }

  std::optional<Division> DivisionOf(const HloInstruction& dot) const {
    for (const int64_t operand : {0, 1}) {
      if (!MayBeScores(*dot.operand(operand))) continue;
      for (ScoreChain& chain : ScoreChainsOf(dot, operand)) {
        std::optional<Division> division = DivisionOf(std::move(chain));
        if (!division.has_value()) continue;
        int64_t blocks = 1;
        for (size_t d = 0; d < division->block.size(); ++d)
          blocks *= CeilDiv(division->chain.scores()->shape().dimensions(static_cast<int64_t>(d)), division->block[d]);
        if (blocks >= 2 && blocks <= kMaxBlocks) return division;
      }
    }
    return std::nullopt;
  }

  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    const std::vector<HloInstruction*> order = computation->MakePostOrder();
    if (absl::c_none_of(order, [&](const HloInstruction* x) { return MayEnd(*x); })) return false;
    std::vector<HloInstruction*> replaced;
    for (HloInstruction* dot : order) {
      if (!MayEnd(*dot)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      std::optional<Division> division = DivisionOf(*dot);
      if (!division.has_value()) continue;
      AttentionLoop loop(division->chain, std::move(division->block), std::move(division->hidden));
      HILO_ASSIGN_OR_RETURN(HloInstruction * result, loop.Build());
      HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(dot, result));
      replaced.push_back(dot);
    }
    // Not before: `order` has them.
    for (HloInstruction* dot : replaced) HILO_RETURN_IF_ERROR(computation->RemoveInstructionAndUnusedOperands(dot));
    return !replaced.empty();
  }

  const int64_t block_bytes_;
};

}  // namespace

std::unique_ptr<HloPass> MakeAttentionBlocks(int64_t block_bytes) {
  return std::make_unique<AttentionBlocks>(block_bytes);
}

}  // namespace hilo
