#include "hlo/memory/value_liveness.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "base/work_budget.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/in_place.h"

namespace hilo {
namespace {

// Sets larger than this stay as they are: comparing members pair by pair would no longer be cheap.
constexpr size_t kMaxSetSize = 512;

// The leaves of tuples by element. Computed once for each shape, as every element of a large tuple asks. Shapes must
// outlive it.
class ElementLeaves {
 public:
  // Number of the first leaf of element `element` of a tuple.
  int64_t FirstLeaf(const Shape& tuple, int64_t element) { return FirstLeaves(tuple)[element]; }

  // The element that leaf number `leaf` of a tuple belongs to.
  int64_t ElementOf(const Shape& tuple, int64_t leaf) {
    const std::vector<int64_t>& first = FirstLeaves(tuple);
    return std::upper_bound(first.begin(), first.end(), leaf) - first.begin() - 1;
  }

 private:
  const std::vector<int64_t>& FirstLeaves(const Shape& tuple) {
    const auto [it, fresh] = first_leaves_.try_emplace(&tuple);
    if (!fresh) return it->second;
    int64_t next = 0;
    for (const Shape& element : tuple.tuple_shapes()) {
      it->second.push_back(next);
      next += LeafCount(element);
    }
    return it->second;
  }

  absl::flat_hash_map<const Shape*, std::vector<int64_t>> first_leaves_;
};

// Follows one leaf back through forwarding instructions to where it is defined, without crossing computations.
LeafRef ResolveLocally(LeafRef leaf, ElementLeaves* leaves) {
  while (IsForwarding(*leaf.instruction)) {
    const HloInstruction& forward = *leaf.instruction;
    if (forward.opcode() == HloOpcode::kTuple) {
      const int64_t element = leaves->ElementOf(forward.shape(), leaf.leaf);
      leaf = {forward.operand(element), leaf.leaf - leaves->FirstLeaf(forward.shape(), element)};
    } else if (forward.opcode() == HloOpcode::kGetTupleElement) {
      const HloInstruction* tuple = forward.operand(0);
      leaf = {tuple, leaf.leaf + leaves->FirstLeaf(tuple->shape(), forward.tuple_index())};
    } else {
      leaf = {forward.operand(0), leaf.leaf};
    }
  }
  return leaf;
}

bool HasBytes(const Shape& leaf) { return leaf.IsArray() && !ShapeUtil::IsZeroElementArray(leaf); }

}  // namespace

std::vector<bool> PassThroughLeaves(const HloInstruction& while_instruction) {
  const HloComputation& body = *while_instruction.called_computation(1);
  const int64_t count = LeafCount(while_instruction.shape());
  std::vector<bool> through(count, false);
  // Nested loops that pass a leaf on unchanged are followed too; each is analyzed once.
  absl::flat_hash_map<const HloInstruction*, std::vector<bool>> nested;
  ElementLeaves leaves;
  for (int64_t i = 0; i < count; ++i) {
    LeafRef leaf = ResolveLocally({body.root_instruction(), i}, &leaves);
    while (leaf.instruction->opcode() == HloOpcode::kWhile) {
      auto [it, fresh] = nested.try_emplace(leaf.instruction);
      if (fresh) it->second = PassThroughLeaves(*leaf.instruction);
      if (!nested.at(leaf.instruction)[leaf.leaf]) break;
      leaf = ResolveLocally({leaf.instruction->operand(0), leaf.leaf}, &leaves);
    }
    through[i] = leaf.instruction == body.parameter_instruction(0) && leaf.leaf == i;
  }
  return through;
}

std::vector<Lifetime> HloValue::Segments() const {
  std::vector<Lifetime> segments;
  int64_t from = start;
  for (const Lifetime& gap : gaps) {
    if (from < gap.start) segments.push_back({from, gap.start});
    from = gap.end;
  }
  if (from < end) segments.push_back({from, end});
  return segments;
}

// Walks a scope along its line, making values. Recurses once a level of loops and branches, which the scheduler limits.
class ScopeWalker {
 public:
  ScopeWalker(const HloModule& module, const CancellationToken* cancellation, ScopeValues* out)
      : module_(module), budget_(cancellation, "compilation"), out_(*out) {}

