// A dot takes in the element-wise instructions that use its result, as long as they have its dimensions, and those that
// its operands are computed by:
//
//   w = f32[k,n] convert(s8[k,n] q)
//   d = f32[m,n] dot(x, w)
//   s = f32[m,n] add(d, broadcast(bias))           f = f32[m,n] fusion(x, q, bias), kind=kOutput
//   ROOT r = f32[m,n] tanh(s)                 =>
//
// A consumer joins only if no path leads from the group through the outside to it. Producers join if the group is all
// that reads them, or if reading their operands again costs no more than reading their result: those are copied. None
// of them depends on the group, as a consumer with such an operand does not join.
#include "hlo/passes/dots/dot_fusion.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/fusion/fused_members.h"
#include "hlo/passes/fusion/fusion_pass.h"

namespace hilo {
namespace {

// Instructions that are visited after a group's last consumer without one that joins.
constexpr int64_t kReach = 400;

// Producers besides element-wise ones.
constexpr OpcodeSet kDotViews = {HloOpcode::kBroadcast, HloOpcode::kConcatenate, HloOpcode::kDynamicSlice,
                                 HloOpcode::kIota,      HloOpcode::kReshape,     HloOpcode::kSlice};

// The operand of members that are part of the epilogue, or that its other operands are computed by.
constexpr int64_t kEpilogue = -1;

double ArrayBytes(const HloInstruction& instruction) {
  return instruction.shape().IsArray() ? static_cast<double>(ShapeUtil::ByteSizeOf(instruction.shape())) : 0;
}

double OperandBytes(const HloInstruction& instruction) {
  double bytes = 0;
  for (const HloInstruction* operand : instruction.operands()) bytes += ArrayBytes(*operand);
  return bytes;
}

// The instructions of a computation, operands first, with null between some of them. Stays valid as fusions are made.
class InstructionOrder {
 public:
  explicit InstructionOrder(const HloComputation& computation) {
    for (HloInstruction* instruction : computation.MakePostOrder()) {
      Append(instruction);
      if (instruction->opcode() == HloOpcode::kDot) Append(nullptr);  // its fusion needs an index beside its results
    }
  }

  int64_t size() const { return static_cast<int64_t>(order_.size()); }
  HloInstruction* operator[](int64_t i) const { return order_[i]; }
  int64_t IndexOf(const HloInstruction* instruction) const { return index_.at(instruction); }

  void Remove(const HloInstruction* instruction) {
    order_[index_.at(instruction)] = nullptr;
    index_.erase(instruction);
  }

  // Gives `added` indices from `first` to `last`: before the instructions there for which `is_later` holds, after the
  // others.
  void Insert(int64_t first, int64_t last, absl::Span<HloInstruction* const> added,
              absl::FunctionRef<bool(const HloInstruction*)> is_later) {
    std::vector<HloInstruction*> earlier, later;
    for (int64_t i = first; i <= last; ++i) {
      if (order_[i] != nullptr) (is_later(order_[i]) ? later : earlier).push_back(order_[i]);
    }
    earlier.insert(earlier.end(), added.begin(), added.end());
    earlier.insert(earlier.end(), later.begin(), later.end());
    earlier.resize(last - first + 1, nullptr);
    for (int64_t i = first; i <= last; ++i) {
      order_[i] = earlier[i - first];
      if (order_[i] != nullptr) index_[order_[i]] = i;
    }
  }

 private:
  void Append(HloInstruction* instruction) {
    if (instruction != nullptr) index_[instruction] = size();
    order_.push_back(instruction);
  }

  std::vector<HloInstruction*> order_;
  absl::flat_hash_map<const HloInstruction*, int64_t> index_;
};

class DotGroup {
 public:
  DotGroup(const Target& target, const DotFusionOptions& options, HloInstruction* dot)
      : target_(target), options_(options), dot_(dot) {
    Add(dot);
    consumers_ = {dot};
  }

