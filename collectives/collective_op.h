// CollectiveOp: a collective instruction prepared to run on arrays in memory, for any backend
// whose arrays a communicator can read.
#ifndef HILO_COLLECTIVES_COLLECTIVE_OP_H_
#define HILO_COLLECTIVES_COLLECTIVE_OP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collectives/communicator.h"
#include "collectives/ranks.h"
#include "hilo/host.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// The instruction may be destroyed after Create. Immutable: any number of concurrent runs.
class CollectiveOp {
 public:
  // `instruction` must be verified, its opcode kCollective. The results of starts are those of their dones. Errors:
  // InvalidArgument if its groups do not fit the devices of its module.
  static absl::StatusOr<CollectiveOp> Create(const HloInstruction& instruction);

  // Runs as the device at `position`. Arrays are dense and row-major, one per operand and one per result;
  // no result overlaps an operand. `communicator` may be null if the device is alone;
  // `cancellation` may be null; `combine` is to_apply, for ops that have it. Errors:
  // InvalidArgument if the groups do not fit the devices; ResourceExhausted; those of
  // communicators.
  absl::Status Run(const DevicePosition& position, Communicator* communicator, const CancellationToken* cancellation,
                   const decltype(ReductionFunction::combine)& combine, absl::Span<const void* const> operands,
                   absl::Span<void* const> results) const;

 private:
  // An array as rows of blocks: all-gather, reduce-scatter and all-to-all split or join the blocks of
  // each row, one per rank.
  struct Array {
    int64_t rows = 1;
    int64_t row_bytes = 0;  // of the operand
    int64_t bytes() const { return rows * row_bytes; }
  };
  struct Running;

  CollectiveOp() = default;
  // The ranks that participate at `position`, after all checks have passed.
  absl::StatusOr<std::vector<int64_t>> GroupAt(const DevicePosition& position) const;
  absl::Status CheckShapes(int64_t ranks) const;
  absl::Status AllReduce(Running& run, const DevicePosition& position) const;
  absl::Status AllGather(Running& run, const DevicePosition& position) const;
  absl::Status ReduceScatter(Running& run, const DevicePosition& position) const;
  absl::Status AllToAll(Running& run, const DevicePosition& position) const;
  absl::Status AllToAllOfArray(Running& run) const;
  absl::Status Permute(Running& run, const DevicePosition& position) const;
  absl::Status Broadcast(Running& run, const DevicePosition& position) const;
  absl::Status Ragged(Running& run, const DevicePosition& position) const;

  HloOpcode opcode_;
  std::string name_;
  int64_t key_ = 0;
  CollectiveOpGroupMode mode_ = CollectiveOpGroupMode::kCrossReplica;
  ReplicaGroups groups_;
  SourceTargetPairs pairs_;
  bool along_dimension_ = false;  // all-to-all of one array
  int64_t element_bytes_ = 0;     // of operand 0
  std::vector<Array> operands_, results_;
  int64_t updates_ = 0;  // ragged: offsets that each rank has
  int64_t ragged_row_bytes_ = 0;
  bool wide_offsets_ = false;  // s64
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_COLLECTIVE_OP_H_