  absl::Status Walk(const HloComputation& scope) {
    int64_t parameter_leaf = 0;
    for (const HloInstruction* parameter : scope.parameter_instructions()) {
      std::vector<int64_t> values;
      for (int64_t leaf = 0, leaves = LeafCount(parameter->shape()); leaf < leaves; ++leaf) {
        const int64_t value = NewValue({parameter, leaf}, 0);
        out_.values_[value].fixed = StorageKind::kParameter;
        out_.values_[value].fixed_index = parameter_leaf++;
        values.push_back(value);
      }
      SetLeaves(parameter, std::move(values));
    }
    HILO_RETURN_IF_ERROR(WalkComputation(scope));
    const int64_t end = ProgramPoint(next_position_) + 2;
    FixOutputs(scope, end);
    if (scope.IsEntry()) Donate(scope);
    FindGaps();
    SortCandidates();
    return absl::OkStatus();
  }

 private:
  struct Branch {
    int conditional;
    int64_t begin, end = 0;                                // program points
    absl::flat_hash_map<int64_t, int64_t> last_uses = {};  // of values from outside the branch
  };
  struct Conditional {
    int parent;  // the branch that it is in, or -1
    std::vector<int> branches = {};
    int64_t end = 0;
  };

  static int64_t ProgramPoint(int64_t position) { return 2 * position; }

  int64_t NewValue(LeafRef definition, int64_t start) {
    const int64_t id = static_cast<int64_t>(out_.values_.size());
    HloValue value{.definition = definition, .shape = LeafShape(definition), .start = start, .end = start + 1};
    value.content = id;
    out_.values_.push_back(std::move(value));
    return id;
  }

  const Shape* LeafShape(LeafRef leaf) {
    const Shape& shape = leaf.instruction->shape();
    if (!shape.IsTuple()) return &shape;
    auto [it, fresh] = leaf_shapes_.try_emplace(&shape);
    if (fresh) {
      for (const auto& entry : ShapeUtil::Leaves(shape)) it->second.push_back(entry.shape);
    }
    return it->second[leaf.leaf];
  }

  void SetLeaves(const HloInstruction* instruction, std::vector<int64_t> values) {
    out_.leaves_[instruction] = std::move(values);
  }

  void Use(int64_t value, int64_t point) {
    HloValue& v = out_.values_[value];
    v.end = std::max(v.end, point);
    // What comes from outside a loop is needed again in the next iteration.
    for (const auto& [loop_start, users] : loops_) {
      if (v.start < loop_start) users->insert(value);
    }
    for (int branch : open_branches_) {
      if (v.start >= branches_[branch].begin) continue;
      int64_t& last = branches_[branch].last_uses[value];
      last = std::max(last, point);
    }
  }

  absl::Status WalkComputation(const HloComputation& computation) {
    constexpr int64_t kStep = 64;
    for (HloInstruction* instruction : module_.OrderOf(computation)) {
      HILO_RETURN_IF_ERROR(budget_.Spend(kStep));
      HILO_RETURN_IF_ERROR(WalkInstruction(instruction));
    }
    return absl::OkStatus();
  }

  absl::Status WalkInstruction(const HloInstruction* instruction) {
    if (instruction->IsParameter()) return absl::OkStatus();  // bound by the caller of the computation
    if (IsForwarding(*instruction)) {
      Forward(instruction);
      AppendToOrder(instruction);
      return absl::OkStatus();
    }
    if (instruction->opcode() == HloOpcode::kWhile) return WalkWhile(instruction);
    if (instruction->opcode() == HloOpcode::kConditional) return WalkConditional(instruction);
    WalkPlain(instruction);
    return absl::OkStatus();
  }

  int64_t AppendToOrder(const HloInstruction* instruction) {
    out_.order_.push_back(instruction);
    out_.positions_[instruction] = next_position_;
    return next_position_++;
  }

  void Forward(const HloInstruction* instruction) {
    std::vector<int64_t> values;
    if (instruction->opcode() == HloOpcode::kTuple) {
      for (const HloInstruction* operand : instruction->operands()) {
        const auto& leaves = out_.ValuesOf(operand);
        values.insert(values.end(), leaves.begin(), leaves.end());
      }
    } else if (instruction->opcode() == HloOpcode::kGetTupleElement) {
      const auto& leaves = out_.ValuesOf(instruction->operand(0));
      const int64_t offset = element_leaves_.FirstLeaf(instruction->operand(0)->shape(), instruction->tuple_index());
      values.assign(leaves.begin() + offset, leaves.begin() + offset + LeafCount(instruction->shape()));
    } else {
      values = out_.ValuesOf(instruction->operand(0));
    }
    SetLeaves(instruction, std::move(values));
  }

