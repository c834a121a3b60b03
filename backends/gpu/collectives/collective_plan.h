// The ranks that the collectives of a program join: by instruction, and as cliques, each of which needs a communicator.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_PLAN_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectives/ranks.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/collective/replica_groups.h"

namespace hilo::gpu {

// The ranks of an instruction, as its attributes specify them.
struct CollectiveSpec {
  enum class Form : uint8_t {
    kGroups,    // all ranks, each in one group
    kSubset,    // a broadcast: ranks in no group do not participate
    kPairs,     // a permute: `pairs` within groups
    kTransfer,  // send and receive: each of `pairs` is a clique of its own, so that no transfer waits for another
  };
  std::string name;  // "all-reduce %sum"
  Form form = Form::kGroups;
  CollectiveOpGroupMode mode = CollectiveOpGroupMode::kCrossReplica;
  ReplicaGroups groups;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  int64_t channel = 0;  // kTransfer
};

// For an instruction whose opcode is kCollective. Errors: InvalidArgument if its attributes are inconsistent.
absl::StatusOr<CollectiveSpec> CollectiveSpecOf(const HloInstruction& instruction);
// Returns the size of the instruction's largest possible group on these replicas and partitions.
int64_t LargestGroup(const CollectiveSpec& spec, int64_t replica_count, int64_t partition_count);

// Ordered ranks, joined by a communicator of `kind`.
struct CliqueSpec {
  std::vector<int64_t> ranks;
  std::string kind;  // empty: collectives and permutes; else one channel's transfers

  std::string ToString() const;  // "{0,1}", "{0,1} channel 3"
  bool operator==(const CliqueSpec&) const = default;
};

// One rank's role in an instruction.
struct CollectiveRole {
  int64_t clique = -1;  // index in the plan; -1: the rank is alone, or does not participate
  int64_t size = 1;     // of the group
  int64_t index = 0;    // of the rank in the group
  bool takes_part = true;
  int64_t source = -1, target = -1;  // kPairs: indices in the group; -1: none
  // kTransfer: cliques of two in which this rank is the sender and the receiver; -1: none, or itself
  int64_t send_clique = -1, receive_clique = -1;
  bool sends_to_itself = false;
};

class CollectivePlan {
 public:
  // Errors: InvalidArgument if groups do not contain each id exactly once.
  static absl::StatusOr<CollectivePlan> Create(absl::Span<const CollectiveSpec> specs, int64_t replica_count,
                                               int64_t partition_count);

  // Largest first, so that others can be split off from them; the same order on all ranks.
  const std::vector<CliqueSpec>& cliques() const { return cliques_; }
  // Returns true if a rank is in several cliques.
  bool has_overlapping_cliques() const;
  // Distinguishes programs with different collectives, consistently across all processes of one job.
  uint64_t fingerprint() const { return fingerprint_; }
  const CollectiveRole& role(int64_t spec, int64_t rank) const { return roles_[spec][rank]; }

 private:
  std::vector<CliqueSpec> cliques_;
  uint64_t fingerprint_ = 0;
  std::vector<std::vector<CollectiveRole>> roles_;  // by spec and rank
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_COLLECTIVE_PLAN_H_
