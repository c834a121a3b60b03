// Scores of attention need not be in memory all at once:
//
//   s = f32[b,h,t,u] dot(q, k)                     for each b, h, block of 64 t:
//   p = softmax(s)                                   s = f32[1,1,64,u] dot(q[b, h, block], k[b, h])
//   r = f32[b,h,t,d] dot(p, v)                 =>    r[b, h, block] = f32[1,1,64,d] dot(softmax(s), v[b, h])
//
// So the memory is linear in the number of rows, and a block of scores stays in a cache. Whole rows are computed, by
// the instructions that were there, each element from the same numbers in the same way. The last block of a dimension
// ends where the dimension ends: if sizes do not fit, it computes some rows of the one before again.
//
// Operands of the dots whose divided dimensions are not the first ones are transposed before the loop, so that blocks
// are contiguous.
#include "hlo/passes/attention_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/score_chain.h"
#include "hlo/ir/post_order.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/fusion_pass.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Rows that a product needs to be efficient.
constexpr int64_t kLeastBlockRows = 64;
constexpr int64_t kRowMultiple = 8;
// The scores have so many times the bytes of the dots' other operands and of the result at least. Factors that a block
// does not divide are read for each block.
constexpr int64_t kLeastRatio = 4;
constexpr size_t kMostMembers = 192;
constexpr int64_t kMostBlocks = int64_t{1} << 30;

using Result = absl::StatusOr<HloInstruction*>;

