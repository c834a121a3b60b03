#include "hlo/analysis/attention.h"

#include <limits>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/score_chain.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Instructions between the product and the result: a transpose and a convert, in either order, and another convert.
constexpr int kMaxAfterProduct = 3;

bool IsFloat(const HloInstruction& instruction) {
  return instruction.shape().IsArray() && IsFloatingPointType(instruction.shape().element_type());
}

// For each dimension of an array, that of another one with the same sizes but for dimensions of size 1; -1 for those of
// size 1. Nullopt if the sizes differ.
std::optional<std::vector<int64_t>> Corresponding(const Shape& shape, const Shape& other) {
  std::vector<int64_t> dimensions(shape.rank(), -1);
  int64_t next = 0;
  const auto skip_units = [&] {
    while (next < other.rank() && other.dimensions(next) == 1) ++next;
  };
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) == 1) continue;
    skip_units();
    if (next == other.rank() || other.dimensions(next) != shape.dimensions(d)) return std::nullopt;
    dimensions[d] = next++;
  }
  skip_units();
  if (next < other.rank()) return std::nullopt;
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
    return IsReshapeOfUnits(instruction);
  }

  // Follows converts and reshapes, which become members, to `end` at most.
  const HloInstruction* SkipViews(const HloInstruction* instruction, const HloInstruction* end = nullptr) {
    while (instruction != end && IsView(*instruction)) instruction = Add(instruction)->operand(0);
    return instruction;
  }

  // Returns the dimension of the keys in an array that has the sizes of the weights; -1: it has others.
  int64_t KeysIn(const Shape& shape) const {
    const std::optional<std::vector<int64_t>> dimensions = Corresponding(weights_->shape(), shape);
    return dimensions.has_value() ? (*dimensions)[weights_keys_] : -1;
  }

  // Returns what `instruction`, which has the dimensions of the weights, repeats along the keys; null: nothing.
  const HloInstruction* SkipBroadcast(const HloInstruction* instruction) {
    instruction = SkipViews(instruction);
    if (instruction->opcode() != HloOpcode::kBroadcast) return nullptr;
    std::vector<int64_t> rows(instruction->shape().rank());
    std::iota(rows.begin(), rows.end(), 0);
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
    const HloInstruction* of_sink = nullptr;
    if (sum != nullptr && sum->opcode() == HloOpcode::kAdd) {
      const int64_t single = sum->operand(0)->opcode() == HloOpcode::kExp ? 0 : 1;
      of_sink = Add(sum)->operand(single);
      sum = SkipViews(sum->operand(1 - single));
    }
    if (sum == nullptr || exponential->opcode() != HloOpcode::kExp ||
        SkipReduction(sum, HloOpcode::kAdd, exponential) != exponential)
      return false;
    const HloInstruction* difference = SkipViews(Add(exponential)->operand(0));
    if (difference->opcode() != HloOpcode::kSubtract) return false;
    // The maximum may be that of what the difference takes a reshape of, so the logits are what both are views of.
    logits_ = SkipViews(Add(difference)->operand(0));
    const HloInstruction* maximum = SkipBroadcast(difference->operand(1));
    sink_ = nullptr;
    if (maximum != nullptr && of_sink != nullptr) maximum = SkipSink(maximum, of_sink);
    // Programs take the maximum of the maximum and -inf, too.
    if (maximum != nullptr && maximum->opcode() == HloOpcode::kMaximum) {
      const int64_t other = IsLowest(*maximum->operand(0)) ? 0 : 1;
      if (!IsLowest(*maximum->operand(other))) return false;
      maximum = SkipViews(Add(maximum)->operand(1 - other));
    }
    if (maximum == nullptr) return false;
    return SkipReduction(maximum, HloOpcode::kMaximum, logits_) == logits_;
  }

  // Matches the maximum of the logits and the sink, of which `exponential` is the sum's term; returns that of the
  // logits, null if there is none.
  const HloInstruction* SkipSink(const HloInstruction* maximum, const HloInstruction* exponential) {
    if (maximum->opcode() != HloOpcode::kMaximum || exponential->opcode() != HloOpcode::kExp) return nullptr;
    const HloInstruction* difference = Add(exponential)->operand(0);
    if (difference->opcode() != HloOpcode::kSubtract || Add(difference)->operand(1) != maximum) return nullptr;
    sink_ = difference->operand(0);
    const int64_t other = maximum->operand(0) == sink_ ? 0 : 1;
    std::vector<int64_t> sizes(logits_->shape().dimensions().begin(), logits_->shape().dimensions().end());
    const int64_t keys = KeysIn(logits_->shape());
    if (maximum->operand(other) != sink_ || keys < 0) return nullptr;
    sizes.erase(sizes.begin() + keys);
    if (!absl::c_equal(sink_->shape().dimensions(), sizes)) return nullptr;
    return SkipViews(Add(maximum)->operand(1 - other));
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

  std::optional<Attention> MatchLogits(int64_t weights) const {
    if (!IsFloat(*logits_)) return std::nullopt;
    const int64_t keys = KeysIn(logits_->shape());
    if (keys < 0) return std::nullopt;
    for (const ScoreChain& chain : ScoreChainsOf(product_, weights)) {
      if (!IsSoftmaxOfLogits(chain)) continue;
      Attention attention{.product = &product_,
                          .scores = chain.first,
                          .logits = logits_,
                          .sink = sink_,
                          .weights_operand = weights,
                          .key_dimension = keys,
                          .weight_dimensions = *Corresponding(weights_->shape(), logits_->shape()),
                          .members = {chain.members.begin(), chain.members.end()}};
      // Transposes may be between the scores and the logits. What runs along no row runs along the keys.
      const ScoreAxes& axes = chain.axes.at(chain.first);
      for (int64_t d = 0; d < chain.first->shape().rank(); ++d) {
        const bool is_unit = chain.first->shape().dimensions(d) == 1;
        attention.score_dimensions.push_back(is_unit ? -1 : axes[d] < 0 ? keys : attention.weight_dimensions[axes[d]]);
      }
      if (!MatchDimensions(&attention)) continue;
      attention.members.push_back(&product_);
      FollowResult(&attention);
      return attention;
    }
    return std::nullopt;
  }

  // Returns true if the chain is the softmax of the logits, and what is between the first dot and these takes elements
  // of the scores one at a time.
  bool IsSoftmaxOfLogits(const ScoreChain& chain) const {
    const absl::flat_hash_set<const HloInstruction*> softmax(softmax_.begin(), softmax_.end());
    if (!chain.Has(logits_) || (sink_ != nullptr && chain.Has(sink_))) return false;
    return absl::c_all_of(chain.members, [&](const HloInstruction* member) {
      if (softmax.contains(member)) return true;
      if (member->opcode() == HloOpcode::kReduce || member->opcode() == HloOpcode::kBroadcast) return false;
      return absl::c_all_of(member->users(), [&](const HloInstruction* user) {
        return (softmax.contains(user) || user == &product_) == (member == logits_);
      });
    });
  }

  // The dimensions of the logits that dimensions `first`, `first` + 1 ... of the scores are, without those of size 1.
  static std::vector<int64_t> Of(const Attention& attention, size_t first, size_t count) {
    std::vector<int64_t> dimensions;
    for (size_t i = first; i < first + count; ++i) {
      const int64_t d = attention.score_dimensions[i];
      if (d >= 0) dimensions.push_back(d);
    }
    return dimensions;
  }

  // Adds what is computed from the product alone: a transpose, if features stay adjacent, and converts.
  void FollowResult(Attention* attention) const {
    const DotSide values = attention->weights_operand == 0 ? RhsOf(product_) : LhsOf(product_);
    int64_t last_feature = attention->weights_operand == 0
                               ? product_.shape().rank() - 1
                               : static_cast<int64_t>(values.batch.size() + values.free.size()) - 1;
    bool may_transpose = !values.free.empty();
    attention->result = &product_;
    for (int i = 0; i < kMaxAfterProduct; ++i) {
      const HloInstruction& last = *attention->result;
      if (last.IsRoot() || last.user_count() != 1 || !last.control_successors().empty()) return;
      const HloInstruction& user = *last.users()[0];
      if (!user.control_predecessors().empty()) return;
      if (user.opcode() == HloOpcode::kTranspose && may_transpose &&
          user.attrs<TransposeAttrs>().dimensions.back() == last_feature) {
        may_transpose = false;
      } else if (user.opcode() != HloOpcode::kConvert || !IsFloat(user)) {
        return;
      }
      attention->result = &user;
      attention->members.push_back(&user);
    }
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

  const HloInstruction& product_;
  const HloInstruction *weights_ = nullptr, *logits_ = nullptr, *sink_ = nullptr;
  int64_t weights_keys_ = 0;                    // the dimension of the keys
  std::vector<const HloInstruction*> softmax_;  // all members between the logits and the product
};

}  // namespace

std::optional<Attention> AttentionOf(const HloInstruction& instruction) {
  const HloInstruction* root = HeroOf(&instruction);
  const HloInstruction* product = root;
  for (int i = 0; i < kMaxAfterProduct && root != &instruction; ++i) {
    if (product->opcode() == HloOpcode::kTranspose || product->opcode() == HloOpcode::kConvert)
      product = product->operand(0);
  }
  if (product->opcode() != HloOpcode::kDot) return std::nullopt;
  std::optional<Attention> attention = AttentionMatcher(*product).Match();
  if (attention.has_value() && root != &instruction && attention->result != root) return std::nullopt;
  return attention;
}

}  // namespace hilo
