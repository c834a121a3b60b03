// The first half adds copies by rule, so many that nothing can interfere:
//
//   - each leaf that a loop changes: the initial value is copied before the loop, the next value at the end of the
//     body. Where the next value is the parameter's own leaf at another index (a swap, a rotation), it is first copied
//     to a temporary, and all temporaries come before the copies that overwrite, if need be before an update in place;
//   - each result leaf of a conditional, at the end of every branch, and leaves passed from the branch's argument via a
//     temporary too: the results may share memory with the arguments;
//   - each leaf of the result of the entry and of called computations, and, if a parameter is donated, via a temporary.
//
// The second half removes the copies whose source and target can share memory after all (SharingSets), most bytes
// first. A loop over arrays that are updated in place ends up with no copies, a swap with the three moves that it
// is, one of them to a temporary. What is left of copies of one constant is that constant again.
#include "hlo/memory/copy_insertion.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "base/work_budget.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/in_place.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/memory/scheduler.h"
#include "hlo/memory/value_liveness.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Of a budget: the copies of a loop, or the union of two sets.
constexpr int64_t kCopyStep = 64;

// Adds instructions to a computation and notes them in the order in which they run.
class Inserter {
 public:
  explicit Inserter(HloComputation* computation) : computation_(computation) {}

  // What was added since the last call.
  std::vector<HloInstruction*> Take() { return std::exchange(added_, {}); }

  // The leaves of `instruction` in depth-first order, taking tuples apart as needed.
  std::vector<HloInstruction*> Leaves(HloInstruction* instruction) {
    std::vector<HloInstruction*> leaves;
    std::vector<HloInstruction*> work = {instruction};
    while (!work.empty()) {
      HloInstruction* next = work.back();
      work.pop_back();
      if (!next->shape().IsTuple()) {
        leaves.push_back(next);
        continue;
      }
      for (int64_t i = next->shape().tuple_shapes_size() - 1; i >= 0; --i) {
        if (next->opcode() == HloOpcode::kTuple) {
          work.push_back(next->operand(i));
          continue;
        }
        auto attributes = std::make_unique<GetTupleElementAttrs>();
        attributes->index = i;
        work.push_back(Add(HloInstruction::Create(HloOpcode::kGetTupleElement, next->shape().tuple_shapes(i), {next},
                                                  std::move(attributes))));
      }
    }
    return leaves;
  }

  HloInstruction* Copy(HloInstruction* leaf) {
    HloInstruction* copy = Add(HloInstruction::Create(HloOpcode::kCopy, leaf->shape(), {leaf}));
    copy->CopyOriginFrom(*leaf);
    return copy;
  }

  // Puts leaves together again as a value of `shape`; `next` walks over the leaves.
  HloInstruction* Rebuild(const Shape& shape, const std::vector<HloInstruction*>& leaves, size_t* next) {
    if (!shape.IsTuple()) return leaves[(*next)++];
    std::vector<HloInstruction*> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(Rebuild(element, leaves, next));
    return Add(HloInstruction::Create(HloOpcode::kTuple, shape, elements));
  }

 private:
  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction) {
    added_.push_back(computation_->AddInstruction(std::move(instruction)));
    return added_.back();
  }

  HloComputation* computation_;
  std::vector<HloInstruction*> added_;
};

bool NeedsMemory(const Shape& leaf) { return leaf.IsArray() && !ShapeUtil::IsZeroElementArray(leaf); }