Shape BlockShape(const Shape& shape, const ScoreAxes& axes, const std::vector<int64_t>& block) {
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (axes[d] >= 0) sizes[d] = block[axes[d]];
  }
  return ShapeUtil::MakeShape(shape.element_type(), sizes);
}

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
  while (!work.empty() && chain->axes.size() < kMostMembers) {
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
std::vector<int64_t> BlockSizes(const ScoreChain& chain, int64_t block_bytes) {
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
    const int64_t most = std::max(block_bytes / bytes, is_last ? kLeastBlockRows : 1);
    is_last = false;
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
  AttentionLoop(const ScoreChain& chain, std::vector<int64_t> block)
      : chain_(chain), block_(std::move(block)), outside_(chain.second->parent()), start_(block_.size(), nullptr) {
    const Shape& scores = chain.scores()->shape();
    for (int64_t d = 0; d < scores.rank(); ++d) blocks_.push_back(CeilDiv(scores.dimensions(d), block_[d]));
  }

  // Adds the loop. Returns its result, which replaces that of the second dot.
  Result Build() {
    HloModule* module = outside_->parent();
    HILO_RETURN_IF_ERROR(CollectState());
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
    return MakeTupleElement(loop, kResultElement);
  }

 private:
  // An array that blocks read: element `element` of the state, with its dimensions in the order `order`.
  struct Input {
    const HloInstruction* array;
    ScoreAxes axes;  // of the array
    bool is_factor;  // of a dot
    int64_t element;
    std::vector<int64_t> order;
  };
  static constexpr int64_t kCounterElement = 0, kResultElement = 1;

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

  const Input* FindInput(const HloInstruction* array, const ScoreAxes& axes, bool is_factor) const {
    const auto it = absl::c_find_if(inputs_, [&](const Input& input) {
      return input.array == array && input.axes == axes && input.is_factor == is_factor;
    });
    return it == inputs_.end() ? nullptr : &*it;
  }

  absl::Status CollectState() {
    HILO_ASSIGN_OR_RETURN(HloInstruction * result,
                          MakeBroadcast(outside_->AddConstant(LiteralUtil::Zero(chain_.second->shape().element_type())),
                                        chain_.second->shape(), {}));
    state_ = {outside_->AddConstant(Integer(0)), result};
    std::vector<const HloInstruction*> users(chain_.members.begin(), chain_.members.end());
    users.push_back(chain_.second);
    for (const HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (IsInBody(*user, i)) continue;
        HILO_RETURN_IF_ERROR(AddInput(user->operand(i), chain_.OperandAxes(*user, i), IsFactor(*user, i)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddInput(HloInstruction* array, const ScoreAxes& axes, bool is_factor) {
    if (FindInput(array, axes, is_factor) != nullptr) return absl::OkStatus();
    Input input{.array = array, .axes = axes, .is_factor = is_factor, .element = static_cast<int64_t>(state_.size())};
    for (int64_t d = 0; d < array->shape().rank(); ++d) input.order.push_back(d);
    if (is_factor) {
      absl::c_stable_partition(input.order, [&](int64_t d) { return axes[d] >= 0 && block_[axes[d]] == 1; });
    }
    if (!absl::c_is_sorted(input.order)) {
      HILO_ASSIGN_OR_RETURN(array, MakeComposedTranspose(array, input.order));
    }
    state_.push_back(array);
    inputs_.push_back(std::move(input));
    return absl::OkStatus();
  }

  absl::Status WriteCondition(HloComputation* condition, const Shape& state) const {
    HloInstruction* parameter = condition->AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
    HILO_ASSIGN_OR_RETURN(HloInstruction * counter, MakeTupleElement(parameter, kCounterElement));
    int64_t blocks = 1;
    for (int64_t count : blocks_) blocks *= count;
    auto less = std::make_unique<CompareAttrs>();
    less->direction = ComparisonDirection::kLt;
    HILO_ASSIGN_OR_RETURN(
        HloInstruction * root,
        condition->AddOp(HloOpcode::kCompare, {counter, condition->AddConstant(Integer(blocks))}, std::move(less)));
    return condition->set_root_instruction(root, /*allow_shape_change=*/true);
  }

  absl::Status WriteBody(const Shape& state) {
    HloInstruction* parameter = body_->AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
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
    HILO_ASSIGN_OR_RETURN(HloInstruction * root, body_->AddOp(HloOpcode::kTuple, next));
    return body_->set_root_instruction(root, /*allow_shape_change=*/true);
  }

  // The counter counts the blocks of the last dimension first.
  absl::Status ComputeStarts() {
    zero_ = body_->AddConstant(Integer(0));
    HloInstruction* rest = elements_[kCounterElement];
    const Shape& scores = chain_.scores()->shape();
    for (int64_t d = scores.rank() - 1; d >= 0; --d) {
      if (blocks_[d] == 1) {
        start_[d] = zero_;
        continue;
      }
      HloInstruction* count = body_->AddConstant(Integer(blocks_[d]));
      HILO_ASSIGN_OR_RETURN(start_[d], MakeBinary(HloOpcode::kRemainder, rest, count));
      HILO_ASSIGN_OR_RETURN(rest, MakeBinary(HloOpcode::kDivide, rest, count));
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
    const Input& input = *FindInput(x, chain_.OperandAxes(user, i), IsFactor(user, i));
    HloInstruction*& block = blocks_read_[input.element];
    if (block != nullptr) return block;
    HloInstruction* array = elements_[input.element];
    ScoreAxes axes;
    for (int64_t d : input.order) axes.push_back(input.axes[d]);
    const Shape shape = BlockShape(array->shape(), axes, block_);
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
    const Shape shape = BlockShape(instruction.shape(), axes, block_);
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
      const Input* input = FindInput(dot.operand(i), chain_.OperandAxes(dot, i), /*is_factor=*/true);
      if (!IsFactor(dot, i)) continue;
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
  const std::vector<int64_t> block_;  // by dimension of the scores, like the next two
  std::vector<int64_t> blocks_;       // how many
  HloComputation* const outside_;
  std::vector<HloInstruction*> start_;  // of a block
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
  bool MayEnd(const HloInstruction& dot) const {
    return dot.opcode() == HloOpcode::kDot && !dot.IsDead() && !dot.HasControlDependencies() &&
           std::max(ShapeUtil::ByteSizeOf(dot.operand(0)->shape()), ShapeUtil::ByteSizeOf(dot.operand(1)->shape())) >
               2 * block_bytes_;
  }

  // Returns true if the scores are far larger than what they are computed from, and than the result.
  static bool AreScoresLarge(const ScoreChain& chain) {
    const HloInstruction* value = chain.second->operand(1 - chain.scores_operand);
    int64_t most = ShapeUtil::ByteSizeOf(chain.scores()->shape()) / kLeastRatio;
    for (const Shape& shape :
         {chain.first->operand(0)->shape(), chain.first->operand(1)->shape(), value->shape(), chain.second->shape()}) {
      most -= ShapeUtil::ByteSizeOf(shape);
      if (most < 0) return false;
    }
    return true;
  }

  std::optional<ScoreChain> LargeChainOf(const HloInstruction& dot) const {
    for (const int64_t operand : {0, 1}) {
      if (ShapeUtil::ByteSizeOf(dot.operand(operand)->shape()) <= 2 * block_bytes_) continue;
      for (ScoreChain& chain : ScoreChainsOf(dot, operand)) {
        if (AreScoresLarge(chain)) return std::move(chain);
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
      std::optional<ScoreChain> chain = LargeChainOf(*dot);
      if (!chain.has_value()) continue;
      AddRecomputed(&*chain);
      const std::vector<int64_t> block = BlockSizes(*chain, block_bytes_);
      int64_t blocks = 1;
      for (size_t d = 0; d < block.size(); ++d) blocks *= CeilDiv(chain->scores()->shape().dimensions(d), block[d]);
      if (blocks < 2 || blocks > kMostBlocks) continue;
      HILO_ASSIGN_OR_RETURN(HloInstruction * result, AttentionLoop(*chain, block).Build());
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
