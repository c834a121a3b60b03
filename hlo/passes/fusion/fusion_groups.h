// Groups of instructions that the fusion pass fuses.
#ifndef HILO_HLO_PASSES_FUSION_FUSION_GROUPS_H_
#define HILO_HLO_PASSES_FUSION_FUSION_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Instructions that become one loop.
struct FusionGroup {
  std::vector<HloInstruction*> roots;                   // its results, users before operands
  std::vector<HloInstruction*> members;                 // users before operands
  absl::flat_hash_set<const HloInstruction*> operands;  // operands of members that are not in the group
  // The indices at which each member is computed, as numbers that differ for different indices; 0 is that of the
  // results.
  absl::flat_hash_map<const HloInstruction*, std::vector<uint64_t>> reads;
  // How often the loop computes each element of a member, where broadcasts and gathers between it and the results
  // repeat elements; once if absent.
  absl::flat_hash_map<const HloInstruction*, int64_t> repeats;
  // How often strides have taken apart the elements of a member that adjacent elements of the results read: vectors of
  // them are put together from several; not at all if absent.
  absl::flat_hash_map<const HloInstruction*, int> scatters;
  int64_t emitted = 0;       // members, each counted once for every index
  bool has_threads = false;  // elements are computed by GPU threads rather than in the lanes of vectors
  double instructions = 0;   // of all members, as the cost model counts them
};

// Returns true if a loop may have the operands of the group and of `member`.
bool HasRoomFor(const FusionGroup& group, const HloInstruction& member);
// Adds a member. Users are added before their operands.
void AddMember(HloInstruction* member, FusionGroup* group);

// The groups that compute an instruction.
using FusionMembership = absl::flat_hash_map<const HloInstruction*, std::vector<int>>;

// The indices at which `group` would compute `producer`, whose users are all in the group; not many more than `most` of
// them.
std::vector<uint64_t> ReadsOf(const FusionGroup& group, const HloInstruction* producer, size_t most);

// Returns true if `producer` puts the rows of the group's loop together from a long and a few short parts, each of less
// than a vector, and that costs more than an array of the producer: the loop is cut into segments, each of which has
// its own code, and an element of a short one takes as long as a vector of the others.
bool CutsExpensiveRows(const HloInstruction& producer, const FusionGroup& group);

// Roots of groups that should be fused into one loop with several results: root to number of the set. Loops are merged
// if they run over the same elements, one reads the other's result element by element or both compute or read the same
// value, and no other instruction depends on the one and is used by the other. After a cancellation, no more
// groups are merged.
absl::flat_hash_map<const HloInstruction*, int> MergedRoots(const HloComputation& computation,
                                                            const std::vector<FusionGroup>& groups,
                                                            const FusionMembership& membership,
                                                            const PassContext& context);

// True if the dependences between groups are acyclic.
bool CanBeOrdered(const HloComputation& computation, const std::vector<FusionGroup>& groups,
                  const FusionMembership& membership);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_FUSION_FUSION_GROUPS_H_
