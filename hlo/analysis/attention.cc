#include "hlo/analysis/attention.h"

#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Instructions between the scores and the logits.
constexpr size_t kMostLogitMembers = 32;
// Instructions that are searched for the scores.
constexpr size_t kMostSources = 128;

bool IsFloat(const HloInstruction& instruction) {
  return instruction.shape().IsArray() && IsFloatingPointType(instruction.shape().element_type());
}

// The sizes other than 1.
std::vector<int64_t> SizesOf(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (int64_t size : shape.dimensions()) {
    if (size != 1) sizes.push_back(size);
  }
  return sizes;
}

// For each dimension of an array, which has the sizes of another one but for dimensions of size 1, that of the other,
// whose numbers are `of_other`; -1 for those of size 1.
std::vector<int64_t> Corresponding(const Shape& shape, const Shape& other, const std::vector<int64_t>& of_other) {
  std::vector<int64_t> dimensions(shape.rank(), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) == 1) continue;
    while (other.dimensions(next) == 1) ++next;
    dimensions[d] = of_other[next++];
  }
  return dimensions;
}

std::vector<int64_t> Counted(int64_t rank) {
  std::vector<int64_t> dimensions(rank);
  for (int64_t d = 0; d < rank; ++d) dimensions[d] = d;
  return dimensions;
}

class AttentionMatcher {
 public:
  explicit AttentionMatcher(const HloInstruction& product) : product_(product) {}

  std::optional<Attention> Match() {
    if (!IsFloat(product_)) return std::nullopt;
    for (const int64_t weights : {0, 1}) {
      if (!MatchSoftmax(weights)) continue;
      if (std::optional<Attention> attention = MatchLogits(weights)) return attention;
    }
    return std::nullopt;
  }

 private:
  // Adds the member to those of the softmax, which are collected users first.
  const HloInstruction* Add(const HloInstruction* member) {
    softmax_.push_back(member);
    return member;
  }

  static bool IsView(const HloInstruction& instruction) {
    if (instruction.opcode() == HloOpcode::kConvert) return IsFloat(instruction) && IsFloat(*instruction.operand(0));
    return instruction.opcode() == HloOpcode::kReshape &&
           SizesOf(instruction.shape()) == SizesOf(instruction.operand(0)->shape());
  }

  // Follows converts and reshapes, which become members, to `end` at most.
  const HloInstruction* SkipViews(const HloInstruction* instruction, const HloInstruction* end = nullptr) {
    while (instruction != end && IsView(*instruction)) instruction = Add(instruction)->operand(0);
    return instruction;
  }

  // Returns the dimension of the keys in an array that has the sizes of the weights; -1: it has others.
  int64_t KeysIn(const Shape& shape) const {
    const Shape& weights = weights_->shape();
    if (SizesOf(shape) != SizesOf(weights)) return -1;
    const std::vector<int64_t> dimensions = Corresponding(shape, weights, Counted(weights.rank()));
    const auto keys = absl::c_find(dimensions, weights_keys_);
    return keys == dimensions.end() ? -1 : keys - dimensions.begin();
  }

  // Returns what `instruction`, which has the dimensions of the weights, repeats along the keys; null: nothing.
  const HloInstruction* SkipBroadcast(const HloInstruction* instruction) {
    instruction = SkipViews(instruction);
    if (instruction->opcode() != HloOpcode::kBroadcast) return nullptr;
    std::vector<int64_t> rows = Counted(instruction->shape().rank());
    const int64_t keys = KeysIn(instruction->shape());
    if (keys < 0) return nullptr;
    rows.erase(rows.begin() + keys);
    if (instruction->attrs<BroadcastAttrs>().dimensions != rows) return nullptr;
    return SkipViews(Add(instruction)->operand(0));
  }

  // Returns the operand of a reduction of the keys by `op`, which begins with the op's identity, up to `end`; null if
  // `instruction` is none.
  const HloInstruction* SkipReduction(const HloInstruction* instruction, HloOpcode op, const HloInstruction* end) {
    if (instruction->opcode() != HloOpcode::kReduce || instruction->operand_count() != 2) return nullptr;
    const HloInstruction& initial = *instruction->operand(1);
    const int64_t keys = KeysIn(instruction->operand(0)->shape());
    if (keys < 0 || instruction->attrs<ReduceAttrs>().dimensions != std::vector<int64_t>{keys} ||
        ReductionOp(*instruction->called_computation()) != op || !IsConstant(initial, op))
      return nullptr;
    return SkipViews(Add(instruction)->operand(0), end);
  }