  void WalkPlain(const HloInstruction* instruction) {
    const int64_t position = AppendToOrder(instruction);
    for (const HloInstruction* operand : instruction->operands()) {
      for (int64_t value : out_.ValuesOf(operand)) Use(value, ProgramPoint(position) + 2);
    }
    std::vector<int64_t> values;
    for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf) {
      const int64_t value = NewValue({instruction, leaf}, ProgramPoint(position) + 1);
      out_.values_[value].end = ProgramPoint(position) + 2;  // written even if it is never read
      values.push_back(value);
    }
    if (instruction->IsConstant()) {
      out_.values_[values[0]].fixed = StorageKind::kConstant;
      out_.values_[values[0]].fixed_index = -1;  // numbered by the assignment
      out_.values_[values[0]].start = 0;
    }
    if (instruction->opcode() == HloOpcode::kCopy) {
      const int64_t source = out_.ValuesOf(instruction->operand(0))[0];
      out_.values_[values[0]].content = out_.values_[source].content;
    }
    for (const InPlacePair& pair : InPlacePairs(*instruction)) {
      const std::vector<int64_t>& operand = out_.ValuesOf(instruction->operand(pair.operand));
      if (operand.size() != 1 || IsReadOtherwise(instruction, pair, operand[0])) continue;
      out_.values_[operand[0]].in_place_successors.push_back(values[pair.output]);
      out_.coalescing_candidates_.push_back({.from = operand[0],
                                             .to = values[pair.output],
                                             .instruction = instruction,
                                             .bytes = ShapeUtil::ByteSizeOf(*out_.values_[operand[0]].shape),
                                             .benefit = BenefitOf(*instruction, pair),
                                             .loop_depth = static_cast<int64_t>(loops_.size())});
    }
    SetLeaves(instruction, std::move(values));
  }

  // What saves work comes before what saves memory, inner loops before outer ones, and among equal candidates
  // the later on the line: what a loop or conditional around others hands on settles where their results should go.
  void SortCandidates() {
    std::reverse(out_.coalescing_candidates_.begin(), out_.coalescing_candidates_.end());
    std::stable_sort(out_.coalescing_candidates_.begin(), out_.coalescing_candidates_.end(),
                     [](const auto& a, const auto& b) {
                       const bool a_saves_work = ScopeValues::SavesWork(a.benefit);
                       const bool b_saves_work = ScopeValues::SavesWork(b.benefit);
                       return std::tie(b.bytes, b_saves_work, b.loop_depth, b.benefit) <
                              std::tie(a.bytes, a_saves_work, a.loop_depth, a.benefit);
                     });
  }

  static ScopeValues::CoalescingBenefit BenefitOf(const HloInstruction& instruction, const InPlacePair& pair) {
    using Benefit = ScopeValues::CoalescingBenefit;
    if (pair.updates_part) return Benefit::kUpdate;
    if (instruction.opcode() != HloOpcode::kCopy) return Benefit::kInPlacePair;
    const bool temporary = instruction.user_count() == 1 && instruction.users()[0]->opcode() == HloOpcode::kCopy;
    return temporary ? Benefit::kCopiedAgain : Benefit::kCopy;
  }

