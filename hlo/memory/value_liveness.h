// Values of one scope, their live ranges, and which of them may share memory.
//
// The scope's instructions lie in one linear order: a loop's condition and body, and a conditional's branches, come
// before the point at which the instruction that runs them ends. HLO has no closures, so a value is live from
// definition to its last use in that order, with three additions: values that a loop passes through stay live to the
// loop's end, a loop's parameter stays live through the condition (the loop may end there), and a branch's results stay
// live to the end of their branch. One exception: only one branch runs, so a value unused after a conditional is dead
// in each branch from its last use there, though a later branch in the order may read it too.
//
// Every instruction p takes two points: it reads at 2p and writes at 2p+1. Operands are considered live until 2p+2,
// so that a result cannot share memory with an operand, except for the pairs that in_place.h allows.
#ifndef HILO_HLO_MEMORY_VALUE_LIVENESS_H_
#define HILO_HLO_MEMORY_VALUE_LIVENESS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hilo/host.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/memory/buffer_slice.h"
#include "hlo/memory/frame_packing.h"

namespace hilo {

struct HloValue {
  LeafRef definition;
  const Shape* shape;  // of the leaf
  int64_t start = 0, end = 0;
  // Parts of [start, end) in which the value is dead: the rest of branches that no longer read it. In order,
  // disjoint.
  std::vector<Lifetime> gaps;
  // [start, end) without the gaps.
  std::vector<Lifetime> Segments() const;
  // Values with the same content number hold the same elements: a copy and its source.
  int64_t content = 0;
  // The storage of values with fixed memory: kParameter, kConstant, kOutput; kNone: free.
  StorageKind fixed = StorageKind::kNone;
  int64_t fixed_index = 0;
  // Values that may overwrite this one at its last read.
  std::vector<int64_t> in_place_successors;
  bool writable_parameter = false;  // donated to an output
};

class ScopeValues {
 public:
  // `computation` is the entry or the target of a call; the module is scheduled. Results of loops of at most
  // `loop_local_bytes` are not coalesced with the memory of the scope's result. `cancellation` may be null. Errors:
  // Cancelled, DeadlineExceeded.
  static absl::StatusOr<ScopeValues> Create(const HloModule& module, const HloComputation& computation,
                                            int64_t loop_local_bytes = 0,
                                            const CancellationToken* cancellation = nullptr);

  const std::vector<HloValue>& values() const { return values_; }
  // The value of each leaf of an instruction of this scope.
  const std::vector<int64_t>& ValuesOf(const HloInstruction* instruction) const { return leaves_.at(instruction); }
  bool Contains(const HloInstruction* instruction) const { return leaves_.contains(instruction); }
  // Instructions of the scope in linear order (including loop bodies and branches).
  const std::vector<const HloInstruction*>& order() const { return order_; }
  // Position in the order; of loops and conditionals, their end.
  int64_t position(const HloInstruction* instruction) const { return positions_.at(instruction); }

  // Sets that must share memory, each with at least two values. Leaves without bytes are in none.
  const std::vector<std::vector<int64_t>>& required_sharing() const { return required_; }
  // What sharing the memory of two values saves, the least first.
  enum class CoalescingBenefit {
    kCopiedAgain,  // a copy that is copied again: the temporary lets others write over its source
    kInPlacePair,  // memory, and perhaps later copies
    kCopy,         // the copy
    kUpdate,       // an update in place of a part: a copy of the rest
  };
  // Returns true if sharing saves work, rather than memory.
  static bool SavesWork(CoalescingBenefit benefit) { return benefit >= CoalescingBenefit::kCopy; }
  // Sharing that would save work: copies (and the value they copy) and in-place pairs, by decreasing benefit.
  struct CoalescingCandidate {
    int64_t from, to;
    const HloInstruction* instruction;  // the copy, or the in-place user
    int64_t bytes;
    CoalescingBenefit benefit;
    int64_t loop_depth;
  };
  const std::vector<CoalescingCandidate>& coalescing_candidates() const { return coalescing_candidates_; }

 private:
  friend class ScopeWalker;
  std::vector<HloValue> values_;
  absl::flat_hash_map<const HloInstruction*, std::vector<int64_t>> leaves_;
  absl::flat_hash_map<const HloInstruction*, int64_t> positions_;
  std::vector<const HloInstruction*> order_;
  std::vector<std::vector<int64_t>> required_;
  std::vector<CoalescingCandidate> coalescing_candidates_;
};

// Union-find over values in which two sets merge only if no value of one destroys a live value of the
// other.
class SharingSets {
 public:
  explicit SharingSets(const std::vector<HloValue>& values);
  // False, without changes, if the sets must not share memory, or, unless it is `required`, if the set would become
  // very large.
  bool Merge(int64_t a, int64_t b, bool required = false);
  int64_t Find(int64_t value) const;
  const std::vector<int64_t>& Members(int64_t root) const { return members_[root]; }
  // Fixed storage of the set.
  StorageKind fixed(int64_t root) const { return fixed_[root].first; }
  int64_t fixed_index(int64_t root) const { return fixed_[root].second; }

 private:
  bool Interfere(const HloValue& a, int64_t a_id, const HloValue& b, int64_t b_id) const;
  bool Compatible(int64_t a, int64_t b, bool required) const;
  // The members of a set whose lifetimes overlap `span` or touch it, without regard to gaps.
  std::vector<int64_t> MembersDuring(int64_t root, const Lifetime& span) const;

  const std::vector<HloValue>& values_;
  mutable std::vector<int64_t> parent_;
  std::vector<std::vector<int64_t>> members_;
  std::vector<std::vector<Lifetime>> lifetimes_;  // [start, end) of each member
  std::vector<Lifetime> span_;                    // the least that contains all of them
  std::vector<std::pair<StorageKind, int64_t>> fixed_;
  static constexpr int64_t kMixed = -1;
  std::vector<int64_t> content_;  // common to all members, or kMixed
};

// Leaves of `while_instruction` that every iteration passes on unchanged.
std::vector<bool> PassThroughLeaves(const HloInstruction& while_instruction);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_VALUE_LIVENESS_H_