  // Returns true for a scalar constant that changes no result of `op`, kMaximum or kAdd.
  static bool IsConstant(const HloInstruction& constant, HloOpcode op) {
    if (!constant.IsConstant() || !constant.shape().IsScalar() || !IsFloat(constant)) return false;
    const double value = constant.literal().GetAsDouble(0);
    return op == HloOpcode::kAdd ? value == 0 : value == -std::numeric_limits<double>::infinity();
  }

  // Matches everything from the product's operand number `weights` to the logits.
  bool MatchSoftmax(int64_t weights) {
    softmax_.clear();
    const DotSide side = weights == 0 ? LhsOf(product_) : RhsOf(product_);
    if (side.contracting.size() != 1 || side.contracting_sizes[0] == 1) return false;
    weights_ = side.operand;
    weights_keys_ = side.contracting[0];
    const HloInstruction* quotient = SkipViews(weights_);
    const HloInstruction *exponential = nullptr, *sum = nullptr;
    if (quotient->opcode() == HloOpcode::kDivide) {
      exponential = SkipViews(Add(quotient)->operand(0));
      sum = SkipBroadcast(quotient->operand(1));
    } else if (quotient->opcode() == HloOpcode::kMultiply) {
      const int64_t factor = quotient->operand(0)->opcode() == HloOpcode::kBroadcast ? 0 : 1;
      exponential = SkipViews(Add(quotient)->operand(1 - factor));
      const HloInstruction* inverse = SkipBroadcast(quotient->operand(factor));
      if (inverse == nullptr || inverse->opcode() != HloOpcode::kDivide || !IsOne(*inverse->operand(0))) return false;
      sum = SkipViews(Add(inverse)->operand(1));
    }
    if (sum == nullptr || exponential->opcode() != HloOpcode::kExp ||
        SkipReduction(sum, HloOpcode::kAdd, exponential) != exponential)
      return false;
    const HloInstruction* difference = SkipViews(Add(exponential)->operand(0));
    if (difference->opcode() != HloOpcode::kSubtract) return false;
    logits_ = Add(difference)->operand(0);
    while (logits_->opcode() == HloOpcode::kConvert && IsView(*logits_)) logits_ = Add(logits_)->operand(0);
    const HloInstruction* maximum = SkipBroadcast(difference->operand(1));
    // Programs take the maximum of the maximum and -inf, too.
    if (maximum != nullptr && maximum->opcode() == HloOpcode::kMaximum) {
      const int64_t other = IsLowest(*maximum->operand(0)) ? 0 : 1;
      if (!IsLowest(*maximum->operand(other))) return false;
      maximum = SkipViews(Add(maximum)->operand(1 - other));
    }
    if (maximum == nullptr) return false;
    const HloInstruction* of = SkipReduction(maximum, HloOpcode::kMaximum, logits_);
    if (of == nullptr) return false;
    // The maximum may be that of what the logits are a reshape of.
    const HloInstruction* base = logits_;
    while (base != of && base->opcode() == HloOpcode::kReshape && IsView(*base)) base = base->operand(0);
    return base == of;
  }

  static const HloInstruction& Repeated(const HloInstruction& instruction) {
    return instruction.opcode() == HloOpcode::kBroadcast ? *instruction.operand(0) : instruction;
  }
  static bool IsLowest(const HloInstruction& instruction) {
    return IsConstant(Repeated(instruction), HloOpcode::kMaximum);
  }
  static bool IsOne(const HloInstruction& instruction) {
    const HloInstruction& value = Repeated(instruction);
    return value.IsConstant() && value.shape().IsScalar() && value.literal().GetAsDouble(0) == 1;
  }

