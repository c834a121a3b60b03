// Loops with several results.
//
//   m = f32[1000] multiply(x, a)  p = f32[1000] subtract(y, m), both of them results:
//   two loops read x twice and m from memory; one loop reads x and y once and writes m and p.
//
// Groups and instructions outside of groups are the nodes of a graph, in topological order: every node comes after its
// dependences. Two nodes may be merged if no third lies on a path between them; only nodes between the two in that
// order can. A merge moves only nodes between the two: first those that do not depend on the earlier of the two, then
// the merged node, then those that do. So the work of a merge is the distance of the two in the order.
#include "hlo/passes/fusion/fusion_groups.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/score_chain.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/fusion/fused_members.h"
#include "hlo/passes/fusion/fusion_pass.h"

namespace hilo {
namespace {

// Of one loop.
constexpr size_t kMaxResults = 8;
// Loops that read the same array and are tried with each other.
constexpr size_t kMaxReaders = 32;
// Nodes that all mergers together may visit.
constexpr int64_t kMaxWork = 50'000'000;
// Rows that cuts may make arrays, and what such an array costs in instructions, for a row and for each of its elements.
constexpr int64_t kMinCutRow = 32;
constexpr double kArrayRowInstructions = 32, kArrayElementInstructions = 1;

// Computes every element from those at the same index, or from scalars.
bool IsPlain(const HloInstruction& member) {
  static constexpr OpcodeSet kPlain = {HloOpcode::kBitcast, HloOpcode::kBroadcast, HloOpcode::kIota,
                                       HloOpcode::kReshape};
  return kPlain.contains(member.opcode()) || IsElementwise(member.opcode());
}

// Returns the parts of less than a vector that the rows of a concatenation or padding have.
int64_t ShortPartsOfRow(const HloInstruction& producer) {
  const int64_t minor = producer.shape().rank() - 1;
  const auto is_short = [](int64_t size) { return size > 0 && size < kVectorElements; };
  if (producer.opcode() == HloOpcode::kConcatenate && producer.attrs<ConcatenateAttrs>().dimensions[0] == minor) {
    return absl::c_count_if(producer.operands(), [&](const HloInstruction* operand) {
      return is_short(operand->shape().dimensions(minor));
    });
  }
  if (producer.opcode() != HloOpcode::kPad || minor < 0) return 0;
  const auto& padding = producer.attrs<PadAttrs>().padding.dimensions.back();
  return (is_short(padding.edge_padding_low) ? 1 : 0) + (is_short(padding.edge_padding_high) ? 1 : 0);
}

// The operands that a kernel with `member` has more than one of `group`, or fewer, if `member` is one of the group's
// operands.
int64_t AddedOperands(const FusionGroup& group, const HloInstruction& member) {
  absl::flat_hash_set<const HloInstruction*> added;
  for (const HloInstruction* operand : member.operands()) {
    if (!IsFusedConstant(*operand) && !group.operands.contains(operand)) added.insert(operand);
  }
  return static_cast<int64_t>(added.size()) - (group.operands.contains(&member) ? 1 : 0);
}

class GroupGraph {
 public:
  GroupGraph(const HloComputation& computation, const std::vector<FusionGroup>& groups,
             const FusionMembership& membership)
      : groups_(groups), membership_(membership), parent_(groups.size()), waiting_(groups.size()) {
    for (size_t i = 0; i < groups.size(); ++i) parent_[i] = static_cast<int>(i);
    for (const HloInstruction* instruction : computation.instructions()) {
      if (membership.contains(instruction)) continue;
      node_of_[instruction] = static_cast<int>(parent_.size());
      parent_.push_back(static_cast<int>(parent_.size()));
      waiting_.emplace_back();
    }
    for (const HloInstruction* instruction : computation.instructions()) {
      const auto nodes = NodesOf(instruction);
      const bool is_result =
          !membership.contains(instruction) ||
          std::any_of(nodes.begin(), nodes.end(), [&](int node) { return IsRootOf(instruction, node); });
      if (!is_result) continue;
      const auto wait = [&](const HloInstruction* user) {
        for (int later : NodesOf(user)) {
          for (int node : nodes) {
            if (later != node) waiting_[node].push_back(later);
          }
        }
      };
      for (const HloInstruction* user : instruction->users()) wait(user);
      for (const HloInstruction* user : instruction->control_successors()) wait(user);
    }
  }