// Order in which root copies run: a leaf is overwritten after the copies that still read it, as far as there is no
// cycle. `source[i]` is the leaf that copy i reads, or -1. It only saves copies: the temporaries make any order
// correct.
std::vector<int64_t> CopyOrder(const std::vector<int64_t>& source) {
  const int64_t count = static_cast<int64_t>(source.size());
  std::vector<int64_t> pending(count, 0);
  for (int64_t i = 0; i < count; ++i) {
    if (source[i] >= 0 && source[i] != i) ++pending[source[i]];
  }
  std::vector<int64_t> order, ready;
  std::vector<bool> done(count, false);
  for (int64_t i = count - 1; i >= 0; --i) {
    if (pending[i] == 0) ready.push_back(i);
  }
  int64_t next_cycle = 0;
  while (static_cast<int64_t>(order.size()) < count) {
    int64_t i;
    if (!ready.empty()) {
      i = ready.back();
      ready.pop_back();
    } else {
      while (done[next_cycle]) ++next_cycle;
      i = next_cycle;
    }
    if (done[i]) continue;
    done[i] = true;
    order.push_back(i);
    if (source[i] >= 0 && source[i] != i && --pending[source[i]] == 0) ready.push_back(source[i]);
  }
  return order;
}

// Where a copy of the value that `leaf` is belongs: before the last instruction that reads it, if that can write its
// result over it; else at the end of the order.
class CopyPositions {
 public:
  CopyPositions(const std::vector<HloInstruction*>& order, const ScopeValues& values)
      : values_(values), end_(order.size()) {
    for (size_t i = 0; i < order.size(); ++i) {
      index_[order[i]] = i;
      if (IsForwarding(*order[i])) continue;
      for (const HloInstruction* operand : order[i]->operands()) {
        if (!values.Contains(operand)) continue;  // a copy that was added since
        for (int64_t value : values.ValuesOf(operand)) last_reader_[value] = order[i];
      }
    }
  }

  size_t Find(const HloInstruction* leaf) const {
    const auto at = index_.find(leaf);
    if (at == index_.end() || !values_.Contains(leaf)) return end_;
    const auto reader = last_reader_.find(values_.ValuesOf(leaf)[0]);
    if (reader == last_reader_.end()) return end_;
    const size_t position = index_.at(reader->second);
    return at->second < position && MayOverwrite(*reader->second) ? position : end_;
  }

 private:
  static bool MayOverwrite(const HloInstruction& reader) {
    return reader.opcode() == HloOpcode::kConditional || !InPlacePairs(reader).empty();
  }

  const ScopeValues& values_;
  size_t end_;
  absl::flat_hash_map<const HloInstruction*, size_t> index_;
  absl::flat_hash_map<int64_t, const HloInstruction*> last_reader_;
};