  // True if the value of an in-place operand is also (by way of a view or of another tuple element) an operand that
  // does not allow it.
  bool IsReadOtherwise(const HloInstruction* instruction, const InPlacePair& pair, int64_t value) {
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      if (i == pair.operand) continue;
      const std::vector<int64_t>& other = out_.ValuesOf(instruction->operand(i));
      if (std::find(other.begin(), other.end(), value) == other.end()) continue;
      if (pair.updates_part) return true;
      const std::vector<InPlacePair> pairs = InPlacePairs(*instruction);
      const bool allowed = std::any_of(pairs.begin(), pairs.end(), [&](const InPlacePair& candidate) {
        return candidate.operand == i && candidate.output == pair.output && !candidate.updates_part;
      });
      if (!allowed) return true;
    }
    return false;
  }

  absl::Status WalkWhile(const HloInstruction* loop) {
    const HloComputation& condition = *loop->called_computation(0);
    const HloComputation& body = *loop->called_computation(1);
    const int64_t start = next_position_++;
    const std::vector<int64_t> init = out_.ValuesOf(loop->operand(0));
    const std::vector<bool> through = PassThroughLeaves(*loop);

    std::vector<int64_t> carried(init.size());
    for (size_t i = 0; i < init.size(); ++i) {
      Use(init[i], ProgramPoint(start));
      carried[i] = through[i]
                       ? init[i]
                       : NewValue({body.parameter_instruction(0), static_cast<int64_t>(i)}, ProgramPoint(start) + 1);
    }
    absl::flat_hash_set<int64_t> outside;
    loops_.push_back({ProgramPoint(start), &outside});
    SetLeaves(condition.parameter_instruction(0), carried);
    SetLeaves(body.parameter_instruction(0), carried);
    HILO_RETURN_IF_ERROR(WalkComputation(condition));
    const int64_t condition_end = next_position_++;
    for (int64_t value : out_.ValuesOf(condition.root_instruction())) Use(value, ProgramPoint(condition_end));
    for (size_t i = 0; i < init.size(); ++i) Use(carried[i], ProgramPoint(condition_end));
    HILO_RETURN_IF_ERROR(WalkComputation(body));
    const int64_t body_end = next_position_++;
    const std::vector<int64_t> next = out_.ValuesOf(body.root_instruction());
    for (size_t i = 0; i < init.size(); ++i) Use(next[i], ProgramPoint(body_end));
    loops_.pop_back();
    const int64_t end = AppendToOrder(loop);
    for (int64_t value : outside) {
      Use(value, ProgramPoint(end));
    }
    std::vector<int64_t> results(init.size());
    for (size_t i = 0; i < init.size(); ++i) {
      if (through[i]) {
        results[i] = init[i];
        continue;
      }
      results[i] = NewValue({loop, static_cast<int64_t>(i)}, ProgramPoint(end) + 1);
      if (HasBytes(*out_.values_[results[i]].shape))
        out_.required_.push_back({init[i], carried[i], next[i], results[i]});
    }
    SetLeaves(loop, std::move(results));
    return absl::OkStatus();
  }

  absl::Status WalkConditional(const HloInstruction* conditional) {
    const int64_t start = next_position_++;
    for (int64_t value : out_.ValuesOf(conditional->operand(0))) Use(value, ProgramPoint(start) + 2);
    const int64_t leaf_count = LeafCount(conditional->shape());
    std::vector<std::vector<int64_t>> shared(leaf_count);
    const int record = static_cast<int>(conditionals_.size());
    conditionals_.push_back({.parent = open_branches_.empty() ? -1 : open_branches_.back()});
    for (size_t branch = 0; branch < conditional->called_computations().size(); ++branch) {
      const HloComputation& computation = *conditional->called_computation(branch);
      const std::vector<int64_t> arguments = out_.ValuesOf(conditional->operand(branch + 1));
      for (int64_t value : arguments) Use(value, ProgramPoint(start) + 2);
      SetLeaves(computation.parameter_instruction(0), arguments);
      const int open = static_cast<int>(branches_.size());
      branches_.push_back({.conditional = record, .begin = ProgramPoint(next_position_)});
      conditionals_[record].branches.push_back(open);
      open_branches_.push_back(open);
      HILO_RETURN_IF_ERROR(WalkComputation(computation));
      const int64_t branch_end = next_position_++;
      const std::vector<int64_t>& results = out_.ValuesOf(computation.root_instruction());
      for (int64_t i = 0; i < leaf_count; ++i) {
        Use(results[i], ProgramPoint(branch_end));
        shared[i].push_back(results[i]);
      }
      // Up to where the next branch begins, so that a value read by the branch's very last instruction has a gap as
      // well.
      branches_[open].end = ProgramPoint(branch_end) + 2;
      open_branches_.pop_back();
    }
    const int64_t end = AppendToOrder(conditional);
    conditionals_[record].end = ProgramPoint(end);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < leaf_count; ++i) {
      values.push_back(NewValue({conditional, i}, ProgramPoint(end) + 1));
      shared[i].push_back(values.back());
      if (HasBytes(*out_.values_[values.back()].shape)) out_.required_.push_back(std::move(shared[i]));
    }
    SetLeaves(conditional, std::move(values));
    return absl::OkStatus();
  }

  // Whether `value`, from before the conditional, is needed after it.
  bool IsLiveAfter(int conditional, int64_t value) const {
    const HloValue& v = out_.values_[value];
    while (true) {
      const int64_t end = conditionals_[conditional].end;
      const int branch = conditionals_[conditional].parent;
      if (branch < 0 || v.start >= branches_[branch].begin) return v.end > end;
      const auto last = branches_[branch].last_uses.find(value);
      if (last != branches_[branch].last_uses.end() && last->second > end) return true;
      // Not needed in the rest of this branch; what its siblings on the line need does not count.
      conditional = branches_[branch].conditional;
    }
  }

  void AddGaps(const Conditional& conditional, int64_t value) {
    for (int index : conditional.branches) {
      const Branch& branch = branches_[index];
      const auto last = branch.last_uses.find(value);
      const int64_t from = last == branch.last_uses.end() ? branch.begin : last->second;
      out_.values_[value].gaps.push_back({from, branch.end});
    }
  }

  void FindGaps() {
    for (int i = 0; i < static_cast<int>(conditionals_.size()); ++i) {
      absl::flat_hash_map<int64_t, bool> live;
      for (int from : conditionals_[i].branches) {
        for (const auto& [value, unused] : branches_[from].last_uses) {
          auto [it, fresh] = live.try_emplace(value, false);
          if (!fresh) continue;
          it->second = IsLiveAfter(i, value);
          if (!it->second) AddGaps(conditionals_[i], value);
        }
      }
    }
    for (HloValue& value : out_.values_) {
      std::sort(value.gaps.begin(), value.gaps.end(),
                [](const Lifetime& a, const Lifetime& b) { return a.start < b.start; });
      // A gap of an inner conditional may lie in one of an outer one.
      std::vector<Lifetime> merged;
      for (const Lifetime& gap : value.gaps) {
        if (!merged.empty() && gap.start <= merged.back().end) {
          merged.back().end = std::max(merged.back().end, gap.end);
        } else {
          merged.push_back(gap);
        }
      }
      value.gaps = std::move(merged);
    }
  }

  void FixOutputs(const HloComputation& scope, int64_t end) {
    const auto& results = out_.ValuesOf(scope.root_instruction());
    for (size_t i = 0; i < results.size(); ++i) {
      HloValue& value = out_.values_[results[i]];
      value.end = end;
      if (value.fixed == StorageKind::kNone) {
        value.fixed = StorageKind::kOutput;
        value.fixed_index = static_cast<int64_t>(i);
      }
    }
  }

  // A donated parameter leaf is the memory of its output.
  void Donate(const HloComputation& entry) {
    for (const InputOutputAlias& alias : module_.input_output_aliases()) {
      const HloInstruction* parameter = entry.parameter_instruction(alias.parameter_number);
      const int64_t leaf = LeafNumber(parameter->shape(), alias.parameter_index);
      HloValue& value = out_.values_[out_.ValuesOf(parameter)[leaf]];
      const int64_t output = LeafNumber(entry.root_instruction()->shape(), alias.output_index);
      const int64_t result = out_.ValuesOf(entry.root_instruction())[output];
      if (!HasBytes(*value.shape) ||
          ShapeUtil::ByteSizeOf(*value.shape) != ShapeUtil::ByteSizeOf(*out_.values_[result].shape))
        continue;
      value.writable_parameter = true;
      value.fixed = StorageKind::kOutput;
      value.fixed_index = output;
      if (out_.values_[result].fixed == StorageKind::kOutput && result != out_.ValuesOf(parameter)[leaf]) {
        out_.required_.push_back({out_.ValuesOf(parameter)[leaf], result});
      }
    }
  }

  const HloModule& module_;
  WorkBudget budget_;
  ScopeValues& out_;
  int64_t next_position_ = 1;
  std::vector<Branch> branches_;
  std::vector<Conditional> conditionals_;
  std::vector<int> open_branches_;
  // Loops being walked: where each starts, and the values from outside that it uses.
  std::vector<std::pair<int64_t, absl::flat_hash_set<int64_t>*>> loops_;
  absl::flat_hash_map<const Shape*, std::vector<const Shape*>> leaf_shapes_;
  ElementLeaves element_leaves_;
};