  void AddConsumers(const InstructionOrder& order) {
    const int64_t first = order.IndexOf(dot_);
    int64_t last = first;
    for (int64_t i = first + 1; i < order.size() && i - last <= kReach; ++i) {
      HloInstruction* instruction = order[i];
      if (instruction == nullptr) continue;
      const auto operands = instruction->operands();
      const bool outside = std::any_of(operands.begin(), operands.end(),
                                       [&](const HloInstruction* operand) { return below_.contains(operand); });
      const bool depends =
          std::any_of(operands.begin(), operands.end(), [&](const HloInstruction* operand) { return Has(operand); });
      if (!outside && !depends) continue;
      if (outside || !IsConsumer(*instruction)) {
        below_.insert(instruction);
        continue;
      }
      Add(instruction);
      consumers_.push_back(instruction);
      last = i;
    }
    Trim();
  }

  void AddProducers() {
    std::vector<std::pair<HloInstruction*, int64_t>> work;
    const auto push_operands = [&](HloInstruction* user, int64_t number) {
      for (HloInstruction* operand : user->operands()) work.push_back({operand, number});
    };
    for (int64_t i = 0; i < dot_->operand_count(); ++i) work.push_back({dot_->operand(i), i});
    for (HloInstruction* consumer : consumers_) {
      if (consumer != dot_) push_operands(consumer, kEpilogue);
    }
    // A producer with several users in the group joins when the last of them has, so each of them tries.
    while (!work.empty()) {
      const auto [producer, number] = work.back();
      work.pop_back();
      if (Has(producer) || !IsProducer(*producer, number)) continue;
      Add(producer);
      push_operands(producer, number);
    }
  }

  // Replaces the members by a fusion, if there are others than the dot.
  absl::StatusOr<bool> Build(InstructionOrder* order) const {
    if (members_.size() == 1) return false;
    std::vector<HloInstruction*> members(members_.begin(), members_.end());
    std::sort(members.begin(), members.end(),
              [&](const HloInstruction* a, const HloInstruction* b) { return order->IndexOf(a) < order->IndexOf(b); });
    FusedMembers inside(dot_->parent(), "fused_dot");
    for (HloInstruction* member : members) inside.Add(member);
    const int64_t first = order->IndexOf(dot_), last = std::max(order->IndexOf(consumers_.back()), first + 1);
    HILO_ASSIGN_OR_RETURN(HloInstruction * fusion, inside.Replace(OutputsOf(consumers_.size()), FusionKind::kOutput,
                                                                  absl::StrCat(consumers_.back()->name(), "_dot")));
    for (const HloInstruction* removed : inside.removed()) order->Remove(removed);
    std::vector<HloInstruction*> added = {fusion};
    if (fusion->shape().IsTuple()) added.insert(added.end(), fusion->users().begin(), fusion->users().end());
    order->Insert(first, last, added, [&](const HloInstruction* other) { return below_.contains(other); });
    return true;
  }

 private:
  bool Has(const HloInstruction* instruction) const {
    return members_.contains(const_cast<HloInstruction*>(instruction));
  }

  void Add(HloInstruction* instruction) {
    members_.insert(instruction);
    reads_.erase(instruction);
    for (const HloInstruction* operand : instruction->operands()) {
      if (!Has(operand) && !IsFusedConstant(*operand)) reads_.insert(operand);
    }
  }

  bool HasRoomFor(const HloInstruction& instruction) const {
    return members_.size() < kDotLimits.members && reads_.size() + instruction.operand_count() <= kDotLimits.operands;
  }

  bool MayJoin(const HloInstruction& instruction) const {
    return instruction.shape().IsArray() && !instruction.HasControlDependencies() && !instruction.HasSideEffect() &&
           !instruction.IsDead() && target_.IsFusible(instruction) && HasRoomFor(instruction);
  }

  bool IsConsumer(const HloInstruction& instruction) const {
    return IsElementwise(instruction.opcode()) && ShapeUtil::SameDimensions(instruction.shape(), dot_->shape()) &&
           MayJoin(instruction) && options_.takes_consumer(*dot_, instruction);
  }

  bool IsProducer(const HloInstruction& instruction, int64_t number) const {
    if (instruction.IsParameter() || instruction.IsConstant() || !MayJoin(instruction)) return false;
    if (!IsElementwise(instruction.opcode()) && !kDotViews.contains(instruction.opcode())) return false;
    if (number != kEpilogue && !options_.takes_producer(*dot_, number, instruction)) return false;
    const auto& users = instruction.users();
    if (!instruction.IsRoot() &&
        std::all_of(users.begin(), users.end(), [&](const HloInstruction* user) { return Has(user); }))
      return true;
    if (IsFreeToRepeat(instruction)) return true;
    return number != kEpilogue && static_cast<int64_t>(users.size()) <= kMaxCopies &&
           !IsExpensiveToRepeat(instruction) && OperandBytes(instruction) <= ArrayBytes(instruction);
  }