  int Find(int node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  // False if there is no order.
  bool Order() {
    std::vector<int> missing(parent_.size(), 0), ready;
    for (size_t i = 0; i < parent_.size(); ++i) {
      if (Find(static_cast<int>(i)) != static_cast<int>(i)) continue;
      Unify(static_cast<int>(i));
      for (int later : waiting_[i]) ++missing[later];
    }
    for (size_t i = parent_.size(); i-- > 0;) {
      if (missing[i] == 0 && Find(static_cast<int>(i)) == static_cast<int>(i)) ready.push_back(static_cast<int>(i));
    }
    position_.assign(parent_.size(), -1);
    order_.clear();
    while (!ready.empty()) {
      const int node = ready.back();
      ready.pop_back();
      position_[node] = static_cast<int64_t>(order_.size());
      order_.push_back(node);
      for (int later : waiting_[node]) {
        if (--missing[later] == 0) ready.push_back(later);
      }
    }
    for (size_t i = 0; i < parent_.size(); ++i) {
      if (Find(static_cast<int>(i)) == static_cast<int>(i) && position_[i] < 0) return false;
    }
    return true;
  }

  // Makes `b` a part of `a` and keeps the order. Returns false, and changes nothing, if a third node waits for one of
  // the two and is waited for by the other.
  bool Merge(int a, int b) {
    const int first = position_[a] < position_[b] ? a : b, last = first == a ? b : a;
    absl::flat_hash_set<int> after;  // nodes before `last` that wait for `first`
    if (!FindAfter(first, last, &after)) return false;
    const int64_t begin = position_[first], end = position_[last] + 1;
    parent_[b] = a;
    waiting_[a].insert(waiting_[a].end(), waiting_[b].begin(), waiting_[b].end());
    waiting_[b] = {};
    Unify(a);
    if (after.empty()) {
      order_[begin] = kNone;
      order_[end - 1] = a;
      position_[a] = end - 1;
      return true;
    }
    std::vector<int> moved = {a};
    int64_t next = begin;
    const auto put = [&](int node) {
      order_[next] = node;
      position_[node] = next++;
    };
    for (int64_t i = begin; i < end; ++i) {
      const int node = order_[i];
      if (node == kNone || node == first || node == last) continue;
      if (after.contains(node)) {
        moved.push_back(node);
      } else {
        put(node);
      }
    }
    for (int node : moved) put(node);
    std::fill(order_.begin() + next, order_.begin() + end, kNone);
    work_ += end - begin;
    return true;
  }

  bool MayGoOn() const { return work_ < kMaxWork; }
  int64_t position(int node) const { return position_[node]; }

 private:
  static constexpr int kNone = -1;

  // Collects the nodes before `last` that wait for `first`. Returns false if `last` waits for one of them.
  bool FindAfter(int first, int last, absl::flat_hash_set<int>* after) {
    std::vector<int> work = {first};
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      for (int later : waiting_[node]) {
        later = Find(later);
        if (later == last && node != first) return false;
        if (position_[later] < position_[last] && after->insert(later).second) work.push_back(later);
      }
      ++work_;
    }
    return true;
  }
  std::vector<int> NodesOf(const HloInstruction* instruction) const {
    const auto it = membership_.find(instruction);
    return it == membership_.end() ? std::vector<int>{node_of_.at(instruction)} : it->second;
  }
  bool IsRootOf(const HloInstruction* instruction, int group) const {
    const auto& roots = groups_[group].roots;
    return std::find(roots.begin(), roots.end(), instruction) != roots.end();
  }
  // Every later node once, under the number it has now.
  void Unify(int node) {
    std::vector<int>& waiting = waiting_[node];
    for (int& later : waiting) later = Find(later);
    std::sort(waiting.begin(), waiting.end());
    waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
    waiting.erase(std::remove(waiting.begin(), waiting.end(), node), waiting.end());
  }

  const std::vector<FusionGroup>& groups_;
  const FusionMembership& membership_;
  absl::flat_hash_map<const HloInstruction*, int> node_of_;
  std::vector<int> parent_;
  std::vector<std::vector<int>> waiting_;  // nodes that wait for this one
  std::vector<int64_t> position_;          // of each node in order_
  std::vector<int> order_;                 // node, or kNone where one was that has been merged
  int64_t work_ = 0;
};

class Merger {
 public:
  Merger(const HloComputation& computation, const std::vector<FusionGroup>& groups, const FusionMembership& membership,
         const PassContext& context)
      : computation_(computation),
        groups_(groups),
        membership_(membership),
        context_(context),
        graph_(computation, groups, membership),
        sets_(groups.size()) {}