// Inserts instructions before the given positions of `order`.
void InsertAll(std::vector<HloInstruction*>& order, std::vector<std::pair<size_t, HloInstruction*>> added) {
  std::stable_sort(added.begin(), added.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<HloInstruction*> result;
  result.reserve(order.size() + added.size());
  size_t next = 0;
  for (size_t i = 0; i <= order.size(); ++i) {
    while (next < added.size() && added[next].first == i) result.push_back(added[next++].second);
    if (i < order.size()) result.push_back(order[i]);
  }
  order = std::move(result);
}

// Values whose memory the copies of a root write, by the leaf of the root that is written there.
using Overwritten = absl::flat_hash_map<int64_t, int64_t>;

// Those of a computation whose result shares the memory of its argument.
Overwritten ArgumentOf(const HloComputation& computation, const ScopeValues& values) {
  Overwritten overwritten;
  const std::vector<int64_t>& leaves = values.ValuesOf(computation.parameter_instruction(0));
  for (size_t i = 0; i < leaves.size(); ++i) overwritten[leaves[i]] = static_cast<int64_t>(i);
  return overwritten;
}

// The donated parameters of the entry. A leaf that no alias names is not written; it is taken for written by no leaf in
// particular.
Overwritten DonatedTo(const HloModule& module, const ScopeValues& values) {
  const HloComputation& entry = *module.entry_computation();
  Overwritten overwritten;
  for (const InputOutputAlias& alias : module.input_output_aliases()) {
    const HloInstruction* parameter = entry.parameter_instruction(alias.parameter_number);
    for (const int64_t value : values.ValuesOf(parameter)) overwritten.try_emplace(value, -1);
  }
  const std::vector<ShapeUtil::Leaf> results = ShapeUtil::Leaves(entry.root_instruction()->shape());
  std::map<ShapeIndex, int64_t> result_number;
  for (size_t i = 0; i < results.size(); ++i) result_number[results[i].index] = static_cast<int64_t>(i);
  for (const InputOutputAlias& alias : module.input_output_aliases()) {
    const HloInstruction* parameter = entry.parameter_instruction(alias.parameter_number);
    const int64_t leaf = LeafNumber(parameter->shape(), alias.parameter_index);
    const auto result = result_number.find(alias.output_index);
    if (result != result_number.end()) overwritten[values.ValuesOf(parameter)[leaf]] = result->second;
  }
  return overwritten;
}

// Gives the root of `computation` copies of its leaves where `copied` is set. Leaves that are (views of) values of
// `overwritten` go through temporaries.
absl::Status CopyRoot(HloModule* module, HloComputation* computation, const std::vector<bool>& copied,
                      const Overwritten& overwritten, const ScopeValues& values) {
  HloInstruction* root = computation->root_instruction();
  std::vector<HloInstruction*>& order = module->schedule()[computation];
  Inserter inserter(computation);
  std::vector<HloInstruction*> leaves = inserter.Leaves(root);
  std::vector<std::pair<size_t, HloInstruction*>> added;
  auto note_added = [&](size_t position) {
    for (HloInstruction* instruction : inserter.Take()) added.push_back({position, instruction});
  };
  note_added(order.size());
  std::vector<int64_t> source(leaves.size(), -1);
  if (!overwritten.empty()) {
    const CopyPositions copy_positions(order, values);
    const std::vector<int64_t>& results = values.ValuesOf(root);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto it = overwritten.find(results[i]);
      if (it == overwritten.end() || !copied[i] || !NeedsMemory(leaves[i]->shape())) continue;
      if (it->second < static_cast<int64_t>(leaves.size())) source[i] = it->second;
      const size_t position = copy_positions.Find(leaves[i]);
      leaves[i] = inserter.Copy(leaves[i]);
      note_added(position);
    }
  }
  for (int64_t i : CopyOrder(source)) {
    if (copied[i] && NeedsMemory(leaves[i]->shape())) leaves[i] = inserter.Copy(leaves[i]);
  }
  size_t next = 0;
  HloInstruction* rebuilt = inserter.Rebuild(root->shape(), leaves, &next);
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(rebuilt));
  note_added(order.size());
  InsertAll(order, std::move(added));
  return absl::OkStatus();
}

// Copies the leaves of a loop's initial value that the loop changes.
void CopyInit(HloModule* module, HloInstruction* loop, const std::vector<bool>& through) {
  HloComputation* computation = loop->parent();
  Inserter inserter(computation);
  std::vector<HloInstruction*> leaves = inserter.Leaves(loop->operand(0));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!through[i] && NeedsMemory(leaves[i]->shape())) leaves[i] = inserter.Copy(leaves[i]);
  }
  size_t next = 0;
  HloInstruction* rebuilt = inserter.Rebuild(loop->shape(), leaves, &next);
  computation->ReplaceOperand(loop, 0, rebuilt);
  std::vector<HloInstruction*>& order = module->schedule()[computation];
  const std::vector<HloInstruction*> added = inserter.Take();
  order.insert(std::find(order.begin(), order.end(), loop), added.begin(), added.end());
}