  // Returns the dimension of the logits that each dimension of `operand` is, where `of_user` is that of each dimension
  // of `user`; nullopt if the element at an index of the user is not that at the index of the operand.
  static std::optional<std::vector<int64_t>> DimensionsOf(const HloInstruction& operand, const HloInstruction& user,
                                                          const std::vector<int64_t>& of_user) {
    if (IsElementwise(user.opcode())) {
      if (!ShapeUtil::SameDimensions(operand.shape(), user.shape())) return std::nullopt;
      return of_user;
    }
    std::vector<int64_t> dimensions(operand.shape().rank(), -1);
    if (user.opcode() == HloOpcode::kTranspose) {
      const auto& permutation = user.attrs<TransposeAttrs>().dimensions;
      for (size_t i = 0; i < permutation.size(); ++i) dimensions[permutation[i]] = of_user[i];
      return dimensions;
    }
    if (user.opcode() != HloOpcode::kReshape || SizesOf(user.shape()) != SizesOf(operand.shape())) return std::nullopt;
    return Corresponding(operand.shape(), user.shape(), of_user);
  }

  // Finds what the logits are computed from, element by element. Returns the dots among them.
  std::vector<const HloInstruction*> FindDots() {
    dimensions_ = {{logits_, Counted(logits_->shape().rank())}};
    std::vector<const HloInstruction*> work = {logits_}, dots;
    while (!work.empty() && dimensions_.size() <= kMostSources) {
      const HloInstruction* user = work.back();
      work.pop_back();
      if (user->opcode() == HloOpcode::kDot) {
        dots.push_back(user);
        continue;
      }
      for (const HloInstruction* operand : user->operands()) {
        auto dimensions = DimensionsOf(*operand, *user, dimensions_.at(user));
        if (!dimensions.has_value()) continue;
        if (dimensions_.try_emplace(operand, *std::move(dimensions)).second) work.push_back(operand);
      }
    }
    return dots;
  }

  std::optional<Attention> MatchLogits(int64_t weights) {
    if (!IsFloat(*logits_)) return std::nullopt;
    const int64_t keys = KeysIn(logits_->shape());
    if (keys < 0) return std::nullopt;
    for (const HloInstruction* dot : FindDots()) {
      Attention attention{
          .product = &product_,
          .scores = dot,
          .logits = logits_,
          .weights_operand = weights,
          .key_dimension = keys,
          .score_dimensions = dimensions_.at(dot),
          .weight_dimensions = Corresponding(weights_->shape(), logits_->shape(), Counted(logits_->shape().rank()))};
      if (!MatchDimensions(&attention) || !CollectMembers(&attention)) continue;
      attention.result = Transposed(weights);
      if (attention.result != &product_) attention.members.push_back(attention.result);
      return attention;
    }
    return std::nullopt;
  }

  // The dimensions of the logits that dimensions `first`, `first` + 1 ... of the scores are, without those of size 1.
  static std::vector<int64_t> Of(const Attention& attention, size_t first, size_t count) {
    std::vector<int64_t> dimensions;
    for (size_t i = first; i < first + count; ++i) {
      const int64_t d = attention.score_dimensions[i];
      if (d >= 0 && attention.logits->shape().dimensions(d) != 1) dimensions.push_back(d);
    }
    return dimensions;
  }

  // Returns the transpose that is all that reads the product, if features are adjacent in its result; else the product.
  const HloInstruction* Transposed(int64_t weights) const {
    if (product_.IsRoot() || product_.user_count() != 1 || !product_.control_successors().empty()) return &product_;
    const HloInstruction* user = product_.users()[0];
    const DotSide values = weights == 0 ? RhsOf(product_) : LhsOf(product_);
    const auto features = static_cast<int64_t>(values.batch.size() + values.free.size()) - 1;
    const int64_t last_feature = weights == 0 ? product_.shape().rank() - 1 : features;
    if (user->opcode() != HloOpcode::kTranspose || !user->control_predecessors().empty() || values.free.empty() ||
        user->attrs<TransposeAttrs>().dimensions.back() != last_feature)
      return &product_;
    return user;
  }