absl::StatusOr<ScopeValues> ScopeValues::Create(const HloModule& module, const HloComputation& computation,
                                                int64_t loop_local_bytes, const CancellationToken* cancellation) {
  ScopeValues values;
  HILO_RETURN_IF_ERROR(ScopeWalker(module, cancellation, &values).Walk(computation));
  std::erase_if(values.coalescing_candidates_, [&](const CoalescingCandidate& candidate) {
    return candidate.bytes <= loop_local_bytes && values.values_[candidate.to].fixed == StorageKind::kOutput &&
           values.values_[candidate.from].definition.instruction->opcode() == HloOpcode::kWhile;
  });
  return values;
}

SharingSets::SharingSets(const std::vector<HloValue>& values) : values_(values) {
  for (size_t i = 0; i < values.size(); ++i) {
    parent_.push_back(i);
    members_.push_back({static_cast<int64_t>(i)});
    span_.push_back({values[i].start, values[i].end});
    lifetimes_.push_back({span_.back()});
    fixed_.push_back({values[i].fixed, values[i].fixed_index});
    content_.push_back(values[i].content);
  }
}

int64_t SharingSets::Find(int64_t value) const {
  while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
  return value;
}

bool SharingSets::Interfere(const HloValue& a, int64_t a_id, const HloValue& b, int64_t b_id) const {
  if (a.content == b.content) return false;
  if (a.start > b.start) return Interfere(b, b_id, a, a_id);
  if (a.end <= b.start) return false;
  const bool in_place =
      std::find(a.in_place_successors.begin(), a.in_place_successors.end(), b_id) != a.in_place_successors.end();
  if (a.gaps.empty() && b.gaps.empty()) return !(in_place && a.end == b.start + 1);
  for (Lifetime x : a.Segments()) {
    // b may be written over a where a is read for the last time.
    if (in_place && x.end == b.start + 1) x.end = b.start;
    for (const Lifetime& y : b.Segments()) {
      if (x.start < y.end && y.start < x.end) return true;
    }
  }
  return false;
}