absl::Status AddCopies(HloModule* module, HloComputation* scope, const CancellationToken* cancellation) {
  HILO_ASSIGN_OR_RETURN(ScopeValues values, ScopeValues::Create(*module, *scope, 0, cancellation));
  WorkBudget budget(cancellation, "compilation");
  for (const HloInstruction* instruction : values.order()) {
    HILO_RETURN_IF_ERROR(budget.Spend(kCopyStep));
    if (instruction->opcode() == HloOpcode::kWhile) {
      std::vector<bool> through = PassThroughLeaves(*instruction);
      std::vector<bool> copied(through.size());
      for (size_t i = 0; i < through.size(); ++i) copied[i] = !through[i];
      HloComputation* body = instruction->called_computation(1);
      HILO_RETURN_IF_ERROR(CopyRoot(module, body, copied, ArgumentOf(*body, values), values));
      CopyInit(module, const_cast<HloInstruction*>(instruction), through);
    } else if (instruction->opcode() == HloOpcode::kConditional) {
      const std::vector<bool> copied(LeafCount(instruction->shape()), true);
      for (HloComputation* branch : instruction->called_computations()) {
        HILO_RETURN_IF_ERROR(CopyRoot(module, branch, copied, ArgumentOf(*branch, values), values));
      }
    }
  }
  const std::vector<bool> copied(LeafCount(scope->root_instruction()->shape()), true);
  // A donated parameter may be overwritten by any output copy: everything that is such a parameter goes through a
  // temporary.
  const bool donates = scope->IsEntry() && !module->input_output_aliases().empty();
  if (!donates) return CopyRoot(module, scope, copied, {}, values);
  HILO_ASSIGN_OR_RETURN(const ScopeValues now, ScopeValues::Create(*module, *scope, 0, cancellation));
  return CopyRoot(module, scope, copied, DonatedTo(*module, now), now);
}

absl::Status RemoveCopies(HloModule* module, HloComputation* scope, int64_t loop_local_bytes,
                          const CancellationToken* cancellation) {
  HILO_ASSIGN_OR_RETURN(ScopeValues values, ScopeValues::Create(*module, *scope, loop_local_bytes, cancellation));
  WorkBudget budget(cancellation, "compilation");
  SharingSets sets(values.values());
  for (const std::vector<int64_t>& together : values.required_sharing()) {
    for (size_t i = 1; i < together.size(); ++i) {
      HILO_RET_CHECK(sets.Merge(together[0], together[i], /*required=*/true))
          << "values that must share memory interfere, at "
          << values.values()[together[i]].definition.instruction->name();
    }
  }
  absl::flat_hash_set<const HloInstruction*> removed;
  for (const ScopeValues::CoalescingCandidate& candidate : values.coalescing_candidates()) {
    HILO_RETURN_IF_ERROR(budget.Spend(kCopyStep));
    if (sets.Merge(candidate.from, candidate.to) && candidate.instruction->opcode() == HloOpcode::kCopy) {
      removed.insert(candidate.instruction);
    }
  }
  absl::flat_hash_map<HloComputation*, std::vector<std::pair<HloInstruction*, HloInstruction*>>> replacements;
  for (const HloInstruction* copy : values.order()) {
    if (!removed.contains(copy)) continue;
    HloInstruction* victim = const_cast<HloInstruction*>(copy);
    HloInstruction* copied = victim->operand(0);
    while (removed.contains(copied)) copied = copied->operand(0);
    replacements[victim->parent()].emplace_back(victim, copied);
  }
  for (const auto& [computation, pairs] : replacements) {
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUses(pairs));
    std::vector<HloInstruction*>& order = module->schedule()[computation];
    order.erase(std::remove_if(order.begin(), order.end(),
                               [&](const HloInstruction* instruction) { return removed.contains(instruction); }),
                order.end());
  }
  for (const HloInstruction* copy : removed) {
    HILO_RETURN_IF_ERROR(copy->parent()->RemoveInstruction(const_cast<HloInstruction*>(copy)));
  }
  return absl::OkStatus();
}

// Returns true for the copy of a constant that is repeated, as the array that a loop fills.
bool CopiesRepeatedConstant(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCopy || instruction.HasControlDependencies()) return false;
  const HloInstruction& source = *instruction.operand(0);
  return source.opcode() == HloOpcode::kBroadcast && !source.HasControlDependencies() &&
         source.operand(0)->IsConstant() && source.shape() == instruction.shape();
}