  absl::flat_hash_map<const HloInstruction*, int> Run() {
    absl::flat_hash_map<const HloInstruction*, int> merged;
    for (size_t i = 0; i < groups_.size(); ++i) sets_[i] = Describe(static_cast<int>(i));
    if (!graph_.Order()) return merged;
    // What one loop computes and another reads.
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (const HloInstruction* root : groups_[i].roots) {
        for (const HloInstruction* user : root->users()) {
          const auto it = membership_.find(user);
          if (it != membership_.end() && it->second.size() == 1)
            Try(static_cast<int>(i), it->second[0], /*closely=*/true);
        }
      }
    }
    // What several loops compute each for itself.
    for (const HloInstruction* instruction : computation_.instructions()) {
      const auto it = membership_.find(instruction);
      if (it == membership_.end() || it->second.size() < 2 || !IsWork(*instruction)) continue;
      TryAll(it->second, /*closely=*/true);
    }
    // What several loops read.
    for (const HloInstruction* array : computation_.instructions()) {
      std::vector<int> readers;
      for (const HloInstruction* user : array->users()) {
        if (readers.size() > kMaxReaders) break;
        const auto it = membership_.find(user);
        if (it == membership_.end() || it->second.size() != 1) continue;
        const int group = it->second[0];
        if (Elements(*array) == Elements(*groups_[group].roots[0]) &&
            std::find(readers.begin(), readers.end(), group) == readers.end())
          readers.push_back(group);
      }
      if (readers.size() > 1 && readers.size() <= kMaxReaders) TryAll(std::move(readers), /*closely=*/false);
    }
    for (size_t i = 0; i < groups_.size(); ++i) {
      const int set = graph_.Find(static_cast<int>(i));
      if (sets_[set].roots.size() < 2) continue;
      for (const HloInstruction* root : groups_[i].roots) merged[root] = set;
    }
    return merged;
  }

 private:
  struct Set {
    bool is_loop = false, is_plain = true;
    std::vector<const HloInstruction*> roots;
    std::vector<int> groups;
    absl::flat_hash_set<const HloInstruction*> members, operands;
    int64_t emitted = 0;
  };

  static bool IsWork(const HloInstruction& instruction) {
    return instruction.opcode() != HloOpcode::kBroadcast && instruction.opcode() != HloOpcode::kIota &&
           instruction.opcode() != HloOpcode::kConstant;
  }

  Set Describe(int number) const {
    const FusionGroup& group = groups_[number];
    Set set{.is_loop = true, .groups = {number}, .emitted = group.emitted};
    set.roots.assign(group.roots.begin(), group.roots.end());
    for (const HloInstruction* root : group.roots) {
      const HloOpcode opcode = root->opcode();
      set.is_loop &=
          root->shape().IsArray() &&
          (IsElementwise(opcode) || (HasTrait(opcode, kMovement) && opcode != HloOpcode::kDynamicUpdateSlice)) &&
          !root->HasControlDependencies();
    }
    for (const HloInstruction* member : group.members) {
      set.members.insert(member);
      set.is_plain &= IsPlain(*member);
      set.is_loop &= member->opcode() != HloOpcode::kTranspose && member->opcode() != HloOpcode::kSelectAndScatter;
      for (const HloInstruction* operand : member->operands()) {
        if (Elements(*operand) > 1) set.operands.insert(operand);
      }
    }
    return set;
  }

  void TryAll(std::vector<int> numbers, bool closely) {
    std::sort(numbers.begin(), numbers.end(),
              [&](int a, int b) { return graph_.position(graph_.Find(a)) < graph_.position(graph_.Find(b)); });
    for (size_t i = 0; i + 1 < numbers.size(); ++i) Try(numbers[i], numbers[i + 1], closely);
  }

  // `closely`: they share more than what they read.
  void Try(int a, int b, bool closely) {
    a = graph_.Find(a);
    b = graph_.Find(b);
    if (a == b || !graph_.MayGoOn() || !context_.CheckNotCancelled().ok()) return;
    Set &x = sets_[a], &y = sets_[b];
    if (!x.is_loop || !y.is_loop || !(closely || (x.is_plain && y.is_plain))) return;
    if (!ShapeUtil::SameDimensions(x.roots[0]->shape(), y.roots[0]->shape())) return;
    if (!ReadsInPlace(x, y) || !ReadsInPlace(y, x)) return;
    if (x.roots.size() + y.roots.size() > kMaxResults ||
        x.members.size() + y.members.size() > kMergedLoopLimits.members || x.emitted + y.emitted > kMaxEmittedOfGroup)
      return;
    absl::flat_hash_set<const HloInstruction*> arrays = x.operands;
    arrays.insert(y.operands.begin(), y.operands.end());
    for (const Set* set : {&x, &y}) {
      for (const HloInstruction* member : set->members) arrays.erase(member);
    }
    if (arrays.size() + x.roots.size() + y.roots.size() > kMergedLoopLimits.operands) return;
    if (!graph_.Merge(a, b)) return;
    x.is_plain &= y.is_plain;
    x.roots.insert(x.roots.end(), y.roots.begin(), y.roots.end());
    x.groups.insert(x.groups.end(), y.groups.begin(), y.groups.end());
    x.members.insert(y.members.begin(), y.members.end());
    x.operands.insert(y.operands.begin(), y.operands.end());
    x.emitted += y.emitted;
  }