  // The first `count` consumers that are read elsewhere than by each other.
  std::vector<HloInstruction*> OutputsOf(size_t count) const {
    const absl::flat_hash_set<const HloInstruction*> inside(consumers_.begin(),
                                                            consumers_.begin() + static_cast<int64_t>(count));
    std::vector<HloInstruction*> outputs;
    for (size_t i = 0; i < count; ++i) {
      const auto& users = consumers_[i]->users();
      if (consumers_[i]->IsRoot() ||
          std::any_of(users.begin(), users.end(), [&](const HloInstruction* user) { return !inside.contains(user); }))
        outputs.push_back(consumers_[i]);
    }
    return outputs;
  }

  double OutputBytes(size_t count) const {
    double bytes = 0;
    for (const HloInstruction* output : OutputsOf(count)) bytes += ArrayBytes(*output);
    return bytes;
  }

  // Leaves the last consumers to the kernels that read the results, if that is less memory: such as a convert from 16
  // to 32 bits before a softmax.
  void Trim() {
    const size_t all = consumers_.size();
    const auto reads_by_loop = [&](const HloInstruction* user) {
      return user->opcode() == HloOpcode::kReduce ||
             (target_.IsFusible(*user) && !HasTrait(user->opcode(), kForwarding));
    };
    bool absorbed = true;
    for (const HloInstruction* output : OutputsOf(all)) {
      const auto& users = output->users();
      absorbed = absorbed && !output->IsRoot() && std::all_of(users.begin(), users.end(), reads_by_loop);
    }
    const double last = OutputBytes(all);
    size_t best = all;
    double least = absorbed ? 2 * last : last;
    for (size_t count = all - 1; count > 0; --count) {
      const double bytes = 2 * OutputBytes(count) + (absorbed ? 0 : last);
      if (bytes < least) {
        least = bytes;
        best = count;
      }
    }
    if (best == all) return;
    consumers_.resize(best);
    members_.clear();
    reads_.clear();
    for (HloInstruction* consumer : consumers_) Add(consumer);
  }

  const Target& target_;
  const DotFusionOptions& options_;
  HloInstruction* const dot_;
  std::vector<HloInstruction*> consumers_;  // the dot, and what depends on it, operands first
  absl::flat_hash_set<HloInstruction*> members_;
  absl::flat_hash_set<const HloInstruction*> reads_;  // by members, from outside
  absl::flat_hash_set<const HloInstruction*> below_;  // outside instructions that depend on the group
};

class DotFusion : public FusionPass {
 public:
  DotFusion(const Target* target, DotFusionOptions options) : target_(*target), options_(std::move(options)) {}
  absl::string_view name() const override { return "fuse-dots"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    const auto all = computation->instructions();
    const auto is_dot = [](const HloInstruction* instruction) { return instruction->opcode() == HloOpcode::kDot; };
    if (std::none_of(all.begin(), all.end(), is_dot)) return false;
    bool changed = false;
    InstructionOrder order(*computation);
    for (int64_t i = 0; i < order.size(); ++i) {
      HloInstruction* dot = order[i];
      if (dot == nullptr || dot->opcode() != HloOpcode::kDot || dot->IsDead() || dot->HasControlDependencies() ||
          !options_.takes_dot(*dot))
        continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      DotGroup group(target_, options_, dot);
      group.AddConsumers(order);
      group.AddProducers();
      HILO_ASSIGN_OR_RETURN(const bool built, group.Build(&order));
      if (!built) continue;
      changed = true;
      --i;  // another instruction has this index now
    }
    return changed;
  }

  const Target& target_;
  const DotFusionOptions options_;
};

}  // namespace

std::unique_ptr<HloPass> MakeDotFusion(const Target* target, DotFusionOptions options) {
  return std::make_unique<DotFusion>(target, std::move(options));
}

}  // namespace hilo