// Repeats the constant again instead: that reads no array, and the first one may be read no more.
absl::Status RepeatConstants(HloModule* module) {
  // In the order of the module, so that the new instructions have the same names in each compilation.
  for (HloComputation* computation : module->computations()) {
    const auto scheduled_in = module->schedule().find(computation);
    if (scheduled_in == module->schedule().end()) continue;
    std::vector<HloInstruction*>& order = scheduled_in->second;
    absl::flat_hash_set<HloInstruction*> sources;
    for (HloInstruction*& scheduled : order) {
      if (!CopiesRepeatedConstant(*scheduled)) continue;
      HloInstruction *copy = scheduled, *source = copy->operand(0);
      scheduled = computation->AddInstruction(source->CloneWithNewOperands(source->shape(), source->operands()));
      if (source->kernel() != nullptr) scheduled->set_kernel(*source->kernel());
      HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(copy, scheduled));
      HILO_RETURN_IF_ERROR(computation->RemoveInstruction(copy));
      sources.insert(source);
    }
    std::erase_if(order, [&](HloInstruction* x) { return sources.contains(x) && x->IsDead(); });
    for (HloInstruction* source : sources) {
      if (source->IsDead()) HILO_RETURN_IF_ERROR(computation->RemoveInstruction(source));
    }
  }
  return absl::OkStatus();
}

// Removes tuples that were replaced by tuples of copies.
absl::Status RemoveDeadViews(HloModule* module) {
  for (auto& [computation, order] : module->schedule()) {
    std::vector<HloInstruction*> kept;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      HloInstruction* instruction = *it;
      if (instruction->IsDead() && instruction->control_predecessors().empty() &&
          (instruction->opcode() == HloOpcode::kTuple || instruction->opcode() == HloOpcode::kGetTupleElement)) {
        HILO_RETURN_IF_ERROR(instruction->parent()->RemoveInstruction(instruction));
      } else {
        kept.push_back(instruction);
      }
    }
    order.assign(kept.rbegin(), kept.rend());
  }
  return absl::OkStatus();
}

// Returns the parameter of the entry that `value` is, or null.
const HloInstruction* ParameterOf(const HloInstruction* value) {
  while (IsForwarding(*value) && value->operand_count() == 1) value = value->operand(0);
  return value->IsParameter() && value->parent()->IsEntry() ? value : nullptr;
}

}  // namespace

void CopyUpdatedParameters(HloModule* module, int64_t min_bytes) {
  const auto is_donated = [&](const HloInstruction& parameter) {
    const auto is_it = [&](const auto& donation) { return donation.parameter_number == parameter.parameter_number(); };
    return absl::c_any_of(module->input_output_aliases(), is_it) || absl::c_any_of(module->buffer_donors(), is_it);
  };
  HloComputation* entry = module->entry_computation();
  std::vector<HloInstruction*>& order = module->schedule()[entry];
  std::vector<HloInstruction*> with_copies;
  for (HloInstruction* instruction : order) {
    const KernelConfig* kernel = instruction->kernel();
    const bool is_shared = kernel != nullptr && kernel->parallel;  // its threads copy what they update
    for (const InPlacePair& pair : InPlacePairs(*instruction)) {
      HloInstruction* updated = instruction->operand(pair.operand);
      const HloInstruction* parameter = pair.updates_part && !is_shared ? ParameterOf(updated) : nullptr;
      if (parameter == nullptr || is_donated(*parameter) || ShapeUtil::ByteSizeOf(updated->shape()) < min_bytes)
        continue;
      Inserter inserter(entry);
      instruction->parent()->ReplaceOperand(instruction, pair.operand, inserter.Copy(updated));
      const std::vector<HloInstruction*> added = inserter.Take();
      with_copies.insert(with_copies.end(), added.begin(), added.end());
    }
    with_copies.push_back(instruction);
  }
  order = std::move(with_copies);
}

absl::Status InsertCopies(HloModule* module, int64_t loop_local_bytes, const CancellationToken* cancellation) {
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> scopes, ScopesOf(*module));
  for (HloComputation* scope : scopes) {
    HILO_RETURN_IF_ERROR(AddCopies(module, scope, cancellation));
    HILO_RETURN_IF_ERROR(RemoveCopies(module, scope, loop_local_bytes, cancellation));
  }
  HILO_RETURN_IF_ERROR(RepeatConstants(module));
  return RemoveDeadViews(module);
}

}  // namespace hilo