  bool MatchDimensions(Attention* attention) const {
    const DotSide lhs = LhsOf(*attention->scores), rhs = RhsOf(*attention->scores);
    const size_t batches = lhs.batch.size();
    const std::vector<int64_t> keys = {attention->key_dimension};
    if (Of(*attention, batches + lhs.free.size(), rhs.free.size()) == keys) {
      attention->keys_operand = 1;
    } else if (Of(*attention, batches, lhs.free.size()) == keys) {
      attention->keys_operand = 0;
    } else {
      return false;
    }
    const DotSide weights = attention->weights_operand == 0 ? LhsOf(product_) : RhsOf(product_);
    std::vector<int64_t> product_batches;
    for (int64_t d : weights.batch) {
      if (const int64_t in_logits = attention->weight_dimensions[d]; in_logits >= 0)
        product_batches.push_back(in_logits);
    }
    std::vector<int64_t> score_batches = Of(*attention, 0, batches);
    absl::c_sort(product_batches);
    absl::c_sort(score_batches);
    return product_batches == score_batches;
  }

  // Sets the members: what lies on a path from the scores to the product. Fails if others read them.
  bool CollectMembers(Attention* attention) const {
    const absl::flat_hash_set<const HloInstruction*> softmax(softmax_.begin(), softmax_.end());
    absl::flat_hash_set<const HloInstruction*> members = softmax;
    members.insert(attention->scores);
    members.insert(&product_);
    // Users of members, up to the softmax.
    std::vector<const HloInstruction*> work = {attention->scores};
    bool reaches_logits = false;
    while (!work.empty()) {
      const HloInstruction* member = work.back();
      work.pop_back();
      if (member->IsRoot() || !member->control_successors().empty() || !member->control_predecessors().empty() ||
          members.size() > softmax_.size() + kMostLogitMembers)
        return false;
      reaches_logits |= member == logits_;
      for (const HloInstruction* user : member->users()) {
        if (members.contains(user)) continue;
        // What follows the logits is of the softmax.
        if (member == logits_) return false;
        members.insert(user);
        work.push_back(user);
      }
      // There may be several paths to the logits, but only one index.
      for (const HloInstruction* user : member->users()) {
        if (member == logits_ || softmax.contains(user)) continue;
        const auto of_user = dimensions_.find(user), own = dimensions_.find(member);
        if (of_user == dimensions_.end() || own == dimensions_.end() ||
            DimensionsOf(*member, *user, of_user->second) != own->second)
          return false;
      }
    }
    if (!reaches_logits) return false;
    for (const HloInstruction* member : softmax_) {
      if (member->IsRoot() || !member->control_successors().empty() || !member->control_predecessors().empty())
        return false;
      for (const HloInstruction* user : member->users()) {
        if (!members.contains(user)) return false;
      }
    }
    // Operands first.
    absl::flat_hash_set<const HloInstruction*> done;
    std::vector<std::pair<const HloInstruction*, bool>> stack = {{&product_, false}};
    while (!stack.empty()) {
      auto [member, expanded] = stack.back();
      stack.pop_back();
      if (expanded) {
        attention->members.push_back(member);
        continue;
      }
      if (!done.insert(member).second) continue;
      stack.push_back({member, true});
      for (const HloInstruction* operand : member->operands()) {
        if (members.contains(operand)) stack.push_back({operand, false});
      }
    }
    return attention->members.size() == members.size();
  }

  const HloInstruction& product_;
  const HloInstruction *weights_ = nullptr, *logits_ = nullptr;
  int64_t weights_keys_ = 0;  // the dimension of the keys
  // The dimension of the logits that each dimension is, of what they are computed from.
  absl::flat_hash_map<const HloInstruction*, std::vector<int64_t>> dimensions_;
  std::vector<const HloInstruction*> softmax_;  // all members between the logits and the product
};

}  // namespace

std::optional<Attention> AttentionOf(const HloInstruction& instruction) {
  const HloInstruction* root = HeroOf(&instruction);
  const bool is_transposed = root != &instruction && root->opcode() == HloOpcode::kTranspose;
  const HloInstruction* product = is_transposed ? root->operand(0) : root;
  if (product->opcode() != HloOpcode::kDot) return std::nullopt;
  std::optional<Attention> attention = AttentionMatcher(*product).Match();
  if (attention.has_value() && root != &instruction && attention->result != root) return std::nullopt;
  return attention;
}

}  // namespace hilo