bool SharingSets::Compatible(int64_t a, int64_t b, bool required) const {
  auto read_only = [&](int64_t root) {
    return fixed_[root].first == StorageKind::kParameter || fixed_[root].first == StorageKind::kConstant;
  };
  if (fixed_[a].first != StorageKind::kNone && fixed_[b].first != StorageKind::kNone && fixed_[a] != fixed_[b]) {
    return false;
  }
  if (!required && members_[a].size() + members_[b].size() > kMaxSetSize) return false;
  const Shape& shape_a = *values_[members_[a][0]].shape;
  const Shape& shape_b = *values_[members_[b][0]].shape;
  if (ShapeUtil::ByteSizeOf(shape_a) != ShapeUtil::ByteSizeOf(shape_b)) return false;
  if (content_[a] == content_[b] && content_[a] != kMixed) return true;
  // What must share does so by construction, which is checked where that costs little.
  if (members_[a].size() * members_[b].size() > kMaxSetSize * kMaxSetSize) return required;
  if (read_only(a) || read_only(b)) return false;  // read-only memory holds one content only
  // Sets that grow along a chain overlap in a few members.
  const std::vector<int64_t> ys = MembersDuring(b, span_[a]);
  for (int64_t x : MembersDuring(a, span_[b])) {
    for (int64_t y : ys) {
      if (Interfere(values_[x], x, values_[y], y)) return false;
    }
  }
  return true;
}

std::vector<int64_t> SharingSets::MembersDuring(int64_t root, const Lifetime& span) const {
  std::vector<int64_t> found;
  for (size_t i = 0; i < members_[root].size(); ++i) {
    const Lifetime& lifetime = lifetimes_[root][i];
    if (lifetime.start <= span.end && span.start <= lifetime.end) found.push_back(members_[root][i]);
  }
  return found;
}

bool SharingSets::Merge(int64_t a, int64_t b, bool required) {
  a = Find(a);
  b = Find(b);
  if (a == b) return true;
  if (!Compatible(a, b, required)) return false;
  if (members_[a].size() < members_[b].size()) std::swap(a, b);
  parent_[b] = a;
  members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
  lifetimes_[a].insert(lifetimes_[a].end(), lifetimes_[b].begin(), lifetimes_[b].end());
  span_[a] = {std::min(span_[a].start, span_[b].start), std::max(span_[a].end, span_[b].end)};
  members_[b] = {};
  lifetimes_[b] = {};
  if (content_[a] != content_[b]) content_[a] = kMixed;
  if (fixed_[a].first == StorageKind::kNone) fixed_[a] = fixed_[b];
  return true;
}

}  // namespace hilo