  // Whether all that `reader` reads of the results of `of`, it reads where the loop writes.
  bool ReadsInPlace(const Set& reader, const Set& of) const {
    for (const HloInstruction* root : of.roots) {
      if (!reader.operands.contains(root)) continue;
      for (int group : reader.groups) {
        const std::vector<uint64_t> reads = ReadsOf(groups_[group], root, 2);
        if (reads.size() > 1 || (reads.size() == 1 && reads[0] != 0)) return false;
      }
    }
    return true;
  }

  const HloComputation& computation_;
  const std::vector<FusionGroup>& groups_;
  const FusionMembership& membership_;
  const PassContext& context_;
  GroupGraph graph_;
  std::vector<Set> sets_;
};

// Returns true if `user` reads its operand at the index of its result. With threads, reshapes that add or remove
// dimensions of one element and indices of gathers count, too, so that chains of gathers are fused; gathers of vectors'
// lanes are faster apart.
bool ReadsAtItsIndex(const HloInstruction& user, int64_t operand, bool has_threads) {
  if (IsElementwise(user.opcode()) || user.opcode() == HloOpcode::kReduce) return true;
  if (!has_threads) return false;
  if (user.opcode() == HloOpcode::kReshape) return IsReshapeOfUnits(user);
  // A gather of elements by their position in one dimension.
  return user.opcode() == HloOpcode::kGather && operand == 1 && Elements(&user) == Elements(user.operand(1)) &&
         absl::c_all_of(user.attrs<GatherAttrs>().slice_sizes, [](int64_t size) { return size == 1; });
}

}  // namespace

std::vector<uint64_t> ReadsOf(const FusionGroup& group, const HloInstruction* producer, size_t most) {
  std::vector<uint64_t> reads;
  const auto add = [&](const HloInstruction* user, const std::vector<uint64_t>& indices) {
    for (int64_t operand = 0; operand < user->operand_count(); ++operand) {
      if (user->operand(operand) != producer) continue;
      const bool same_index = ReadsAtItsIndex(*user, operand, group.has_threads);
      for (uint64_t index : indices) {
        reads.push_back(same_index ? index : absl::HashOf(index, user->unique_id(), operand));
      }
    }
    return reads.size() <= 4 * most;
  };
  // An array may have as many users as there are groups, each of which has few.
  if (producer->users().size() <= group.members.size()) {
    for (const HloInstruction* user : producer->users()) {
      const auto it = group.reads.find(user);
      if (it != group.reads.end() && !add(user, it->second)) break;
    }
  } else {
    for (const HloInstruction* user : group.members) {
      const auto it = group.reads.find(user);
      if (it != group.reads.end() && !add(user, it->second)) break;
    }
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  return reads;
}

bool HasRoomFor(const FusionGroup& group, const HloInstruction& member) {
  return static_cast<int64_t>(group.operands.size()) + AddedOperands(group, member) <=
         static_cast<int64_t>(kLoopLimits.operands);
}

void AddMember(HloInstruction* member, FusionGroup* group) {
  group->members.push_back(member);
  group->instructions += WorkOf(*member).instructions;
  group->operands.erase(member);
  for (const HloInstruction* operand : member->operands()) {
    if (!IsFusedConstant(*operand)) group->operands.insert(operand);
  }
}

bool CutsExpensiveRows(const HloInstruction& producer, const FusionGroup& group) {
  const int64_t parts = ShortPartsOfRow(producer);
  if (parts == 0 || producer.shape().dimensions().back() < kMinCutRow) return false;
  const HloInstruction& root = *group.roots[0];
  const HloInstruction& looped = root.opcode() == HloOpcode::kReduce ? *root.operand(0) : root;
  const double instructions = group.instructions / static_cast<double>(std::max<int64_t>(Elements(&looped), 1));
  const auto row = static_cast<double>(producer.shape().dimensions().back());
  return static_cast<double>(parts) * instructions > kArrayRowInstructions + kArrayElementInstructions * row;
}

absl::flat_hash_map<const HloInstruction*, int> MergedRoots(const HloComputation& computation,
                                                            const std::vector<FusionGroup>& groups,
                                                            const FusionMembership& membership,
                                                            const PassContext& context) {
  return Merger(computation, groups, membership, context).Run();
}

bool CanBeOrdered(const HloComputation& computation, const std::vector<FusionGroup>& groups,
                  const FusionMembership& membership) {
  return GroupGraph(computation, groups, membership).Order();
}

}  // namespace hilo
